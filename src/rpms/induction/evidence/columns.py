"""Attempts of an action as a table of bits, by rows and by columns: which facts held in an attempt,
and in which attempts a fact held. What is seen later is added to it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import overload

from rpms.induction.evidence.attempts import Attempt, Book, Occasion
from rpms.induction.evidence.literals import Row, literals_after, row_of, signed
from rpms.induction.evidence.witnesses import independent
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.store.evidence import Witness


class Columns:
    """The attempts of a book, and of names drawn at random, over the facts that it has now.

    A set of attempts is a number with a bit for each, in their order.
    """

    def __init__(self, book: Book) -> None:
        self.size = len(book.facts)
        self.rows: list[Row] = []
        self.wins: list[Row] = []
        self.losses: list[Row] = []
        self.won = 0  # The attempts that worked
        self.holding = [0] * (2 * self.size)
        """By literal, the attempts before which it held."""
        self.after = [0] * (2 * self.size)
        """By literal, the successes after which it held."""
        self.names_twice = 0  # The successes with one thing in two slots
        self.lost = 0  # The successes that lost the task
        self.revealed = defaultdict[int, int](int)
        """By revelation, the successes before which it was known."""
        self.revealed_after = defaultdict[int, int](int)
        """And those after which it was."""
        self.shown = defaultdict[int, int](int)
        """By revelation, the successes that showed something of things they do not name."""
        self.hidden = defaultdict[int, int](int)
        """And those that left something of these unknown."""
        self.first_wins = 0
        """The first success on each occasion."""
        self.made_false = all_of(self.size)
        """Facts that every success made false whose things were all different."""
        self.names: set[str] = set()
        self.drawn = 0  # Number of names that were drawn at random
        self.drawn_with = [0] * (2 * self.size)
        """By literal, those of which it holds."""
        self._attempts = book.attempts
        self._imagined = book.imagined
        self._slots = len(book.slots)
        self._seen: dict[Occasion, int] = {}
        """The attempts on each occasion, which count as one witness."""
        self._alone = 0  # The attempts that are alone on their occasion
        self._repeated: dict[Occasion, int] = {}
        """The attempts on each occasion with several of them."""
        self._won_on: set[Occasion] = set()
        self._done: list[set[tuple[str, str]]] = [set() for _ in range(self._slots)]
        """By slot, the names with which it worked, by episode."""
        self._again: list[list[Attempt] | None] = [[] for _ in range(self._slots)]
        """By slot, what was tried with such names after that; None once it worked again."""

    def fits(self, book: Book) -> bool:
        """True if it is about the facts that a book has, and what was seen later can be added."""
        same = self._attempts is book.attempts and self._imagined is book.imagined
        return same and self.size == len(book.facts) and self._slots == len(book.slots)

    def catch_up(self) -> None:
        """Add what was seen since the last time."""
        for attempt in islice(self._attempts, len(self.rows), None):
            self._add(attempt)
        for true, false in islice(self._imagined, self.drawn, None):
            this = 1 << self.drawn
            for bit in bits(signed(true, false, self.size).holds):
                self.drawn_with[bit] |= this
            self.drawn += 1

    def _add(self, attempt: Attempt) -> None:
        this = 1 << len(self.rows)
        row = row_of(attempt, self.size)
        self.rows.append(row)
        self.names.update(attempt.names)
        for bit in bits(row.holds):
            self.holding[bit] |= this
        self._count(attempt, this)
        self._note_repetition(attempt)
        if attempt.refused:
            self.losses.append(row)
        else:
            self.wins.append(row)
            self._add_success(row, this)

    def _add_success(self, row: Row, this: int) -> None:
        attempt = row.attempt
        self.won |= this
        after = literals_after(attempt, self.size)
        for bit in bits(after.holds):
            self.after[bit] |= this
        self._add_revelations(attempt, this)
        if attempt.lost:
            self.lost |= this
        if attempt.names_twice:
            self.names_twice |= this
        else:
            self.made_false &= after.fails
        occasion = attempt.occasion
        if occasion not in self._won_on:
            self._won_on.add(occasion)
            self.first_wins |= this

    def _add_revelations(self, attempt: Attempt, this: int) -> None:
        for place in bits(attempt.revealed):
            self.revealed[place] |= this
        for place in bits(attempt.revealed_after):
            self.revealed_after[place] |= this
        for place in bits(attempt.shown):
            self.shown[place] |= this
        for place in bits(attempt.hidden):
            self.hidden[place] |= this

    def _count(self, attempt: Attempt, this: int) -> None:
        """Count an attempt as a witness, or together with those that it repeats."""
        occasion = attempt.occasion
        before = self._seen.get(occasion, 0)
        self._seen[occasion] = before | this
        if not before:
            self._alone |= this
            return
        self._alone &= ~before
        self._repeated[occasion] = before | this

    def _note_repetition(self, attempt: Attempt) -> None:
        """Note what was done to things with which the action had worked in the episode."""
        for slot in range(self._slots):
            key = attempt.witness.episode, attempt.names[slot]
            if key not in self._done[slot]:
                if not attempt.refused:
                    self._done[slot].add(key)
                continue
            again = self._again[slot]
            if again is not None:
                again.append(attempt)
                if not attempt.refused:
                    self._again[slot] = None

    def independent(self, some: int) -> int:
        """Number of independent witnesses among some attempts."""
        count = (some & self._alone).bit_count()
        for same in self._repeated.values():
            if same & some:
                count += 1
        return count

    def done_before(self) -> frozenset[Witness]:
        """Refusals with a thing with which the action had worked in the episode, and never did so
        twice: it was done.
        """
        found: set[Witness] = set()
        for again in self._again:
            if again is not None and independent(again) >= LIMITS.several:
                found.update(each.witness for each in again)
        return frozenset(found)


def share_of(holding: Sequence[int], bit: int, given: int = 0, among: int = -1) -> float | None:
    """The share of cases in which a literal holds, of those in which it is known and the given
    ones hold; None if there are none.

    `holding`: by literal, the cases in which it held; `among`: the cases that count.
    """
    for each in bits(given):
        among &= holding[each]
    held = (holding[bit] & among).bit_count()
    known = held + (holding[opposite(bit, len(holding))] & among).bit_count()
    return held / known if known else None


def all_of(count: int) -> int:
    """The first attempts, or facts, so many of them, as bits."""
    return (1 << count) - 1


def opposite(bit: int, literals: int) -> int:
    """The negation of a literal, of so many."""
    return (bit + literals // 2) % literals


class Steps(Sequence[Witness]):
    """The steps of some attempts: most are only counted."""

    def __init__(self, rows: Sequence[Row], some: int) -> None:
        self._rows = rows
        self._some = some

    def __len__(self) -> int:
        return self._some.bit_count()

    def __iter__(self) -> Iterator[Witness]:
        for place in bits(self._some):
            yield self._rows[place].attempt.witness

    @overload
    def __getitem__(self, index: int) -> Witness: ...
    @overload
    def __getitem__(self, index: slice) -> list[Witness]: ...
    def __getitem__(self, index: int | slice) -> Witness | list[Witness]:
        if isinstance(index, slice):
            return list(islice(self, index.start, index.stop, index.step))
        return next(islice(self, index, None))


def columns_of(book: Book) -> Columns:
    """The table of a book, made once for as long as its facts are the same."""
    columns: Columns | None = book.columns
    if columns is None or not columns.fits(book):
        columns = Columns(book)
        book.columns = columns
    columns.catch_up()
    return columns
