"""The plan at one step where lines of the manual may be doubted: after a surprise, or if it has no
plan.

Contradicted lines are doubted first, then any line: both by one graph of the rules with all doubts
(`planning.doubtful_rules`), in which a line costs what trust is left in it. Then unknown facts are
looked at, and then actions are tried that were never tried with the goal's things.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import NamedTuple

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.planning.circles import circle
from rpms.planning.edges import UNSEEN, Option
from rpms.planning.effort import EXPANDED, FURTHER, Effort
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.noticed import PlanNoticed
from rpms.planning.plan_graph import Plan
from rpms.planning.plans_begun import is_unchanged
from rpms.planning.reason import reasoner_of
from rpms.planning.rules_in_doubt import RulesInDoubt
from rpms.planning.trust import FULL, STEPS, Trust
from rpms.planning.untried import Spelling, untried
from rpms.planning.whereabouts import Order, likely_places

_CIRCLES = 3
"""Number of times at one step that a plan is blamed for leading back before the next best is
taken as it is."""
_PLANNED = 3
"""If no plan trusts the manual: how many first actions of other plans come before untried ones."""
_DEAR = FULL * STEPS
"""Steps of a plan above which a cheaper doubt is looked for: as much as doubting a stated line."""
_DEAREST = 5 * _DEAR
"""Steps that a plan with doubts may cost: one that goes against more than five stated lines is
no better than trying anything."""
NOT_ALL_WEIGHED = "not all doubts were weighed"
"""Said of the best option where the search ended at its bound (`planning.effort`)."""
_CHEAPER = 1e-6
"""Steps by which a plan has to be cheaper than one at hand to be looked for."""


def plan_with_doubts(
    context: AdaptContext, rules: ActiveRules, spell: Spelling, noticed: PlanNoticed
) -> tuple[Plan, PlanNoticed]:
    """Plan from the manual and the trust left in it."""
    trust = noticed.trust
    circumstances = trust.circumstances(context.situation)
    state = (context.state, trust.against_lines())
    step = _DoubtingStep(context, rules, spell, Effort())
    if trust.fruitless.has(circumstances, state):
        nothing = Plan(cut=trust.fruitless.states[state])
        step.fruitless.append(_Fruitless(_DEAREST, nothing))
    begun = _BegunBefore(context, rules, trust)
    best, noticed = _best_that_leads_on(step, begun, noticed)
    trust = noticed.trust
    options = sorted(best.options, key=begun.leads_back)
    if best.opened:
        tries = untried(context, rules, spell, trust)
        options = [*options[:_PLANNED], *tries, *options[_PLANNED:]]
    if best.cut and options:
        options[0] = _with_more_evidence(options[0], NOT_ALL_WEIGHED)
    trust = trust.but(plans=trust.plans.offering(options))
    if step.effort.is_in_vain:
        trust = trust.but(fruitless=trust.fruitless.and_(circumstances, state, cut=best.cut))
    return best.offering(options), noticed.trusting(trust)


def _with_more_evidence(option: Option, said: str) -> Option:
    """The option with one more thing said of it."""
    told = f"{option.evidence}; {said}" if option.evidence else said
    return replace(option, evidence=told)


class _BegunBefore:
    """Plans that were begun in this very state before, nothing having been learned since."""

    def __init__(self, context: AdaptContext, rules: ActiveRules, trust: Trust) -> None:
        self._context = context
        self._rules = rules
        self._trust = trust
        self._last = context.history[-1].action if context.history else ""
        self._unchanged: dict[int, bool] = {}
        """Whether all that matters is as it was in an earlier situation, by its identity: several
        plans of a step ask that.
        """

    def leads_back(self, option: Option) -> bool:
        """True if the same plan was begun here before, and this is not just more waiting."""
        if _waits(option) and option.command == self._last:
            return False
        return self._trust.plans.has_begun(option, self._context.state, self._is_unchanged)

    def _is_unchanged(self, before: Situation) -> bool:
        """True if all that matters is as it was in an earlier situation."""
        key = id(before)
        if key not in self._unchanged:
            now = self._context.situation
            self._unchanged[key] = is_unchanged(self._rules, before, now)
        return self._unchanged[key]


def _best_that_leads_on(
    step: "_DoubtingStep", begun: _BegunBefore, noticed: PlanNoticed
) -> tuple[Plan, PlanNoticed]:
    """The best plan that was not begun here before, and what was noticed: each that was is a
    circle, for which its lines are blamed, or its first command where no line is to blame.
    """
    idle = frozenset[str]()
    best = Plan()
    for _ in range(_CIRCLES):
        best = step.best(noticed.trust, idle)
        first = best.options[0] if best.options else None
        if first is None or not first.chain or not begun.leads_back(first):
            break
        before = noticed.trust
        noticed = circle(noticed, step.rules, first.chain, step.context.situation)
        if noticed.trust == before:  # no line is to blame
            idle |= {first.command}
        if step.effort.is_spent:
            return replace(best, cut=True), noticed
    return best, noticed


def _waits(option: Option) -> bool:
    return bool(option.chain) and option.chain[0].waits


class _Fruitless(NamedTuple):
    """A search of a step that found no plan with doubts.

    Another search of the same step that may spend no more would find nothing either, but for a
    line that a circle made cheaper meanwhile: that is for the next step.
    """

    most: float
    """Steps that a plan might cost."""
    plan: Plan
    """The plan without options, which says if all doubts were weighed."""


@dataclass(frozen=True)
class _DoubtingStep:
    """One step at which lines may be doubted."""

    context: AdaptContext
    rules: ActiveRules
    spell: Spelling
    effort: Effort
    fruitless: list[_Fruitless] = field(default_factory=list)
    """The searches that found nothing."""

    @property
    def _situation(self) -> Situation:
        return self.context.situation

    @cached_property
    def _order(self) -> Order:
        goal = self._situation.goal
        return likely_places(self.rules, self.context.whereabouts, (goal.object, goal.destination))

    @cached_property
    def _stated(self) -> Plan:
        """The plan that trusts every line of the manual."""
        return reasoner_of(self.rules).plan(self._situation, self._order)

    @cached_property
    def _unseen(self) -> list[str]:
        """The goal's things of which nobody has seen any: `apple ?`."""
        goal, belief = self._situation.goal, self._situation.belief
        words = [word for word in (goal.object, goal.destination) if word]
        return [f"{word} ?" for word in words if not belief.called(word)]

    @cached_property
    def _nowhere(self) -> bool:
        """True if nothing known leads to the goal, and what it names is in no place there is.

        Then the goal was misread, and nothing is gained by doubting the manual.
        """
        if not self._stated.stranded:
            return False
        return bool(reasoner_of(self.rules).nowhere(self._situation, self._order))

    def best(self, trust: Trust, idle: frozenset[str]) -> Plan:
        """The first plan with something to do, of those that doubt more and more.

        What the manual states comes first while nothing contradicts it: its plan, however dear,
        or looking at what may lead to one. No plan begins with an `idle` command, which led back
        to this state.
        """
        trusting = self._trusting(trust, idle)
        if trusting.options:
            return trusting
        if self._nowhere:
            return self._sound(replace(self._stated, opened=True), trust, idle)
        doubtful = RulesInDoubt(self.rules, trust, idle)
        best = self._doubting_contradicted(doubtful)
        if _settles(best):
            return best
        return self._doubting_any(doubtful, best)

    def _trusting(self, trust: Trust, idle: frozenset[str]) -> Plan:
        """The manual's plan, or the look that may lead to one, while nothing contradicts it."""
        if trust.shaken or self._stated.stranded:
            return Plan()
        return self._sound(self._stated, trust, idle)

    def _doubting_contradicted(self, doubtful: RulesInDoubt) -> Plan:
        """The best plan at a price for which contradicted lines alone can be doubted; if there is
        none, and what nobody has seen yet may lead to one, a look for that.
        """
        if not doubtful.has_grounds:
            return Plan()
        best = self._doubting(doubtful, most=_DEAR)
        if not best.options and self._stated.searching:
            best = self._looks(doubtful, most=_DEAR)
        return replace(best, searching=self._stated.searching and best.cost == inf)

    def _doubting_any(self, doubtful: RulesInDoubt, best: Plan) -> Plan:
        """The best plan that may doubt any line; if there is none, a look at what is unknown."""
        if self._unseen:
            best = _better(best, self._looks(doubtful, self._unseen))
            if _settles(best):
                return best
        best = _better(best, self._doubting_further(doubtful, best))
        if best.options or not self._stated.cost:
            return best
        return replace(self._last_looks(doubtful), opened=True, cut=best.cut)

    def _doubting_further(self, doubtful: RulesInDoubt, best: Plan) -> Plan:
        """A plan that may doubt any line, if there is one that costs less than the best so far.

        More work is allowed where something was learned since it was last in vain.
        """
        trust = doubtful.trust
        if trust.fruitless.circumstances != trust.circumstances(self._situation):
            self.effort.allowed = EXPANDED * FURTHER
        most = min(_DEAREST, best.cost - _CHEAPER) if best.options else _DEAREST
        found = self._doubting(doubtful, most)
        if found.cost == inf and not best.options:
            self.effort.is_in_vain = True
        return replace(found, opened=not doubtful.is_contradicted(found))

    def _last_looks(self, doubtful: RulesInDoubt) -> Plan:
        """Where no plan is left, the looks that the manual leads to, or else any."""
        stated = self._sound(self._stated, doubtful.trust, doubtful.idle)
        return stated if stated.options else self._looks(doubtful)

    def _looks(
        self, doubtful: RulesInDoubt, sought: Sequence[str] = (UNSEEN,), most: float = inf
    ) -> Plan:
        """A plan to find things that nobody has seen yet, or whatever is unknown."""
        found = doubtful.reasoner.search(
            self._situation, self._order, sought, most=most, effort=self.effort
        )
        return self._sound(found, doubtful.trust, doubtful.idle)

    def _doubting(self, doubtful: RulesInDoubt, most: float) -> Plan:
        """A plan with doubts that costs no more than `most`, if there is one."""
        for earlier in self.fruitless:
            if most <= earlier.most:
                return earlier.plan
        found = doubtful.reasoner.plan(
            self._situation, self._order, seek=False, most=most, effort=self.effort
        )
        if found.cost == inf:
            self.fruitless.append(_Fruitless(most, found))
        return self._sound(found, doubtful.trust, doubtful.idle)

    def _sound(self, plan: Plan, trust: Trust, idle: frozenset[str]) -> Plan:
        """A plan as the game wants it written, less what is idle or was refused as things are."""
        kept: list[Option] = []
        for option in plan.options:
            written = option.spelled(self.spell)
            if written.command in idle:
                continue
            if not trust.refusals.bars(written.command, self.rules, self._situation):
                kept.append(written)
        return plan.offering(kept)


def _better(best: Plan, found: Plan) -> Plan:
    """Of two plans the one to go on with; it says if not all doubts were weighed for either."""
    cheaper = bool(found.options) and found.cost < best.cost
    better = found if cheaper or not best.options else best
    return replace(better, cut=best.cut or found.cut)


def _settles(plan: Plan) -> bool:
    """True if a plan is good enough that no further doubt is looked for."""
    if not plan.options:
        return False
    dearest = 2 * _DEAR if plan.opened else _DEAR
    return plan.cost <= dearest or plan.cost == inf
