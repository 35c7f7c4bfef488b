"""Open questions about an action: how likely it works in a state, and how much trying it there
would tell.
"""

from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.need_chances import chances_of, implied_by_doubts
from rpms.induction.conclusions.needs import Needs, needs_of
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import count_independent, mask_of, often_lacking, signed
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.exploring.odds import entropy
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.bits import bits
from rpms.logic.facts import Clause, Literal


class TrialWorth(NamedTuple):
    """What a trial is worth, and the question that it would settle."""

    value: float
    about: object


NO_WORTH = TrialWorth(0.0, None)


class DoubtedFact(NamedTuple):
    """A fact that may be needed or not, and the bits that a trial without it would tell."""

    fact: Literal
    told: float


class Question:
    """Open questions about an action, ready to be asked of many states."""

    def __init__(self, schema: ActionSchema, book: Book) -> None:
        self.schema = schema
        self.book = book
        needs = needs_of(book)
        self.needs = needs
        self.table = needs.table
        self.explanations = needs.explanations
        self.chances = chances_of(needs)
        """By fact that it may need, how likely it is needed."""
        self.wanted = mask_of(bit for bit, chance in self.chances.items() if chance >= 0.5)
        """The best guess at what it needs."""
        self._doubtful = mask_of(self.chances)
        """All that it may need."""
        self.places = tuple(sorted({bit % needs.table.size for bit in self.chances}))
        """Places of these facts."""
        kinds_by_occasion = {each.occasion: each.kinds for each in needs.faultless.found}
        self.faultless = Counter(kinds_by_occasion.values())
        """Independent refusals that only kinds can explain, by kinds."""
        self.unusual = _unusual_facts(needs)
        """Facts about its things with which it has hardly ever succeeded: who knows what it
        does to them."""
        self.fit = [frozenset(kinds) for kinds in needs.table.fit]
        """For each slot, the kinds that have worked in it."""
        self.roles = [(role,) for role in schema.variables]
        """For each slot, the roles that names for it may have."""
        self.interest = 1 / (1 + len(book.successes) / LIMITS.half_interest) if book.slots else 0.0
        """Weight among other actions: an action of nothing has nothing to be settled."""
        self.asked: Counter[object] = Counter()
        """Trials since conclusions were drawn, by what each was to settle."""

    @property
    def is_familiar(self) -> bool:
        """True if it has worked so often that a single attempt tells little more."""
        return len(self.table.wins) >= LIMITS.few_successes

    def rarity(self, true: int, false: int) -> TrialWorth:
        """1 / (1 + trials with the unusual facts that hold), 0 if a refusal is to be expected; it
        would settle what comes of these facts.
        """
        holds, fails = signed(true, false, self.table.size)
        unusual = holds & self.unusual
        if not unusual or fails & self.explanations.explaining:
            return TrialWorth(0.0, unusual)
        return TrialWorth(1 / (1 + self.asked[unusual]), unusual)

    def information(self, true: int, false: int, kinds: tuple[str, ...]) -> TrialWorth:
        """Bits that doing it would tell where some facts are true and some false, and the question
        it would settle: the entropy of the outcome, less the more often it was asked.
        """
        holds, fails = signed(true, false, self.table.size)
        lacking = fails & self._doubtful
        missing = self._doubtful & ~holds
        about: object = lacking or kinds
        has_worked = kinds in self.book.worked
        has_two_reasons = lacking and not has_worked  # nobody could tell which of them it was
        if has_two_reasons or self._is_foretold(missing):
            return TrialWorth(0.0, about)
        success = self._success(kinds, lacking, missing)
        uses = 1.0 if has_worked else self.new_kinds
        return TrialWorth(uses * entropy(success) / (1 + self.asked[about]), about)

    def _is_foretold(self, missing: int) -> bool:
        """True if it was refused often enough without as much as is missing."""
        return any(not before & ~missing for before in self._refused_without)

    def success(self, true: int, false: int) -> float:
        """How likely it works where some facts are true and some false, by the best guess at what
        it needs: 0 where any of that fails, less for each fact that nobody knows.
        """
        holds, fails = signed(true, false, self.table.size)
        if fails & self.wanted:
            return 0.0
        found = 1.0
        for bit in bits(self.wanted & ~holds):
            found *= 1 - self._missing_if_unknown[bit]
        return found

    def _success(self, kinds: tuple[str, ...], lacking: int, missing: int) -> float:
        """How likely it works with things of some kinds and without facts that may be needed:
        those that fail, and all that are not known to hold.
        """
        success = self.fitness(kinds) * self._reliability
        for bit in bits(missing):
            chance = self.chances[bit]
            if not lacking >> bit & 1:
                chance *= self._missing_if_unknown[bit]
            success *= 1 - chance
        return success

    @cached_property
    def _refused_without(self) -> list[int]:
        """Sets of facts without which it was refused, often enough to foretell it."""
        required = self.explanations.required
        least = self.book.vocabulary.decisive
        return often_lacking(self.explanations.explainable, required, least)

    @cached_property
    def _reliability(self) -> float:
        """How often it works where all that it is known to need holds: where it was refused
        nevertheless, there is a reason that nobody knows yet.
        """
        required = self.explanations.required
        explaining = self.explanations.explaining
        puzzling = []
        for row in self.table.losses:
            complete = row.holds & explaining == explaining
            has_worked = row.attempt.kinds in self.book.worked
            if complete and has_worked and not row.fails & required:
                puzzling.append(row)
        worked = self.table.independent_wins + 1
        return worked / (worked + count_independent(puzzling))

    @cached_property
    def _missing_if_unknown(self) -> dict[int, float]:
        """By fact, how likely it is missing where nothing is known of it: hardly, if it was unknown
        in successes too.
        """
        found = {}
        for bit in self.chances:
            unknown = (self.table.won & ~self.table.known_in(bit)).bit_count()
            found[bit] = 1 / (2 + unknown)
        return found

    def doubts(self) -> list[DoubtedFact]:
        """Facts that may be needed or not: each trial without one told a part of its bits."""
        return [
            DoubtedFact(fact, told / (1 + self.asked[fact])) for fact, told in self._untried_doubts
        ]

    @cached_property
    def _untried_doubts(self) -> list[DoubtedFact]:
        """Facts that may be needed or not, as if none were tried without."""
        found = []
        for bit, chance in self.chances.items():
            found.append(DoubtedFact(self.table.literal(bit), entropy(chance)))
        return found

    def without(self, literal: Literal) -> ActionSchema:
        """The action as plans have it, without one of its needs, and with what counts as implied
        because of that alone: else nobody could tell which of the two was lacking.
        """
        slots = slots_of(self.schema.variables)
        doubted = Clause((literal.bind(slots),))
        needs = [need for need in self.schema.preconditions if need != doubted]
        for bit, implied in self._implied_by_doubts.items():
            if self.table.literal(bit) == literal:
                for each in self.table.literals(implied):
                    needs.append(Clause((each.bind(slots),)))
        return replace(self.schema, preconditions=tuple(dict.fromkeys(needs)))

    @cached_property
    def _implied_by_doubts(self) -> dict[int, int]:
        return implied_by_doubts(self.needs)

    def most(self, kinds: tuple[str, ...]) -> float:
        """The most bits that doing it with things of some kinds can tell, whatever is so of
        them.
        """
        nothing_is_open = kinds in self.book.worked and self._needs_are_settled
        return 0.0 if nothing_is_open else 1.0

    @cached_property
    def _needs_are_settled(self) -> bool:
        """True if it is known what it needs, and nothing speaks for more."""
        return min(self.chances.values(), default=1.0) >= 1 and self._reliability == 1.0

    def fits(self, kinds: tuple[str, ...]) -> bool:
        """True if it has worked with each of some kinds in its slot."""
        return all(map(frozenset.__contains__, self.fit, kinds))

    def fitting(self, kinds: tuple[str, ...]) -> float:
        """Likelihood that it works with things of some kinds at all, by the number of kinds
        that did and did not.
        """
        share = 1.0
        for kind, fit, chance in zip(kinds, self.fit, self._new_kind_fits, strict=True):
            if kind not in fit:
                share *= chance
        return share

    @cached_property
    def _new_kind_fits(self) -> list[float]:
        """For each slot, how likely another kind works, by Laplace's rule of succession."""
        found = []
        for slot, fit in enumerate(self.fit):
            refused = {kinds[slot] for kinds in self.faultless} - fit
            found.append((len(fit) + 1) / (len(fit) + len(refused) + 2))
        return found

    def fitness(self, kinds: tuple[str, ...]) -> float:
        """Likelihood that it works with things of some kinds, also by how often it was refused
        with just these and nothing else missing.
        """
        if kinds in self.book.worked:
            return 1.0
        tried = self.faultless.get(kinds, 0)
        if tried >= LIMITS.refused_kinds:
            return 0.0
        together = self._together if len(kinds) > 1 else 1.0
        chance: float = self.fitting(kinds) * together * 0.5**tried
        return chance

    @cached_property
    def new_kinds(self) -> float:
        """Likelihood that the next use of it is with kinds never used before, by Good and Turing's
        estimate: a kind's answer serves uses with that kind alone, a need's serves all.
        """
        once = [kinds for kinds, count in self.book.worked.items() if count == 1]
        return len(once) / max(1, self.book.succeeded)

    @cached_property
    def _together(self) -> float:
        """Likelihood that kinds which work each work together, by Laplace's rule of succession."""
        worked = len(self.book.worked)
        refused = 0
        for kinds in self.faultless:
            if self.fits(kinds) and kinds not in self.book.worked:
                refused += 1
        return (worked + 1) / (worked + refused + 2)


def _unusual_facts(needs: Needs) -> int:
    """Facts about an action's things that held in hardly any of its successes."""
    table = needs.table
    book = table.book
    found = 0
    for bit in range(2 * table.size):
        args = book.facts[bit % table.size].args
        # of an action without slots, facts about nothing
        of_its_things = bool(args) == bool(book.slots) and all(map(str.isdigit, args))
        is_usual = table.wins_with(bit).bit_count() >= LIMITS.several
        if of_its_things and not is_usual:
            found |= 1 << bit
    return found
