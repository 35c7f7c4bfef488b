"""Tables of what scores with which things, where no fact about the things tells: where something belongs.

A name may be tied to other names for good: by what the belief knows of it before anything was seen, a `clean dress` is
a `dress`. What was seen of some things then says something of others that were never met. A table lists what scored,
never what cannot: what it does not list is tried last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rpms.core.facts import Atom, Clause, Literal, kind_of
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.conditions import Circumstance, conditions, view
from rpms.learn.rules.model import ActionModel, Induced
from rpms.learn.rules.processes import Process, process_of
from rpms.learn.rules.templates import SLOT, Names
from rpms.learn.rules.thresholds import LIMITS
from rpms.store.evidence import Support


class Tie(NamedTuple):
    """Tie of a name to others: `is_a`, by a name in the role of `sort`."""

    predicate: str
    role: str
    name: str


Ties = Mapping[str, Collection[Tie]]  # By name, or the kind of a name with a number


@dataclass(frozen=True)
class ScoreTable:
    """Scores: a kind of place → names of things, or the type of goal where any thing may do."""

    name: str
    args: tuple[str, str]
    rows: Mapping[str, Mapping[str, Support]]

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """Its rows, in the order of names."""
        return {place: tuple(sorted(row)) for place, row in sorted(self.rows.items())}


@dataclass(frozen=True)
class Told:
    """A condition with the table that it asks; the tie's role is one more slot."""

    when: Circumstance
    roles: tuple[str, ...] = ()
    table: ScoreTable | None = None
    share: float = 0.0  # How often it may be expected to score; as often as it did where this is 0

    @property
    def steps(self) -> float:
        """Its cost in a plan: what often fails costs more."""
        return round(1 / (self.share or self.when.share), 1)


@dataclass
class _Tally:
    tried: set[str] = field(default_factory=set)
    good: dict[str, Attempt] = field(default_factory=dict)

    def share(self, usual: float) -> float:
        return (len(self.good) + LIMITS.doubt * usual) / (len(self.tried) + LIMITS.doubt)

    @property
    def row(self) -> Support:
        """Evidence in kinds of things, of which each scored at a step."""
        steps, bad = [attempt.witness for attempt in self.good.values()], len(self.tried) - len(self.good)
        return Support(confirmed=len(steps), against=bad, witnesses=tuple(steps[: LIMITS.witnesses]))


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
    for title, least in LIMITS.score_shares:
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
    """Slot for things that are tied to other names, and slot for places."""
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
    steps = tuple(attempt.witness for each in tallies for attempt in each.good.values())
    return Circumstance(literals, good, sum(len(each.tried) for each in tallies) - good, steps[: LIMITS.witnesses])


