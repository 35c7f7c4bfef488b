"""How likely each fact is needed by an action, and how much a trial would tell: in bits.

A trial fails if any fact that it lacks is needed. Where it lacks none that is certainly needed, its
outcome is open, and the entropy of the outcome is what can be learned from it: most where success
is as likely as refusal. A refusal makes every fact that was lacking likelier to be needed.

Conclusions have an estimate of their own (`need_chances`), about the facts that are left when all
refusals are explained. Here every fact of the safe bound may still be needed, since the next trial
may be the one that shows it, and refusals are weighed one by one: experiments that resemble each
other do not add up.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, log2

from rpms.induction.conclusions.need_chances import chance_of_refusal, prior_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.literals import often_lacking, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits


def entropy(chance: float) -> float:
    """Bits that an event of some likelihood tells."""
    if not 0 < chance < 1:
        return 0.0
    return -chance * log2(chance) - (1 - chance) * log2(1 - chance)


@dataclass(eq=False)
class Odds:
    """What an action needs, as far as its attempts tell."""

    needs: Needs

    @cached_property
    def _doubtful(self) -> int:
        """Facts that held in every success, and were mostly known."""
        return self.needs.bound.safe & ~self.needs.bound.seldom

    @cached_property
    def _refused_without(self) -> list[int]:
        """Sets of facts without which it was refused, often enough to expect it again."""
        table = self.needs.table
        return often_lacking(table.losses, self._doubtful, table.book.vocabulary.decisive)

    @cached_property
    def certain(self) -> int:
        """Facts that are known to be needed: it was refused where nothing else was lacking."""
        alone = [mask for mask in self._refused_without if mask & (mask - 1) == 0]
        return union(alone)

    @cached_property
    def open(self) -> dict[int, float]:
        """By fact that may be needed or not, how likely it is."""
        doubtful = self._doubtful & ~self.certain
        before = {bit: prior_of(self.needs, bit) for bit in bits(doubtful)}
        found = dict(before)
        for row in self.needs.table.losses:
            lacking = row.fails & doubtful
            if not lacking or row.fails & self.certain:
                continue
            refused = chance_of_refusal(before, lacking)
            for bit in bits(lacking):
                found[bit] = max(found[bit], before[bit] / refused)
        return {bit: min(chance, LIMITS.surest) for bit, chance in found.items()}

    @cached_property
    def costs(self) -> dict[int, float]:
        """By fact, the bits by which a trial without it is less likely to succeed."""
        found = dict.fromkeys(bits(self.certain), inf)
        for bit, chance in self.open.items():
            found[bit] = -log2(1 - chance)
        return found

    def success(self, holds: int, fails: int) -> float:
        """The likelihood that no fact is needed that fails now; one of which nothing is known
        counts half.

        What was refused is refused again where as much is lacking.
        """
        if any(not mask & ~fails for mask in self._refused_without):
            return 0.0
        chance = 1.0
        for bit, needed in self.open.items():
            if fails >> bit & 1:
                chance *= 1 - needed
            elif not holds >> bit & 1:
                chance *= 1 - needed / 2
        return chance
