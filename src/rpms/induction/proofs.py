"""Refusals that show that a fact is needed, since nothing else was missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.explanations import Explanations
from rpms.induction.literals import Row, bits, count_independent
from rpms.induction.thresholds import LIMITS


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
class Proofs(Explanations):
    """What is certain about the facts that explain refusals."""

    def decisive(self, bit: int) -> list[Row]:
        """Refusals in which one of the explaining facts alone was false, and all the others
        were true.
        """
        others = self.explaining & ~(1 << bit)
        found = []
        for row in self.explainable:
            if row.fails >> bit & 1 and row.holds & others == others:
                found.append(row)
        return found

    @cached_property
    def proofs(self) -> dict[int, Proof]:
        """By explaining fact, the refusals that show that it is needed, where there are enough."""
        found = {}
        for bit in bits(self.explaining):
            proof = self._proof(bit)
            if proof is not None:
                found[bit] = proof
        return found

    def _proof(self, bit: int) -> Proof | None:
        """The fewest facts of which one was surely needed, and the refusals that lacked nothing
        else.
        """
        lacking = []
        for row in self.explainable:
            if row.fails >> bit & 1:
                # an unknown fact may have been missing
                lacking.append(_Lacking(self.required & ~row.holds, row))
        candidates = {each.missing for each in lacking}
        for suspects in sorted(candidates, key=lambda mask: (mask.bit_count(), mask)):
            shown = [each.row for each in lacking if not each.missing & ~suspects]
            if count_independent(shown) >= self.book.vocabulary.decisive:
                same = self._same(bit, suspects)
                return Proof(suspects & ~same, shown, same)
        return None

    def _same(self, bit: int, suspects: int) -> int:
        """Suspects that always equalled `bit` where all other required facts held: they count
        as one.
        """
        rest = self.required & ~suspects
        where = [row for row in self.rows if row.holds & rest == rest]
        same = 0
        for other in bits(suspects & ~(1 << bit)):
            if self._never_apart(where, bit, other):
                same |= 1 << other
        return same

    def _never_apart(self, rows: Iterable[Row], one: int, other: int) -> bool:
        """True if two facts, known together before enough independent witnesses, had the same
        value each time, and not always the same.

        Attempts of one episode are independent if the facts are about other things, or have
        changed by then: what holds all day agrees all day, however often one asks.
        """
        both = 1 << one | 1 << other
        about = (*self.literal(one).atom.args, *self.literal(other).atom.args)
        slots = sorted({int(arg) for arg in about if arg.isdigit()})
        witnesses = set()
        values = set()
        for row in rows:
            if row.known & both != both:
                continue
            value = row.holds & both
            if value not in (0, both):
                return False
            names = tuple(row.attempt.names[slot] for slot in slots)
            witnesses.add((row.attempt.witness.episode, names, value))
            values.add(value)
        return len(witnesses) >= LIMITS.alike and len(values) > 1

    def proven_alone(self, bit: int) -> bool:
        """True if a fact is needed, whatever else is."""
        proof = self.proofs.get(bit)
        return proof is not None and proof.suspects == 1 << bit

    def well_supported(self, bit: int) -> bool:
        """True if a fact was known to hold in several independent successes, and in nine of ten.

        Refusals tell what was wrong with them; only successes tell that there is no other way. And
        where a fact was unknown, it may have been false.
        """
        with_it = [row for row in self.wins if row.holds >> bit & 1]
        known = len(with_it) >= (1 - LIMITS.sometimes) * len(self.wins)
        return known and count_independent(with_it) >= LIMITS.several