ADVANCED = Atom("advanced")
_NO_NAME = re.compile("[^a-z_]+")


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that scores, with what has to hold for it."""

    goal: str
    book: Book
    told: Told
    once: tuple[int, ...] = ()  # The slots with whose names it scores once in an episode
    blind: bool = False  # Whether it is tried with things of which nothing is known


def deeds_of(books: list[Book], goal: str, names: Names, ties: Ties) -> list[Deed]:
    """All that scored with goals of a type; nothing where only wins do."""
    every = [attempt for book in books for attempt in book.attempts if attempt.goal == goal]
    if sum(_scored(attempt) and not attempt.won for attempt in every) < LIMITS.score_rises:
        return []
    found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=True)]
    if not any(deed.blind for deed in found):  # what facts tell may well be wanted again
        found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=False)]
    ordered = any(deed.book.template == SLOT for deed in found)
    return [deed for deed in found if deed.book.slots or not ordered]


def _scored(attempt: Attempt) -> bool:
    return attempt.gained > 0


def _deeds(book: Book, goal: str, names: Names, ties: Ties, *, blind: bool) -> Iterator[Deed]:
    """Circumstances in which an action scores: facts, or where those tell little, kinds of things.

    `blind`: what was not done again is taken to count once.
    """
    every = [attempt for attempt in book.attempts if attempt.goal == goal and not attempt.refused]
    if not any(map(_scored, every)):
        return
    tried = [attempt for attempt in book.attempts if attempt.goal == goal]
    once = _once(tried, len(book.slots), blind=blind) if book.template != SLOT else ()
    done = list(_first_times(every)) if once else every
    found = conditions(view(_with_goal(book), [_meant(book, attempt) for attempt in done], _scored))
    told = [when for when in found if when.good >= LIMITS.score_rises]
    parameters = book.called(names)
    scored = sum(map(_scored, done))
    lost = sum(attempt.lost for attempt in done)
    untold = sum(when.good for when in told) < LIMITS.score_told * scored and lost <= LIMITS.score_harmless * (
        len(done) - scored
    )
    if len(book.slots) == 2 and parameters and untold:
        name = f"{book.template.partition(SLOT)[0].strip()} scores in {goal}"
        tables = by_kinds(_NO_NAME.sub("_", name), goal, parameters, done, ties)
        yield from (Deed(goal, book, each, once, blind=each.table is None) for each in tables)
    else:
        yield from (Deed(goal, book, Told(when), once) for when in told)


def _first_times(attempts: Iterable[Attempt]) -> Iterator[Attempt]:
    """Of what was done again with the same names in an episode, the first time."""
    seen = set()
    for attempt in attempts:
        key = (attempt.witness.episode, attempt.names)
        if key not in seen:
            seen.add(key)
            yield attempt


def _once(attempts: Sequence[Attempt], slots: int, *, blind: bool) -> tuple[int, ...]:
    """The slots with whose names it scores once: one, if it did not get further with that again, else all or none."""
    for some in (*((slot,) for slot in range(slots if slots > 1 else 0)), tuple(range(slots))):
        again = list(_again(attempts, some))
        enough = len(again) >= LIMITS.several or (blind and len(some) == slots)
        if enough and sum(attempt.further for attempt in again) <= LIMITS.scores_again * len(again):
            return some
    return ()


def _again(attempts: Iterable[Attempt], slots: tuple[int, ...]) -> Iterator[Attempt]:
    """Actions done after they had scored in the same episode with the same names in some slots."""
    scored = set()
    for attempt in attempts:
        key = (attempt.witness.episode, *(attempt.names[slot] for slot in slots))
        if key in scored:
            yield attempt
        elif _scored(attempt):
            scored.add(key)


def _with_goal(book: Book) -> Book:
    """The same book with facts about what the goal names."""
    slots = range(len(book.slots))
    meant = [Atom(name, (str(slot),)) for slot in slots for name in ("goal_object", "goal_destination")]
    return replace(book, facts=[*book.facts, *meant])


def _meant(book: Book, attempt: Attempt) -> Attempt:
    """An attempt with the facts about what the goal names after all others."""
    size, every = len(book.facts), (1 << 2 * len(book.slots)) - 1
    return attempt._replace(
        true=attempt.true | attempt.meant << size, false=attempt.false | (every & ~attempt.meant) << size
    )


def score_tables(deeds: Iterable[Deed]) -> tuple[ScoreTable, ...]:
    """The tables that deeds ask."""
    return tuple(deed.told.table for deed in deeds if deed.told.table is not None)


def looks(deeds: Iterable[Deed], links: Sequence[Process]) -> Iterator[Process]:
    """Actions that show more things, as a way to get further before any are tried blindly."""
    ended = [(link.schema.syntax, one.opposite()) for link in links for one in link.schema.effects]
    for goal in dict.fromkeys(deed.goal for deed in deeds if deed.blind):
        for link in links:
            schema = link.schema
            needs = [clause.literals[0] for clause in schema.preconditions]
            if schema.observes and any((schema.syntax, need) in ended for need in needs):
                of_goal = Clause((Literal(Atom("goal_type", (goal,))),))
                onward = replace(schema, observes=(), effects=(Literal(ADVANCED),), steps=LIMITS.looking_for_more)
                needed = (*schema.preconditions, of_goal)
                name = _NO_NAME.sub("_", f"{schema.name} for {goal}")
                yield link._replace(schema=replace(onward, name=name, id="", preconditions=needed))


def deed_processes(deeds: Iterable[Deed], actions: Mapping[str, ActionModel], names: Names) -> Iterator[Process]:
    """Deeds as processes: a command, what it needs to be done and to score, and that the task has got further."""
    taken: Counter[str] = Counter()
    for deed in deeds:
        parameters, action = deed.book.called(names), actions.get(deed.book.template)
        if parameters is None:
            continue
        needs = (*action.guessed, *action.circumstances) if action is not None else ()
        told = deed.told
        when = replace(told.when, literals=tuple(dict.fromkeys((*told.when.literals, *needs))))
        base = f"score_{action.name if action is not None else 'order'}"
        taken[base] += 1
        name = base if taken[base] == 1 else f"{base}_{taken[base]}"
        slots = (*parameters, *told.roles)
        found = process_of(name, deed.book.template, slots, when, [Induced(Clause((Literal(ADVANCED),)))])
        of_goal = Clause((Literal(Atom("goal_type", (deed.goal,))),))
        once = tuple(parameters[slot] for slot in deed.once)
        needed = (*found.schema.preconditions, of_goal)
        schema = replace(found.schema, preconditions=needed, once=once, steps=told.steps)
        yield found._replace(schema=schema, risk=_risk(deed))


def _risk(deed: Deed) -> float:
    """Cost of a deed that may end the task: of such the surest comes first."""
    deadly = any(attempt.lost for attempt in deed.book.attempts)
    good, bad = deed.told.when.good, deed.told.when.bad
    return round(LIMITS.ruin * (bad + 1) / (good + bad + 2), 1) if deadly else 0.0
