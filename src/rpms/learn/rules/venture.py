"""Beyond what is known to score: what may, tried where everything that is known to score was done.

How promising an action is, its past tells: of all that holds now, the facts are sought with which it scored least, and
what came of it then counts. What never scored with `not ordered(object)` is not tried with that again, and what was
never done where `ordered(object)` holds is as promising as the action on the whole. One that mostly ended the task is
not spared for that: all the rest of the task may lie behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import NamedTuple

from rpms.core.belief import Belief, Situation
from rpms.core.facts import Atom, Clause, Truth, kind_of
from rpms.core.rules import Instance
from rpms.learn.rules.agenda import Agenda
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.induce import bits
from rpms.learn.rules.question import Question
from rpms.learn.rules.templates import fill

_RECENT = 150
"""Attempts of an action that are looked at."""
_DEEP = 3
"""Facts at most that are put together to find the circumstances that speak against it."""
_HOPELESS = 0.08
"""How promising it has to be at least."""
_NEW = 0.5
"""How promising anything is with a thing that came into being with a step that scored."""
_KNOWN = 4
"""Times that something was done after which its past speaks for itself."""
_NOT_YET = 0.8
"""How much less promising what cannot be done yet is."""
_NAMES = 12
"""Names that are looked at for a slot."""
_CHOICES = 3
"""Of the most promising, how many are tried to be prepared at a step."""


def promise(book: Book, goal: str, true: int, false: int, kinds: Sequence[str]) -> float:
    """How likely an action is to score with some facts true and some false, as far as its past speaks against it."""
    rows = [row for row in book.attempts if row.goal == goal and not row.refused][-_RECENT:]
    usual = (sum(row.gained > 0 for row in rows) + 1) / (len(rows) + 2)
    if usual < _HOPELESS:
        return usual
    size = len(book.facts)
    own = sum(1 << bit for bit, fact in enumerate(book.facts) if _own(fact.args, book))
    now = true & own | (false & own) << size
    left = [(_features(row, own, size) & now | _alike(row, kinds) << 2 * size, row.gained > 0) for row in rows]
    worth = usual
    for _ in range(_DEEP):
        worst, choice = worth, -1
        every = 0
        for mask, _ in left:
            every |= mask
        for bit in bits(every):
            held = [scored for mask, scored in left if mask >> bit & 1]
            share = (sum(held) + usual) / (len(held) + 1)
            if len(held) < len(left) and share < worst:
                worst, choice = share, bit
        if choice < 0:
            break
        worth, left = worst, [row for row in left if row[0] >> choice & 1]
    return worth


def _own(args: Sequence[str], book: Book) -> bool:
    """Whether a fact is about the action's things; of one that has none, a fact about nothing by its name."""
    return any(arg.isdigit() for arg in args) if book.slots else not args


def _features(row: Attempt, own: int, size: int) -> int:
    return row.true & own | (row.false & own) << size


def _alike(row: Attempt, kinds: Sequence[str]) -> int:
    return sum(1 << slot for slot, (one, other) in enumerate(zip(row.kinds, kinds, strict=True)) if one == other)


class Prospect(NamedTuple):
    """An action that may score."""

    worth: float
    command: str
    needs: tuple[Clause, ...] = ()
    """What has to hold first, as far as anybody knows."""


@dataclass
class Ventures:
    """What is tried in one episode after all that is known to score."""

    agenda: Agenda
    goal: str
    dice: Random
    pursued: Prospect | None = None
    given_up: set[str] = field(default_factory=set)
    born: dict[str, None] = field(default_factory=dict)
    """What came into being with a step that scored."""

    def told(self, before: Belief, after: Belief, *, scored: bool) -> None:
        """Hear what became of a step."""
        if scored:
            there = (*after.holding, *after.last_seen)
            known = {*before.holding, *before.last_seen}
            self.born |= dict.fromkeys(name for name in there if name not in known)
            self.pursued = None
            self.given_up.clear()

    def give_up(self, prospect: Prospect) -> None:
        """Try something else, until anything scores."""
        self.pursued = None
        self.given_up.add(prospect.command)

    def prospects(self, situation: Situation) -> list[Prospect]:
        """What may score, most promising first; nothing that was given up since anything scored."""
        found: dict[str, Prospect] = {}
        for question in self.agenda.questions:
            restored = self.agenda.circumstances(question.schema)
            for names in self._names(question, situation.belief):
                command = fill(question.book.template, names)
                if command in found or command in self.given_up:
                    continue
                instance = Instance(question.schema, dict(zip(question.schema.variables, names, strict=True)))
                needs = tuple(dict.fromkeys((*restored, *instance.preconditions)))
                ready = all(clause.truth(situation) is Truth.TRUE for clause in needs)
                worth = self._worth(question, names, situation.belief) * (1.0 if ready else _NOT_YET)
                if worth >= _HOPELESS:
                    found[command] = Prospect(worth, command, needs)
        every = list(found.values())
        self.dice.shuffle(every)
        return sorted(every, key=lambda each: -each.worth)[:_CHOICES]

    def _names(self, question: Question, belief: Belief) -> Iterator[tuple[str, ...]]:
        """Names for an action: what is in hand, what just came into being, and such as have worked."""
        slots = []
        for role, fit in zip(question.schema.variables, question.fit, strict=True):
            known = belief.names.get(role, ())
            near = {*belief.holding, *self.born}
            slots.append([name for name in known if name in near or kind_of(name) in fit][:_NAMES])
        yield from (names for names in product(*slots) if len(set(names)) == len(names))

    def _worth(self, question: Question, names: tuple[str, ...], belief: Belief) -> float:
        kinds = tuple(map(kind_of, names))
        if not self.born.keys().isdisjoint(names) and not question.book.worked[kinds]:
            return _NEW
        if self._is_called_for(question.book, names, belief):
            return _NEW
        # what it needs is seen to before it is done
        needed, size = question.wanted, question.needs.size
        true, false = question.book.measure(belief, names)
        seen_to = needed & (1 << size) - 1 | needed >> size
        true, false = true & ~seen_to | needed & (1 << size) - 1, false & ~seen_to | needed >> size
        return promise(question.book, self.goal, true, false, kinds)

    @staticmethod
    def _is_called_for(book: Book, names: Sequence[str], belief: Belief) -> bool:
        """Whether a fact tells an action's own word of its thing, and nobody knows yet what comes of that."""
        words = book.template.split()
        for bit, fact in enumerate(book.facts):
            if len(fact.args) == 2 and any(arg in words for arg in fact.args):
                tried = sum(row.true >> bit & 1 for row in book.attempts if not row.refused)
                bound = Atom(fact.predicate, tuple(names[int(arg)] if arg.isdigit() else arg for arg in fact.args))
                if tried < _KNOWN and belief.truth(bound) is Truth.TRUE:
                    return True
        return False
