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
    name = _NO_NAME.sub(
        "_", f"{deed.book.template.partition(SLOT)[0].strip()} scores in {deed.goal}"
    )
    filled = [(slot, word) for each in attempts for slot, word in enumerate(each.names)]
    tied_in = Counter(slot for slot, word in filled if ties.get(word) or ties.get(kind_of(word)))
    thing, place = (1, 0) if tied_in[1] > tied_in[0] else (0, 1)
    role = parameters[place]
    pairs: dict[tuple[str, str, str], dict[str, _Tally]] = {}
    places: dict[str, _Tally] = {}
    for attempt in attempts:
        kind, where = attempt.kinds[thing], attempt.kinds[place]
        own = (
            ties.get(attempt.names[thing]) or ties.get(kind) or (Tie("", parameters[thing], kind),)
        )
        for tally in (
            places.setdefault(where, _Tally()),
            *(pairs.setdefault(tie, {}).setdefault(where, _Tally()) for tie in own),
        ):
            tally.tried.add(kind)
            if attempt.scored:
                tally.good.setdefault(kind, attempt.witness)
    good, tried = (
        sum(len(each.good) for each in places.values()),
        sum(len(each.tried) for each in places.values()),
    )
    usual = good / max(1, tried)
    below = 2.0
    for title, least in LIMITS.score_shares:
        rows: dict[tuple[str, str], dict[str, dict[str, _Tally]]] = {}
        for (predicate, other, word), by_place in pairs.items():
            for where, tally in by_place.items():
                if tally.good and least <= tally.share(usual) < below:
                    rows.setdefault((predicate, other), {}).setdefault(where, {})[word] = tally
        for (predicate, other), some in rows.items():
            word = str(len(parameters)) if predicate else str(thing)
            tied = (Literal(Atom(predicate, (str(thing), word))),) if predicate else ()
            asked = Atom(f"{name}_{title}_{other}", (str(place), word))
            shares = [tally.share(usual) for row in some.values() for tally in row.values()]
            told = replace(
                deed, roles=(other,) if predicate else (), share=sum(shares) / len(shares)
            )
            yield _asking(told, (*tied, Literal(asked)), (role, other), some)
        below = least
    known = {where: {deed.goal: tally} for where, tally in places.items() if tally.good}
    yield _asking(
        deed, (Literal(Atom(f"{name}_at", (str(place), deed.goal))),), (role, "goal"), known
    )
    nothing = Circumstance((), confirmed=good, against=tried - good)  # nothing speaks for it
    yield replace(deed, when=nothing, share=usual / 2, blind=True)


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
    every = [attempt for book in books for attempt in book.attempts if attempt.goal == goal]
    if sum(attempt.scored and not attempt.won for attempt in every) < LIMITS.score_rises:
        return []
    found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=True)]
    if not any(deed.blind for deed in found):  # deeds that facts explain may well be wanted again
        found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=False)]
    ordered = any(deed.book.template == SLOT for deed in found)
    return [deed for deed in found if deed.book.slots or not ordered]


def _deeds(book: Book, goal: str, names: Names, ties: Ties, *, blind: bool) -> Iterator[Deed]:
    """Circumstances in which an action scores: facts, or where those tell little, kinds of
    things.
    """
    every = [attempt for attempt in book.attempts if attempt.goal == goal and not attempt.refused]
    if not any(attempt.scored for attempt in every):
        return
    tried = [attempt for attempt in book.attempts if attempt.goal == goal]
    deed = Deed(
        goal, book, _once(tried, len(book.slots), blind=blind) if book.template != SLOT else ()
    )
    first = {
        (each.witness.episode, each.names): each for each in reversed(every)
    }  # with the same names in an episode
    done = [
        each for each in every if not deed.once or first[each.witness.episode, each.names] is each
    ]
    told = [
        when for when in conditions(_with_goal(book, done)) if when.confirmed >= LIMITS.score_rises
    ]
    parameters = book.called(names)
    scored = [attempt for attempt in done if attempt.scored]
    promising = {part for attempt in scored for part in enumerate(attempt.kinds)}
    vain = [
        each for each in done if not each.scored and not promising.isdisjoint(enumerate(each.kinds))
    ]
    harmless = sum(attempt.lost for attempt in vain) <= LIMITS.score_harmless * len(vain)
    untold = sum(when.confirmed for when in told) < LIMITS.score_told * len(scored) and harmless
    if len(book.slots) == 2 and parameters and untold:
        yield from by_kinds(deed, parameters, done, ties)
    else:
        yield from (replace(deed, when=when) for when in told)


def _once(attempts: Sequence[Attempt], slots: int, *, blind: bool) -> tuple[int, ...]:
    """Slots whose names score once an episode: one, if repeats with its name brought no new
    best, else all or none.
    """
    for some in (*((slot,) for slot in range(slots if slots > 1 else 0)), tuple(range(slots))):
        again = list(done_again(attempts, some, lambda each: each.scored))
        enough = len(again) >= LIMITS.several or (
            blind and len(some) == slots
        )  # blind: though not done again
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
    ended = [(link.schema.syntax, one.opposite()) for link in links for one in link.schema.effects]
    for goal in dict.fromkeys(deed.goal for deed in deeds if deed.blind):
        for link in links:
            schema = link.schema
            needs = [clause.literals[0] for clause in schema.preconditions]
            if schema.observes and any((schema.syntax, need) in ended for need in needs):
                onward = replace(
                    schema, observes=(), effects=(Literal(ADVANCED),), steps=LIMITS.looking_for_more
                )
                needed = (*schema.preconditions, Clause((Literal(Atom("goal_type", (goal,))),)))
                name = _NO_NAME.sub("_", f"{schema.name} for {goal}")
                yield link._replace(schema=replace(onward, name=name, id="", preconditions=needed))


def deed_processes(
    deeds: Iterable[Deed], actions: Mapping[str, ActionModel], names: Names
) -> Iterator[Process]:
    """Deeds as processes: a command, what it needs to be done and to score, and that the task
    has got further.
    """
    taken: Counter[str] = Counter()
    for deed in deeds:
        parameters, action = deed.book.called(names), actions.get(deed.book.template)
        if parameters is None:
            continue
        needs = (*action.guessed, *action.circumstances) if action is not None else ()
        when = replace(deed.when, literals=tuple(dict.fromkeys((*deed.when.literals, *needs))))
        base = f"score_{action.name if action is not None else 'order'}"
        taken[base] += 1
        name = base if taken[base] == 1 else f"{base}_{taken[base]}"
        found = process_of(
            name, deed.book.template, (*parameters, *deed.roles), when, [Literal(ADVANCED)]
        )
        # deeds that often fail cost more, and of those that may end the task the surest comes first
        steps, deadly = (
            round(1 / (deed.share or when.share), 1),
            any(attempt.lost for attempt in deed.book.attempts),
        )
        risk = (
            round(LIMITS.ruin * (when.against + 1) / (when.confirmed + when.against + 2), 1)
            if deadly
            else 0.0
        )
        needed = (*found.schema.preconditions, Clause((Literal(Atom("goal_type", (deed.goal,))),)))
        once = tuple(parameters[slot] for slot in deed.once)
        schema = replace(found.schema, preconditions=needed, once=once, steps=steps)
        yield found._replace(schema=schema, risk=risk)
