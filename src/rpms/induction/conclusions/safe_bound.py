"""The *safe* bound of an action's needs: every literal that was never false in a success and was
true in one.

It is the most specific hypothesis of the version space, as in SAM (safe action-model learning):
whoever sees to all of it does nothing that may be refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

from rpms.induction.conclusions.action_model import working
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.columns import Steps, all_of, columns_of, opposite, share_of
from rpms.induction.evidence.literals import (
    Row,
    bits,
    has_names,
    literal_of,
    mask_of,
)
from rpms.induction.thresholds import LIMITS
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
        self._columns = columns = columns_of(book)
        self.rows = columns.rows.copy()
        self.wins = columns.wins.copy()
        self.losses = columns.losses.copy()
        self.won = columns.won
        """The attempts that worked, as bits."""
        self.holding = columns.holding.copy()
        """By literal, the attempts before which it held, as bits."""
        self._lost = all_of(len(self.rows)) & ~self.won
        self._first_wins = columns.first_wins
        self._shown = columns.shown.copy()
        self._made_false = columns.undone
        self._drawn = all_of(columns.drawn)
        self._drawn_with = columns.drawn_with.copy()
        """By literal, the names drawn at random of which it holds, as bits."""
        self.repeated = columns.done_before()
        self.held = self._in_any(self.won)
        """Literals that held in some success."""
        self.failed = self._denied(self.held)
        """Literals that were false in some success."""

    # Attempts in which literals held and failed.

    def failing(self, bit: int) -> int:
        """The attempts before which a literal failed, as bits."""
        return self.holding[opposite(bit, 2 * self.size)]

    def known_in(self, bit: int) -> int:
        """The attempts before which it was known whether a literal holds, as bits."""
        return self.holding[bit] | self.failing(bit)

    def steps(self, some: int) -> Steps:
        """The steps of some attempts."""
        return Steps(self.rows, some)

    def independent(self, some: int) -> int:
        """Number of independent witnesses among some attempts."""
        return self._columns.independent(some)

    def _in_any(self, some: int) -> int:
        """Literals that held before any of some attempts."""
        return mask_of(bit for bit, held in enumerate(self.holding) if held & some)

    def _denied(self, literals: int) -> int:
        """The negations of some literals."""
        size = self.size
        return literals >> size | (literals & (1 << size) - 1) << size

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
        return has_names(self.literal(bit).atom)

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
            if (self.failing(bit) & self.won).bit_count() <= most:
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
        last_of_episode = {}
        for row in refusals:
            if row.known & mask == mask:
                last_of_episode[row.attempt.witness.episode] = row
        recent = list(last_of_episode.values())[-LIMITS.recent :]
        lacking = sum(row.fails & mask == mask for row in recent)
        in_every_success: float = (1 - all_false) ** self.independent_wins
        return in_every_success * _at_least(lacking, len(recent), all_false)

    @cached_property
    def independent_wins(self) -> int:
        """Number of independent successes."""
        return self.independent(self.won)

    def frequency(self, bit: int, given: int = 0) -> float:
        """How often a fact holds for random names, where some other facts hold; 1 if nothing is
        known.
        """
        if self._drawn:
            share = share_of(self._drawn_with, bit, given, self._drawn)
        else:
            share = share_of(self.holding, bit, given, self._lost)
        return 1.0 if share is None else share

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
            ever = self._denied(self._in_any(self._lost))
        else:
            ever = self._denied(mask_of(bit for bit, some in enumerate(self._drawn_with) if some))
        if self.book.declared and self.book.settled:
            ever |= self._undone()
        return self.safe & ever & ~self.seldom

    def _undone(self) -> int:
        """Facts that every success made false: an action needs what it takes away.

        Not so for what is near: who takes a thing has it in hand, and so it lies nowhere.
        """
        found = self.held & self._made_false
        return mask_of(bit for bit in bits(found) if not self._near(bit))

    def _near(self, bit: int) -> bool:
        """True if a fact says that a thing is where the agent is, which follows from where both
        are.
        """
        predicate = self.book.vocabulary.predicates[self.literal(bit).atom.predicate]
        return bool(predicate.companion)

    @cached_property
    def seldom(self) -> int:
        """Candidate preconditions that were rarely known before a success, or that successes
        reveal rather than need.
        """
        found = 0
        for bit in bits(self.safe):
            # of the same names, what the first success has shown is known to the others
            known = (self.holding[bit] & self._first_wins).bit_count()
            shown = (self._shown[bit] & self._first_wins).bit_count()
            often = (self.holding[bit] & self.won).bit_count()
            if known < shown or often < LIMITS.seldom_known * len(self.wins):
                found |= 1 << bit
        return found


def _at_least(successes: int, trials: int, probability: float) -> float:
    """The binomial tail: the probability of at least so many successes."""
    return sum(
        comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(successes, trials + 1)
    )
