"""Doubts about what an action needs: it may do without a need that the manual states, or need more
than that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, DoubtfulAction
from rpms.logic.facts import Clause, Literal
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.planning.doubts import SUPPOSED, ActionInDoubt, Doubt, without
from rpms.planning.facts_at_stake import excludes, undone_with, users
from rpms.planning.trust import CONTRADICTED, STEPS, ManualLine

LIKELY = 1.0
"""Price of supposing a need that the manual does not state, in steps, where several other actions
have it, or where it is a lasting fact that no line uses."""
POSSIBLE = 3.5
"""The same where one other action has it, or where its opposite is stated."""
UNLIKELY = 8.5
"""The same for all others."""


class DoubtedNeed(NamedTuple):
    """A need that may not be one."""

    need: Clause
    price: float
    """The steps that going against it costs."""
    contradicted: bool
    """True if something spoke against it."""


def doubted_needs(action: ActionInDoubt) -> list[DoubtedNeed]:
    """The needs of an action, and what going against each costs."""
    found: list[DoubtedNeed] = []
    for need in action.rules.needs_of(action.left):
        line = ManualLine.of_need(action.rules, action.stated, need)
        contradicted = action.trust.evidence.get(line, 0.0) < 0
        found.append(DoubtedNeed(need, action.trust.against(line), contradicted))
    return found


def doubts_of_needs(action: ActionInDoubt) -> Iterator[Doubt]:
    """An action without one of its needs, without two, or with others."""
    needs = doubted_needs(action)
    left = DoubtfulAction.of(action.left)
    for doubted in needs:
        yield Doubt(without(left, doubted.price, doubted.need), doubted.contradicted)
    for one, other in combinations(needs, 2):
        yield Doubt(without(left, one.price + other.price, one.need, other.need))
    yield from _supposing(action, needs)


def _supposing(action: ActionInDoubt, needs: Sequence[DoubtedNeed]) -> Iterator[Doubt]:
    """An action with one need that the manual does not state, also without one that it does; or
    with two.
    """
    suspects = _suspects(action)
    for suspect in suspects:
        supposed = _supposed(action, (suspect,), suspects[suspect])
        if supposed is None:
            continue
        doubt = DoubtfulAction.of(supposed)
        yield Doubt(doubt, contradicted=True)
        for doubted in needs:
            if doubted.need in supposed.preconditions:
                yield Doubt(without(doubt, doubted.price, doubted.need))
    for pair in _suspect_pairs(action, suspects):
        supposed = _supposed(action, pair, 1)
        if supposed is not None:
            yield Doubt(DoubtfulAction.of(supposed))


def _suspects(action: ActionInDoubt) -> dict[Literal, int]:
    """Facts that an action may need beside those stated, with the refusals that each leaves
    unexplained.
    """
    known = {*action.left.effects, *single_literals(action.left.preconditions)}
    suspects = action.trust.suspects(action.key)
    return {one: left for one, left in suspects.items() if one not in known}


def _suspect_pairs(
    action: ActionInDoubt, suspects: Mapping[Literal, int]
) -> Iterator[tuple[Literal, ...]]:
    """Pairs of suspects that explain all refusals together, and not each for itself."""
    refusals = action.trust.unexplained.get(action.key, ())
    unexplaining = [one for one, left in suspects.items() if left]
    for pair in combinations(unexplaining, 2):
        if not any(false.isdisjoint(pair) for false in refusals):
            yield pair


def _supposed(
    action: ActionInDoubt, supposed: Sequence[Literal], unexplained: int
) -> ActionSchema | None:
    """An action with needs that the manual does not state, in place of their opposites; None if
    they cannot hold together: nothing is at two places, or open and closed.

    `unexplained` is the number of refusals that they do not explain.
    """
    stated = action.left.preconditions
    opposites = [Clause((one.opposite(),)) for one in supposed]
    needs = [need for need in stated if need not in opposites]
    singles = single_literals(needs)
    if _contradict(action.rules, supposed, (*singles, *supposed)):
        return None
    price = -STEPS * CONTRADICTED * unexplained
    for one, opposite in zip(supposed, opposites, strict=True):
        if _is_undone_with(action.rules, one, tuple(singles)):
            price += UNLIKELY
        elif opposite in stated:
            price += POSSIBLE
        else:
            price += _plausible(action.rules, one, action.stated.name)
    more = [Clause((one,)) for one in supposed]
    return action.left.varied(
        preconditions=(*needs, *more),
        steps=action.stated.steps + price,
        doubt=f"{action.left.name} {SUPPOSED} {' and '.join(map(str, supposed))}",
    )


def _contradict(rules: ActiveRules, facts: Iterable[Literal], others: Sequence[Literal]) -> bool:
    """True if one of some facts cannot hold beside some others."""
    for fact in facts:
        opposite = fact.opposite()
        if any(other == opposite or excludes(rules, fact, other) for other in others):
            return True
    return False


@kept_with_rules
def _plausible(rules: ActiveRules, suspect: Literal, action: str) -> float:
    """Steps by which an unstated need of an action is tried after others; predicates that other
    actions need come first.
    """
    predicate = rules.predicates[suspect.atom.predicate]
    if predicate.lasting:
        stated = {literal.atom.predicate for literal in users(rules)}
        if predicate.name not in stated:
            return LIKELY
    others = users(rules).get(suspect, frozenset()) - {action}
    if not others:
        return UNLIKELY
    return POSSIBLE if len(others) == 1 else LIKELY


@kept_with_rules
def _is_undone_with(rules: ActiveRules, fact: Literal, others: tuple[Literal, ...]) -> bool:
    """True if every action causing one of `others` ends a fact, or if they exclude it."""
    return bool(undone_with(rules, (fact,), others))


def single_literals(needs: Iterable[Clause]) -> list[Literal]:
    """The facts that needs ask for by themselves, with no other that would do instead."""
    return [need.literals[0] for need in needs if len(need.literals) == 1]
