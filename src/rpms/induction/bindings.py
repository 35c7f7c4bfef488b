"""Names for an action's slots with which given literals hold, or fail: by search, not by luck."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from rpms.induction.attempts import Book
from rpms.induction.literals import literal_of
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief


class Binding(NamedTuple):
    """Names by slot; the wanted literals that do not hold with them, as bits; and their cost."""

    names: dict[int, str]
    missing: int
    cost: float


class _Want(NamedTuple):
    """A wanted literal."""

    bit: int
    predicate: str
    args: tuple[int | str, ...]  # Slots and constants
    negated: bool
    slots: frozenset[int]
    cost: float  # Where it does not hold


class _Choice(NamedTuple):
    """A name for a slot, with the wanted literals that it settles and that do not hold."""

    name: str
    missing: int
    cost: float


@dataclass
class Bindings:
    """A search over the names that a belief knows, slot by slot."""

    book: Book
    belief: Belief
    dice: Random | None = None  # To try names in any order; in the belief's own without
    nodes: int = 2_000  # Names that are put into slots at most
    _known: dict[int, Sequence[str]] = field(default_factory=dict)
    """By slot, the names that may fill it."""
    _choices: dict[tuple[int, tuple[str, ...]], list[_Choice]] = field(default_factory=dict)
    """By slot, and names in the slots that its wanted literals are about."""

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
        self._choices.clear()
        self._left = self.nodes
        missing = [want for want in wants if not want.slots and not self._holds(want, {})]
        first = Binding({}, sum(1 << want.bit for want in missing), _cost(missing))
        if first.cost <= most:
            yield from self._extend(ordered, wants, first, most)

    def _want(self, bit: int, cost: float) -> _Want:
        literal = literal_of(self.book.facts, bit)
        args = tuple(int(arg) if arg.isdigit() else arg for arg in literal.atom.args)
        slots = frozenset(arg for arg in args if isinstance(arg, int))
        return _Want(bit, literal.atom.predicate, args, literal.negated, slots, cost)

    def _extend(
        self, slots: Sequence[int], wants: Sequence[_Want], found: Binding, most: float
    ) -> Iterator[Binding]:
        """Fill the slots that are left."""
        if not slots:
            yield found
            return
        slot, *rest = slots
        choices = self._choices_for(slot, wants, found.names)
        if self.dice is not None:
            choices = self.dice.sample(choices, len(choices))
        for choice in choices:
            if self._left <= 0:
                return
            if not self.book.declared and choice.name in found.names.values():
                continue
            self._left -= 1
            cost = found.cost + choice.cost
            if cost <= most:
                names = {**found.names, slot: choice.name}
                more = Binding(names, found.missing | choice.missing, cost)
                yield from self._extend(rest, wants, more, most)

    def _choices_for(
        self, slot: int, wants: Sequence[_Want], names: Mapping[int, str]
    ) -> list[_Choice]:
        """Names for a slot, judged by the wanted literals that it completes."""
        bound = {*names, slot}
        now = [want for want in wants if slot in want.slots and want.slots <= bound]
        about = sorted(frozenset[int]().union(*(want.slots for want in now)) - {slot})
        key = slot, tuple(names[each] for each in about)
        if key not in self._choices:
            found = []
            for name in self._names(slot):
                filled = {**names, slot: name}
                missing = [want for want in now if not self._holds(want, filled)]
                bits = sum(1 << want.bit for want in missing)
                found.append(_Choice(name, bits, _cost(missing)))
            self._choices[key] = found
        return self._choices[key]

    def _names(self, slot: int) -> Sequence[str]:
        """The names that may fill a slot."""
        if slot not in self._known:
            if self.book.declared:
                self._known[slot] = names_for(self.book.declared[slot], self.belief.names)
            else:
                roles = sorted(self.book.roles[slot] or ())
                pools = [self.belief.names.get(role, ()) for role in roles]
                known = dict.fromkeys(name for names in pools for name in names)
                self._known[slot] = list(known)
        return self._known[slot]

    def _holds(self, want: _Want, names: Mapping[int, str]) -> bool:
        """True if a wanted literal is known to hold with some names."""
        args = tuple([names[arg] if isinstance(arg, int) else arg for arg in want.args])
        value = self.book.vocabulary.answers(self.belief)[want.predicate, args]
        return value is not None and value is not want.negated


def _cost(wants: Iterable[_Want]) -> float:
    return sum(want.cost for want in wants)


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
