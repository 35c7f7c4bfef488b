"""Tables of what scores with which things, where no fact about the things tells: where something
belongs.

A name may be tied to other names for good: by what the belief knows of it before anything was seen,
a `clean dress` is a `dress`. What was seen of some things then says something of others that were
never met. A table lists what scored, never what cannot: what it does not list is tried last.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rpms.induction.conclusions.action_model import support_by
from rpms.induction.conclusions.conditions import Circumstance, circumstance
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.templates import beginning_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Literal, kind_of
from rpms.store.evidence import Support, Witness


class Tie(NamedTuple):
    """Tie of a name to others: `is_a`, by a name in the role of `sort`."""

    predicate: str
    role: str
    name: str


NO_NAME = re.compile("[^a-z_]+")
"""Signs that stand in no name of a manual."""
_NO_SIGN = re.compile("[^a-z0-9_]+")
Ties = Mapping[str, Collection[Tie]]  # By name, or the kind of a name with a number


@dataclass(frozen=True)
class ScoreTable:
    """Scores: a kind of place → names of things, or the type of goal where any thing may do."""

    name: str
    args: tuple[str, str]
    rows: Mapping[str, Mapping[str, Support]]


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that scores, with what has to hold for it and the table that this asks."""

    goal: str
    book: Book
    once: tuple[int, ...] = ()  # The slots with whose names it scores once in an episode
    changes: tuple[Literal, ...] = ()  # Of which one at least has to be a change
    when: Circumstance = field(default_factory=lambda: Circumstance(()))
    roles: tuple[str, ...] = ()  # The role of one more slot, for the name that a thing is tied to
    table: ScoreTable | None = None
    share: float = 0.0  # Expected share of attempts that score; the observed share if 0
    chance: bool = False  # True if it scores seldom, but gains more than it loses
    blind: bool = False  # True if it is tried with things of which nothing is known


@dataclass
class _Tally:
    """Trials, by kinds of things or by episodes, and the steps of those that scored."""

    tried: set[str] = field(default_factory=set)
    good: dict[str, Witness] = field(default_factory=dict)

    @property
    def in_vain(self) -> int:
        return len(self.tried) - len(self.good)

    @property
    def support(self) -> Support:
        return support_by(list(self.good.values()), self.in_vain)

    def share(self, usual: float) -> float:
        """Expected share of attempts that score; `usual`: the share of all attempts, which
        counts as a few more.
        """
        return (len(self.good) + LIMITS.smoothing * usual) / (len(self.tried) + LIMITS.smoothing)

    def is_between(self, least: float, below: float, usual: float) -> bool:
        """True if it scored at all, in an expected share from `least` to `below`."""
        return bool(self.good) and least <= self.share(usual) < below


_Tallies = Mapping[str, Mapping[str, _Tally]]  # By kind of place and name of a thing


def by_kinds(
    deed: Deed, parameters: Sequence[str], attempts: Sequence[Attempt], ties: Ties
) -> Iterator[Deed]:
    """Conditions over tables for an action with two things, from its successes, surest first;
    the last asks nothing.
    """
    slots = _thing_and_place(attempts, ties)
    tallies = _count_scores(slots, parameters, attempts, ties)
    good = 0
    tried = 0
    known = {}
    for where, tally in tallies.places.items():
        good += len(tally.good)
        tried += len(tally.tried)
        if tally.good:
            known[where] = {deed.goal: tally}
    usual = good / max(1, tried)
    yield from _by_ties(deed, parameters, slots, tallies.pairs, usual)
    asked = Literal(Atom(f"{_table_name(deed)}_at", (str(slots.place), deed.goal)))
    yield _asking(deed, (asked,), (parameters[slots.place], "goal"), known)
    any_time = Circumstance((), confirmed=good, against=tried - good)
    # half the usual share, since nothing speaks for it
    yield replace(deed, when=any_time, share=usual / 2, blind=True)


def _table_name(deed: Deed) -> str:
    """Beginning of the names of a deed's tables."""
    action = beginning_of(deed.book.template).strip()
    return NO_NAME.sub("_", f"{action} scores in {deed.goal}")


class _Slots(NamedTuple):
    """The slot of what is put somewhere, and the slot of where."""

    thing: int
    place: int


def _thing_and_place(attempts: Iterable[Attempt], ties: Ties) -> _Slots:
    """The thing is the slot whose names are tied to others more often."""
    times_tied = [0, 0]
    for attempt in attempts:
        for slot, word in enumerate(attempt.names):
            if ties.get(word) or ties.get(kind_of(word)):
                times_tied[slot] += 1
    first, second = times_tied
    if second > first:
        return _Slots(thing=1, place=0)
    return _Slots(thing=0, place=1)


class _ScoreTallies(NamedTuple):
    """Scores by kind of place; and by what a thing is tied to, and by kind of place."""

    places: dict[str, _Tally]
    pairs: dict[Tie, dict[str, _Tally]]


