"""What scores: for each type of goal, the actions after which the score rose, and what held whenever it did.

Where a world gives a score for parts of a task, what a goal wants need not be guessed from wins: whoever does what
scores, as long as anything does, gets there. A manual says it as a procedure with one stage, `advanced`, which these
deeds bring about and which no belief ever takes for reached.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rpms.core.facts import Atom, Clause, Literal
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.linked import Process, process_of
from rpms.learn.rules.model import ActionModel, Induced
from rpms.learn.rules.tables import ScoreTable, Ties, Told, by_kinds
from rpms.learn.rules.templates import SLOT, Names
from rpms.learn.rules.views import conditions, view

ADVANCED = Atom("advanced")
_RISES = 3
"""How often the score has to have risen before the end for parts of a task to be scored at all, and with a deed."""
_TOLD = 0.5
"""Share of what scored that facts have to account for; where they do not, kinds are asked."""
_RUIN = 20.0
"""Steps that it is worth not to end the task for good."""
_HARMLESS = 0.1
"""Share of what did not score that may have ended the task: where more did, nothing is tried blindly."""
_SELDOM, _SEVERAL = 1 / 3, 3
"""How often something may have scored again that counts once, and how often it has to have been done again."""
_NO_NAME = re.compile("[^a-z_]+")
_LOOKING = 3.0
"""Steps that it costs to look for more things to score with, before any are tried blindly."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that scores, with what has to hold for it."""

    goal: str
    book: Book
    told: Told
    once: tuple[int, ...] = ()
    """The slots with whose names it scores once in an episode."""
    blind: bool = False
    """Whether it is tried with things of which nothing is known."""


def deeds_of(books: list[Book], goal: str, names: Names, ties: Ties) -> list[Deed]:
    """All that scored with goals of a type; nothing where only wins do."""
    rises = sum(_scored(attempt) for book in books for attempt in book.attempts if attempt.goal == goal)
    wins = _endings(books, goal)
    if rises - wins < _RISES:
        return []
    found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=True)]
    if not any(deed.blind for deed in found):  # what facts tell may well be wanted again
        found = [deed for book in books for deed in _deeds(book, goal, names, ties, blind=False)]
    ordered = any(deed.book.template == SLOT for deed in found)
    return [deed for deed in found if deed.book.slots or not ordered]


def _endings(books: list[Book], goal: str) -> int:
    """How often the score rose with the last step of an episode."""
    last: dict[str, Attempt] = {}
    for book in books:
        for attempt in book.attempts:
            if attempt.goal != goal:
                continue
            before = last.get(attempt.witness.episode)
            if before is None or before.witness.step <= attempt.witness.step:
                last[attempt.witness.episode] = attempt
    return sum(map(_scored, last.values()))


def _scored(attempt: Attempt) -> bool:
    return attempt.gained > 0


def _deeds(book: Book, goal: str, names: Names, ties: Ties, *, blind: bool) -> Iterator[Deed]:
    """When an action scores: what held then, or where that tells little, with which kinds of things.

    `blind`: what was not done again is taken to count once.
    """
    every = [attempt for attempt in book.attempts if attempt.goal == goal and not attempt.refused]
    if not any(map(_scored, every)):
        return
    tried = [attempt for attempt in book.attempts if attempt.goal == goal]
    once = _once(tried, len(book.slots), blind=blind) if book.template != SLOT else ()
    done = list(_first_times(every)) if once else every
    found = conditions(view(_with_goal(book), [_meant(book, attempt) for attempt in done], _scored))
    told = [when for when in found if when.good >= _RISES]
    parameters = book.called(names)
    scored = sum(map(_scored, done))
    lost = sum(attempt.lost for attempt in done)
    untold = sum(when.good for when in told) < _TOLD * scored and lost <= _HARMLESS * (len(done) - scored)
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
        enough = len(again) >= _SEVERAL or (blind and len(some) == slots)
        if enough and sum(attempt.further for attempt in again) <= _SELDOM * len(again):
            return some
    return ()


def _again(attempts: Iterable[Attempt], slots: tuple[int, ...]) -> Iterator[Attempt]:
    """What was done after it had scored in the same episode with the same names in some slots."""
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
    """What shows more things, as a way to get further before any are tried blindly; only what ends its own need."""
    ended = [(link.schema.syntax, Literal(one.atom, not one.negated)) for link in links for one in link.schema.effects]
    for goal in dict.fromkeys(deed.goal for deed in deeds if deed.blind):
        for link in links:
            schema = link.schema
            needs = [clause.literals[0] for clause in schema.preconditions]
            if schema.observes and any((schema.syntax, need) in ended for need in needs):
                of_goal = Clause((Literal(Atom("goal_type", (goal,))),))
                onward = replace(schema, observes=(), effects=(Literal(ADVANCED),), steps=_LOOKING)
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
    """What a deed costs that may end the task: of such the surest comes first."""
    deadly = any(attempt.lost for attempt in deed.book.attempts)
    good, bad = deed.told.when.good, deed.told.when.bad
    return round(_RUIN * (bad + 1) / (good + bad + 2), 1) if deadly else 0.0
