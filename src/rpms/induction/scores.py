"""Tables of what scores with which things, where no fact about the things tells: where something
belongs.

A name may be tied to other names for good: by what the belief knows of it before anything was seen,
a `clean dress` is a `dress`. What was seen of some things then says something of others that were
never met. A table lists what scored, never what cannot: what it does not list is tried last.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from rpms.induction.action_model import ActionModel, seen
from rpms.induction.attempts import Attempt, Book, done_again
from rpms.induction.conditions import Circumstance, conditions, view
from rpms.induction.templates import SLOT, Names
from rpms.induction.thresholds import LIMITS
from rpms.induction.unnamed_effects import Process, process_of
from rpms.logic.facts import Atom, Clause, Literal, kind_of
from rpms.store.evidence import Support, Witness


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


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that scores, with what has to hold for it and the table that this asks."""

    goal: str
    book: Book
    once: tuple[int, ...] = ()  # The slots with whose names it scores once in an episode
    when: Circumstance = field(default_factory=lambda: Circumstance(()))
    roles: tuple[str, ...] = ()  # The role of one more slot, for the name that a thing is tied to
    table: ScoreTable | None = None
    share: float = 0.0  # Expected share of attempts that score; the observed share if 0
    blind: bool = False  # True if it is tried with things of which nothing is known


@dataclass
class _Tally:
    tried: set[str] = field(default_factory=set)
    good: dict[str, Witness] = field(default_factory=dict)

    def share(self, usual: float) -> float:
        return (len(self.good) + LIMITS.doubt * usual) / (len(self.tried) + LIMITS.doubt)


_Tallies = Mapping[str, Mapping[str, _Tally]]  # By kind of place and name of a thing


def by_kinds(
    deed: Deed, parameters: Sequence[str], attempts: Sequence[Attempt], ties: Ties
) -> Iterator[Deed]:
    """Conditions over tables for an action with two things, from its successes, surest first;
    the last asks nothing.
    """
    slots = _thing_and_place(attempts, ties)
    tallies = _count_scores(slots, parameters, attempts, ties)
    good = sum(len(each.good) for each in tallies.places.values())
    tried = sum(len(each.tried) for each in tallies.places.values())
    usual = good / max(1, tried)
    yield from _by_ties(deed, parameters, slots, tallies.pairs, usual)
    known = {where: {deed.goal: tally} for where, tally in tallies.places.items() if tally.good}
    asked = Literal(Atom(f"{_table_name(deed)}_at", (str(slots.place), deed.goal)))
    yield _asking(deed, (asked,), (parameters[slots.place], "goal"), known)
    nothing = Circumstance((), confirmed=good, against=tried - good)  # nothing speaks for it
    yield replace(deed, when=nothing, share=usual / 2, blind=True)


def _table_name(deed: Deed) -> str:
    """Beginning of the names of a deed's tables."""
    action = deed.book.template.partition(SLOT)[0].strip()
    return _NO_NAME.sub("_", f"{action} scores in {deed.goal}")


class _Slots(NamedTuple):
    """The slot of what is put somewhere, and the slot of where."""

    thing: int
    place: int


def _thing_and_place(attempts: Iterable[Attempt], ties: Ties) -> _Slots:
    """The thing is the slot whose names are tied to others more often."""
    tied_in: Counter[int] = Counter()
    for attempt in attempts:
        for slot, word in enumerate(attempt.names):
            if ties.get(word) or ties.get(kind_of(word)):
                tied_in[slot] += 1
    return _Slots(1, 0) if tied_in[1] > tied_in[0] else _Slots(0, 1)


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
            literals = []
            word = thing
            if way.predicate:
                word = str(len(parameters))
                literals.append(Literal(Atom(way.predicate, (thing, word))))
            asked = Atom(f"{_table_name(deed)}_{title}_{way.role}", (str(slots.place), word))
            literals.append(Literal(asked))
            roles = (way.role,) if way.predicate else ()
            told = replace(deed, roles=roles, share=_mean_share(rows, usual))
            yield _asking(told, tuple(literals), (parameters[slots.place], way.role), rows)
        below = least


class _WayOfTying(NamedTuple):
    predicate: str
    role: str