def _count_scores(
    slots: _Slots, parameters: Sequence[str], attempts: Iterable[Attempt], ties: Ties
) -> _ScoreTallies:
    """Count kinds of things that scored; a thing that is tied to nothing counts for its kind."""
    counted = _ScoreTallies({}, {})
    for attempt in attempts:
        kind = attempt.kinds[slots.thing]
        where = attempt.kinds[slots.place]
        itself = Tie("", parameters[slots.thing], kind)
        own = ties.get(attempt.names[slots.thing]) or ties.get(kind) or (itself,)
        concerned = [counted.places.setdefault(where, _Tally())]
        for tie in own:
            by_place = counted.pairs.setdefault(tie, {})
            concerned.append(by_place.setdefault(where, _Tally()))
        for tally in concerned:
            tally.tried.add(kind)
            if attempt.scored:
                tally.good.setdefault(kind, attempt.witness)
    return counted


def _by_ties(
    deed: Deed,
    parameters: Sequence[str],
    slots: _Slots,
    pairs: Mapping[Tie, Mapping[str, _Tally]],
    usual: float,
) -> Iterator[Deed]:
    """Conditions over tables of what a thing is tied to: one for each range of how often it
    scored, and each way of being tied.
    """
    thing = str(slots.thing)
    below = 2.0
    for title, least in LIMITS.score_shares:
        for way, rows in _rows_between(pairs, least, below, usual).items():
            name = f"{_table_name(deed)}_{title}_{way.role}"
            literals: list[Literal] = []
            roles: tuple[str, ...] = ()
            word = thing
            if way.predicate:
                roles = (way.role,)
                word = str(len(parameters))
                literals.append(Literal(Atom(way.predicate, (thing, word))))
            literals.append(Literal(Atom(name, (str(slots.place), word))))
            with_share = replace(deed, roles=roles, share=_mean_share(rows, usual))
            yield _asking(with_share, tuple(literals), (parameters[slots.place], way.role), rows)
        below = least


class _WayOfTying(NamedTuple):
    """The predicate and the role of ties; without a predicate, the thing counts as itself."""

    predicate: str
    role: str


def _rows_between(
    pairs: Mapping[Tie, Mapping[str, _Tally]], least: float, below: float, usual: float
) -> dict[_WayOfTying, dict[str, dict[str, _Tally]]]:
    """Tables with what scored in a share of attempts from `least` to `below`."""
    rows: dict[_WayOfTying, dict[str, dict[str, _Tally]]] = {}
    for tie, by_place in pairs.items():
        for where, tally in by_place.items():
            if tally.is_between(least, below, usual):
                table = rows.setdefault(_WayOfTying(tie.predicate, tie.role), {})
                table.setdefault(where, {})[tie.name] = tally
    return rows


def _mean_share(rows: _Tallies, usual: float) -> float:
    """The mean of the expected shares in a table."""
    shares = []
    for row in rows.values():
        for tally in row.values():
            shares.append(tally.share(usual))
    return sum(shares) / len(shares)


def by_kind_of_thing(
    deed: Deed, parameter: str, topic: str, attempts: Sequence[Attempt]
) -> Iterator[Deed]:
    """Conditions over tables of the kinds with which an action with one thing scored, where goals
    have one topic: one for each range of how often.
    """
    tallies = _count_kinds(attempts)
    scored = [attempt for attempt in attempts if attempt.scored]
    usual = len(scored) / max(1, len(attempts))
    below = 2.0
    for title, least in LIMITS.score_shares:
        row = {}
        for kind, tally in tallies.items():
            if tally.is_between(least, below, usual):
                row[kind] = tally
        below = least
        good = sum(len(tally.good) for tally in row.values())
        if good < LIMITS.fewest_good:
            continue
        rows = {topic: row}
        name = _NO_SIGN.sub("_", f"{_table_name(deed)} {topic} {title}".lower())
        asked = Literal(Atom(name, (topic, "0")))
        with_share = replace(deed, share=_mean_share(rows, usual))
        yield _asking(with_share, (asked,), ("goal", parameter), rows)


def _count_kinds(attempts: Iterable[Attempt]) -> dict[str, _Tally]:
    """Episodes in which each kind was tried, and those in which it scored."""
    tallies: dict[str, _Tally] = {}
    for attempt in attempts:
        tally = tallies.setdefault(attempt.kinds[0], _Tally())
        episode = attempt.witness.episode
        tally.tried.add(episode)
        if attempt.scored:
            tally.good.setdefault(episode, attempt.witness)
    return tallies


def _asking(
    deed: Deed, literals: tuple[Literal, ...], args: tuple[str, str], rows: _Tallies
) -> Deed:
    """A deed under a condition of which the last fact is that of a table."""
    listed: dict[str, dict[str, Support]] = {}
    good: list[Witness] = []
    in_vain = 0
    for where, row in rows.items():
        listed[where] = {word: tally.support for word, tally in row.items()}
        for tally in row.values():
            good += tally.good.values()
            in_vain += tally.in_vain
    when = circumstance(literals, good, in_vain)
    return replace(deed, when=when, table=ScoreTable(literals[-1].atom.predicate, args, listed))
