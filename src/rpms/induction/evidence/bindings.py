"""Names for an action's slots with which given literals hold, or fail: by search, not by luck.

It is branch and bound: slots are filled one by one, and names with which too much fails are cut.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import literal_of, mask_of, slots_in
from rpms.induction.evidence.states import AskedOnce
from rpms.induction.evidence.templates import names_in
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
    answers: AskedOnce  # Of the belief
    dice: Random | None = None  # To try names in any order; in the belief's own without
    nodes: int = 2_000  # Names that are put into slots at most
    _left: int = 0  # Names that may still be put into slots
    _most: float = 0.0  # What the literals that do not hold may cost
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
        wanted_slots = [want.slots for want in wants]
        to_fill = set(slots).union(*wanted_slots)
        ordered = in_order(sorted(to_fill), wanted_slots)
        self._choices.clear()
        self._left = self.nodes
        self._most = most
        missing = [want for want in wants if not want.slots and not self._holds(want, {})]
        cost = sum(want.cost for want in missing)
        first = Binding({}, mask_of(want.bit for want in missing), cost)
        if first.cost <= most:
            yield from self._extend(ordered, wants, first)

    def _want(self, bit: int, cost: float) -> _Want:
        literal = literal_of(self.book.facts, bit)
        args: list[int | str] = []
        for arg in literal.atom.args:
            args.append(int(arg) if arg.isdigit() else arg)
        return _Want(
            bit,
            predicate=literal.atom.predicate,
            args=tuple(args),
            negated=literal.negated,
            slots=slots_in(literal.atom),
            cost=cost,
        )

    def _extend(
        self, slots: Sequence[int], wants: Sequence[_Want], found: Binding
    ) -> Iterator[Binding]:
        """Fill the slots that are left, at no more than the cost that is allowed."""
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
            if cost <= self._most:
                names = {**found.names, slot: choice.name}
                more = Binding(names, found.missing | choice.missing, cost)
                yield from self._extend(rest, wants, more)

    def _choices_for(
        self, slot: int, wants: Sequence[_Want], names: Mapping[int, str]
    ) -> list[_Choice]:
        """Names for a slot, judged by the wanted literals that it completes."""
        completed = _completed_by(slot, wants, names)
        others: set[int] = set()
        for want in completed:
            others |= want.slots
        others.discard(slot)
        key = slot, tuple(names[each] for each in sorted(others))
        if key not in self._choices:
            judged = []
            for name in self._names(slot):
                judged.append(self._choice_of({**names, slot: name}, slot, completed))
            self._choices[key] = judged
        return self._choices[key]

    def _choice_of(self, names: Mapping[int, str], slot: int, wants: Iterable[_Want]) -> _Choice:
        """The name in a slot as a choice, by the wanted literals that it completes: until too much
        fails.
        """
        missing = 0
        cost = 0.0
        for want in wants:
            if not self._holds(want, names):
                missing |= 1 << want.bit
                cost += want.cost
                if cost > self._most:
                    break
        return _Choice(names[slot], missing, cost)

    def _names(self, slot: int) -> Sequence[str]:
        """The names that may fill a slot."""
        if slot not in self._known:
            self._known[slot] = names_in_slot(self.book, slot, self.answers.belief)
        return self._known[slot]

    def _holds(self, want: _Want, names: Mapping[int, str]) -> bool:
        """True if a wanted literal is known to hold with some names."""
        args = tuple([names[arg] if isinstance(arg, int) else arg for arg in want.args])
        value = self.answers[want.predicate, args]
        return value is not None and value is not want.negated


def names_in_slot(book: Book, slot: int, belief: Belief) -> Sequence[str]:
    """The names that a belief knows and that may fill an action's slot."""
    roles = (book.declared[slot],) if book.declared else book.roles[slot] or ()
    return names_in(belief, roles)


def _completed_by(slot: int, wants: Iterable[_Want], names: Iterable[int]) -> list[_Want]:
    """The wanted literals of which a slot is the last one to be filled."""
    bound = {*names, slot}
    return [want for want in wants if slot in want.slots and want.slots <= bound]


def in_order(slots: Sequence[int], wanted: Sequence[frozenset[int]]) -> list[int]:
    """Slots in an order in which each shares wanted literals with those before it, where any
    does.

    `wanted`: the slots that each literal is about.
    """
    left = list(slots)
    ordered: list[int] = []
    while left:
        best = max(left, key=lambda slot: _connection(slot, ordered, wanted))
        ordered.append(best)
        left.remove(best)
    return ordered


def _connection(
    slot: int, before: Iterable[int], wanted: Iterable[frozenset[int]]
) -> tuple[int, int]:
    """Number of wanted literals that a slot completes, and that are about it at all."""
    settled = {*before, slot}
    about = [slots for slots in wanted if slot in slots]
    completed = [slots for slots in about if slots <= settled]
    return len(completed), len(about)
