"""Past the paper: what is to be done now as far as a condition knows, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rpms.core.acting.advice import Advice, Spell, reasoner_of, weighed
from rpms.core.acting.context import StepContext
from rpms.core.planning.reason import Plan, likely_places
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate


@dataclass(frozen=True)
class Counsel:
    """What goes beside the paper's blocks into one prompt. In the paper itself there is nothing to say."""

    plan: Plan
    """What rules and memories say is to be done, for a model that is no LLM."""
    advice: Advice
    shown: ActiveRules
    """The rules that the prompt shows, which are all that are active unless it is compact."""


def plan_now(present: StepContext, rules: ActiveRules, spell: Spell, memories: Sequence[Candidate] = ()) -> Plan:
    """What to do as far as these rules and memories know; where that is all there is to know, as it was tracked."""
    goal, belief = present.situation.goal, present.situation.belief
    plan = present.tracked
    order = likely_places(rules, present.whereabouts, (goal.object, goal.destination))
    if rules is not present.schemas or order != likely_places(rules):  # else it would be the same plan again
        plan = reasoner_of(rules).plan(present.situation, order)
    here = present.turns_here
    failed = {turn.action for turn in here if turn.failed}
    plan = plan.respelled(lambda command: spell(command, belief), failed)
    if plan.options and plan.options[0].command in failed:  # nothing works as planned: look, and look again
        done = [turn.action for turn in here]
        glances = sorted(reasoner_of(rules).glances, key=lambda option: done.count(option.command))
        plan = replace(plan, options=(*glances, *plan.options))
    return weighed(plan, memories, present.room, present.signature) if memories else plan
