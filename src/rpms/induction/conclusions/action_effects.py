"""From attempts to what an action does: effects, effects under a condition, and what it makes
known.

Successes are counted as independent witnesses throughout: what is done again with the same things
in the same episode shows nothing more, for a line or against it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.evidence.attempts import Attempt, Book, Probe
from rpms.induction.evidence.columns import Steps, all_of, columns_of, opposite
from rpms.induction.evidence.literals import has_names, kind_in, literal_of, mask_of
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import ANYTHING, Predicate


@dataclass(eq=False)
class Outcomes:
    """Effects and revelations of an action, from its successes.

    Some successes are a number with a bit for each, their place among the attempts (`columns`).
    """

    book: Book
    needed: frozenset[Atom] = frozenset()
    """Facts that the action may need: that it worked tells as much, and so it is not for
    finding out."""

    def __post_init__(self) -> None:
        self._columns = columns_of(self.book)
        self._literals = 2 * self._columns.size
        won = self._columns.won
        self._every = won & ~self._columns.names_twice or won
        """The successes with different things; all, if there are none."""

    def _literal(self, bit: int) -> Literal:
        return literal_of(self.book.facts, bit)

    def _attempts(self, some: int) -> Iterator[Attempt]:
        for place in bits(some):
            yield self._columns.rows[place].attempt

    def _steps(self, some: int) -> Steps:
        return Steps(self._columns.rows, some)

    def _count(self, some: int) -> int:
        """Number of independent witnesses among some successes."""
        return self._columns.independent(some)

    @cached_property
    def _independent(self) -> int:
        """Number of independent successes."""
        return self._count(self._every)

    # The successes before and after which a literal held, failed or was known.

    def _failed_before(self, bit: int) -> int:
        return self._columns.holding[opposite(bit, self._literals)] & self._every

    def _held_after(self, bit: int) -> int:
        return self._columns.after[bit] & self._every

    def _failed_after(self, bit: int) -> int:
        return self._columns.after[opposite(bit, self._literals)] & self._every

    def _known_before(self, bit: int) -> int:
        return self._columns.holding[bit] & self._every | self._failed_before(bit)

    def _known_after(self, bit: int) -> int:
        return self._held_after(bit) | self._failed_after(bit)

    def _made(self, bit: int) -> int:
        """The successes in which a literal came to hold that had failed."""
        return self._failed_before(bit) & self._held_after(bit)

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
        enough = self._count(seen) >= LIMITS.mostly * self._independent
        if enough and not self._failed_after(bit):
            clause = Clause((self._literal(bit),))
            unknown = self._every & ~seen
            yield induced(clause, self._steps(seen), unknown=unknown.bit_count())

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
        seen = self._held_after(bit)
        changed = seen if self._new >> bit & 1 else self._made(bit)
        against = self._failed_after(bit)
        literal = self._literal(bit)
        confirmed = self._count(changed)
        shown = self._count(seen)
        contradicted = self._count(against)
        refuted = contradicted >= confirmed or contradicted > LIMITS.exceptions * shown
        # of one of many things, what was seen of the slots says it better
        by_luck = has_names(literal.atom) and 2 * confirmed < self._independent
        if refuted or by_luck or shown < LIMITS.mostly * self._independent:
            return None
        unknown = self._every & ~seen
        return induced(
            Clause((literal,)),
            confirmed=self._steps(changed),
            against=self._steps(against),
            unknown=unknown.bit_count(),
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
            every = self._attempts(self._every)
            named = {other.atom.bind(slots_of(attempt.names)) for attempt in every}
            if named == {literal.atom}:
                return True
        return False

    def _candidates(self) -> Iterator[int]:
        """Literals that came to hold in some success."""
        for bit in range(self._literals):
            if self._new >> bit & 1 or self._made(bit):
                yield bit

    @cached_property
    def _new(self) -> int:
        """Facts that hold after every success, of which nothing was known before and that never
        were false: `eaten`.
        """
        if self._independent < LIMITS.several:
            return 0
        found = []
        for place, atom in enumerate(self.book.facts):
            # of one of many things, that it was so is luck
            if not has_names(atom) and self._is_new(place):
                found.append(place)
        return mask_of(found)

    def _is_new(self, fact: int) -> bool:
        if self._held_after(fact) != self._every or self._known_before(fact):
            return False
        # a fact that is sometimes false may be found true by merely looking
        denied = opposite(fact, self._literals)
        return not self._columns.holding[denied] and not self._columns.drawn_with[denied]

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
            made = self._made(bit)
            given = self._condition(bit, made)
            if given is not None:
                found.append(induced(Clause((literal,)), self._steps(made), given=given))
        return found

    def _condition(self, bit: int, made: int) -> Literal | None:
        """The fact before an action that tells whether a literal comes about.

        `made`: the successes in which it did.
        """
        left_false = self._failed_before(bit) & self._failed_after(bit)
        if not left_false and self._count(made) >= LIMITS.several:
            # of what is switched both ways, and of what nobody sees who has not looked
            return self._literal(bit).opposite()
        return self._reason(made, left_false, self._columns.holding)

    def _reason(self, some: int, others: int, holding: Sequence[int]) -> Literal | None:
        """The first of the facts that tell some successes from others, else the kind of one of
        their things that does. `holding`: by literal, the attempts with which it held.
        """
        if min(self._count(some), self._count(others)) < LIMITS.telling:
            return None
        telling = _first_telling(some, others, holding)
        if telling is not None:
            return self._literal(telling)
        for slot in range(len(self.book.slots)):
            kinds = {attempt.kinds[slot] for attempt in self._attempts(some)}
            kinds_of_others = {attempt.kinds[slot] for attempt in self._attempts(others)}
            if len(kinds) == 1 and kinds.isdisjoint(kinds_of_others):
                return kind_in(slot, *kinds)
        return None

    def ruinous(self) -> Induced | None:
        """The fact that held before every success that ended the task for good, and before no
        other.

        One such end may have had any cause: the guard refuses by it only after a second.
        """
        lost = self._columns.lost & self._every
        survived = self._every & ~lost
        if self._count(lost) < LIMITS.decisive or not survived:
            return None
        # facts come before their negations
        telling = _first_telling(lost, survived, self._columns.holding)
        if telling is None:
            return None
        return induced(Clause((self._literal(telling),)), self._steps(lost))

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
            unknown = self._every & ~self._known_before(place)
            yield from self._revealed(atom, unknown, unknown & self._known_after(place))

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
        return bool(self._held_after(place))

    def _of_all_such(self) -> Iterator[Induced]:
        """Facts about all there is of something, as far as a probe for it tells."""
        for place, atom in enumerate(self.book.revelations):
            probe = self.book.probes.get(atom)
            if probe is None:
                continue
            unknown = self._asked_in_vain(probe, place)
            shown = unknown & self._columns.revealed_after[place]
            yield from self._revealed(atom, unknown, shown)

    def _asked_in_vain(self, probe: Probe, place: int) -> int:
        """Successes since there is a probe, before which it told nothing of a revelation."""
        earlier = all_of(probe.since)
        return self._every & ~earlier & ~self._columns.revealed[place]

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
        shown = self._columns.shown[place] & self._every
        hidden = self._columns.hidden[place] & self._every
        seen = shown | hidden
        complete = shown & ~hidden
        confirmed = self._count(complete)
        asked = min(self._independent, LIMITS.glimpsed)
        nearly_all = confirmed >= LIMITS.mostly * self._count(seen)
        if nearly_all and confirmed >= LIMITS.sometimes * asked:
            yield from self._revealed(atom, seen, complete)

    def _revealed(self, atom: Atom, unknown: int, shown: int) -> Iterator[Induced]:
        """A revelation, where enough of the successes that could show it did; or under a
        condition, where one tells which did.

        `unknown`: the successes that could show it.
        """
        confirmed = self._count(shown)
        if confirmed < LIMITS.several:
            return
        steps = self._steps(shown)
        hidden = unknown & ~shown
        clause = Clause((Literal(atom),))
        if confirmed >= LIMITS.mostly * (confirmed + self._count(hidden)):
            yield induced(clause, steps, unknown=hidden.bit_count())
            return
        given = self._reason(shown, hidden, self._columns.after)
        if given is not None:
            yield induced(clause, steps, given=given)


def _first_telling(some: int, others: int, holding: Sequence[int]) -> int | None:
    """The first literal that held with all of some attempts and failed with all others; None if
    none did. `holding`: by literal, the attempts with which it held.
    """
    for bit, held in enumerate(holding):
        failed = holding[opposite(bit, len(holding))]
        if held & some == some and failed & others == others:
            return bit
    return None