def _rows_between(
    pairs: Mapping[Tie, Mapping[str, _Tally]], least: float, below: float, usual: float
) -> dict[_WayOfTying, dict[str, dict[str, _Tally]]]:
    """Tables with what scored in a share of attempts from `least` to `below`."""
    rows: dict[_WayOfTying, dict[str, dict[str, _Tally]]] = {}
    for tie, by_place in pairs.items():
        for where, tally in by_place.items():
            if tally.good and least <= tally.share(usual) < below:
                table = rows.setdefault(_WayOfTying(tie.predicate, tie.role), {})
                table.setdefault(where, {})[tie.name] = tally
    return rows


def _mean_share(rows: _Tallies, usual: float) -> float:
    shares = [tally.share(usual) for row in rows.values() for tally in row.values()]
    return sum(shares) / len(shares)


def _asking(
    deed: Deed, literals: tuple[Literal, ...], args: tuple[str, str], rows: _Tallies
) -> Deed:
    """A deed under a condition of which the last fact is that of a table."""

    def told(tallies: Sequence[_Tally]) -> dict[str, Any]:
        steps = [step for each in tallies for step in each.good.values()]
        return seen(steps, sum(len(each.tried) for each in tallies) - len(steps))

    listed = {
        where: {word: Support(**told([each])) for word, each in row.items()}
        for where, row in rows.items()
    }
    when = Circumstance(
        literals, **told([tally for row in rows.values() for tally in row.values()])
    )
    return replace(deed, when=when, table=ScoreTable(literals[-1].atom.predicate, args, listed))


ADVANCED = Atom("advanced")
_NO_NAME = re.compile("[^a-z_]+")


def deeds_of(books: list[Book], goal: str, names: Names, ties: Ties) -> list[Deed]:
    """All that scored with goals of a type; nothing where only wins do."""
    rises = 0
    for book in books:
        own = [attempt for attempt in book.attempts if attempt.goal == goal]
        rises += sum(attempt.scored and not attempt.won for attempt in own)
    if rises < LIMITS.score_rises:
        return []
    found = _deeds_of_all(books, goal, names, ties, blind=True)
    if not any(deed.blind for deed in found):  # deeds that facts explain may well be wanted again
        found = _deeds_of_all(books, goal, names, ties, blind=False)
    ordered = any(deed.book.template == SLOT for deed in found)
    return [deed for deed in found if deed.book.slots or not ordered]


def _deeds_of_all(
    books: Iterable[Book], goal: str, names: Names, ties: Ties, *, blind: bool
) -> list[Deed]:
    found: list[Deed] = []
    for book in books:
        found += _deeds(book, goal, names, ties, blind=blind)
    return found


def _deeds(book: Book, goal: str, names: Names, ties: Ties, *, blind: bool) -> Iterator[Deed]:
    """Circumstances in which an action scores: facts, or where those tell little, kinds of
    things.
    """
    tried = [attempt for attempt in book.attempts if attempt.goal == goal]
    done = [attempt for attempt in tried if not attempt.refused]
    if not any(attempt.scored for attempt in done):
        return
    once = _once(tried, len(book.slots), blind=blind) if book.template != SLOT else ()
    deed = Deed(goal, book, once)
    if once:
        done = _first_times(done)
    told = [
        when for when in conditions(_with_goal(book, done)) if when.confirmed >= LIMITS.score_rises
    ]
    parameters = book.called(names)
    if len(book.slots) == 2 and parameters and _facts_tell_little(told, done):
        yield from by_kinds(deed, parameters, done, ties)
    else:
        yield from (replace(deed, when=when) for when in told)


def _first_times(attempts: Iterable[Attempt]) -> list[Attempt]:
    """The first attempt of each episode with the same names."""
    met: set[tuple[str, tuple[str, ...]]] = set()
    first = []
    for attempt in attempts:
        key = (attempt.witness.episode, attempt.names)
        if key not in met:
            met.add(key)
            first.append(attempt)
    return first


def _facts_tell_little(told: Iterable[Circumstance], done: Sequence[Attempt]) -> bool:
    """True if facts explain too few of the scores, and trying kinds of things does no harm.

    Harm is looked for among attempts with some kind that has scored in its slot.
    """
    scored = [attempt for attempt in done if attempt.scored]
    promising: set[tuple[int, str]] = set()
    for attempt in scored:
        promising.update(enumerate(attempt.kinds))
    vain = [attempt for attempt in done if not attempt.scored]
    vain = [each for each in vain if not promising.isdisjoint(enumerate(each.kinds))]
    losses = sum(attempt.lost for attempt in vain)
    if losses > LIMITS.score_harmless * len(vain):
        return False
    return sum(when.confirmed for when in told) < LIMITS.score_told * len(scored)


