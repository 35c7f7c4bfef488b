"""Facts to bring about, the needs they have, and actions as ways to them."""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple, Self

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom, Literal

_EITHER = "<either>"
"""Predicate of several facts of which one would do. No manual can write a name with brackets, so
that it never meets a predicate of a user's own."""


NamedFact = tuple[str, tuple[str, ...]]
"""A predicate and names: a fact, as a situation is asked for its value."""


class Fact(NamedTuple):
    """A fact to bring about, as planning handles it."""

    predicate: str
    args: tuple[str, ...]
    negated: bool = False
    makeable: bool = True
    """True if actions may bring it about; otherwise it can only be found to be so."""

    @classmethod
    def either(cls, facts: Sequence["Fact"]) -> "Fact":
        """One of several facts, whichever is had first."""
        if len(facts) == 1:
            return facts[0]
        return cls(_EITHER, tuple(facts))  # type: ignore[arg-type]

    @property
    def alternatives(self) -> tuple["Fact", ...]:
        """Facts of which one is enough; empty for a single fact."""
        if self.predicate != _EITHER:
            return ()
        return tuple([Fact(*each) for each in self.args])

    @property
    def atom(self) -> Atom:
        return Atom(self.predicate, self.args)

    def bound(self, binding: Mapping[str, str]) -> Self:
        """The fact with names in place of parameters."""
        return type(self)(
            self.predicate,
            tuple(map(binding.get, self.args, self.args)),
            self.negated,
            self.makeable,
        )


class Need(NamedTuple):
    """A precondition over the parameters of a schema, ready to be bound."""

    literals: tuple[Fact, ...]
    names: frozenset[str]
    """The parameters it is about."""
    moving: bool
    """True if it is about where the agent is: to be seen to last, since all else may lead
    elsewhere."""
    given: bool = False
    """True if it is only the condition of a revelation."""
    wanted: bool = False
    """True if it is the goal's own, and so never taken for granted."""


class Level(NamedTuple):
    """One parameter that a fact leaves open, in the order in which they are filled."""

    parameter: str
    needs: tuple[Need, ...]
    """The needs that can be judged once it has a name."""
    later: tuple[Need, ...]
    """All that could not be judged before it."""
    sought: Fact | None
    """The first need that says where something is: names are tried by what is known of it."""
    filters: tuple[Need, ...]
    """Needs of one fact about the parameter, by which names are ruled out before they are tried."""
    listed: tuple[Fact, ...]
    """Permanent facts among these about another name and the parameter: a table lists its names."""


