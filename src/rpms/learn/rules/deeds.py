"""What scores: for each type of goal, the actions after which the score rose, and what held whenever it did.

Where a world gives a score for parts of a task, what a goal wants need not be guessed from wins: whoever does what
scores, as long as anything does, gets there. A manual says it as a procedure with one stage, `advanced`, which these
deeds bring about and which no belief ever takes for reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rpms.core.facts import Atom, Clause, Literal
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.linked import Process, process_of
from rpms.learn.rules.model import ActionModel, Induced
from rpms.learn.rules.templates import SLOT, Names
from rpms.learn.rules.views import Circumstance, conditions, view

ADVANCED = Atom("advanced")
_RISES = 3
"""How often the score has to have risen before the end for parts of a task to be scored at all."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action that scores, with what has to hold for it."""

    goal: str
    book: Book
    when: Circumstance


def deeds_of(books: list[Book], goal: str) -> list[Deed]:
    """All that scored with goals of a type; nothing where only wins do."""
    rises = sum(_scored(attempt) for book in books for attempt in book.attempts if attempt.goal == goal)
    wins = _endings(books, goal)
    if rises - wins < _RISES:
        return []
    found = [Deed(goal, book, when) for book in books for when in _conditions(book, goal)]
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


def _conditions(book: Book, goal: str) -> Iterator[Circumstance]:
    """When an action scores."""
    done = [attempt for attempt in book.attempts if attempt.goal == goal and not attempt.refused]
    if any(map(_scored, done)):
        yield from conditions(view(_with_goal(book), [_meant(book, attempt) for attempt in done], _scored))


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


def deed_processes(deeds: Iterable[Deed], actions: Mapping[str, ActionModel], names: Names) -> Iterator[Process]:
    """Deeds as processes: a command, what it needs to be done and to score, and that the task has got further."""
    taken: Counter[str] = Counter()
    for deed in deeds:
        parameters, action = deed.book.called(names), actions.get(deed.book.template)
        if parameters is None:
            continue
        needs = action.guessed if action is not None else ()
        when = replace(deed.when, literals=tuple(dict.fromkeys((*deed.when.literals, *needs))))
        base = f"score_{action.name if action is not None else 'order'}"
        taken[base] += 1
        name = base if taken[base] == 1 else f"{base}_{taken[base]}"
        found = process_of(name, deed.book.template, parameters, when, [Induced(Clause((Literal(ADVANCED),)))])
        of_goal = Clause((Literal(Atom("goal_type", (deed.goal,))),))
        yield found._replace(schema=replace(found.schema, preconditions=(*found.schema.preconditions, of_goal)))