def _once(attempts: Sequence[Attempt], slots: int, *, blind: bool) -> tuple[int, ...]:
    """Slots whose names score once an episode: one, if repeats with its name brought no new
    best, else all or none.
    """
    every = tuple(range(slots))
    choices = [(slot,) for slot in every] if slots > 1 else []
    for some in (*choices, every):
        again = list(done_again(attempts, some, lambda each: each.scored))
        # blind: all names together need not have been done again
        enough = len(again) >= LIMITS.several or (blind and len(some) == slots)
        if enough and sum(attempt.further for attempt in again) <= LIMITS.scores_again * len(again):
            return some
    return ()


def _with_goal(book: Book, attempts: Iterable[Attempt]) -> Book:
    """A book of some attempts, in which those count that scored, with facts about what the goal
    names.
    """
    size = len(book.facts)
    meant = [
        Atom(name, (str(slot),))
        for slot in range(len(book.slots))
        for name in ("goal_object", "goal_destination")
    ]
    every = (1 << len(meant)) - 1
    rows = [
        each._replace(
            true=each.true | each.meant << size, false=each.false | (every & ~each.meant) << size
        )
        for each in attempts
    ]
    return view(replace(book, facts=[*book.facts, *meant]), rows, lambda attempt: attempt.scored)


def looks(deeds: Iterable[Deed], links: Sequence[Process]) -> Iterator[Process]:
    """Actions that show more things, as a way to get further before any are tried blindly."""
    ended = _ended_by(links)
    for goal in dict.fromkeys(deed.goal for deed in deeds if deed.blind):
        for link in links:
            schema = link.schema
            needs = [clause.literals[0] for clause in schema.preconditions]
            if schema.observes and any((schema.syntax, need) in ended for need in needs):
                onward = replace(
                    schema, observes=(), effects=(Literal(ADVANCED),), steps=LIMITS.looking_for_more
                )
                name = _NO_NAME.sub("_", f"{schema.name} for {goal}")
                needed = (*schema.preconditions, _for_goal(goal))
                yield link._replace(schema=replace(onward, name=name, id="", preconditions=needed))


def _ended_by(links: Iterable[Process]) -> set[tuple[tuple[str, ...], Literal]]:
    """Facts that a command ends, with the command's syntax."""
    ended = set()
    for link in links:
        for effect in link.schema.effects:
            ended.add((link.schema.syntax, effect.opposite()))
    return ended


def _for_goal(goal: str) -> Clause:
    """The condition that a process is for one type of goal."""
    return Clause((Literal(Atom("goal_type", (goal,))),))


def deed_processes(
    deeds: Iterable[Deed], actions: Mapping[str, ActionModel], names: Names
) -> Iterator[Process]:
    """Deeds as processes: a command, what it needs to be done and to score, and that the task
    has got further.
    """
    taken: Counter[str] = Counter()
    for deed in deeds:
        parameters = deed.book.called(names)
        if parameters is None:
            continue
        action = actions.get(deed.book.template)
        needs = (*action.guessed, *action.circumstances) if action is not None else ()
        when = replace(deed.when, literals=tuple(dict.fromkeys((*deed.when.literals, *needs))))
        base = f"score_{action.name if action is not None else 'order'}"
        taken[base] += 1
        name = base if taken[base] == 1 else f"{base}_{taken[base]}"
        found = process_of(
            name, deed.book.template, (*parameters, *deed.roles), when, [Literal(ADVANCED)]
        )
        schema = replace(
            found.schema,
            preconditions=(*found.schema.preconditions, _for_goal(deed.goal)),
            once=tuple(parameters[slot] for slot in deed.once),
            steps=round(1 / (deed.share or when.share), 1),  # deeds that often fail cost more
        )
        yield found._replace(schema=schema, risk=_risk(deed.book, when))


def _risk(book: Book, when: Circumstance) -> float:
    """Steps that a deed costs more because it may end the task, so that the surest comes first."""
    if not any(attempt.lost for attempt in book.attempts):
        return 0.0
    tries = when.confirmed + when.against
    return round(LIMITS.ruin * (when.against + 1) / (tries + 2), 1)
