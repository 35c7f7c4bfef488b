"""From attempts to what an action does: effects, effects under a condition, and what it makes
known.

Successes are counted as independent witnesses throughout: what is done again with the same things
in the same episode shows nothing more, for a line or against it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_
from typing import NamedTuple

from rpms.induction.action_model import Induced, induced
from rpms.induction.attempts import Attempt, Book
from rpms.induction.literals import Signed, bits, literal_of, mask_of, signed, union
from rpms.induction.revelations import slots_of
from rpms.induction.thresholds import LIMITS
from rpms.induction.witnesses import independent
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import ANYTHING
from rpms.store.evidence import Witness


class Success(NamedTuple):
    """A success, with the literals that held and failed before and after it."""

    attempt: Attempt
    before: Signed
    after: Signed

    @property
    def witness(self) -> Witness:
        return self.attempt.witness

    def made(self, bit: int) -> bool:
        """True if a literal failed before it and held after it."""
        return bool(self.before.fails >> bit & self.after.holds >> bit & 1)

    def left_false(self, bit: int) -> bool:
        """True if a literal failed before it and after it."""
        return bool(self.before.fails >> bit & self.after.fails >> bit & 1)


@dataclass(eq=False)
class Outcomes:
    """Effects and revelations of an action, from its successes."""

    book: Book
    needed: frozenset[Atom] = frozenset()
    """Facts that the action may need: that it worked tells as much, and so it is not for
    finding out."""

    def __post_init__(self) -> None:
        self.size = len(self.book.facts)
        successes = self.book.successes
        plain = [attempt for attempt in successes if not attempt.names_twice]
        self.rows = [self._success(attempt) for attempt in plain or successes]

    def _success(self, attempt: Attempt) -> Success:
        before = signed(attempt.true, attempt.false, self.size)
        after = signed(attempt.true_after, attempt.false_after, self.size)
        return Success(attempt, before, after)

    def _literal(self, bit: int) -> Literal:
        return literal_of(self.book.facts, bit)

    def _all(self, masks: Iterable[int]) -> int:
        return reduce(and_, masks, (1 << 2 * self.size) - 1)

    # Effects.

    def effects(self) -> list[Induced]:
        """Facts that held after every success, and not before some."""
        predicates = self.book.vocabulary.predicates
        found: list[tuple[Induced, str]] = []
        for fact in self.certain:
            predicate = predicates[fact.clause.literals[0].atom.predicate]
            found.append((fact, predicate.exclusive))
        # that a thing is near once it was put down here follows from where the agent is, and is no
        # way to get anywhere
        moving = all(exclusive for _, exclusive in found)
        kept = [fact for fact, exclusive in found if moving or exclusive in ("", "always")]
        return [*kept, *self._near_on_arrival(kept)]

    def _near_on_arrival(self, effects: Sequence[Induced]) -> Iterator[Induced]:
        """Facts that say what is near, of the place that the action leads to and before which
        they are needed: who goes to a room next door is near all that adjoins it.
        """
        vocabulary = self.book.vocabulary
        placing = [predicate.name for predicate in vocabulary.placing]
        for fact in effects:
            literal = fact.clause.literals[0]
            if literal.negated or literal.atom.predicate not in placing:
                continue
            for predicate in vocabulary.predicates.values():
                atom = Atom(predicate.name, literal.atom.args)
                is_near = predicate.exclusive not in ("", "always")
                if is_near and atom in self.needed and atom in self.book.facts:
                    yield from self._always_after(self.book.facts.index(atom))

    def _always_after(self, bit: int) -> Iterator[Induced]:
        """A fact as an effect, where it was known to hold after nearly all successes and never
        known to fail.
        """
        seen = self._after(bit, holds=True)
        enough = count_witnesses(seen) >= LIMITS.mostly * self._witnesses
        if enough and not self._after(bit, holds=False):
            clause = Clause((self._literal(bit),))
            yield induced(clause, _steps(seen), [], unknown=len(self.rows) - len(seen))

    @cached_property
    def certain(self) -> list[Induced]:
        """Facts that held after every success, and not before some, whatever they follow from."""
        found = []
        for bit in self._candidates():
            effect = self._effect(bit)
            if effect is not None:
                found.append(effect)
        literals = [fact.clause.literals[0] for fact in found]
        return [fact for fact in found if not self._restates(fact.clause.literals[0], literals)]

    def _effect(self, bit: int) -> Induced | None:
        """A fact that successes bring about; None where too many contradict it, or too few
        show it.
        """
        changed = [row for row in self.rows if self._came_about(row, bit)]
        against = self._after(bit, holds=False)
        seen = self._after(bit, holds=True)
        literal = self._literal(bit)
        contradicted = count_witnesses(against)
        confirmed = count_witnesses(changed)
        shown = count_witnesses(seen)
        refuted = contradicted > LIMITS.exceptions * shown or confirmed <= contradicted
        by_luck = _fixed(literal.atom) and 2 * confirmed < self._witnesses
        if refuted or by_luck or shown < LIMITS.mostly * self._witnesses:
            return None
        return induced(
            Clause((literal,)),
            _steps(changed),
            _steps(against),
            unknown=len(self.rows) - len(seen),
        )

    def _after(self, bit: int, *, holds: bool) -> list[Success]:
        """Successes after which a literal is known to hold, or to fail."""
        if holds:
            return [row for row in self.rows if row.after.holds >> bit & 1]
        return [row for row in self.rows if row.after.fails >> bit & 1]

    @cached_property
    def _witnesses(self) -> int:
        """Number of independent successes."""
        return count_witnesses(self.rows)

    def _restates(self, literal: Literal, others: Iterable[Literal]) -> bool:
        """True if a literal about a thing by its name says the same as one about slots, because
        the slot never held anything else: `on("machine")` beside `on(machine)`.
        """
        if not _fixed(literal.atom):
            return False
        for other in others:
            if _fixed(other.atom) or other.negated != literal.negated:
                continue
            told = [other.atom.bind(slots_of(row.attempt.names)) for row in self.rows]
            if all(atom == literal.atom for atom in told):
                return True
        return False

    def _candidates(self) -> Iterator[int]:
        """Literals that came to hold in some success."""
        return bits(union(row.before.fails & row.after.holds for row in self.rows) | self._new)

    def _came_about(self, row: Success, bit: int) -> bool:
        """True if a literal came to hold in a success, or is one that nobody knew before."""
        return row.made(bit) or bool(self._new >> bit & row.after.holds >> bit & 1)

    @cached_property
    def _new(self) -> int:
        """Facts that hold after every success, of which nothing was known before and that never
        were false: `eaten`.
        """
        if self._witnesses < LIMITS.several:
            return 0
        known = union(row.before.known for row in self.rows)
        # a fact that is sometimes false may be found true by merely looking
        known |= union(attempt.false for attempt in self.book.attempts)
        known |= union(false for _, false in self.book.imagined)
        known |= mask_of(place for place, atom in enumerate(self.book.facts) if _fixed(atom))
        facts_alone = (1 << self.size) - 1
        always = self._all(row.after.holds for row in self.rows) & facts_alone
        return always & ~known

    @cached_property
    def conditional(self) -> list[Induced]:
        """Facts that came about in some successes and not in others, where one fact before
        tells which.
        """
        certain = {fact.clause.literals[0] for fact in self.certain}
        found = []
        for bit in self._candidates():
            literal = self._literal(bit)
            if literal in certain or _fixed(literal.atom):
                continue
            did = [row for row in self.rows if row.made(bit)]
            kept = [row for row in self.rows if row.left_false(bit)]
            given = self._condition(bit, did, kept)
            if given is not None:
                found.append(induced(Clause((literal,)), _steps(did), given=Clause((given,))))
        return found

    def _condition(
        self, bit: int, did: Sequence[Success], kept: Sequence[Success]
    ) -> Literal | None:
        """The fact before an action that tells whether a literal comes about."""
        if not kept and count_witnesses(did) >= LIMITS.several:
            # of what is switched both ways, and of what nobody sees who has not looked
            return self._literal(bit).opposite()
        opposite = (bit + self.size) % (2 * self.size)
        always = self._all(row.before.holds for row in did)
        always &= self._all(row.before.fails for row in kept)
        return self._telling(did, kept, always & ~mask_of((bit, opposite)))

    def _telling(
        self, with_it: Sequence[Success], without: Sequence[Success], always: int
    ) -> Literal | None:
        """The first of the facts that were true in all of some successes and false in all
        others, else the kind of one of its things.
        """
        fewer = min(count_witnesses(with_it), count_witnesses(without))
        if fewer < LIMITS.telling:
            return None
        for bit in bits(always):
            return self._literal(bit)
        for slot in range(len(self.book.slots)):
            kind, *others = {row.attempt.kinds[slot] for row in with_it}
            if not others and all(row.attempt.kinds[slot] != kind for row in without):
                return Literal(Atom("kind", (str(slot), kind)))
        return None

    def ruinous(self) -> Induced | None:
        """The fact that held before every success that ended the task for good, and before no
        other.

        One such end may have had any cause: the guard refuses by it only after a second.
        """
        lost = [row for row in self.rows if row.attempt.lost]
        survived = [row for row in self.rows if not row.attempt.lost]
        if count_witnesses(lost) < LIMITS.decisive or not survived:
            return None
        always = self._all(row.before.holds for row in lost)
        always &= self._all(row.before.fails for row in survived)
        for bit in bits(always):  # facts come before their negations
            return induced(Clause((self._literal(bit),)), _steps(lost))
        return None

    # Revelations.

    def observes(self) -> list[Induced]:
        """Facts that were unknown before and are known after, of the action's own things, and
        of all such things.
        """
        made = {fact.clause.literals[0].atom for fact in (*self.certain, *self.conditional)}
        found = [*self._of_its_things(made), *self._of_all_such()]
        told = made | {fact.clause.literals[0].atom for fact in found}
        return [*found, *self._of_unnamed({atom.predicate for atom in told})]

    def _of_its_things(self, made: set[Atom]) -> Iterator[Induced]:
        """Facts about the action's own things; `made`: what it brings about, and therefore does
        not reveal.
        """
        for place, atom in enumerate(self.book.facts):
            if atom in made or atom in self.needed or not self._may_reveal(place, atom):
                continue
            unknown = [row for row in self.rows if not row.before.known >> place & 1]
            known = [row for row in unknown if row.after.known >> place & 1]
            yield from self._revealed(atom, unknown, known, mask_of((place, place + self.size)))

    def _may_reveal(self, place: int, atom: Atom) -> bool:
        """True if a fact is neither about a thing by its name, nor about where the agent is, nor
        one that follows from the action.
        """
        if _fixed(atom) or self.book.vocabulary.predicates[atom.predicate].exclusive:
            return False
        # a fact never true of its things after the action follows from it: a thing put down is in
        # no hand
        return not atom.args or any(row.after.holds >> place & 1 for row in self.rows)

    def _of_all_such(self) -> Iterator[Induced]:
        """Facts about all there is of something, as far as a probe for it tells."""
        for place, atom in enumerate(self.book.revelations):
            probe = self.book.probes.get(atom)
            if probe is None:
                continue
            counted = {attempt.witness for attempt in self.book.attempts[probe.since :]}
            probed = [row for row in self.rows if row.witness in counted]
            unknown = [row for row in probed if not row.attempt.known >> place & 1]
            known = [row for row in unknown if row.attempt.known_after >> place & 1]
            yield from self._revealed(atom, unknown, known)

    def _of_unnamed(self, told: set[str]) -> Iterator[Induced]:
        """Facts that became known of things it does not name, with none of such left unknown;
        the narrowest first.

        `told`: predicates that are known by what it makes, or by something narrower.
        """
        narrowest_first = sorted(
            enumerate(self.book.revelations), key=lambda each: each[1].args.count(ANYTHING)
        )
        asked = min(self._witnesses, LIMITS.glimpsed)
        for place, atom in narrowest_first:
            if atom.predicate in told:
                continue
            glimpsed = [
                row for row in self.rows if (row.attempt.shown | row.attempt.hidden) >> place & 1
            ]
            known = [row for row in glimpsed if not row.attempt.hidden >> place & 1]
            nearly_all = LIMITS.mostly * count_witnesses(glimpsed)
            if count_witnesses(known) < max(nearly_all, LIMITS.sometimes * asked):
                continue
            for fact in self._revealed(atom, glimpsed, known):
                told.add(atom.predicate)
                yield fact

    def _revealed(
        self, atom: Atom, unknown: Sequence[Success], known: Sequence[Success], own: int = 0
    ) -> Iterator[Induced]:
        """A revelation, where enough of the successes that could show it did; or under a
        condition, where one tells which did.

        `own`: bits of the fact itself, which is no condition.
        """
        confirmed = count_witnesses(known)
        if confirmed < LIMITS.several:
            return
        witnesses = _steps(known)
        clause = Clause((Literal(atom),))
        shown = set(witnesses)
        still = [row for row in unknown if row.witness not in shown]
        if confirmed >= LIMITS.mostly * (confirmed + count_witnesses(still)):
            yield induced(clause, witnesses, unknown=len(still))
            return
        always = self._all(row.after.holds for row in known)
        always &= self._all(row.after.fails for row in still)
        given = self._telling(known, still, always & ~own)
        if given is not None:
            yield induced(clause, witnesses, given=Clause((given,)), unknown=0)


def _steps(successes: Iterable[Success]) -> list[Witness]:
    return [row.witness for row in successes]


def count_witnesses(successes: Iterable[Success]) -> int:
    """Number of independent witnesses among successes."""
    return independent(row.attempt for row in successes)


def _fixed(atom: Atom) -> bool:
    """True if a fact is about a thing by its name: of one of many, what was seen of the slots
    says it better.
    """
    return any(not arg.isdigit() and arg != ANYTHING for arg in atom.args)
