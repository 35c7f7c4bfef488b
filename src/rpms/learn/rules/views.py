"""Attempts looked at with another question than whether the world refused them: did it score, did it get there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from rpms.core.facts import Atom, Clause, Literal
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.induce import Needs, bits
from rpms.learn.rules.model import literal_of

_OFTEN = 0.6
"""Of the attempts with all that a condition asks for, the share that has to have come out well."""
_ENOUGH = 2
"""Attempts that came out well, below which nothing is concluded."""


@dataclass(frozen=True, slots=True)
class Condition:
    """When an action does what was asked, over its slots."""

    literals: tuple[Literal, ...]
    good: int
    """Attempts that came out well with it."""
    bad: int
    """Attempts with it that did not."""
    witnesses: tuple[Attempt, ...] = ()

    @property
    def share(self) -> float:
        return self.good / max(1, self.good + self.bad)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        return tuple(Clause((literal,)) for literal in self.literals)


@dataclass(eq=False)
class Explained(Needs):
    """Needs of which kinds explain nothing: with names that never come up twice, they would explain everything."""

    preferred: frozenset[str] = frozenset()
    """Slots whose facts are kept rather than others that say the same."""

    @cached_property
    def _explainable(self) -> list[tuple[Attempt, int, int]]:
        return self.losses

    def _worth(self, bit: int) -> tuple[int, ...]:
        literal = literal_of(self.book.facts, bit)
        return (not self.preferred.isdisjoint(literal.atom.args), *super()._worth(bit))


def view(book: Book, attempts: Iterable[Attempt], well: Callable[[Attempt], bool]) -> Book:
    """A book of some attempts, in which those that did not come out well count as refused."""
    found = replace(
        book, attempts=[], imagined=[], worked=type(book.worked)(), refused=type(book.refused)(), _known=set(book.facts)
    )
    for attempt in attempts:
        found.attempts.append(attempt._replace(refused=not well(attempt)))
        (found.worked if well(attempt) else found.refused)[attempt.kinds] += 1
    return found


def condition(book: Book, preferred: frozenset[str] = frozenset()) -> Condition | None:
    """The fewest facts that tell the attempts that came out well from the others, where they mostly do."""
    needs = Explained(book, preferred=preferred)
    if len(needs.wins) < _ENOUGH:
        return None
    wanted = needs.explaining
    bad = sum(row[1] & wanted == wanted for row in needs.losses)
    literals = tuple(literal_of(book.facts, bit) for bit in bits(wanted))
    found = Condition(literals, len(needs.wins), bad, tuple(row[0] for row in needs.wins[:5]))
    return found if found.share >= _OFTEN else None


def by_kind(book: Book, slot: int) -> dict[str, Condition]:
    """The same for each kind in one slot by itself: the oven is for what is to be roasted."""
    found: dict[str, Condition] = {}
    for kind in dict.fromkeys(attempt.kinds[slot] for attempt in book.attempts if not attempt.refused):
        own = [attempt for attempt in book.attempts if attempt.kinds[slot] == kind]
        told = condition(view(book, own, lambda attempt: not attempt.refused))
        if told is not None:
            literal = Literal(Atom("kind", (str(slot), kind)))
            found[kind] = replace(told, literals=(literal, *told.literals))
    return found
