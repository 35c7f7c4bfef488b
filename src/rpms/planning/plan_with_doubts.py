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
from typing import NamedTuple, Self

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.planning.circles import circle
from rpms.planning.edges import GOAL, UNSEEN, Link, Option
from rpms.planning.effort import EXPANDED, FURTHER, Effort
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.noticed import PlanNoticed
from rpms.planning.plan_graph import Plan
from rpms.planning.plans_begun import Begun, doubts_of, is_unchanged
from rpms.planning.reason import reasoner_of
from rpms.planning.rules_in_doubt import RulesInDoubt
from rpms.planning.trust import FULL, STEPS, Trust
from rpms.planning.untried import Spelling, untried
from rpms.planning.whereabouts import Order, likely_places

_PLANNED = 3
"""If no plan trusts the manual: how many first actions of other plans come before untried ones."""
_DEAR = FULL * STEPS
"""Steps of a plan above which a cheaper doubt is looked for: as much as doubting a stated line."""
_DEAREST = 5 * _DEAR
"""Steps that a plan with doubts may cost: one that goes against more than five stated lines is
no better than trying anything."""
NOT_ALL_WEIGHED = "not all doubts were weighed"
"""Said of the best option where the search ended at its bound (`planning.effort`)."""
_MAKING = 10
"""Steps in which a line is doubted to make what the goal asks for, where every place was searched
and it is nowhere: then a player that only follows plans has nothing left to do."""
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
    best = step.best(trust, frozenset())
    if step.effort.is_in_vain:
        trust = trust.but(fruitless=trust.fruitless.and_(circumstances, state, cut=best.cut))
    begun = _begun_here(context, rules, trust)
    leads_on = _LeadsOn(best, noticed.trusting(trust))
    if begun:
        leads_on = _without_circles(step, begun, leads_on)
    best, noticed, walk = leads_on
    trust = noticed.trust
    options = _options(step, best, trust)
    if not options:
        best = replace(best, tried_all=_had_no_plan(context, trust))
    trust = trust.but(plans=trust.plans.offering(options, walk))
    if options and doubts_of(options[0].chain) and step.not_there_yet:
        if trust.made_in_vain >= _MAKING:
            best = replace(best, nowhere=step.not_there_yet)
        trust = trust.but(made_in_vain=trust.made_in_vain + 1)
    return best.offering(options), noticed.trusting(trust)


def _options(step: "_DoubtingStep", best: Plan, trust: Trust) -> Sequence[Option]:
    """The options of a plan, and behind the first of them what was never tried where the choice is
    open to more; the first says if not all doubts were weighed.
    """
    options = list(best.options)
    if best.opened:
        tries = untried(step.context, step.rules, step.spell, trust)
        options = [*options[:_PLANNED], *tries, *options[_PLANNED:]]
    if best.cut and options:
        options[0] = _with_more_evidence(options[0], NOT_ALL_WEIGHED)
    return options


def _had_no_plan(context: AdaptContext, trust: Trust) -> bool:
    """True if there was no plan in the last step either: time alone brings none."""
    return bool(context.history) and not trust.plans.first


def _with_more_evidence(option: Option, said: str) -> Option:
    """The option with one more thing said of it."""
    told = f"{option.evidence}; {said}" if option.evidence else said
    return replace(option, evidence=told)


class _LeadsOn(NamedTuple):
    """A plan that does not begin with what led back to the present state."""

    plan: Plan
    noticed: PlanNoticed
    walk: str = ""
    """Its first command, where that only walks to a state in which another plan begins."""


def _begun_here(context: AdaptContext, rules: ActiveRules, trust: Trust) -> Sequence[Begun]:
    """The plans that were begun since this very state was left last; none if it never was, or if
    the goal's things are not as they were.
    """
    plans = trust.plans.since(context.state)
    if plans and is_unchanged(rules, plans[0].situation, context.situation):
        return plans
    return ()


def _without_circles(step: "_DoubtingStep", begun: Sequence[Begun], leads_on: _LeadsOn) -> _LeadsOn:
    """The plan, unless it begins with what led back to this state: then the lines of all plans
    that were begun since are blamed, and the best plan that begins otherwise is taken, here or in
    a state next to this one.
    """
    best, noticed, _ = leads_on
    context = step.context
    plans = noticed.trust.plans
    last = context.history[-1].action
    in_vain = plans.begun_in(context.state)
    if best.options:
        if not _begins_again(best.options[0], in_vain, last):
            return leads_on
        noticed = circle(noticed, step.rules, begun, context.situation)
        best = step.best(noticed.trust, in_vain)
    here = _LeadsOn(best, noticed)
    if best.options and (best.cost <= _DEAR or last == plans.walk):
        return here  # good enough, or what it walked here for
    return _cheapest_next_door(step, here)


def _begins_again(option: Option, in_vain: frozenset[str], last: str) -> bool:
    """True if a plan begins with what led back to this state; to wait on is not to begin again."""
    waits_on = _waits(option) and option.command == last
    return option.command in in_vain and not waits_on


