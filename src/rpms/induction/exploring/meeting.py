"""Which facts may ever hold together: pairs that actions can bring about (the h² heuristic of
planning). A state that has a pair for which there is no way need not be searched for, and what was
never seen together need not exclude each other.

Of fact number n, the literal is numbered 2n and its negation 2n + 1.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from rpms.induction.evidence.literals import common_bits, mask_of, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Literal


class NumberedAction(NamedTuple):
    """A ground action: its needs and effects as numbers of literals, and what it does to a
    state.
    """

    needs: list[int]
    effects: list[int]
    made: int
    unmade: int

    def after(self, state: int) -> int:
        """The state that it leads to."""
        return state & ~self.unmade | self.made


def literals_of(state: int, facts: int) -> list[int]:
    """The literals that hold in a state, one for each of so many facts."""
    found = []
    for number in range(facts):
        holds = state >> number & 1
        found.append(2 * number if holds else 2 * number + 1)
    return found


class Meeting:
    """Pairs of literals that actions may bring about together, beginning in one state: those that
    hold in it, and those that an action leaves whose needs may all meet each other.
    """

    def __init__(
        self,
        actions: Sequence[NumberedAction],
        numbers: Mapping[Atom, int],
        state: int,
        holds: Callable[[Atom], bool | None],
    ) -> None:
        self._actions = actions
        self._numbers = numbers
        self._holds = holds
        size = 2 * len(numbers)
        self._with = [0] * size
        """By literal, those that may hold together with it, as bits; none of one that never may."""
        now = literals_of(state, len(numbers))
        holding = mask_of(now)
        for literal in now:
            self._with[literal] = holding
        self._is_known = size <= LIMITS.pairs_known
        if self._is_known:
            self._spread()

    def _spread(self) -> None:
        """Take in what actions leave, until nothing is new."""
        last = [0] * len(self._actions)
        """By action, the literals that may hold with all of its needs, when it was looked at."""
        every = union(self._with)
        is_new = True
        while is_new:
            is_new = False
            for number, action in enumerate(self._actions):
                beside = self._beside(action.needs) if action.needs else every
                if beside == last[number]:
                    continue
                last[number] = beside
                is_new = True
                self._leave(action.effects, beside)
                every |= beside | mask_of(action.effects)

    def _beside(self, literals: Sequence[int]) -> int:
        """The literals that may hold with each of some; none where two of these never meet."""
        found = common_bits(self._with[literal] for literal in literals)
        return found if all(found >> literal & 1 for literal in literals) else 0

    def _leave(self, effects: Sequence[int], beside: int) -> None:
        """Note that an action leaves its effects, and whatever it does not undo."""
        undone = mask_of(effect ^ 1 for effect in effects)
        left = beside & ~undone | mask_of(effects)
        for effect in effects:
            for other in bits(left & ~self._with[effect]):
                self._with[other] |= 1 << effect
            self._with[effect] |= left

    def possible(self, literals: Iterable[Literal]) -> bool:
        """True unless two of some literals never hold together, or one never holds."""
        numbers = []
        for literal in literals:
            number = self._numbers.get(literal.atom)
            if number is not None:
                numbers.append(2 * number + literal.negated)
            elif self._holds(literal.atom) is literal.negated:
                return False
        if not numbers or not self._is_known:
            return True
        return bool(self._beside(numbers))

    def possible_of_any(self, one: Atom, other: Atom, names: Sequence[Collection[str]]) -> bool:
        """True if two facts over slots may hold together of any different names.

        `names`: by slot, those that may fill it.
        """
        if not self._is_known:
            return False
        facts = [*self._numbers]
        for number in bits(self._known_to_hold.get(one.predicate, 0)):
            first = _filled(one, facts[number // 2], {}, names)
            if first is None:
                continue
            beside = self._with[number] & self._known_to_hold.get(other.predicate, 0)
            for further in bits(beside):
                if _filled(other, facts[further // 2], first, names) is not None:
                    return True
        return False

    @cached_property
    def _known_to_hold(self) -> dict[str, int]:
        """By predicate, the facts that may hold, as bits."""
        found: dict[str, int] = {}
        for atom, number in self._numbers.items():
            literal = 2 * number
            if self._with[literal]:
                found.setdefault(atom.predicate, 0)
                found[atom.predicate] |= 1 << literal
        return found


def _filled(
    pattern: Atom, fact: Atom, chosen: Mapping[str, str], names: Sequence[Collection[str]]
) -> dict[str, str] | None:
    """The names chosen before, and those with which a pattern is a fact; None if it cannot be.

    `names`: by slot, those that may fill it; each fills one slot.
    """
    found = dict(chosen)
    for arg, name in zip(pattern.args, fact.args, strict=True):
        if not arg.isdigit():
            fits = arg == name
        elif arg in found:
            fits = found[arg] == name
        else:
            fits = name not in found.values() and name in names[int(arg)]
            found[arg] = name
        if not fits:
            return None
    return found
