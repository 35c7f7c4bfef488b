"""Trials of one action: those that can be made in a state, and states to bring about for one.

An action that has worked before is tried with names that lack little of what it may need; the worth
of a trial is the entropy of its outcome (`odds`). One that has never worked has `first_trials`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf, log2
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.bindings import Bindings
from rpms.induction.evidence.columns import opposite
from rpms.induction.evidence.literals import literal_of, signed
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.meeting import Meeting
from rpms.induction.exploring.odds import Odds, entropy
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Clause, Literal, kind_of


class Trial(NamedTuple):
    """A command, the bits that its outcome would tell, and how likely it succeeds."""

    command: str
    worth: float
    about: object = None  # What it would settle
    success: float = 0.0


class Aim(NamedTuple):
    """A command to be tried once some facts hold."""

    command: str
    wanted: tuple[Clause, ...]


@dataclass(frozen=True)
class Reach:
    """What known actions can bring about."""

    makeable: Callable[[Atom], bool]
    """Whether some action is known to make a fact true."""
    meeting: Meeting | None = None
    """What may hold together after any actions, where that is known."""

    def possible(self, literals: Iterable[Literal]) -> bool:
        """True if literals may hold together, as far as is known."""
        return self.meeting is None or self.meeting.possible(literals)

    def possible_of_any(self, one: Atom, other: Atom, names: Sequence[Collection[str]]) -> bool:
        """True if it is known that two facts over slots may hold together of some names."""
        return self.meeting is not None and self.meeting.possible_of_any(one, other, names)


class _Costs(NamedTuple):
    """By literal, the cost of its not holding: of those that no action changes, and the others."""

    lasting: dict[int, float]
    made: dict[int, float]


@dataclass(eq=False)
class Laboratory:
    """Trials of an action that has worked."""

    book: Book
    odds: Odds
    asked: Counter[object] = field(default_factory=Counter)
    """Trials since conclusions were drawn, by what each was to settle."""
    pursued: Counter[Literal] = field(default_factory=Counter)
    """By fact, how often a state without it was to be brought about, ever."""

    @property
    def _slots(self) -> range:
        return range(len(self.book.slots))

    def trials(self, belief: Belief, dice: Random) -> Iterator[Trial]:
        """Trials with names that lack little, each with its worth."""
        answers = self.book.vocabulary.answers(belief)
        search = Bindings(self.book, answers, dice, nodes=LIMITS.nodes)
        found = search.search(self.odds.costs, -log2(LIMITS.unlikely), self._slots)
        for binding in islice(found, LIMITS.near_misses):
            names = tuple(binding.names[slot] for slot in self._slots)
            yield self._trial(names, belief)

    def _trial(self, names: tuple[str, ...], belief: Belief) -> Trial:
        known = self.book.measure(belief, names)
        now = signed(known.true, known.false, len(self.book.facts))
        lacking = tuple(bit for bit in self.odds.open if now.fails >> bit & 1)
        about: tuple[object, ...] = lacking or tuple(map(kind_of, names))
        success = self.odds.success(now.holds, now.fails)
        worth = entropy(success) / (1 + self.asked[about])
        return Trial(fill(self.book.template, names), worth, about, success)

    def doubts(self) -> dict[int, float]:
        """By open fact, the bits that a trial without it alone would tell."""
        found = {}
        for bit, chance in self.odds.open.items():
            found[bit] = entropy(chance) / (1 + self.pursued[literal_of(self.book.facts, bit)])
        return found

    def aims(
        self, doubt: int, belief: Belief, changing: Container[str], reach: Reach, dice: Random
    ) -> Iterator[Aim]:
        """Trials that lack an open fact, and as little else as can be: first with all else that
        may be needed and that may hold without it, then with what is certain.
        """
        self.pursued[literal_of(self.book.facts, doubt)] += 1
        costs = self._costs_without(doubt, changing)
        names = self._cheapest(costs.lasting, belief, dice)
        if names is None:
            return
        command = fill(self.book.template, names)
        certain = [bit for bit, cost in costs.made.items() if cost == inf]
        open_ones = costs.made.keys() - {*certain}
        costliest_first = sorted(open_ones, key=costs.made.__getitem__, reverse=True)
        most = self._together(certain, costliest_first, names, reach)
        for needs in (most, certain):
            wanted = self._bound(needs, names)
            if reach.possible(wanted):
                yield Aim(command, each_alone(wanted))

    def _costs_without(self, doubt: int, changing: Container[str]) -> _Costs:
        """What it costs to lack each fact that may be needed, if one of them is false for sure."""
        denied = opposite(doubt, 2 * len(self.book.facts))
        every = {**self.odds.costs, denied: inf}
        every.pop(doubt, None)
        costs = _Costs({}, {})
        for bit, cost in every.items():
            predicate = literal_of(self.book.facts, bit).atom.predicate
            if predicate in changing:
                costs.made[bit] = cost
            else:
                costs.lasting[bit] = cost
        return costs

    def _bound(self, some: Iterable[int], names: Sequence[str]) -> list[Literal]:
        """Literals of the book, of some names, each once."""
        slots = slots_of(names)
        literals = [literal_of(self.book.facts, bit).bind(slots) for bit in some]
        return list(dict.fromkeys(literals))

    def _together(
        self, certain: Sequence[int], others: Iterable[int], names: Sequence[str], reach: Reach
    ) -> list[int]:
        """Certain needs, and those of others, in their order, that may hold beside them."""
        found = list(certain)
        for bit in others:
            if reach.possible(self._bound((*found, bit), names)):
                found.append(bit)
        return found

    def _cheapest(
        self, costs: Mapping[int, float], belief: Belief, dice: Random
    ) -> list[str] | None:
        """Of some names, those that lack the least; None where all lack too much."""
        answers = self.book.vocabulary.answers(belief)
        search = Bindings(self.book, answers, dice, nodes=LIMITS.nodes)
        found = search.search(costs, -log2(LIMITS.unlikely), self._slots)
        some = list(islice(found, LIMITS.near_misses))
        if not some:
            return None
        cheapest = min(some, key=lambda binding: binding.cost)
        return [cheapest.names[slot] for slot in self._slots]


def each_alone(literals: Iterable[Literal]) -> tuple[Clause, ...]:
    """Literals that have to hold, as clauses of one each."""
    return tuple(Clause((literal,)) for literal in literals)


def laboratory_of(needs: Needs, pursued: Counter[Literal]) -> Laboratory:
    """The laboratory of an action that has worked."""
    return Laboratory(needs.table.book, Odds(needs), pursued=pursued)
