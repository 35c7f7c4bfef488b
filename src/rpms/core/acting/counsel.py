"""Past the paper: what is to be done now as far as a condition knows, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rpms.core.acting.advice import Advice, Spell, reasoner_of, weighed
from rpms.core.acting.context import StepContext
from rpms.core.acting.doubting import plan_doubting
from rpms.core.acting.surprise import Noticed
from rpms.core.planning.reason import Plan, likely_places
from rpms.core.planning.trust import Trust
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate


@dataclass(frozen=True)
class Counsel:
    """What goes beside the paper's blocks into one prompt. In the paper itself there is nothing to say."""

    plan: Plan
    """What rules and memories say is to be done, for a model that is no LLM."""
    advice: Advice
    noticed: Noticed
    """What surprised, and how far the manual is trusted now."""
    shown: ActiveRules
    """The rules that the prompt shows, which are all that are active unless it is compact."""


def plan_now(
    present: StepContext,
    rules: ActiveRules,
    spell: Spell,
    memories: Sequence[Candidate] = (),
    noticed: Noticed | None = None,
) -> tuple[Plan, Noticed]:
    """What to do as far as these rules and memories know; where that is all there is to know, as it was tracked.

    With what was noticed, lines of the rules may be doubted; without, they are taken as they are.
    """
    goal, belief = present.situation.goal, present.situation.belief
    plan = present.tracked
    order = likely_places(rules, present.whereabouts, (goal.object, goal.destination))
    if rules is not present.schemas or order != likely_places(rules):  # else it would be the same plan again
        plan = reasoner_of(rules).plan(present.situation, order)
    if noticed is not None:
        plan, noticed = plan_doubting(present, rules, plan, order, lambda command: spell(command, belief), noticed)
        return (weighed(plan, memories, present.room, present.signature) if memories else plan), noticed
    here = present.turns_here
    failed = {turn.action for turn in here if turn.failed}
    plan = plan.respelled(lambda command: spell(command, belief), failed)
    if plan.options and plan.options[0].command in failed:  # nothing works as planned: look, and look again
        done = [turn.action for turn in here]
        glances = sorted(reasoner_of(rules).glances, key=lambda option: done.count(option.command))
        plan = replace(plan, options=(*glances, *plan.options))
    return (weighed(plan, memories, present.room, present.signature) if memories else plan), Noticed(Trust())
