"""What scores with which things, as tables, where no fact about the things tells: where something belongs.

A name may be tied to other names for good: by what the belief knows of it before anything was seen, a `clean dress` is
a `dress`. What was seen of some things then says something of others that were never met. A table lists what scored,
never what cannot: what it does not list is tried last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rpms.core.facts import Atom, Literal, kind_of
from rpms.learn.rules.attempts import Attempt
from rpms.learn.rules.views import Circumstance

_SHARES = {"mostly": 0.8, "often": 0.45, "sometimes": 0.15}
"""By table, the share of the things that have to have scored in a place to stand in it."""
_DOUBT = 1.0
"""Things by which a row is moved towards what scores on the whole: one alone proves little."""


class Tie(NamedTuple):
    """What a name is tied to: `is_a`, by a name in the role of `sort`."""

    predicate: str
    role: str
    name: str


Ties = Mapping[str, Collection[Tie]]
"""By name, or the kind of a name with a number."""


class ScoreRow(NamedTuple):
    """What a table says of two names, and what speaks for it."""

    good: int
    """Kinds of things that scored."""
    tried: int
    witnesses: tuple[Attempt, ...]


@dataclass(frozen=True)
class ScoreTable:
    """What scored: a kind of place → names of things, or the type of goal where any thing may do."""

    name: str
    args: tuple[str, str]
    rows: Mapping[str, Mapping[str, ScoreRow]]

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """What it lists, in the order of names."""
        return {place: tuple(sorted(row)) for place, row in sorted(self.rows.items())}


@dataclass(frozen=True)
class Told:
    """A condition with the table that it asks; the tie's role is one more slot."""

    when: Circumstance
    roles: tuple[str, ...] = ()
    table: ScoreTable | None = None
    share: float = 0.0
    """How often it may be expected to score; as often as it did where this is 0."""

    @property
    def steps(self) -> float:
        """What it costs in a plan: what often fails costs more."""
        return round(1 / (self.share or self.when.share), 1)


@dataclass
class _Tally:
    tried: set[str] = field(default_factory=set)
    good: dict[str, Attempt] = field(default_factory=dict)

    def share(self, usual: float) -> float:
        return (len(self.good) + _DOUBT * usual) / (len(self.tried) + _DOUBT)

    @property
    def row(self) -> ScoreRow:
        return ScoreRow(len(self.good), len(self.tried), tuple(self.good.values()))


def by_kinds(
    name: str, goal: str, parameters: Sequence[str], attempts: Sequence[Attempt], ties: Ties
) -> Iterator[Told]:
    """Conditions over tables for an action with two things, surest first; the last asks nothing.

    `attempts`: the successes, of which those count that scored.
    """
    thing, place = _slots(attempts, ties)
    role = parameters[place]
    pairs: dict[tuple[str, str, str], dict[str, _Tally]] = {}
    places: dict[str, _Tally] = {}
    for attempt in attempts:
        kind, where = attempt.kinds[thing], attempt.kinds[place]
        own = ties.get(attempt.names[thing]) or ties.get(kind) or (Tie("", parameters[thing], kind),)
        for tally in (
            places.setdefault(where, _Tally()),
            *(pairs.setdefault(tie, {}).setdefault(where, _Tally()) for tie in own),
        ):
            tally.tried.add(kind)
            if attempt.gained > 0:
                tally.good.setdefault(kind, attempt)
    good, tried = sum(len(each.good) for each in places.values()), sum(len(each.tried) for each in places.values())
    usual = good / max(1, tried)
    below = 2.0
    for title, least in _SHARES.items():
        rows: dict[tuple[str, str], dict[str, dict[str, _Tally]]] = {}
        for (predicate, other, word), by_place in pairs.items():
            for where, tally in by_place.items():
                if tally.good and least <= tally.share(usual) < below:
                    rows.setdefault((predicate, other), {}).setdefault(where, {})[word] = tally
        for (predicate, other), some in rows.items():
            table = _table(f"{name}_{title}_{other}", (role, other), some)
            word = str(len(parameters)) if predicate else str(thing)
            asked = (Literal(Atom(table.name, (str(place), word))),)
            tied = (Literal(Atom(predicate, (str(thing), word))),) if predicate else ()
            tallies = _all(some)
            share = sum(tally.share(usual) for tally in tallies) / len(tallies)
            yield Told(_when((*tied, *asked), tallies), (other,) if predicate else (), table, share)
        below = least
    known = {where: {goal: tally} for where, tally in places.items() if tally.good}
    table = _table(f"{name}_at", (role, "goal"), known)
    yield Told(_when((Literal(Atom(table.name, (str(place), goal))),), _all(known)), (), table)
    yield Told(Circumstance((), good, tried - good), share=usual / 2)  # nothing speaks for it


def _slots(attempts: Iterable[Attempt], ties: Ties) -> tuple[int, int]:
    """Which slot is for things that are tied to other names, and which is for places."""
    tied = Counter(
        slot for each in attempts for slot, name in enumerate(each.names) if ties.get(name) or ties.get(kind_of(name))
    )
    return (1, 0) if tied[1] > tied[0] else (0, 1)


def _table(name: str, args: tuple[str, str], rows: Mapping[str, Mapping[str, _Tally]]) -> ScoreTable:
    listed = {where: {word: each.row for word, each in row.items()} for where, row in rows.items()}
    return ScoreTable(name, args, listed)


def _all(rows: Mapping[str, Mapping[str, _Tally]]) -> list[_Tally]:
    return [tally for row in rows.values() for tally in row.values()]


def _when(literals: tuple[Literal, ...], tallies: Sequence[_Tally]) -> Circumstance:
    good = sum(len(each.good) for each in tallies)
    witnesses = tuple(attempt for each in tallies for attempt in each.good.values())
    return Circumstance(literals, good, sum(len(each.tried) for each in tallies) - good, witnesses[:5])
