"""An action's attempts as bits, as they were when conclusions were drawn.

A *literal*, a fact or its negation, is a bit: its place among the facts, and for a negation that
many further on. A set of literals is a number, and so is a set of attempts.
"""

from collections.abc import Iterable
from functools import cached_property
from math import comb, prod

from rpms.induction.conclusions.action_model import kinds_that_worked
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.columns import Steps, all_of, columns_of, opposite, share_of
from rpms.induction.evidence.literals import Row, has_names, literal_of, mask_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Clause, Literal, kind_of


class AttemptTable:
    """The attempts of an action: which facts held in which, and which of them worked."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.size = len(book.facts)
        """Number of facts, and so the place of the first negation."""
        self.has_many_names = len(book.named) > LIMITS.many_names
        """True if there are so many fixed names that some fact about one always happens to hold."""
        self.fit = kinds_that_worked(book)
        """For each slot, the kinds that have worked in it."""
        columns = columns_of(book)
        self._columns = columns
        """The same attempts, and those that are made later."""
        # the columns grow with each attempt; conclusions are about those until now
        self.rows = columns.rows.copy()
        self.wins = columns.wins.copy()
        self.losses = columns.losses.copy()
        self.won = columns.won
        """The attempts that worked."""
        self.lost = all_of(len(self.rows)) & ~self.won
        self.holding = columns.holding.copy()
        """By literal, the attempts before which it held."""
        self.first_wins = columns.first_wins
        """The first success on each occasion."""
        self.after = columns.after.copy()
        """By literal, the successes after which it held."""
        self.made_false = columns.made_false
        """Facts that every success made false whose things were all different."""
        self.drawn_with = columns.drawn_with.copy()
        """By literal, the names drawn at random of which it holds."""
        self._drawn = all_of(columns.drawn)
        self.repeated = columns.done_before()
        """The steps of refusals to do what was done already."""
        self.held = self.in_any(self.won)
        """Literals that held in some success."""
        self.failed = self.denied(self.held)
        """Literals that were false in some success."""

    # Attempts in which literals held and failed.

    def failing(self, bit: int) -> int:
        """The attempts before which a literal failed."""
        return self.holding[opposite(bit, 2 * self.size)]

    def known_in(self, bit: int) -> int:
        """The attempts before which it was known whether a literal holds."""
        return self.holding[bit] | self.failing(bit)

    def wins_with(self, bit: int) -> int:
        """The successes before which a literal held."""
        return self.holding[bit] & self.won

    def wins_without(self, bit: int) -> int:
        """The successes before which a literal failed."""
        return self.failing(bit) & self.won

    def with_holding(self, some: int, literals: int) -> int:
        """Of some attempts, those before which all of some literals held."""
        for bit in bits(literals):
            some &= self.holding[bit]
        return some

    def without_failing(self, some: int, literals: int) -> int:
        """Of some attempts, those before which none of some literals failed."""
        for bit in bits(literals):
            some &= ~self.failing(bit)
        return some

    def in_any(self, some: int) -> int:
        """Literals that held before any of some attempts."""
        return mask_of(bit for bit, held in enumerate(self.holding) if held & some)

    def steps(self, some: int) -> Steps:
        """The steps of some attempts."""
        return Steps(self.rows, some)

    def independent(self, some: int) -> int:
        """Number of independent witnesses among some attempts."""
        return self._columns.independent(some)

    @cached_property
    def independent_wins(self) -> int:
        """Number of independent successes."""
        return self.independent(self.won)

    @property
    def names_for_kinds(self) -> bool:
        """True if the kinds of an action's things are their names, and there are many: then all
        facts come first.
        """
        names = self._columns.names
        if len(names) <= LIMITS.fixed_names:
            return False
        return all(kind_of(name) == name for name in names)

    # Bits and the literals they stand for.

    def denied(self, literals: int) -> int:
        """The negations of some literals."""
        size = self.size
        facts = literals & all_of(size)
        return literals >> size | facts << size

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
            bit = self.book.facts.index(literal.atom)
            if literal.negated:
                bit += self.size
            mask |= 1 << bit
        return mask

    def is_by_name(self, bit: int) -> bool:
        """True if a fact is about anything by its name."""
        return has_names(self.literal(bit).atom)

    def not_by_name(self, mask: int) -> int:
        """The facts among some that are about the action's own things, or about none."""
        return mask_of(bit for bit in bits(mask) if not self.is_by_name(bit))

    def is_near(self, bit: int) -> bool:
        """True if a fact says that a thing is where the agent is, which follows from where both
        are.
        """
        predicate = self.book.vocabulary.predicates[self.literal(bit).atom.predicate]
        return bool(predicate.companion)

    # Chance.

    def frequency(self, bit: int, given: int = 0) -> float:
        """The share of random names for which a fact holds, of those for which some others do; 1 if
        nothing is known.
        """
        if self._drawn:
            share = share_of(self.drawn_with, bit, given, self._drawn)
        else:
            share = share_of(self.holding, bit, given, self.lost)
        return 1.0 if share is None else share

    def by_chance(self, refusals: Iterable[Row], *some: int) -> float:
        """The p-value of a need: how likely it is that one of some facts held in every success,
        and none in as many refusals, if none of them were needed.

        It is a one-sided binomial test. Only facts about fixed names are tested, and only where
        there are many such names. Refusals of one episode count once, as most facts hold for a
        whole episode.
        """
        if not self.has_many_names or not any(map(self.is_by_name, some)):
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


def _at_least(successes: int, trials: int, probability: float) -> float:
    """The binomial tail: the probability of at least so many successes."""
    total = 0.0
    for count in range(successes, trials + 1):
        failures = trials - count
        total += comb(trials, count) * probability**count * (1 - probability) ** failures
    return total
