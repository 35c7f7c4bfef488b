"""Refusals that show that a fact is needed, since nothing else was missing."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.explanations import Explanations
from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.literals import Row, count_independent, slots_in
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits


class Proof(NamedTuple):
    """The refusals that show that an explaining fact is needed."""

    suspects: int  # The facts of which one was surely needed, the explaining one among them
    refusals: list[Row]  # Those that lacked none but suspects
    same: int  # Facts that were never told apart from it, and count as one with it


class _Lacking(NamedTuple):
    """A refusal, and the possible needs that it is not known to have had, as bits."""

    missing: int
    row: Row


@dataclass(eq=False)
class Proofs:
    """Certainty about the facts that explain refusals."""

    explanations: Explanations

    def __post_init__(self) -> None:
        self.table = self.explanations.table

    @cached_property
    def by_fact(self) -> dict[int, Proof]:
        """By explaining fact, the refusals that show that it is needed, where there are enough."""
        found = {}
        for bit in bits(self.explanations.explaining):
            proof = self._proof(bit)
            if proof is not None:
                found[bit] = proof
        return found

    def _proof(self, bit: int) -> Proof | None:
        """The fewest facts of which one was surely needed, and the refusals that lacked nothing
        else.

        What counts as implied by the fact alone may have been needed in its place.
        """
        implied = self.explanations.implied_only_by(bit)
        refusals = self._lacking_it(bit, self.explanations.required | implied)
        candidates = {refusal.missing for refusal in refusals}
        for suspects in sorted(candidates, key=_fewest_first):
            shown = [refusal.row for refusal in refusals if not refusal.missing & ~suspects]
            if count_independent(shown) >= self.table.book.vocabulary.decisive:
                same = self._same(bit, suspects & ~implied)
                return Proof(suspects & ~same, shown, same)
        return None

    def _lacking_it(self, bit: int, possible: int) -> list[_Lacking]:
        """Refusals that lacked a fact, each with all of the possible needs that may have been
        missing: an unknown one may have been.
        """
        found = []
        for row in self.explanations.explainable:
            if row.fails >> bit & 1:
                found.append(_Lacking(possible & ~row.holds, row))
        return found

    def _same(self, bit: int, suspects: int) -> int:
        """Suspects that always equalled `bit` where all other required facts held: they count
        as one.
        """
        where = all_of(len(self.table.rows))
        for needed in bits(self.explanations.required & ~suspects):
            where &= self.table.holding[needed]
        same = 0
        for other in bits(suspects & ~(1 << bit)):
            if self._never_apart(where, bit, other):
                same |= 1 << other
        return same

    def _never_apart(self, some: int, one: int, other: int) -> bool:
        """True if two facts, known together before enough independent witnesses of some attempts,
        had the same value each time, and not always the same.

        Attempts of one episode are independent if the facts are about other things, or have
        changed by then: what holds all day agrees all day, however often one asks.
        """
        table = self.table
        known = some & table.known_in(one) & table.known_in(other)
        held = known & table.holding[one]
        were_equal = held == known & table.holding[other]
        never_changed = held in (0, known)
        if not were_equal or never_changed:
            return False
        slots = sorted(slots_in(table.literal(one).atom) | slots_in(table.literal(other).atom))
        witnesses = set()
        for place in bits(known):
            attempt = table.rows[place].attempt
            names = tuple([attempt.names[slot] for slot in slots])
            value = held >> place & 1
            witnesses.add((attempt.witness.episode, names, value))
        return len(witnesses) >= LIMITS.alike

    def proven_alone(self, bit: int) -> bool:
        """True if a fact is needed, whatever else is."""
        proof = self.by_fact.get(bit)
        return proof is not None and proof.suspects == 1 << bit

    def well_supported(self, bit: int) -> bool:
        """True if a fact was known to hold in several independent successes, and in nine of ten.

        Refusals tell what was wrong with them; only successes tell that there is no other way. And
        where a fact was unknown, it may have been false.
        """
        table = self.table
        with_it = table.wins_with(bit)
        if with_it.bit_count() < (1 - LIMITS.sometimes) * len(table.wins):
            return False
        return table.independent(with_it) >= LIMITS.several


def _fewest_first(facts: int) -> tuple[int, int]:
    """Order of sets of facts, the smallest first."""
    return facts.bit_count(), facts
