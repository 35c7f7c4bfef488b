"""What an action shows of things in one role only: the details of a line are another matter than those of a bill."""

from __future__ import annotations

from collections.abc import Iterator

from rpms.learn.rules.attempts import NAME, Book
from rpms.learn.rules.consequences import Outcomes
from rpms.learn.rules.linked import Process, process_of
from rpms.learn.rules.model import ActionModel, Induced
from rpms.learn.rules.templates import Names
from rpms.learn.rules.views import Circumstance, view


def processes_by_role(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """For each slot that takes names in several roles: what becomes known in one of them, and not in all."""
    told = {fact.clause for fact in action.observes}
    needed = frozenset(literal.atom for literal in action.guessed)
    for slot, parameter in enumerate(action.parameters):
        for role in _some_have(book, slot, names):
            if role in action.parameters or not NAME.fullmatch(role):
                continue
            rows = [attempt for attempt in book.successes if role in names.roles[attempt.names[slot]]]
            found = Outcomes(view(book, rows, lambda _: True), needed).observes()
            shown = [fact for fact in found if fact.clause not in told and _speaks_of(fact, slot, role, book, names)]
            if shown:
                parameters = [role if each == parameter else each for each in action.parameters]
                when = Circumstance(action.guessed, len(rows), 0, tuple(rows[:5]))
                yield process_of(f"{action.name}_{role}", book.template, parameters, when, (), shown)


def _speaks_of(fact: Induced, slot: int, role: str, book: Book, names: Names) -> bool:
    """Whether a fact is about a slot, as something in a role."""
    atom = fact.clause.literals[0].atom
    told = zip(atom.args, book.vocabulary.predicates[atom.predicate].args, strict=True)
    called = [each for arg, each in told if arg == str(slot)]
    return bool(called) and all(each == role or each not in names.order for each in called)


def _some_have(book: Book, slot: int, names: Names) -> list[str]:
    """Roles that some of the names had that worked in a slot, and others had not."""
    every = [names.roles[name] for name in {attempt.names[slot] for attempt in book.successes}]
    some = every[0].union(*every) - every[0].intersection(*every)
    return sorted(some, key=names.order.__getitem__)
