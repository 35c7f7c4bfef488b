"""From attempts to what an action does: effects, effects under a condition, and what it makes
known.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_

from rpms.induction.action_model import Induced, induced, literal_of
from rpms.induction.attempts import Attempt, Book
from rpms.induction.needs import bits, signed, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import ANYTHING

_Row = tuple[Attempt, int, int, int, int]
_Rows = Sequence[
    _Row
]  # Successes with what was true and false before and after, as bits of literals


@dataclass(eq=False)
class Outcomes:
    """Effects and revelations of an action, from its successes."""

    book: Book
    needed: frozenset[Atom] = frozenset()
    """Facts that the action may need: that it worked tells as much, and so it is not for
    finding out."""

    def __post_init__(self) -> None:
        self.size = len(self.book.facts)
        self.rows = [
            (
                each,
                *signed(each.true, each.false, self.size),
                *signed(each.true_after, each.false_after, self.size),
            )
            for each in self.book.successes
        ]

    def effects(self) -> list[Induced]:
        """Facts that held after every success, and not before some."""
        found, predicates = self.certain, self.book.vocabulary.predicates
        # that a thing is near once it was put down here follows from where the agent is, and is no
        # way to get anywhere
        exclusive = [predicates[fact.clause.literals[0].atom.predicate].exclusive for fact in found]
        moving = all(exclusive)
        return [
            fact
            for fact, how in zip(found, exclusive, strict=True)
            if moving or how in ("", "always")
        ]

    @cached_property
    def certain(self) -> list[Induced]:
        """Facts that held after every success, and not before some, whatever they follow from."""
        found = []
        for bit in self._made():
            literal = literal_of(self.book.facts, bit)
            changed = [
                row[0].witness
                for row in self.rows
                if (row[2] | self._new) >> bit & row[3] >> bit & 1
            ]
            seen = sum(row[3] >> bit & 1 for row in self.rows)
            against = [row[0].witness for row in self.rows if row[4] >> bit & 1]
            often = not _fixed(literal.atom) or 2 * len(changed) >= len(self.rows)
            rare = len(against) <= LIMITS.exceptions * seen and len(changed) > len(against)
            if rare and often and seen >= LIMITS.mostly * len(self.rows):
                found.append(
                    induced(Clause((literal,)), changed, against, unknown=len(self.rows) - seen)
                )
        return found

    def _made(self) -> Iterator[int]:
        return bits(union(row[2] & row[3] for row in self.rows) | self._new)

    @cached_property
    def _new(self) -> int:
        """Facts that hold after every success, of which nothing was known before and that never
        were false: `eaten`.
        """
        # a fact that is sometimes false may be found true by merely looking
        known = union(row[1] | row[2] for row in self.rows) | union(
            each.false for each in self.book.attempts
        )
        known |= union(false for _, false in self.book.imagined)
        known |= sum(1 << place for place, atom in enumerate(self.book.facts) if _fixed(atom))
        always = self._all(row[3] for row in self.rows) & (1 << self.size) - 1
        return always & ~known if len(self.rows) >= LIMITS.several else 0

    @cached_property
    def conditional(self) -> list[Induced]:
        """Facts that came about in some successes and not in others, where one fact before
        tells which.
        """
        certain, found = {fact.clause.literals[0] for fact in self.certain}, []
        for bit in self._made():
            literal = literal_of(self.book.facts, bit)
            if literal in certain or _fixed(literal.atom):
                continue
            could = [row for row in self.rows if row[2] >> bit & (row[3] | row[4]) >> bit & 1]
            did = [row for row in could if row[3] >> bit & 1]
            kept = [row for row in could if row[4] >> bit & 1]
            own = {bit, (bit + self.size) % (2 * self.size)}
            given = self._telling(did, kept, lambda row: (row[1], row[2]), own)
            if not kept and len(did) >= LIMITS.several:
                given = (
                    literal.opposite()
                )  # of what is switched both ways, and of what nobody sees who has not looked
            if given is not None:
                found.append(
                    induced(
                        Clause((literal,)), [row[0].witness for row in did], given=Clause((given,))
                    )
                )
        return found

    def _telling(
        self,
        with_it: _Rows,
        without: _Rows,
        facts: Callable[[_Row], tuple[int, int]],
        own: set[int],
    ) -> Literal | None:
        """The fact that was true in all of some rows and false in all others, else the kind of
        one of its things.
        """
        if len(with_it) < LIMITS.telling or len(without) < LIMITS.telling:
            return None
        always = self._all(
            (*(facts(row)[0] for row in with_it), *(facts(row)[1] for row in without))
        )
        for bit in bits(always):
            if bit not in own:
                return literal_of(self.book.facts, bit)
        for slot in range(len(self.book.slots)):
            kind, *others = {row[0].kinds[slot] for row in with_it}
            if not others and all(row[0].kinds[slot] != kind for row in without):
                return Literal(Atom("kind", (str(slot), kind)))
        return None

    def _all(self, masks: Iterable[int]) -> int:
        return reduce(and_, masks, (1 << 2 * self.size) - 1)

    def ruinous(self) -> Induced | None:
        """The fact that held before every success that ended the task for good, and before no
        other.
        """
        lost = [row for row in self.rows if row[0].lost]
        survived = [row for row in self.rows if not row[0].lost]
        always = self._all((*(row[1] for row in lost), *(row[2] for row in survived)))
        found = sorted(bits(always), key=lambda bit: (bit >= self.size, bit))
        if not lost or not survived or not found:
            return None
        return induced(
            Clause((literal_of(self.book.facts, found[0]),)), [row[0].witness for row in lost]
        )

    def observes(self) -> list[Induced]:
        """Facts that were unknown before and are known after, of the action's own things, and
        of all such things.
        """
        made = {fact.clause.literals[0].atom for fact in (*self.certain, *self.conditional)}
        found = [*self._of_its_things(made), *self._of_all_such()]
        told = made | {fact.clause.literals[0].atom for fact in found}
        return [*found, *self._of_unnamed({atom.predicate for atom in told})]

    def _of_its_things(self, made: set[Atom]) -> Iterator[Induced]:
        for place, atom in enumerate(self.book.facts):
            place_of_agent = self.book.vocabulary.predicates[atom.predicate].exclusive
            # a fact never true of its things after the action follows from it: a thing put down is
            # in no hand
            follows = atom.args and not any(row[3] >> place & 1 for row in self.rows)
            if atom in made or atom in self.needed or _fixed(atom) or place_of_agent or follows:
                continue
            before = [row for row in self.rows if not (row[1] | row[2]) >> place & 1]
            known = [row for row in before if (row[3] | row[4]) >> place & 1]
            yield from self._revealed(atom, before, known, {place, place + self.size})

    def _of_all_such(self) -> Iterator[Induced]:
        for place, atom in enumerate(self.book.revelations):
            probe = self.book.probes.get(atom)
            if probe is None:
                continue
            counted = {attempt.witness for attempt in self.book.attempts[probe[1] :]}
            rows = [
                row
                for row in self.rows
                if row[0].witness in counted and not row[0].known >> place & 1
            ]
            yield from self._revealed(
                atom, rows, [row for row in rows if row[0].known_after >> place & 1], set()
            )

    def _of_unnamed(self, told: set[str]) -> Iterator[Induced]:
        """Facts that became known of things it does not name, with none of such left unknown;
        the narrowest first.
        """
        for place, atom in sorted(
            enumerate(self.book.revelations), key=lambda each: each[1].args.count(ANYTHING)
        ):
            rows = [row for row in self.rows if (row[0].shown | row[0].hidden) >> place & 1]
            known = [row for row in rows if not row[0].hidden >> place & 1]
            enough = max(
                LIMITS.mostly * len(rows), LIMITS.sometimes * min(len(self.rows), LIMITS.glimpsed)
            )
            if (
                atom.predicate not in told and len(known) >= enough
            ):  # told: by what it makes, or by something narrower
                for fact in self._revealed(atom, rows, known, set()):
                    told.add(atom.predicate)
                    yield fact

    def _revealed(
        self, atom: Atom, before: _Rows, known: _Rows, own: set[int]
    ) -> Iterator[Induced]:
        if len(known) < LIMITS.several:
            return
        given: Literal | None = None
        if len(known) < LIMITS.mostly * len(before):
            shown = {row[0].witness for row in known}
            still = [row for row in before if row[0].witness not in shown]
            given = self._telling(known, still, lambda row: (row[3], row[4]), own)
            if given is None:
                return
        unknown, when = (0, Clause((given,))) if given else (len(before) - len(known), None)
        yield induced(
            Clause((Literal(atom),)), [row[0].witness for row in known], given=when, unknown=unknown
        )


def _fixed(atom: Atom) -> bool:
    """True if a fact is about a thing by its name: of one of many, what was seen of the slots
    says it better.
    """
    return any(not arg.isdigit() and arg != ANYTHING for arg in atom.args)
