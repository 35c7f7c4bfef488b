"""Advice at one step to a model that chooses: guidance, a menu, a shorter prompt.

The paper has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from rpms.logic.belief import Belief
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.beyond import Advice, Menu
from rpms.paper.decide import Decision
from rpms.paper.enforcement import PAPER, Enforcement, GuardMode
from rpms.paper.review import Refusal
from rpms.paper.verdict import Candidate, Fate
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.experience.plans_weighed import weighed
from rpms.planning.experience.recalled_steps import recalled_steps
from rpms.planning.focus import focus, left_out
from rpms.planning.hints import find_loop, guidance
from rpms.planning.impasse import said_nowhere
from rpms.planning.lift import ended_alike
from rpms.planning.menu import (
    chain_of,
    feasible_actions,
    make_menu,
    purpose_of,
)
from rpms.planning.noticed import PlanNoticed
from rpms.planning.plan_graph import Plan
from rpms.planning.plan_with_doubts import plan_with_doubts
from rpms.planning.reason import plan_for, reasoner_of
from rpms.planning.remedies import review
from rpms.planning.trust import UNSHAKEN

Spell = Callable[[str, Belief], str]
"""A command as this game wants it written."""


def as_written(command: str, _belief: Belief) -> str:
    """The neutral element: commands are written as the manual writes them."""
    return command


@dataclass(frozen=True)
class Adviser:
    """The amount of advice at each step, and the manuals behind it. By default there is none."""

    enforcement: Enforcement = PAPER
    """Parts past the paper that are on, as far as the condition has the knowledge for them."""
    spell: Spell = as_written
    tells: RuleManual = field(default_factory=RuleManual)
    """Manual that measures progress: the condition's, or without rules the part that every
    player has read."""
    plans: RuleManual | None = None
    """Manual that plans are made with, where it says more than `tells`; never shown in a prompt."""

    def plan(
        self, step: AdaptContext, memories: Sequence[Candidate], noticed: PlanNoticed
    ) -> tuple[Plan, PlanNoticed]:
        """Plan from rules and memories, with the trust in the rules afterwards."""
        goal = step.situation.goal
        rules = (self.plans or self.tells).active(goal.type, goal.object, goal.destination)
        if self.enforcement.doubt:
            plan, noticed = plan_with_doubts(step, rules, self._spelled(step), noticed)
        else:
            plan = self._trusting_plan(step, rules)
        if plan.stranded:
            noticed = noticed.stranded()
        if self.enforcement.adapt and memories:
            plan = weighed(plan, memories, step)
        first = plan.options[0].command if plan.options else ""
        trust = noticed.trust
        return plan, noticed.trusting(trust.but(plans=replace(trust.plans, first=first)))

    def _spelled(self, step: AdaptContext) -> Callable[[str], str]:
        """Commands as the world spells them in this step."""
        return lambda command: self.spell(command, step.situation.belief)

    def _trusting_plan(self, step: AdaptContext, rules: ActiveRules) -> Plan:
        """A plan by the rules as they are. If its first action was refused here, nothing works as
        planned: looking again comes first, at what was looked at least.
        """
        plan = plan_for(rules, step.situation, step.whereabouts)
        plan = plan.respelled(self._spelled(step), step.refused)
        if plan.options and plan.options[0].command in step.refused:
            glances = sorted(
                reasoner_of(rules).glances, key=lambda option: step.tried.count(option.command)
            )
            plan = plan.offering((*glances, *plan.options))
        return plan


@dataclass(frozen=True)
class PlanAdvice(Advice):
    """Advice at one step, from the condition's knowledge alone. Each part is computed on demand."""

    step: AdaptContext
    adviser: Adviser = field(default_factory=Adviser)
    seen: PlanNoticed = field(default_factory=lambda: PlanNoticed(UNSHAKEN))
    """What the answer to the last command shows about the manual."""

    @cached_property
    def _planned(self) -> tuple[Plan, PlanNoticed]:
        return self.adviser.plan(self.step, self.memories, self.seen)

    @property
    def plan(self) -> Plan:
        """Plan for menu and guidance, and for a model that is no LLM."""
        return self._planned[0]

    @property
    def has_plan(self) -> bool:
        """True if anything asked for the plan. In the paper's conditions nothing does."""
        return "_planned" in vars(self)

    @property
    def noticed_with_plan(self) -> PlanNoticed:
        """Surprises, including those of planning, and the trust in the manual; makes the plan."""
        return self._planned[1]

    @property
    def noticed(self) -> PlanNoticed:
        """Surprises so far: those of planning too, if anything has asked for the plan."""
        return self.noticed_with_plan if self.has_plan else self.seen

    @cached_property
    def notice(self) -> str:
        """The reason for the model's own choice, where the manual has no plan; else the loop
        that the history shows.
        """
        if self.adviser.enforcement.doubt and self.plan.opened:
            why = self.noticed.trust.last or "it knows no way to the goal"
            return (
                f"The manual has no plan that still holds ({why}). Choose what is likeliest to"
                " help."
            )
        if not self.adviser.enforcement.loops:
            return ""
        return find_loop(self.step.history, self.step.state)

    @cached_property
    def guidance(self) -> tuple[str, ...]:
        """Lines for the goal block."""
        return (
            guidance(self.plan, self.step.history, self.step.state)
            if self.adviser.enforcement.guidance
            else ()
        )

    @cached_property
    def shown(self) -> ActiveRules:
        """The rules that the prompt shows: all that are active, unless it is compact."""
        return focus(self.rules, self.plan) if self.adviser.enforcement.compact else self.rules

    @property
    def left_out(self) -> tuple[str, ...]:
        return left_out(self.rules, self.shown)

    def review(self, command: str) -> Refusal | None:
        """Refuse a command that is known to fail, with the first step that would help."""
        return review(command, self.step.schemas, self.step.situation)

    def bars(self, command: str) -> bool:
        """True if a command is not to be given again: it was refused, and nothing it depends on has
        changed.

        Without rules nobody knows what it depends on: nothing at all has, and memory offers
        something else.
        """
        enforcement = self.adviser.enforcement
        if not self.rules.environment:
            return enforcement.adapt and bool(self.menu.items) and command in self.step.refused
        if not enforcement.doubt:
            return False
        trust = self.noticed_with_plan.trust
        return trust.refusals.bars(command, self.step.schemas, self.step.situation)

    def defies(self, command: str) -> bool:
        if not self.adviser.enforcement.doubt:
            return False
        begun = [option for option in self.plan.options if option.command == command]
        if self.plan.opened:
            return bool(begun)
        return any(option.chain and option.chain[0].doubt for option in begun)

    def caution(self, command: str, candidates: Iterable[Candidate]) -> Refusal | None:
        """Objection of a critical failure to an action: memory's own guard."""
        enforcement = self.adviser.enforcement
        if not enforcement.adapt or enforcement.guard is not GuardMode.BLOCK:
            return None
        sound = [
            each
            for each in candidates
            if each.verdict.fate.shown or each.verdict.fate is Fate.CROWDED
        ]
        if (ended := ended_alike(command, sound, self.step.schemas)) is None:
            return None
        why = (
            f"{ended.id}: the like of it ended such a task for good; insist only if this task asks"
            " for it"
        )
        return Refusal(why, ended.id)

    def chain(self, command: str) -> tuple[str, ...]:
        """The plan that a command begins; nothing where rules made none."""
        if not (self.rules.environment and self.has_plan):
            return ()
        begun = [option for option in self.plan.options if option.command == command]
        return chain_of(begun[0], self.rules) if begun else ()

    @cached_property
    def menu(self) -> Menu:
        enforcement = self.adviser.enforcement
        if not enforcement.menu:
            return Menu()
        return make_menu(self._choices(), self._tried, enforcement.menu, ranked=enforcement.ranked)

    @cached_property
    def _tried(self) -> Counter[str]:
        """Count the actions tried in this state that led back to it, but for waiting and what
        the plan begins with.
        """
        tried: Counter[str] = Counter()
        if not self.step.turns_here:
            return tried
        history = self.step.history
        state = self.step.state
        states_after = [*(turn.state for turn in history), state][1:]
        for turn, then in zip(history, states_after, strict=True):
            if turn.state != state or turn.action in self._best_beginnings:
                continue
            has_waited = then == state and not turn.failed and turn.action in self._waiting
            if not has_waited:
                tried[turn.action] += 1
        return tried

    @cached_property
    def _best_beginnings(self) -> set[str]:
        """The best plans' first actions: a plan that leads back is doubted itself, and one that a
        model left half-way is still the best.
        """
        best = self.plan.options[: self.adviser.enforcement.doubt]
        return {option.command for option in best if option.chain}

    @cached_property
    def _waiting(self) -> set[str]:
        """The first actions of plans that begin by waiting."""
        options = self.plan.options
        return {option.command for option in options if option.chain and option.chain[0].waits}

    def _choices(self) -> Iterator[tuple[str, str]]:
        """Choices, best first: first actions of plans, or without rules the next steps of
        recalled snippets.
        """
        if not self.rules.environment:
            yield from self._recalled_choices()
        elif self.adviser.enforcement.ranked:
            yield from self._planned_choices()
        else:
            situation = self.step.situation
            for command in feasible_actions(self.rules, situation):
                yield self.adviser.spell(command, situation.belief), ""

    def _recalled_choices(self) -> Iterator[tuple[str, str]]:
        """The next steps of recalled snippets, each with its source."""
        slack = self.adviser.enforcement.slack or inf
        belief = self.step.situation.belief
        for command, source in recalled_steps(self.memories, self.step, self._tried, slack):
            yield self.adviser.spell(command, belief), source

    def _planned_choices(self) -> Iterator[tuple[str, str]]:
        """First actions of plans that are not much longer than the best, each with its purpose."""
        slack = self.adviser.enforcement.slack
        takes_all = not slack or self.plan.opened
        for option in self.plan.options:
            if takes_all or option.regret <= slack:
                doubts = [f"if {link.doubt}" for link in option.chain if link.doubt]
                words = (purpose_of(option, self.rules), *doubts[:1], option.evidence)
                yield option.command, "; ".join(filter(None, words))


def plan_of(decision: Decision) -> Plan:
    """The plan of a step."""
    return _planning_advice(decision).plan


def noticed_with_plan_of(decision: Decision) -> PlanNoticed:
    """Surprises of a step, including those of planning, such as that nothing is left to try."""
    return _planning_advice(decision).noticed_with_plan


def nothing_left(decision: Decision) -> str:
    """The reason that nothing is left to do for the goal, by the plan that was made for this step;
    empty where something is, or where nobody asked for a plan.
    """
    advice = decision.advice
    if not isinstance(advice, PlanAdvice) or not advice.has_plan:
        return ""
    if advice.plan.nowhere:
        return said_nowhere(advice.plan.nowhere)
    if not advice.plan.tried_all:
        return ""
    if advice.plan.cut:
        return "nothing that may lead to the goal was found in the work that a step may take"
    return "all that may lead to the goal was tried"


def _planning_advice(decision: Decision) -> PlanAdvice:
    """The advice of a step that can be planned; the paper alone plans nothing, so that a
    decision of its own is an error here.
    """
    advice = decision.advice
    if not isinstance(advice, PlanAdvice):
        raise TypeError(
            "no plan was made for this step: compose the mind with `rpms.paper.compose.extended`"
        )
    return advice
