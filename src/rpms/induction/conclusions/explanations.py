"""The facts of the safe bound that explain an action's refusals, and those that nothing implies."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.action_model import strange
from rpms.induction.conclusions.implications import implications_of
from rpms.induction.conclusions.safe_bound import SafeBound
from rpms.induction.evidence.attempts import Attempt
from rpms.induction.evidence.literals import Row, bits, mask_of, slots_in, union
from rpms.induction.evidence.templates import words_in
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import kind_of


class Premises(NamedTuple):
    """Facts, as bits, for which another may be given up, and those that are preferred to it."""

    allowed: int
    preferred: int


class Meant(NamedTuple):
    """Rank of a fact among equivalents."""

    says_it: bool  # It has a word of the action
    in_order: bool  # It is about the action's things in their order


class FactRank(NamedTuple):
    """Rank of a fact among others that explain the same: the lowest is given up first."""

    preferred: bool
    own: bool  # It is about the action's things, and about none by its name
    known: int  # Attempts in which it was known
    positive: bool
    arguments: int
    meant: Meant
    order: int  # Of facts that are alike in all else, the first is kept


@dataclass(eq=False)
class Explanations(SafeBound):
    """Facts that account for refusals."""

    @cached_property
    def explaining(self) -> int:
        """Tested facts that account for every refusal that any of them accounts for, of which
        none can be left out: a minimal hitting set, by backward elimination.
        """
        kept = self.tested
        refusals = {row.fails & kept for row in self.explainable} - {0}
        # facts go one by one, the seldomest known first, as long as each refusal keeps a fact that
        # was false
        for bit in sorted(bits(kept), key=self.worth):
            without = kept & ~(1 << bit)
            if all(lacking & without for lacking in refusals):
                kept = without
        return kept & union(refusals)

    def worth(self, bit: int) -> FactRank:
        """Rank of a fact among others that explain the same."""
        literal = self.literal(bit)
        return FactRank(
            preferred=not self.preferred.isdisjoint(literal.atom.args),
            own=not self.by_name(bit),
            known=self.known_in(bit).bit_count(),
            positive=not literal.negated,
            arguments=len(literal.atom.args),
            meant=self._meant(bit),
            order=-bit,
        )

    def _meant(self, bit: int) -> Meant:
        literal = self.literal(bit)
        words = set(words_in(self.book.template))
        args = list(literal.atom.args)
        says_it = not words.isdisjoint(words_in(literal.atom.predicate))
        return Meant(says_it, args == sorted(args))

    # Refusals that facts have to explain.

    @cached_property
    def explainable(self) -> list[Row]:
        """Refusals that facts have to explain: those with kinds that have worked."""
        if self.kindless:
            return self.losses
        own = self.not_by_name(self.tested)
        # relations come before kinds: which key fits a door is no matter of what the two are
        # called; where kinds are no more than names, all facts about the things come before them
        before_kinds = own if self.names_for_kinds else self.tested & self._relations()
        found = []
        for row in self.losses:
            if not row.fails & own and row.attempt.witness in self.repeated:
                continue  # what was done already needs no other reason
            if row.fails & before_kinds or self._worked_with_kinds(row.attempt):
                found.append(row)
        return found

    def _relations(self) -> int:
        """Facts about several of the action's things."""
        facts = enumerate(self.book.facts)
        return mask_of(place for place, atom in facts if len(slots_in(atom)) > 1)

    def _worked_with_kinds(self, attempt: Attempt) -> bool:
        """True if kinds cannot be what was wrong with a refused attempt."""
        if self.paired:
            return attempt.kinds in self.book.worked
        return not strange(attempt, self.fit)

    @cached_property
    def paired(self) -> bool:
        """True if kinds that worked each were refused together, with nothing else missing:
        pillows in a fridge.
        """
        for row in self.losses:
            complete = row.holds & self.tested == self.tested and not row.fails & self.safe
            untried = row.attempt.kinds not in self.book.worked
            if complete and untried and not strange(row.attempt, self.fit):
                return True
        return False

    @cached_property
    def names_for_kinds(self) -> bool:
        """True if the kinds of an action's things are their names, and there are many: then all
        facts come first.
        """
        names = self._columns.names
        return len(names) > LIMITS.fixed_names and all(kind_of(name) == name for name in names)

    # All that may be needed.

    @cached_property
    def required(self) -> int:
        """All that an action may need as far as anybody knows: what explains refusals, and what
        nothing implies.
        """
        kept = self.tested
        for bit in bits(self.tested & ~self.explaining):
            # of many fixed names, some fact always happened to hold
            if self.many and self.by_name(bit):
                kept &= ~(1 << bit)
        # successes do not tell what follows from what, since in these all of it was true; other
        # states do
        implications = implications_of(self.book)
        doubtful = kept & ~self.explaining & ~self._undone()
        for bit in sorted(bits(doubtful), key=self.worth):
            others = kept & ~(1 << bit)
            implied_by = implications.near_by if self._near(bit) else implications.implied_by
            premises = self._premises(bit, others)
            if implied_by(bit, premises.allowed, premises.preferred):
                kept = others
        return kept

    def _premises(self, bit: int, others: int) -> Premises:
        """Of some facts, those that may imply one.

        Where the world declares its commands, a fact that has a word of the action is given up
        only for others that have one.
        """
        rank = self._meant(bit)
        allowed = preferred = 0
        for other in bits(others):
            explains = bool(self.explaining >> other & 1)
            meant = self._meant(other)
            if explains or meant > rank:
                preferred |= 1 << other
            if explains or not self.book.declared or meant.says_it >= rank.says_it:
                allowed |= 1 << other
        return Premises(allowed, preferred)

    @property
    def likely(self) -> int:
        """Facts that explain refusals, and facts that hardly held in all successes by chance."""
        most = LIMITS.by_chance ** (1 / self.independent_wins)
        found = self.explaining
        for bit in bits(self.required & ~self.explaining):
            if self.frequency(bit, self.explaining) < most:
                found |= 1 << bit
        return found
