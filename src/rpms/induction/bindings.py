"""Names for an action's slots with which given literals hold, or fail: by search, not by luck."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from rpms.induction.attempts import Book
from rpms.induction.literals import literal_of
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief
from rpms.logic.facts import Literal


class Binding(NamedTuple):
    """Names by slot; the wanted literals that do not hold with them, as bits; and their cost."""

    names: dict[int, str]
    missing: int
    cost: float


class _Want(NamedTuple):
    """A wanted literal."""

    bit: int
    literal: Literal
    slots: frozenset[int]
    cost: float  # Where it does not hold


@dataclass
class Bindings:
    """A search over the names that a belief knows, slot by slot."""

    book: Book
    belief: Belief
    dice: Random | None = None  # To try names in any order; in the belief's own without
    nodes: int = 2_000  # Names that are put into slots at most

    def search(
        self, wanted: Mapping[int, float], most: float = 0.0, slots: Iterable[int] = ()
    ) -> Iterator[Binding]:
        """Names for some slots, and for those that wanted literals are about, such that the
        literals that do not hold cost at most so much.

        `wanted`: the cost of each literal. One of which nothing is known does not hold.
        """
        wants = [self._want(bit, cost) for bit, cost in wanted.items()]
        chosen = set(slots).union(*(want.slots for want in wants))
        ordered = _connected(sorted(chosen), wants)
        self._left = self.nodes
        first = self._with({}, [want for want in wants if not want.slots], Binding({}, 0, 0.0))
        if first.cost <= most:
            yield from self._extend(ordered, wants, first, most)

    def _want(self, bit: int, cost: float) -> _Want:
        literal = literal_of(self.book.facts, bit)
        slots = frozenset(int(arg) for arg in literal.atom.args if arg.isdigit())
        return _Want(bit, literal, slots, cost)

    def _extend(
        self, slots: Sequence[int], wants: Sequence[_Want], found: Binding, most: float
    ) -> Iterator[Binding]:
        """Fill the slots that are left."""
        if not slots:
            yield found
            return
        slot, *rest = slots
        bound = {*found.names, slot}
        now = [want for want in wants if slot in want.slots and want.slots <= bound]
        for name in self._names(slot):
            if self._left <= 0:
                return
            if not self.book.declared and name in found.names.values():
                continue
            self._left -= 1
            more = self._with({**found.names, slot: name}, now, found)
            if more.cost <= most:
                yield from self._extend(rest, wants, more, most)

    def _names(self, slot: int) -> Sequence[str]:
        """The names that may fill a slot."""
        if self.book.declared:
            known = names_for(self.book.declared[slot], self.belief.names)
        else:
            roles = sorted(self.book.roles[slot] or ())
            pools = [self.belief.names.get(role, ()) for role in roles]
            known = list(dict.fromkeys(name for names in pools for name in names))
        return self.dice.sample(known, len(known)) if self.dice is not None else known

    def _with(self, names: dict[int, str], wants: Sequence[_Want], before: Binding) -> Binding:
        """Names with what they cost beyond those before."""
        answers = self.book.vocabulary.answers(self.belief)
        missing = before.missing
        cost = before.cost
        for want in wants:
            args = [names[int(arg)] if arg.isdigit() else arg for arg in want.literal.atom.args]
            value = answers[want.literal.atom.predicate, tuple(args)]
            if value is None or value is want.literal.negated:
                missing |= 1 << want.bit
                cost += want.cost
        return Binding(names, missing, cost)


def _connected(slots: Sequence[int], wants: Sequence[_Want]) -> list[int]:
    """Slots in an order in which each shares wanted literals with those before it, where any
    does.
    """
    left = list(slots)
    ordered: list[int] = []
    while left:
        settled = {*ordered}
        best = max(
            left,
            key=lambda slot: (
                sum(slot in want.slots and want.slots <= {*settled, slot} for want in wants),
                sum(slot in want.slots for want in wants),
            ),
        )
        ordered.append(best)
        left.remove(best)
    return ordered
