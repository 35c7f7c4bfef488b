"""Facts about an action's slots that follow from other such facts in every state that was seen."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations

from rpms.induction.attempts import Book
from rpms.induction.bindings import Bindings
from rpms.induction.literals import bits, literal_of, mask_of
from rpms.induction.thresholds import LIMITS


@dataclass(eq=False)
class Implications:
    """What goes with what: asked of names for which the given facts hold, in states of all
    episodes.
    """

    book: Book
    _found: dict[tuple[int, int], bool] = field(default_factory=dict)

    def implied_by(self, bit: int, others: int, preferred: int) -> bool:
        """True if a literal follows from one or two others about its things.

        Where one of these follows from it in turn, nobody can tell which of the two is meant; it
        counts as implied only by what is preferred to it.
        """
        about = self._slots(bit)
        linked = [other for other in bits(others) if not about or self._slots(other) & about]
        return self._implied(bit, linked, preferred, LIMITS.premises)

    def near_by(self, bit: int, others: int, preferred: int) -> bool:
        """True if a literal that says what is near follows from others about any of the action's
        things: what lies in a place is near where the place is.
        """
        return self._implied(bit, list(bits(others)), preferred, LIMITS.premises_of_near)

    def _implied(self, bit: int, others: Sequence[int], preferred: int, most: int) -> bool:
        """True if a literal follows from at most so many others."""
        about = self._slots(bit)
        sizes = range(1, most + 1)
        for some in chain.from_iterable(combinations(others, size) for size in sizes):
            covered = frozenset[str]().union(*(self._slots(other) for other in some))
            if about <= covered and self.follows(bit, mask_of(some)):
                equal = [other for other in some if self._follows_in_turn(other, bit, some)]
                if all(preferred >> other & 1 for other in equal):
                    return True
        return False

    def _follows_in_turn(self, other: int, bit: int, some: tuple[int, ...]) -> bool:
        return self.follows(other, mask_of(some) & ~(1 << other) | 1 << bit)

    def follows(self, bit: int, given: int) -> bool:
        """True if a literal held wherever given ones did, so often that it was no coincidence."""
        key = (bit, given)
        if key not in self._found:
            self._found[key] = self._asked(bit, given)
        return self._found[key]

    def _asked(self, bit: int, given: int) -> bool:
        """Look for names of which the given literals hold, and ask whether the other does too:
        one for which it does not, or nobody knows, is enough to refute it.
        """
        held = set()
        wanted = dict.fromkeys(bits(given), 1.0)
        slots = sorted(map(int, self._slots(bit)))
        literal = literal_of(self.book.facts, bit)
        for seen in self.book.vocabulary.seen:
            answers = self.book.vocabulary.answers(seen.belief)
            search = Bindings(self.book, seen.belief, nodes=LIMITS.names_asked)
            for found in search.search(wanted, slots=slots):
                names = {str(slot): name for slot, name in found.names.items()}
                value = answers[literal.atom.bind(names)]
                if value is None or value is literal.negated:
                    return False
                held.add((seen.episode, *sorted(names.items())))
        return (1 - self._false_share(bit)) ** len(held) < LIMITS.by_chance

    def _false_share(self, bit: int) -> float:
        """How often a literal fails for names drawn at random."""
        size = len(self.book.facts)
        place = bit % size
        known = [each for each in self.book.imagined if (each.true | each.false) >> place & 1]
        if not known:
            return 0.0
        false = sum(each.false >> place & 1 for each in known)
        return (false if bit < size else len(known) - false) / len(known)

    def _slots(self, bit: int) -> frozenset[str]:
        return self._slots_by_bit[bit]

    @cached_property
    def _slots_by_bit(self) -> list[frozenset[str]]:
        found = []
        for bit in range(2 * len(self.book.facts)):
            args = literal_of(self.book.facts, bit).atom.args
            found.append(frozenset(arg for arg in args if arg.isdigit()))
        return found
