"""The facts of the safe bound that explain an action's refusals, and those that nothing implies."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.action_model import slots_with_new_kinds
from rpms.induction.conclusions.implications import implications_of
from rpms.induction.conclusions.safe_bound import SafeBound
from rpms.induction.evidence.attempts import Attempt
from rpms.induction.evidence.literals import Row, mask_of, slots_in, union
from rpms.induction.evidence.templates import words_in
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits


class Phrasing(NamedTuple):
    """The clarity of a fact, next to others that say the same."""

    says_it: bool  # It has a word of the action
    in_order: bool  # It is about the action's things in their order


class FactRank(NamedTuple):
    """Rank of a fact among others that explain the same: the lowest is given up first."""

    preferred: bool
    own: bool  # It is about the action's things, and about none by its name
    known: int  # Attempts in which it was known
    positive: bool
    arguments: int
    phrasing: Phrasing
    order: int  # Of facts that are alike in all else, the first is kept


class _Premises(NamedTuple):
    """Facts, as bits, for which another may be given up, and those that are preferred to it."""

    allowed: int
    preferred: int


@dataclass(eq=False)
class Explanations:
    """Facts that account for refusals."""

    bound: SafeBound
    kindless: bool = False
    """True if kinds explain nothing: names that never come up twice would explain everything."""
    preferred: frozenset[str] = frozenset()
    """Slots whose facts are kept rather than others that say the same."""

    def __post_init__(self) -> None:
        self.table = self.bound.table
        self._implied_only_by: dict[int, int] = {}
        self._words = set(words_in(self.table.book.template))
        self._phrasings: dict[int, Phrasing] = {}

    @cached_property
    def explaining(self) -> int:
        """Tested facts that account for every refusal that any of them accounts for, of which
        none can be left out: a minimal hitting set, by backward elimination.
        """
        tested = self.bound.tested
        refusals = {row.fails & tested for row in self.explainable}
        refusals.discard(0)
        kept = tested
        # facts go one by one, the seldomest known first, as long as each refusal keeps a fact that
        # was false
        for bit in self._by_worth:
            without = kept & ~(1 << bit)
            if all(lacking & without for lacking in refusals):
                kept = without
        return kept & union(refusals)

    @cached_property
    def _by_worth(self) -> list[int]:
        """The tested facts, those that are given up first at the beginning."""
        return sorted(bits(self.bound.tested), key=self.worth)

    def worth(self, bit: int) -> FactRank:
        """Rank of a fact among others that explain the same."""
        literal = self.table.literal(bit)
        return FactRank(
            preferred=not self.preferred.isdisjoint(literal.atom.args),
            own=not self.table.is_by_name(bit),
            known=self.table.known_in(bit).bit_count(),
            positive=not literal.negated,
            arguments=len(literal.atom.args),
            phrasing=self._phrasing(bit),
            order=-bit,
        )

    def _phrasing(self, bit: int) -> Phrasing:
        if bit not in self._phrasings:
            fact = self.table.literal(bit).atom
            says_it = not self._words.isdisjoint(words_in(fact.predicate))
            in_order = list(fact.args) == sorted(fact.args)
            self._phrasings[bit] = Phrasing(says_it, in_order)
        return self._phrasings[bit]

    # Refusals that facts have to explain.

    @cached_property
    def explainable(self) -> list[Row]:
        """Refusals that facts have to explain: those with kinds that have worked."""
        table = self.table
        if self.kindless:
            return table.losses
        own = table.not_by_name(self.bound.tested)
        # relations come before kinds: which key fits a door is no matter of what the two are
        # called; where kinds are no more than names, all facts about the things come before them
        before_kinds = own if table.names_for_kinds else self.bound.tested & self._relations()
        found = []
        for row in table.losses:
            if not row.fails & own and row.attempt.witness in table.repeated:
                continue  # what was done already needs no other reason
            if row.fails & before_kinds or self._worked_with_kinds(row.attempt):
                found.append(row)
        return found

    def _relations(self) -> int:
        """Facts about several of the action's things."""
        found = 0
        for bit, atom in enumerate(self.table.book.facts):
            if len(slots_in(atom)) > 1:
                found |= 1 << bit
        return found

    def _worked_with_kinds(self, attempt: Attempt) -> bool:
        """True if kinds cannot be what was wrong with a refused attempt."""
        if self._kinds_go_together:
            return attempt.kinds in self.table.book.worked
        return not slots_with_new_kinds(attempt, self.table.fit)

    @cached_property
    def _kinds_go_together(self) -> bool:
        """True if kinds that worked each were refused together, with nothing else missing:
        pillows in a fridge.
        """
        tested = self.bound.tested
        for row in self.table.losses:
            complete = row.holds & tested == tested and not row.fails & self.bound.safe
            untried = row.attempt.kinds not in self.table.book.worked
            if complete and untried and not slots_with_new_kinds(row.attempt, self.table.fit):
                return True
        return False

    # All that may be needed.

    @cached_property
    def required(self) -> int:
        """All that an action may need as far as anybody knows: what explains refusals, and what
        nothing implies.
        """
        return self._without_implied(self._possible)

    @cached_property
    def _possible(self) -> int:
        return self._without_chance_names(self.bound.tested)

    def implied_only_by(self, bit: int) -> int:
        """Facts that count as implied because of a required one alone, and that may hold without
        it: was it not needed after all, they may be.

        What has no door is not closed; a door that was opened is not closed either.
        """
        if bit not in self._implied_only_by:
            required_without_it = self._without_implied(self._possible & ~(1 << bit))
            follows = implications_of(self.table.book).follows
            apart = []
            for other in bits(required_without_it & ~self.required):
                if not follows(bit, 1 << other):
                    apart.append(other)
            self._implied_only_by[bit] = mask_of(apart)
        return self._implied_only_by[bit]

    def _without_chance_names(self, tested: int) -> int:
        """Without facts that explain nothing and are about one of many fixed names: some such
        fact always happened to hold.
        """
        if not self.table.has_many_names:
            return tested
        return tested & self.explaining | self.table.not_by_name(tested & ~self.explaining)

    def _without_implied(self, possible: int) -> int:
        """Without facts that explain nothing and follow from the others.

        Successes do not tell what follows from what, since in these all of it was true; other
        states do.
        """
        implications = implications_of(self.table.book)
        kept = possible
        doubtful = possible & ~self.explaining & ~self.bound.undone()
        for bit in self._by_worth:
            if not doubtful >> bit & 1:
                continue
            others = kept & ~(1 << bit)
            near = self.table.is_near(bit)
            implied_by = implications.near_by if near else implications.implied_by
            premises = self._premises(bit, others)
            if implied_by(bit, premises.allowed, premises.preferred):
                kept = others
        return kept

    def _premises(self, bit: int, others: int) -> _Premises:
        """The facts among some that may imply one.

        Where the world declares its commands, a fact that has a word of the action is given up
        only for others that have one.
        """
        given_up = self._phrasing(bit)
        any_phrasing = not self.table.book.declared or not given_up.says_it
        allowed = others & self.explaining
        preferred = allowed
        for other in bits(others & ~self.explaining):
            phrasing = self._phrasing(other)
            if phrasing > given_up:
                preferred |= 1 << other
            if any_phrasing or phrasing.says_it:
                allowed |= 1 << other
        return _Premises(allowed, preferred)

    @property
    def likely(self) -> int:
        """Facts that explain refusals, and facts that hardly held in all successes by chance."""
        most = LIMITS.by_chance ** (1 / self.table.independent_wins)
        found = self.explaining
        for bit in bits(self.required & ~self.explaining):
            if self.table.frequency(bit, self.explaining) < most:
                found |= 1 << bit
        return found