def _cheapest_next_door(step: "_DoubtingStep", here: _LeadsOn) -> _LeadsOn:
    """The plan here, or a cheaper one in a state to which one command leads: then that command
    comes first.
    """
    noticed = here.noticed
    cheapest = here
    for there in noticed.trust.plans.neighbours(step.context.state):
        if step.effort.is_spent:
            return cheapest._replace(plan=replace(cheapest.plan, cut=True))
        found = step.at(there.situation).best(noticed.trust, there.begun)
        if not found.options:
            continue
        cost = found.cost + 1
        if cost < cheapest.plan.cost or not cheapest.plan.options:
            option = _walking(there.way, found.options[0])
            plan = replace(found, cost=cost, options=(option,))
            cheapest = _LeadsOn(plan, noticed, option.command)
    return cheapest


def _walking(way: Begun, option: Option) -> Option:
    """A plan that begins in the state to which a command leads."""
    fact = way.chain[0].fact if way.chain else GOAL
    walk = Link(way.command, fact, reveals=False)
    return Option(walk.command, 0.0, (walk, *option.chain), option.evidence)


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

    def at(self, situation: Situation) -> Self:
        """The same step, as it would be in another situation."""
        return type(self)(
            replace(self.context, situation=situation), self.rules, self.spell, self.effort
        )

    @property
    def _situation(self) -> Situation:
        return self.context.situation

    @cached_property
    def _order(self) -> Order:
        goal = self._situation.goal
        return likely_places(self.rules, self.context.whereabouts, (goal.object, goal.destination))

    @cached_property
    def _by_lines(self) -> Plan:
        """The plan that trusts every line of the manual; without options if nothing known leads to
        the goal.
        """
        return reasoner_of(self.rules).plan(self._situation, self._order, seek=False)

    @cached_property
    def _stated(self) -> Plan:
        """The same plan, or where there is none the look that may lead to one: that takes as long
        again, and is asked for only where it may decide something.
        """
        plan = self._by_lines
        if plan.options or plan.cost == 0:
            return plan
        return reasoner_of(self.rules).explore(self._situation, self._order)

    @cached_property
    def _searching(self) -> bool:
        """True if nothing known leads to the goal, and something that nobody has seen might: the
        looks for it are searched for last, since that takes longest.
        """
        plan = self._by_lines
        if plan.options or plan.cost == 0:
            return False
        may_be_found = reasoner_of(self.rules).may_be_found(self._situation, self._order)
        return may_be_found and self._stated.searching

    @property
    def _stranded(self) -> bool:
        """True if neither the manual nor anything left to look at leads to the goal."""
        return self._by_lines.cost == inf and not self._searching

    @cached_property
    def _unseen(self) -> list[str]:
        """The goal's things of which nobody has seen any: `apple ?`."""
        goal = self._situation.goal
        belief = self._situation.belief
        words = [word for word in (goal.object, goal.destination) if word]
        return [f"{word} ?" for word in words if not belief.called(word)]

    @cached_property
    def _nowhere(self) -> bool:
        """True if nothing known leads to the goal, and what it names is in no place there is.

        Then the goal was misread, and nothing is gained by doubting the manual.
        """
        if not reasoner_of(self.rules).nowhere(self._situation, self._order):
            return False
        return self._stranded

    @cached_property
    def not_there_yet(self) -> tuple[str, ...]:
        """What the goal asks for and is in no place there is, where nothing known leads to it."""
        missing = reasoner_of(self.rules).not_there_yet(self._situation, self._order)
        if not missing or not self._stranded:
            return ()
        return tuple(map(str, missing))

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
        if trust.shaken or self._stranded:
            return Plan()
        return self._sound(self._stated, trust, idle)

    def _doubting_contradicted(self, doubtful: RulesInDoubt) -> Plan:
        """The best plan at a price for which contradicted lines alone can be doubted; if there is
        none, and what nobody has seen yet may lead to one, a look for that.
        """
        if not doubtful.has_grounds:
            return Plan()
        best = self._doubting(doubtful, most=_DEAR)
        if not best.options and self._searching:
            best = self._looks(doubtful, most=_DEAR)
        return replace(best, searching=best.cost == inf and self._searching)

    def _doubting_any(self, doubtful: RulesInDoubt, best: Plan) -> Plan:
        """The best plan that may doubt any line; if there is none, a look at what is unknown."""
        if self._unseen:
            best = _better(best, self._looks(doubtful, self._unseen))
            if _settles(best):
                return best
        best = _better(best, self._doubting_further(doubtful, best))
        if best.options or not self._by_lines.cost:
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
        """Where no plan is left, the looks that the manual leads to, or else any: for these no more
        work is allowed than for a plan at first.
        """
        stated = self._sound(self._stated, doubtful.trust, doubtful.idle)
        if stated.options:
            return stated
        self.effort.allowed = EXPANDED
        return self._looks(doubtful)

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
        return plan.keeping(kept)


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
