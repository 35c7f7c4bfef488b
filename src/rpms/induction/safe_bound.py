"""The *safe* bound of an action's needs: every literal that was never false in a success and was
true in one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

from rpms.induction.action_model import working
from rpms.induction.attempts import Book
from rpms.induction.literals import (
    Row,
    Signed,
    bits,
    count_independent,
    literal_of,
    mask_of,
    row_of,
    signed,
    union,
)
from rpms.induction.thresholds import LIMITS
from rpms.induction.witnesses import repeated
from rpms.logic.facts import Clause, Literal


@dataclass(eq=False)
class SafeBound:
    """Literals that an action may need, as bits, from its attempts."""

    book: Book
    excluded: frozenset[Literal] = frozenset()  # Literals that verification has taken out
    tolerated: float = 0.0
    """Share of the successes in which a literal of the safe bound may be false: none for what
    the guard blocks by."""
    # True if kinds explain nothing: names that never come up twice would explain everything
    kindless: bool = False
    preferred: frozenset[str] = frozenset()
    """Slots whose facts are kept rather than others that say the same."""

    def __post_init__(self) -> None:
        book = self.book
        self.size = len(book.facts)
        self.many = len(book.named) > LIMITS.many_names
        """True if there are so many fixed names that some fact about one always happens to hold."""
        self.fit = working(book)
        """For each slot, the kinds that have worked in it."""
        self.rows = [row_of(attempt, self.size) for attempt in book.attempts]
        self.wins = [row for row in self.rows if not row.attempt.refused]
        self.losses = [row for row in self.rows if row.attempt.refused]
        self.repeated = repeated(book.attempts, len(book.slots))
        self.held = union(row.holds for row in self.wins)
        """Literals that held in some success."""
        self.failed = union(row.fails for row in self.wins)
        """Literals that were false in some success."""

    # Bits and the literals they stand for.

    def literal(self, bit: int) -> Literal:
        """The literal that a bit stands for."""
        return literal_of(self.book.facts, bit)

    def literals(self, mask: int) -> tuple[Literal, ...]:
        """The literals that bits stand for."""
        return tuple(self.literal(bit) for bit in bits(mask))

    def clause_mask(self, clause: Clause) -> int:
        """The bits of a clause's literals."""
        mask = 0
        for literal in clause.literals:
            place = self.book.facts.index(literal.atom)
            mask |= 1 << (place + self.size if literal.negated else place)
        return mask

    def by_name(self, bit: int) -> bool:
        """True if a fact is about anything by its name."""
        return any(not arg.isdigit() for arg in self.literal(bit).atom.args)

    def not_by_name(self, mask: int) -> int:
        """Of some facts, those that are about the action's own things, or about none."""
        return mask_of(bit for bit in bits(mask) if not self.by_name(bit))

    # The bound.

    @cached_property
    def safe(self) -> int:
        """The safe bound, as bits."""
        possible = self.held & ~self._false_too_often()
        if self.book.vocabulary.positive:
            possible &= (1 << self.size) - 1
        possible = self._without_chance(possible)
        # facts about fixed names are left out where the others explain the refusals as well
        rest = self.not_by_name(possible)
        explained = [row for row in self.losses if row.fails & possible]
        by_the_rest = sum(bool(row.fails & rest) for row in explained)
        as_well = by_the_rest >= (1 - LIMITS.exceptions) * len(explained)
        return rest if self.losses and as_well else possible

    def _false_too_often(self) -> int:
        """Literals that were false in more successes than are tolerated."""
        if not self.tolerated:
            return self.failed
        found = self.failed
        most = self.tolerated * len(self.wins)
        for bit in bits(self.held & self.failed):
            if count_failing(self.wins, bit) <= most:
                found &= ~(1 << bit)
        return found

    def _without_chance(self, possible: int) -> int:
        """Possible needs without those that verification took out, and those that held in all
        successes by chance.
        """
        own = self.not_by_name(possible)
        unexplained = [row for row in self.losses if not row.fails & own]
        kept = possible
        for bit in bits(possible):
            by_chance = self.by_chance(unexplained, bit) > LIMITS.by_chance / self.size
            if by_chance or self.literal(bit) in self.excluded:
                kept &= ~(1 << bit)
        return kept

    # Chance.

    def by_chance(self, refusals: Iterable[Row], *some: int) -> float:
        """The p-value of a need: how likely it is that one of some facts held in every success,
        and none in as many refusals, if none of them were needed.

        It is a one-sided binomial test. Only facts about fixed names are tested, and only where
        there are many such names. Refusals of one episode count once, as most facts hold for a
        whole episode.
        """
        if not self.many or not any(map(self.by_name, some)):
            return 0.0
        all_false = prod(1 - self.frequency(bit) for bit in some)
        mask = mask_of(some)
        last_of_episode = {
            row.attempt.witness.episode: row for row in refusals if row.known & mask == mask
        }
        recent = list(last_of_episode.values())[-LIMITS.recent :]
        lacking = sum(row.fails & mask == mask for row in recent)
        in_every_success = (1 - all_false) ** self.independent_wins
        return float(in_every_success * _at_least(lacking, len(recent), all_false))

    @cached_property
    def independent_wins(self) -> int:
        """Number of independent successes."""
        return count_independent(self.wins)

    def frequency(self, bit: int, given: int = 0) -> float:
        """How often a fact holds for random names, where some other facts hold; 1 if nothing is
        known.
        """
        rows = self._drawn or [Signed(row.holds, row.fails) for row in self.losses]
        held = known = 0
        for row in rows:
            if row.known >> bit & 1 and row.holds & given == given:
                known += 1
                held += row.holds >> bit & 1
        return held / known if known else 1.0

    @cached_property
    def _drawn(self) -> list[Signed]:
        """Literals of names drawn at random."""
        return [signed(true, false, self.size) for true, false in self.book.imagined]

    # The part of the bound that attempts have put to the test.

    @cached_property
    def tested(self) -> int:
        """The safe bound without facts that were never seen to be false, or were hardly ever
        known.

        An action that was never refused may have been chosen carefully, so that its successes
        prove little: then a fact counts as tested if it is false of names drawn at random. Where
        the world declares its commands, so does what every success took away.
        """
        if self.losses:
            ever = union(row.fails for row in self.losses)
        else:
            ever = union(row.fails for row in self._drawn)
        if self.book.declared and self.book.settled:
            ever |= self._undone()
        return self.safe & ever & ~self.seldom

    def _undone(self) -> int:
        """Facts that every success made false: an action needs what it takes away.

        Not so for what is near: who takes a thing has it in hand, and so it lies nowhere.
        """
        found = self.held & (1 << self.size) - 1
        for row in self.wins:
            after = signed(row.attempt.true_after, row.attempt.false_after, self.size)
            if not row.attempt.names_twice:
                found &= after.fails
        return found & ~mask_of(bit for bit in bits(found) if self._near(bit))

    def _near(self, bit: int) -> bool:
        """True if a fact says that a thing is where the agent is, which follows from where both
        are.
        """
        predicate = self.book.vocabulary.predicates[self.literal(bit).atom.predicate]
        return predicate.exclusive not in ("", "always")

    @cached_property
    def seldom(self) -> int:
        """Candidate preconditions that were rarely known before a success, or that successes
        reveal rather than need.
        """
        firsts = self._first_wins()
        revealed = []
        for row in firsts:
            after = signed(row.attempt.true_after, row.attempt.false_after, self.size)
            revealed.append(after.holds & ~row.holds)
        found = 0
        for bit in bits(self.safe):
            known = count_holding(firsts, bit)
            shown = sum(mask >> bit & 1 for mask in revealed)
            rarely = count_holding(self.wins, bit) < LIMITS.seldom_known * len(self.wins)
            if known < shown or rarely:
                found |= 1 << bit
        return found

    def _first_wins(self) -> list[Row]:
        """Of the successes with the same names in an episode, the first: what it has shown is
        known to the others.
        """
        firsts: dict[tuple[str, tuple[str, ...]], Row] = {}
        for row in self.wins:
            firsts.setdefault((row.attempt.witness.episode, row.attempt.names), row)
        return list(firsts.values())


def count_holding(rows: Iterable[Row], bit: int) -> int:
    """Number of rows in which a literal held."""
    return sum(row.holds >> bit & 1 for row in rows)


def count_failing(rows: Iterable[Row], bit: int) -> int:
    """Number of rows in which a literal failed."""
    return sum(row.fails >> bit & 1 for row in rows)


def _at_least(successes: int, trials: int, probability: float) -> float:
    """The binomial tail: the probability of at least so many successes."""
    return sum(
        comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(successes, trials + 1)
    )