@dataclass(frozen=True)
class Achiever:
    """A schema as a way to a fact: to make it so, or to reveal it."""

    schema: ActionSchema
    parameters: tuple[str, ...]
    fact: Fact
    needs: tuple[Need, ...]
    reveals: bool = False
    circular: bool = False
    """True if it needs the very fact it gives: one goes to a room that is near, and then it is
    near."""
    waived: tuple[Need, ...] = ()
    """Needs that a doubt leaves out. If one of them holds, there is nothing to doubt."""
    shape: int = 0
    """A number for all ways that differ in price and name alone: their parameters are filled in the
    same way."""

    def priced_as(self, schema: ActionSchema) -> Self:
        """The way by an action that differs in its price alone.

        Derived values (`bound`) are kept: `replace` would drop them, and trust changes the prices
        of hundreds of doubts at a time.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self), schema=schema)
        return other

    @cached_property
    def bound(self) -> tuple[Need, ...]:
        """The needs that can be judged by the names of the fact alone."""
        named = self.fact.args
        if all(name in named for name in self.parameters):
            return self.needs
        return tuple(need for need in self.needs if need.names.issubset(named))

    def levels(self, revealed: Container[str], tables: Container[str]) -> tuple[Level, ...]:
        """The parameters that the fact leaves open, one level each, in the order of the action.

        `revealed`: predicates that looking tells; `tables`: those that tables list.
        """
        named = set(self.fact.args)
        open_needs = _without(self.needs, self.bound)
        free = [name for name in self.parameters if name not in named]
        found: list[Level] = []
        for name in free:
            named.add(name)
            judged = open_needs
            if name != free[-1]:
                judged = tuple(need for need in open_needs if need.names <= named)
            found.append(_level(name, judged, open_needs, revealed, tables))
            open_needs = _without(open_needs, judged)
        return tuple(found)


def _without(needs: Iterable[Need], others: Container[Need]) -> tuple[Need, ...]:
    return tuple(need for need in needs if need not in others)


def _level(
    name: str,
    judged: tuple[Need, ...],
    open_needs: tuple[Need, ...],
    revealed: Container[str],
    tables: Container[str],
) -> Level:
    """One parameter with the needs that can be judged once it has a name."""
    filters = _needs_of_one_fact(judged, name)
    listed = tuple(need.literals[0] for need in filters if _is_listed(need, name, tables))
    sought = _sought(open_needs, name, revealed)
    return Level(name, judged, open_needs, sought, filters, listed)


def _needs_of_one_fact(needs: Iterable[Need], parameter: str) -> tuple[Need, ...]:
    """Needs of a single fact that is about the parameter."""
    single = [need for need in needs if len(need.literals) == 1]
    return tuple(need for need in single if parameter in need.literals[0].args)


def _is_listed(need: Need, parameter: str, tables: Container[str]) -> bool:
    """True if a table lists the names that the parameter may have, beside another name."""
    fact = need.literals[0]
    if fact.negated or fact.makeable or fact.predicate not in tables:
        return False
    return fact.args[1] == parameter


def _sought(needs: Iterable[Need], parameter: str, revealed: Container[str]) -> Fact | None:
    """The first fact about the parameter that only looking tells."""
    for need in needs:
        fact = need.literals[0]
        if parameter in fact.args and not fact.makeable and fact.predicate in revealed:
            return fact
    return None


def _none_to_prepare(place: int) -> Achiever:
    raise IndexError(place)


@dataclass(eq=False)
class Offer:
    """Ways to a fact, in the order of the manual, and after them those that are found late.

    There may be hundreds, and few are asked for at a time: each is prepared when it is first asked
    for.
    """

    prices: list[float] = field(default_factory=list)
    """The steps of each way's action, in their order."""
    prepare: Callable[[int], Achiever] = _none_to_prepare
    """Prepares the way at a place in this order."""
    find_late: Callable[[], Sequence[float]] | None = None
    """Finds the late ways, which then can be prepared too, and tells their prices; None once that
    is done."""
    least_late: float = inf
    """No late way costs less than this: they are found once ways are asked for that cost as
    much."""
    _prepared: dict[int, Achiever] = field(default_factory=dict)
    _by_price: list[tuple[float, int]] = field(default_factory=list)
    """The prices, the least first, each with the way's place."""

    def __post_init__(self) -> None:
        self._sort_prices()

    def _sort_prices(self) -> None:
        self._by_price = sorted([(price, place) for place, price in enumerate(self.prices)])

    def __iter__(self) -> Iterator[Achiever]:
        early = len(self.prices)
        for place in range(early):
            yield self.way(place)
        self._find_late()
        for place in range(early, len(self.prices)):
            yield self.way(place)

    def __bool__(self) -> bool:
        if not self.prices:
            self._find_late()
        return bool(self.prices)

    def _find_late(self) -> None:
        """Find the late ways, if that was not done before."""
        if self.find_late is not None:
            find, self.find_late, self.least_late = self.find_late, None, inf
            self.prices += find()
            self._sort_prices()

    def way(self, place: int) -> Achiever:
        """The way at a place."""
        found = self._prepared.get(place)
        if found is None:
            found = self._prepared[place] = self.prepare(place)
        return found

    def between(self, least: float, most: float) -> list[Achiever]:
        """The ways whose price is at least `least` and less than `most`, in their order."""
        if self.least_late < most:
            self._find_late()
        first = bisect_left(self._by_price, (least,))
        last = bisect_left(self._by_price, (most,))
        places = sorted([place for _, place in self._by_price[first:last]])
        return [self.way(place) for place in places]

    def least_from(self, price: float) -> float:
        """No way that costs at least a price costs less than this; infinite if there is none."""
        if self.least_late < price:
            self._find_late()
        place = bisect_left(self._by_price, (price,))
        least = self._by_price[place][0] if place < len(self._by_price) else inf
        return min(least, self.least_late)


class Judged(NamedTuple):
    """A need, judged in a situation."""

    possible: bool | None
    """True if it holds, False if it cannot be had, None if it can be brought about or assumed."""
    price: float
    """Steps that assuming it is worth."""
    left: Fact | None
    """The fact to achieve, if there is one."""


def fact_of(literal: Literal) -> Fact:
    """A condition as planning handles it."""
    return Fact(literal.atom.predicate, literal.atom.args, literal.negated)
