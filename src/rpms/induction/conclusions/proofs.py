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
    """A refusal, and the required facts that it is not known to have had, as bits."""

    missing: int
    row: Row


@dataclass(eq=False)
class Proofs:
    """What is certain about the facts that explain refusals."""

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
        lacking = []
        for row in self.explanations.explainable:
            if row.fails >> bit & 1:
                # an unknown fact may have been missing
                missing = (self.explanations.required | implied) & ~row.holds
                lacking.append(_Lacking(missing, row))
        candidates = {each.missing for each in lacking}
        for suspects in sorted(candidates, key=lambda mask: (mask.bit_count(), mask)):
            shown = []
            for each in lacking:
                if not each.missing & ~suspects:
                    shown.append(each.row)
            if count_independent(shown) >= self.table.book.vocabulary.decisive:
                same = self._same(bit, suspects & ~implied)
                return Proof(suspects & ~same, shown, same)
        return None

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
        if held != known & table.holding[other] or held in (0, known):
            return False
        slots = sorted(slots_in(table.literal(one).atom) | slots_in(table.literal(other).atom))
        witnesses = set()
        for place in bits(known):
            attempt = table.rows[place].attempt
            names = tuple(attempt.names[slot] for slot in slots)
            witnesses.add((attempt.witness.episode, names, held >> place & 1))
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
        with_it = table.holding[bit] & table.won
        known = with_it.bit_count() >= (1 - LIMITS.sometimes) * len(table.wins)
        return known and table.independent(with_it) >= LIMITS.several
