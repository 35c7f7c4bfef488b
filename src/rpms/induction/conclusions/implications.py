"""Facts about an action's slots that follow from other such facts in every state that was seen:
association rules without an exception, and hardly by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import NamedTuple

from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.bindings import in_order, names_in_slot
from rpms.induction.evidence.columns import columns_of, share_of
from rpms.induction.evidence.literals import literal_of, mask_of, slots_in
from rpms.induction.evidence.states import Pool, SeenState
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Literal


class _Level(NamedTuple):
    """A slot that is given a name, and the given literals that this completes."""

    slot: int
    completed: tuple[Literal, ...]


def _levels(literal: Literal, given: Sequence[Literal]) -> list[_Level]:
    """The slots of some literals in an order in which each completes given ones, if it can."""
    wanted = [slots_in(each.atom) for each in given]
    slots = slots_in(literal.atom).union(*wanted)
    levels = []
    bound = frozenset[int]()
    for slot in in_order(sorted(slots), wanted):
        bound |= {slot}
        completed = [each for each in given if slot in slots_in(each.atom) <= bound]
        levels.append(_Level(slot, tuple(completed)))
    return levels


class _Case:
    """One implication, with what the states that were asked so far say of it."""

    def __init__(self, book: Book, bit: int, given: int) -> None:
        self.asked = 0  # Number of states
        self.refuted = False
        self.held: set[tuple[str, ...]] = set()
        """Episodes, with the names for which it held in them."""
        self._book = book
        self._literal = literal_of(book.facts, bit)
        literals = [literal_of(book.facts, each) for each in bits(given)]
        self._given = [each for each in literals if not slots_in(each.atom)]
        """Those of the given literals that are about no slot."""
        self._levels = _levels(self._literal, literals)
        self._names_left = 0
        """Names that may still be tried in the state that is asked."""

    def ask(self, state: SeenState) -> None:
        """Look for names of which the given literals hold in a state, and ask whether the other
        does too: one for which it does not, or nobody knows, is enough to refute it.
        """
        self.asked += 1
        if all(_is_known_to_hold(each, each.atom.args, state) for each in self._given):
            self._names_left = LIMITS.names_asked
            self._extend(state, {})

    def _extend(self, state: SeenState, names: dict[int, str]) -> None:
        """Ask with all names for the slots that have none yet, as far as names may be tried."""
        if len(names) == len(self._levels):
            self._ask_without_slots(state)
            return
        level = self._levels[len(names)]
        pool = state.pool(names_in_slot(self._book, level.slot, state.answers.belief))
        fitting = _fitting(level, pool, names)
        free = pool.every & ~self._used_up(pool, names)
        if len(names) + 1 == len(self._levels):
            tried = self._take_names(free)
            self._ask_of_all(state, names, pool, fitting & tried)
            return
        for place in bits(free):
            if self._names_left <= 0 or self.refuted:
                return
            self._names_left -= 1
            if fitting >> place & 1:
                self._extend(state, {**names, level.slot: pool.names[place]})

    def _used_up(self, pool: Pool, names: Mapping[int, str]) -> int:
        """The names that stand in another slot already, unless they may stand in two."""
        if self._book.declared:
            return 0
        return mask_of(pool.place[name] for name in names.values() if name in pool.place)

    def _take_names(self, free: int) -> int:
        """The first of some names, as many as may still be tried; they count as tried then."""
        if free.bit_count() <= self._names_left:
            taken = free
        else:
            taken = mask_of(islice(bits(free), self._names_left))
        self._names_left -= taken.bit_count()
        return taken

    def _ask_of_all(self, state: SeenState, names: dict[int, str], pool: Pool, some: int) -> None:
        """Ask with some of the names that may fill the last slot."""
        literal = self._literal
        slot = self._levels[-1].slot
        if not some:
            return
        split = pool.split(literal.atom.predicate, _args_with(literal, names))
        if some & ~(split.false if literal.negated else split.true):
            self._refute()
            return
        slots = sorted((*names, slot))
        for place in bits(some):
            filled = {**names, slot: pool.names[place]}
            self.held.add((state.episode, *map(filled.__getitem__, slots)))

    def _ask_without_slots(self, state: SeenState) -> None:
        """Ask about the literal as it stands, where it and the given ones are about no slot."""
        if _is_known_to_hold(self._literal, self._literal.atom.args, state):
            self.held.add((state.episode,))
        else:
            self._refute()

    def _refute(self) -> None:
        self.refuted = True
        self.held.clear()


def _fitting(level: _Level, pool: Pool, names: Mapping[int, str]) -> int:
    """The names of a slot with which all given literals hold that this completes."""
    found = pool.every
    for literal in level.completed:
        split = pool.split(literal.atom.predicate, _args_with(literal, names))
        found &= split.false if literal.negated else split.true
    return found


def _args_with(literal: Literal, names: Mapping[int, str]) -> tuple[str | None, ...]:
    """The arguments of a literal, with names for its slots; None for the one that has none."""
    found: list[str | None] = []
    for arg in literal.atom.args:
        found.append(names.get(int(arg)) if arg.isdigit() else arg)
    return tuple(found)


def _is_known_to_hold(literal: Literal, args: tuple[str, ...], state: SeenState) -> bool:
    """True if a literal is known to hold of some names."""
    value = state.answers[literal.atom.predicate, args]
    return value is not None and value is not literal.negated


@dataclass(eq=False)
class Implications:
    """Facts that follow from others, as states of all episodes tell: each is asked about the names
    for which the others hold.
    """

    book: Book

    def __post_init__(self) -> None:
        self._cases: dict[tuple[int, int], _Case] = {}
        """By literal and the given ones, as bits."""
        self._about = _record_of(self.book)

    @property
    def is_current(self) -> bool:
        """True if its cases are about the same facts, names and states: of these, more may have
        been kept since, but none went.
        """
        return self._about == _record_of(self.book)

    def implied_by(self, bit: int, others: int, preferred: int) -> bool:
        """True if a literal follows from one or two others about its things.

        Where one of these follows from it in turn, nobody can tell which of the two is meant; it
        counts as implied only by what is preferred to it.
        """
        about = self._slots[bit]
        linked = []
        for other in bits(others):
            if not about or self._slots[other] & about:
                linked.append(other)
        return self._implied(bit, linked, preferred, LIMITS.premises)

    def near_by(self, bit: int, others: int, preferred: int) -> bool:
        """True if a literal that says what is near follows from others about any of the action's
        things: what lies in a place is near where the place is.
        """
        return self._implied(bit, list(bits(others)), preferred, LIMITS.premises_of_near)

    def _implied(self, bit: int, others: Sequence[int], preferred: int, most: int) -> bool:
        """True if a literal follows from at most so many others."""
        about = self._slots[bit]
        for size in range(1, most + 1):
            for premises in combinations(others, size):
                covered = set[int]().union(*[self._slots[premise] for premise in premises])
                if not about <= covered or not self.follows(bit, mask_of(premises)):
                    continue
                if self._are_preferred_to(bit, premises, preferred):
                    return True
        return False

    def _are_preferred_to(self, bit: int, premises: Sequence[int], preferred: int) -> bool:
        """True if each premise of a literal that follows from it in turn is preferred to it.

        A premise follows from the literal together with the other premises.
        """
        every = mask_of(premises) | 1 << bit
        for premise in premises:
            is_preferred = preferred >> premise & 1
            if not is_preferred and self.follows(premise, every & ~(1 << premise)):
                return False
        return True

    def follows(self, bit: int, given: int) -> bool:
        """True if a literal held wherever given ones did, so often that it was no coincidence."""
        if (bit, given) not in self._cases:
            self._cases[bit, given] = _Case(self.book, bit, given)
        case = self._cases[bit, given]
        states = self.book.vocabulary.seen.kept
        while not case.refuted and case.asked < len(states):
            case.ask(states[case.asked])
        if case.refuted:
            return False
        share = share_of(columns_of(self.book).drawn_with, bit)
        return share is not None and share ** len(case.held) < LIMITS.by_chance

    @cached_property
    def _slots(self) -> list[frozenset[int]]:
        """By literal, the slots that it is about."""
        return [*map(slots_in, self.book.facts)] * 2


def implications_of(book: Book) -> Implications:
    """Implications among an action's facts: what was asked of a state is not asked again."""
    implications: Implications | None = book.implications
    if implications is None or not implications.is_current:
        implications = Implications(book)
        book.implications = implications
    return implications


def _record_of(book: Book) -> tuple[object, ...]:
    """The basis of cases: an action's facts, the names that may fill its slots, and the states
    that were thinned out.
    """
    roles = [frozenset(role or ()) for role in book.roles]
    return len(book.facts), roles, book.vocabulary.seen.thinned
