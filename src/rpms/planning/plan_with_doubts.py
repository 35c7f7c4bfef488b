"""The plan at one step where lines of the manual may be doubted: after a surprise, or if it has no
plan.

Contradicted lines are doubted first, then any line, then two of one action
(`planning.doubtful_rules` makes the rules for each); then unknown facts are looked at, and then
actions are tried that were never tried with the goal's things.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from math import inf

from rpms.logic.achievers import achievers_of
from rpms.logic.facts import Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.doubtful_rules import doubted, doubts_rest_on
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.reason import Plan, Reasoner, reasoner_of
from rpms.planning.search import Option
from rpms.planning.surprise import PlanNoticed, circle
from rpms.planning.trust import FULL, STEPS, Trust, doubts_of
from rpms.planning.whereabouts import Order, likely_places

_CIRCLES = 3
"""Number of times at one step that a plan is blamed for leading back before the next best is
taken as it is."""
_PLANNED, _TRIED = 3, 3
"""If no plan trusts the manual: how many first actions of other plans come first, and how many
untried actions then."""
_CHEAPER = 1e-6
"""Steps by which a plan has to be cheaper than one at hand to be looked for."""
_DOUBTING_KEPT = 16
"""Rules with doubts that are kept for the steps to come, for each goal."""

Spelling = Callable[[str], str]


def plan_with_doubts(
    context: AdaptContext, rules: ActiveRules, spell: Spelling, noticed: PlanNoticed
) -> tuple[Plan, PlanNoticed]:
    """Plan from the manual and the trust left in it."""
    goal = context.situation.goal
    order = likely_places(rules, context.whereabouts, (goal.object, goal.destination))
    stated = cache(lambda: reasoner_of(rules).plan(context.situation, order))
    done = noticed.trust.begun(context.situation, context.state, rules)
    idle = frozenset[str]()
    for _ in range(_CIRCLES):
        best = _best(context, rules, stated, order, spell, noticed.trust, idle)
        first = best.options[0] if best.options else None
        if (
            first is None
            or not first.chain
            or (first.command, doubts_of(first.chain)) not in done
            or _waits(first)
        ):
            break
        before, noticed = noticed.trust, circle(noticed, rules, first.chain, context.situation)
        if noticed.trust == before:  # no line is to blame
            idle |= {first.command}
    options = sorted(
        best.options,
        key=lambda one: (one.command, doubts_of(one.chain)) in done and not _waits(one),
    )
    if best.opened:
        tries = islice(untried(context, rules, spell, noticed.trust), _TRIED)
        options = [*options[:_PLANNED], *tries, *options[_PLANNED:]]
    offered = {one.command: one.chain for one in reversed(options) if one.chain}
    return best.offering(options), noticed.trusting(noticed.trust.but(offered=offered))


def _waits(option: Option) -> bool:
    return bool(option.chain) and option.chain[0].waits


def _best(
    context: AdaptContext,
    rules: ActiveRules,
    stated: Callable[[], Plan],
    order: Order,
    spell: Spelling,
    trust: Trust,
    idle: frozenset[str],
) -> Plan:
    """The first plan with something to do, of those that doubt more and more; `stated` trusts every
    line.

    A dear plan gives way to a cheaper doubt. No plan begins with an `idle` command, which led back
    to this state.
    """
    situation = context.situation
    words = (situation.goal.object, situation.goal.destination)
    unseen = [f"{word} ?" for word in words if word and not situation.belief.called(word)]

    def sound(found: Plan) -> Plan:
        options = [option.spelled(spell) for option in found.options]
        options = [option for option in options if option.command not in idle]
        return found.offering(
            [one for one in options if not trust.bars(one.command, rules, situation)]
        )

    def doubting() -> Iterator[Plan]:
        for wide in (0, 1, 2) if trust.shaken or trust.learned or idle or trust.refused else (1, 2):
            known = _doubting(rules, trust, wide, idle)
            if unseen and wide:
                yield sound(known.search(situation, order, unseen))
            cheaper = other.cost - _CHEAPER if other.options else inf
            most = min(2 * dear, cheaper) if wide == 1 else cheaper
            yield replace(
                sound(known.plan(situation, order, seek=False, most=most)), opened=wide > 0
            )
        if stated().cost and not other.options:
            yield replace(sound(known.search(situation, order)), opened=True)

    other, dear = (
        sound(stated()) if not trust.shaken and stated().cost < inf else Plan(),
        FULL * STEPS,
    )
    if other.options and not (other.imagined and other.cost > dear):
        return other
    for found in doubting():
        if not other.options or (found.options and found.cost < other.cost):
            other = found
        if other.options and not dear * (1 + other.opened) < other.cost < inf:
            break
    return other


def _doubting(rules: ActiveRules, trust: Trust, wide: int, idle: frozenset[str]) -> Reasoner:
    """The reasoner over the rules with doubts; one of an earlier step where nothing that its
    doubts rest on changed.
    """
    kept: dict[object, Reasoner] = achievers_of(rules).kept.setdefault("doubting", {})
    key = (wide, idle, doubts_rest_on(trust, wide))
    if key not in kept:
        if len(kept) >= _DOUBTING_KEPT:
            kept.clear()
        kept[key] = Reasoner(doubted(rules, trust, wide, idle))
    return kept[key]


def untried(
    context: AdaptContext, rules: ActiveRules, spell: Spelling, trust: Trust
) -> Iterator[Option]:
    """Actions with the goal's things that were never done, those first of which least is known
    against.
    """
    situation, goal = context.situation, context.situation.goal
    things = {*situation.belief.called(goal.object), *situation.belief.called(goal.destination)}
    done = {turn.action for turn in context.history}
    found: list[tuple[int, int, str, str]] = []
    for number, command in enumerate(reasoner_of(rules).commands(situation)):
        instance = rules.instance(command)
        if instance is None or things.isdisjoint(instance.binding.values()):
            continue
        needs = (clause.bind(instance.binding) for clause in rules.needs_of(instance.schema))
        lacking = [clause.literals for clause in needs if clause.truth(situation) is Truth.FALSE]
        first = [
            literals[0].atom for literals in lacking if literals
        ]  # a ban in every state names no fact
        against = ", ".join(rules.say(atom, situation.truth(atom)) for atom in first)
        found.append(
            (
                len(lacking),
                number,
                command,
                "never tried" + (f"; against it: {against}" if against else ""),
            )
        )
    for count, _, command, evidence in sorted(found):
        written = spell(command)
        if written not in done and not trust.bars(written, rules, situation):
            yield Option(written, float(count), evidence=evidence)
