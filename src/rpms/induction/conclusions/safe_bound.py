"""The *safe* bound of an action's needs: literals that were never false in a success and were true
in one.

All of these are the most specific hypothesis of the version space, as in SAM (safe action-model
learning): whoever sees to every one does nothing that may be refused. Those are left out here that
hardly anything speaks for: what held in all successes by chance, what verification has taken out,
and facts about fixed names where the others explain the refusals as well.
"""

from dataclasses import dataclass
from functools import cached_property

from rpms.induction.conclusions.attempt_table import AttemptTable
from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.literals import mask_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Literal


@dataclass(eq=False)
class SafeBound:
    """Literals that an action may need, as bits, and those that attempts have put to the test."""

    table: AttemptTable
    excluded: frozenset[Literal] = frozenset()  # Literals that verification has taken out
    tolerated: float = 0.0
    """Share of the successes in which a literal of the safe bound may be false: none for what
    the guard blocks by."""

    @cached_property
    def safe(self) -> int:
        """The literals of the safe bound, whether they were ever put to the test or not."""
        table = self.table
        possible = table.held & ~self._false_too_often()
        if table.book.vocabulary.positive:
            possible &= all_of(table.size)
        possible = self._without_chance(possible)
        if not table.losses:
            return possible
        # facts about fixed names are left out where the others explain the refusals as well
        own = table.not_by_name(possible)
        explained = [row for row in table.losses if row.fails & possible]
        explained_by_own = [row for row in explained if row.fails & own]
        enough = (1 - LIMITS.exceptions) * len(explained)
        return own if len(explained_by_own) >= enough else possible

    def _false_too_often(self) -> int:
        """Literals that were false in more successes than are tolerated."""
        table = self.table
        found = table.failed
        if not self.tolerated:
            return found
        most = self.tolerated * len(table.wins)
        for bit in bits(table.held & table.failed):
            if table.wins_without(bit).bit_count() <= most:
                found &= ~(1 << bit)
        return found

    def _without_chance(self, possible: int) -> int:
        """Possible needs without those that verification took out, and those that held in all
        successes by chance.
        """
        table = self.table
        own = table.not_by_name(possible)
        unexplained = [row for row in table.losses if not row.fails & own]
        kept = possible
        for bit in bits(possible):
            by_chance = table.by_chance(unexplained, bit) > LIMITS.by_chance / table.size
            if by_chance or table.literal(bit) in self.excluded:
                kept &= ~(1 << bit)
        return kept

    @cached_property
    def tested(self) -> int:
        """The safe bound without facts that were never seen to be false, or were hardly ever
        known.

        An action that was never refused may have been chosen carefully, so that its successes
        prove little: then a fact counts as tested if it is false of names drawn at random. Where
        the world declares its commands, so does what every success took away.
        """
        table = self.table
        if table.losses:
            ever_false = table.denied(table.in_any(table.lost))
        else:
            drawn = mask_of(bit for bit, some in enumerate(table.drawn_with) if some)
            ever_false = table.denied(drawn)
        if table.book.declared and table.book.settled:
            ever_false |= self.undone()
        return self.safe & ever_false & ~self.seldom

    def undone(self) -> int:
        """Facts that every success made false: an action needs what it takes away.

        Not so for what is near: who takes a thing has it in hand, and so it lies nowhere.
        """
        found = self.table.held & self.table.made_false
        return mask_of(bit for bit in bits(found) if not self.table.is_near(bit))

    @cached_property
    def seldom(self) -> int:
        """Candidate preconditions that were rarely known before a success, or that successes
        reveal rather than need.
        """
        table = self.table
        found = 0
        for bit in bits(self.safe):
            # of the same names, what the first success has shown is known to the others
            before = table.holding[bit] & table.first_wins
            shown = table.after[bit] & table.first_wins & ~before
            known_too_late = before.bit_count() < shown.bit_count()
            held = table.wins_with(bit).bit_count()
            if known_too_late or held < LIMITS.seldom_known * len(table.wins):
                found |= 1 << bit
        return found
