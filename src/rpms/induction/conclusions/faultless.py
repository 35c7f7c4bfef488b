"""Refusals that no fact explains: their kinds are to blame, or something nobody knows of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rpms.induction.conclusions.action_model import KindTable
from rpms.induction.conclusions.either_needs import EitherNeeds
from rpms.induction.evidence.attempts import Attempt
from rpms.induction.evidence.literals import Row
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits


@dataclass(eq=False)
class Faultless:
    """An action's refusals in which nothing was wrong, as far as facts tell."""

    pairs: EitherNeeds

    def __post_init__(self) -> None:
        self.explanations = self.pairs.explanations
        self.table = self.pairs.table
        self._false_together: dict[int, int] = {}
        """By fact that was asked about, all that were false with it in some success."""

    @cached_property
    def found(self) -> list[Attempt]:
        """Refusals for which no fact accounts: all that explains other refusals is known to be
        true, and nothing that may be needed is known to be false.
        """
        found = []
        for place in bits(self._with_all_met()):
            row = self.table.rows[place]
            was_done = row.attempt.witness in self.table.repeated
            has_pairs = all(row.holds & pair for pair in self.pairs.masks)
            if has_pairs and not was_done and not self._lacks_a_pair(row):
                found.append(row.attempt)
        return found

    def _with_all_met(self) -> int:
        """Refusals in which all that explains others is known to have been true."""
        table = self.table
        required = self.explanations.required
        # names that say no kind are blamed only where all that may be needed is known to be true
        needed = required if table.names_for_kinds else self.explanations.explaining
        return table.without_failing(table.with_holding(table.lost, needed), required)

    def _lacks_a_pair(self, refusal: Row) -> bool:
        """True if two facts may both have been missing of which one held in the successes: these
        may be to blame, and not kinds, even before enough refusals show it.

        One of them was false, and the other is not known to have held: it may have been missing,
        too.
        """
        table = self.table
        missing = refusal.fails & table.held & table.failed
        maybe_missing = table.held & ~refusal.holds
        for one in bits(missing):
            for other in bits(maybe_missing & ~self._false_with(one)):
                if self.pairs.one_always_kept(one, other):
                    return True
        return False

    def _false_with(self, bit: int) -> int:
        """Facts that were false in some success together with one."""
        if bit not in self._false_together:
            held_instead = self.table.in_any(self.table.wins_without(bit))
            self._false_together[bit] = self.table.denied(held_instead)
        return self._false_together[bit]

    def unexplained(self, tables: Sequence[KindTable]) -> int:
        """Refusals for which neither facts nor kinds account."""
        book = self.table.book
        count = 0
        for attempt in self.found:
            has_worked = attempt.kinds in book.worked
            refused_often = book.refused[attempt.kinds] >= LIMITS.refused_kinds
            if not has_worked and not refused_often:
                continue
            if not any(table.refuses(attempt) for table in tables):
                count += 1
        return count
