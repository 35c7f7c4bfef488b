"""From attempts to what an action does: effects, effects under a condition, and what it makes
known.

Successes are counted as independent witnesses throughout: what is done again with the same things
in the same episode shows nothing more, for a line or against it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.evidence.attempts import Attempt, Book, Probe
from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.literals import (
    Signed,
    count_independent,
    has_names,
    kind_in,
    literal_of,
    literals_after,
    signed,
    steps_of,
    union,
)
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import ANYTHING, Predicate


class Success(NamedTuple):
    """A success, with the literals that held and failed before and after it."""

    attempt: Attempt
    before: Signed
    after: Signed

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
        return Success(attempt, before, literals_after(attempt, self.size))

    def _literal(self, bit: int) -> Literal:
        return literal_of(self.book.facts, bit)

    @cached_property
    def _independent(self) -> int:
        """Number of independent successes."""
        return count_independent(self.rows)

    def _held_after(self, bit: int) -> list[Success]:
        return [row for row in self.rows if row.after.holds >> bit & 1]

    def _failed_after(self, bit: int) -> list[Success]:
        return [row for row in self.rows if row.after.fails >> bit & 1]

    # Effects.

    def effects(self) -> list[Induced]:
        """Facts that held after every success, and not before some.

        A thing that was put down here is near because the agent is here, and nobody gets anywhere
        by putting things down: what is near is an effect only of actions that just move.
        """
        moving = all(self._predicate(fact).exclusive for fact in self.certain)
        kept = []
        for fact in self.certain:
            if moving or not self._predicate(fact).companion:
                kept.append(fact)
        return [*kept, *self._near_on_arrival(kept)]

    def _predicate(self, fact: Induced) -> Predicate:
        return self.book.vocabulary.predicates[fact.literal.atom.predicate]

    def _near_on_arrival(self, effects: Iterable[Induced]) -> Iterator[Induced]:
        """Facts that say what is near, of the place that the action leads to and before which
        they are needed: who goes to a room next door is near all that adjoins it.
        """
        facts = self.book.facts
        vocabulary = self.book.vocabulary
        says_near = [each for each in vocabulary.predicates.values() if each.companion]
        for effect in effects:
            arrives = self._predicate(effect) in vocabulary.placing and not effect.literal.negated
            if not arrives:
                continue
            for predicate in says_near:
                near = Atom(predicate.name, effect.literal.atom.args)
                if near in self.needed and near in facts:
                    yield from self._nearly_always_after(facts.index(near))

    def _nearly_always_after(self, bit: int) -> Iterator[Induced]:
        """A fact as an effect, where it was known to hold after nearly all successes and never
        known to fail.
        """
        seen = self._held_after(bit)
        enough = count_independent(seen) >= LIMITS.mostly * self._independent
        if enough and not self._failed_after(bit):
            clause = Clause((self._literal(bit),))
            yield induced(clause, steps_of(seen), unknown=len(self.rows) - len(seen))

    @cached_property
    def certain(self) -> list[Induced]:
        """Facts that held after every success, and not before some, whatever they follow from."""
        found = []
        for bit in self._candidates():
            effect = self._effect(bit)
            if effect is not None:
                found.append(effect)
        literals = [fact.literal for fact in found]
        return [fact for fact in found if not self._restates(fact.literal, literals)]

    def _effect(self, bit: int) -> Induced | None:
        """A fact that successes bring about; None where too many contradict it, or too few
        show it.
        """
        changed = [row for row in self.rows if self._came_about(row, bit)]
        seen = self._held_after(bit)
        against = self._failed_after(bit)
        literal = self._literal(bit)
        confirmed = count_independent(changed)
        shown = count_independent(seen)
        contradicted = count_independent(against)
        refuted = contradicted >= confirmed or contradicted > LIMITS.exceptions * shown
        # of one of many things, what was seen of the slots says it better
        by_luck = has_names(literal.atom) and 2 * confirmed < self._independent
        if refuted or by_luck or shown < LIMITS.mostly * self._independent:
            return None
        return induced(
            Clause((literal,)),
            confirmed=steps_of(changed),
            against=steps_of(against),
            unknown=len(self.rows) - len(seen),
        )

    def _restates(self, literal: Literal, others: Iterable[Literal]) -> bool:
        """True if a literal about a thing by its name says the same as one about slots, because
        the slot never held anything else: `on("machine")` beside `on(machine)`.
        """
        if not has_names(literal.atom):
            return False
        for other in others:
            if has_names(other.atom) or other.negated != literal.negated:
                continue
            named = {other.atom.bind(slots_of(row.attempt.names)) for row in self.rows}
            if named == {literal.atom}:
                return True
        return False

    def _candidates(self) -> Iterator[int]:
        """Literals that came to hold in some success."""
        made = union(row.before.fails & row.after.holds for row in self.rows)
        return bits(made | self._new)

    def _came_about(self, row: Success, bit: int) -> bool:
        """True if a literal came to hold in a success, or is one that nobody knew before."""
        return row.made(bit) or bool(self._new >> bit & row.after.holds >> bit & 1)

    @cached_property
    def _new(self) -> int:
        """Facts that hold after every success, of which nothing was known before and that never
        were false: `eaten`.
        """
        if self._independent < LIMITS.several:
            return 0
        known = union(row.before.known for row in self.rows)
        # a fact that is sometimes false may be found true by merely looking
        known |= union(attempt.false for attempt in self.book.attempts)
        known |= union(drawn.false for drawn in self.book.imagined)
        # of one of many things, that it was so is luck
        for place, atom in enumerate(self.book.facts):
            if has_names(atom):
                known |= 1 << place
        always = _telling_apart((row.after for row in self.rows), ())
        return always & all_of(self.size) & ~known

    @cached_property
    def conditional(self) -> list[Induced]:
        """Facts that came about in some successes and not in others, where one fact before
        tells which.
        """
        certain = {fact.literal for fact in self.certain}
        found = []
        for bit in self._candidates():
            literal = self._literal(bit)
            if literal in certain or has_names(literal.atom):
                continue
            made = [row for row in self.rows if row.made(bit)]
            given = self._condition(bit, made)
            if given is not None:
                found.append(induced(Clause((literal,)), steps_of(made), given=given))
        return found

    def _condition(self, bit: int, made: Sequence[Success]) -> Literal | None:
        """The fact before an action that tells whether a literal comes about.

        `made`: the successes in which it did.
        """
        left_false = [row for row in self.rows if row.left_false(bit)]
        if not left_false and count_independent(made) >= LIMITS.several:
            # of what is switched both ways, and of what nobody sees who has not looked
            return self._literal(bit).opposite()
        return self._reason(_told_before(made, left_false), made, left_false)

    def _reason(
        self, telling: int, some: Sequence[Success], others: Sequence[Success]
    ) -> Literal | None:
        """The first fact that tells some successes from others, else the kind of one of their
        things that does. `telling`: such facts, as bits.
        """
        if min(count_independent(some), count_independent(others)) < LIMITS.telling:
            return None
        if telling:
            return self._literal(next(bits(telling)))
        for slot in range(len(self.book.slots)):
            kinds = {row.attempt.kinds[slot] for row in some}
            kinds_of_others = {row.attempt.kinds[slot] for row in others}
            if len(kinds) == 1 and kinds.isdisjoint(kinds_of_others):
                return kind_in(slot, *kinds)
        return None

    def ruinous(self) -> Induced | None:
        """The fact that held before every success that ended the task for good, and before no
        other.

        One such end may have had any cause: the guard refuses by it only after a second.
        """
        lost = [row for row in self.rows if row.attempt.lost]
        survived = [row for row in self.rows if not row.attempt.lost]
        if count_independent(lost) < LIMITS.decisive or not survived:
            return None
        telling = _told_before(lost, survived)
        if not telling:
            return None
        first = next(bits(telling))  # facts come before their negations
        return induced(Clause((self._literal(first),)), steps_of(lost))

    # Revelations.

    def observes(self) -> list[Induced]:
        """Facts that were unknown before and are known after, of the action's own things, and
        of all such things.
        """
        made = {fact.literal.atom for fact in (*self.certain, *self.conditional)}
        found = [*self._of_its_things(made), *self._of_all_such()]
        shown = [fact.literal.atom for fact in found]
        explained = {atom.predicate for atom in (*made, *shown)}
        return [*found, *self._of_unnamed(explained)]

    def _of_its_things(self, made: Collection[Atom]) -> Iterator[Induced]:
        """Facts about the action's own things; `made`: what it brings about, and therefore does
        not reveal.
        """
        for place, atom in enumerate(self.book.facts):
            if atom in made or atom in self.needed or not self._may_reveal(place, atom):
                continue
            unknown = [row for row in self.rows if not row.before.known >> place & 1]
            shown = [row for row in unknown if row.after.known >> place & 1]
            yield from self._revealed(atom, unknown, shown)

    def _may_reveal(self, place: int, atom: Atom) -> bool:
        """True if a fact is neither about a thing by its name, nor about where the agent is, nor
        one that follows from the action.
        """
        if has_names(atom) or self.book.vocabulary.predicates[atom.predicate].exclusive:
            return False
        if not atom.args:
            return True
        # a fact never true of its things after the action follows from it: a thing put down is in
        # no hand
        return any(row.after.holds >> place & 1 for row in self.rows)

    def _of_all_such(self) -> Iterator[Induced]:
        """Facts about all there is of something, as far as a probe for it tells."""
        for place, atom in enumerate(self.book.revelations):
            probe = self.book.probes.get(atom)
            if probe is None:
                continue
            unknown = self._asked_in_vain(probe, place)
            shown = [row for row in unknown if row.attempt.revealed_after >> place & 1]
            yield from self._revealed(atom, unknown, shown)

    def _asked_in_vain(self, probe: Probe, place: int) -> list[Success]:
        """Successes since there is a probe, before which it told nothing of a revelation."""
        probed = {attempt.witness for attempt in self.book.attempts[probe.since :]}
        found = []
        for row in self.rows:
            if row.attempt.witness in probed and not row.attempt.revealed >> place & 1:
                found.append(row)
        return found

    def _of_unnamed(self, explained: set[str]) -> Iterator[Induced]:
        """Facts that became known of things it does not name, with none of such left unknown;
        the narrowest first.

        `explained`: predicates that are known by what it makes, or by something narrower.
        """
        revelations = self.book.revelations

        def breadth(place: int) -> int:
            return revelations[place].args.count(ANYTHING)

        for place in sorted(range(len(revelations)), key=breadth):
            atom = revelations[place]
            if atom.predicate in explained:
                continue
            for fact in self._glimpsed(place, atom):
                explained.add(atom.predicate)
                yield fact

    def _glimpsed(self, place: int, atom: Atom) -> Iterator[Induced]:
        """A revelation of things that the action does not name, where successes mostly left none
        of these unknown.
        """
        seen = []
        complete = []
        for row in self.rows:
            is_hidden = row.attempt.hidden >> place & 1
            is_shown = row.attempt.shown >> place & 1
            if is_shown or is_hidden:
                seen.append(row)
            if is_shown and not is_hidden:
                complete.append(row)
        confirmed = count_independent(complete)
        asked = min(self._independent, LIMITS.glimpsed)
        nearly_all = confirmed >= LIMITS.mostly * count_independent(seen)
        if nearly_all and confirmed >= LIMITS.sometimes * asked:
            yield from self._revealed(atom, seen, complete)

    def _revealed(
        self, atom: Atom, unknown: Iterable[Success], shown: Sequence[Success]
    ) -> Iterator[Induced]:
        """A revelation, where enough of the successes that could show it did; or under a
        condition, where one tells which did.

        `unknown`: the successes that could show it.
        """
        confirmed = count_independent(shown)
        if confirmed < LIMITS.several:
            return
        steps = steps_of(shown)
        shown_at = set(steps)
        hidden = [row for row in unknown if row.attempt.witness not in shown_at]
        clause = Clause((Literal(atom),))
        if confirmed >= LIMITS.mostly * (confirmed + count_independent(hidden)):
            yield induced(clause, steps, unknown=len(hidden))
            return
        telling = _telling_apart((row.after for row in shown), (row.after for row in hidden))
        given = self._reason(telling, shown, hidden)
        if given is not None:
            yield induced(clause, steps, given=given)


def _told_before(some: Iterable[Success], others: Iterable[Success]) -> int:
    """Literals that held before some successes and failed before all others, as bits."""
    return _telling_apart((row.before for row in some), (row.before for row in others))


def _telling_apart(some: Iterable[Signed], others: Iterable[Signed]) -> int:
    """Literals that held in all of some states and failed in all others, as bits.

    Of no states at all, any literal is: all bits are set.
    """
    found = -1
    for state in some:
        found &= state.holds
    for state in others:
        found &= state.fails
    return found
