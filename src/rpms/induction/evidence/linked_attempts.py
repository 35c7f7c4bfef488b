"""Attempts together with places and things that their commands do not name.

`move north` says nothing of rooms. With the room that one is in, and the one that one comes to, as
two more slots, what it needs and does is a matter of facts again: `leads(room, north, other)`. Of
the rooms that one did not come to, some count as failed attempts.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.revelations import Observer, SeenStep, slots_of
from rpms.induction.evidence.templates import Names, knows
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief, FactBelief
from rpms.logic.facts import Atom, Literal, Truth
from rpms.logic.rules import ANYTHING
from rpms.store.evidence import Witness


def unseen_name(before: Belief, after: Belief) -> str:
    """The name by which a belief knew the place of the agent before it was entered; else the
    place's own.

    What lies behind a door is `beyond the door` until somebody goes through: then the same
    relation holds of the place, and of the old name no more.
    """
    here = before.location or ""
    there = after.location or ""
    if there == here or not isinstance(before, FactBelief) or knows(before, there):
        return there
    for relation in _relations_of(here, before):
        if after.truth(relation) is Truth.FALSE:
            name = _replaced_name(relation, here, there, after)
            if name:
                return name
    return there


def _replaced_name(relation: Atom, here: str, there: str, after: Belief) -> str:
    """The name in whose stead a relation now holds of a place; empty if there is none."""
    for name in relation.args:
        if name != here and after.truth(relation.bind({name: there})) is Truth.TRUE:
            return name
    return ""


def _relations_of(place: str, belief: FactBelief) -> Iterator[Atom]:
    """Facts that are known to hold of a place and something else."""
    for atom, holds in belief.known.items():
        if holds and len(atom.args) > 1 and place in atom.args:
            yield atom


class Side(NamedTuple):
    """An effect on a thing that the command does not name (`_`), and the relation that says which
    thing that is. Opening a door frees a way: `not blocked(1, _)` where `door(0, 1, _)`.

    The last slot is the agent's place, where the agent is at one.
    """

    effect: Literal
    relation: Atom


class SideCount(NamedTuple):
    """Steps at which a side effect came about, and steps at which it did not, by episode and
    things: the same again proves nothing more.

    Where nobody knew of any thing in that relation, a step counts for neither.
    """

    good: dict[tuple[str, ...], Witness]
    bad: dict[tuple[str, ...], Witness]

    @property
    def is_reliable(self) -> bool:
        """True if it came about several times, with no more exceptions than are tolerated."""
        if len(self.good) < LIMITS.several:
            return False
        return len(self.bad) <= LIMITS.exceptions * (len(self.good) + len(self.bad))


class Stay(NamedTuple):
    """A success that led nowhere else, and what came to hold of things that were not named."""

    attempt: Attempt
    came: tuple[Atom, ...]


class _Recorder(NamedTuple):
    """An attempt that is recorded with places as further slots."""

    attempt: Attempt
    step: SeenStep
    known: Names
    dice: Random

    def record(
        self, book: Book, places: tuple[str, ...], *, refused: bool, later: tuple[str, ...] = ()
    ) -> None:
        """Record it in a book. A refusal is none before the action has worked.

        `later`: the places by their names after the step.
        """
        if refused and not book.slots:
            return
        names = (*self.attempt.names, *places)
        then = (*self.attempt.names, *(later or places))
        step = self.step._replace(refused=refused)
        found = book.record(step, names, self.known, self.dice, then)
        shown = 0
        if not refused:
            shown = self._shown_at_last(book, then)
        book.add(found._replace(revealed_after=found.revealed_after | shown), self.known)

    def _shown_at_last(self, book: Book, names: tuple[str, ...]) -> int:
        """Revelations about the last place of which something was found: entering a room shows
        some of its things.
        """
        last = {ANYTHING, str(len(names) - 1)}
        observer = Observer(book.vocabulary, self.step, names)
        shown = 0
        for bit, atom in enumerate(book.revelations):
            if {*atom.args} == last and observer.found(atom):
                shown |= 1 << bit
        return shown


@dataclass
class Linked:
    """The attempts of one action with its place, and with the place that it led to."""

    template: str
    vocabulary: Vocabulary
    near: Book = field(init=False)  # With the place of the agent as the last slot
    far: Book = field(init=False)
    """With the place of the agent, and another one, as the last slots; refused where it did not
    lead there."""
    moves: bool = False
    stays: list[Stay] = field(default_factory=list)
    sides: dict[Side, SideCount] = field(default_factory=dict)
    placeless: int = 0  # Successes while the agent was at no place

    def __post_init__(self) -> None:
        self.near = Book(self.template, self.vocabulary, plain=True)
        self.far = Book(self.template, self.vocabulary, plain=True)

    def add(self, attempt: Attempt, step: SeenStep, known: Names, dice: Random) -> None:
        """Take over an attempt."""
        here = step.before.location
        if here is None:
            self._add_placeless(attempt, step)
            return
        if here in attempt.names or len(self.near.attempts) >= LIMITS.linked_attempts:
            return
        role = next(self.vocabulary.roles_of_place(step.before), None)
        if role is None:
            return
        self._add_placed(_Recorder(attempt, step, known, dice), here, role)

    def _add_placed(self, recorder: _Recorder, here: str, role: str) -> None:
        """Take over an attempt at a place, which has a role."""
        attempt = recorder.attempt
        step = recorder.step
        there = step.after.location
        moved = not attempt.refused and there is not None and there not in (here, *attempt.names)
        self.moves |= moved
        recorder.record(self.near, (here,), refused=attempt.refused)
        if self.moves:
            self._add_move(recorder, here, there, role, moved=moved)
        elif not attempt.refused:
            self.stays.append(Stay(attempt, tuple(self._came_about(step, attempt))))
        if not attempt.refused:
            self._count_sides(step, (*attempt.names, here))

    def _add_move(
        self, recorder: _Recorder, here: str, there: str | None, role: str, *, moved: bool
    ) -> None:
        """Record where an attempt led, and some of the places where it did not lead."""
        before = recorder.step.before
        called = unseen_name(before, recorder.step.after) if moved else there
        excluded = (here, called, *recorder.attempt.names)
        others = [name for name in before.names.get(role, ()) if name not in excluded]
        some = recorder.dice.sample(others, min(LIMITS.other_places, len(others)))
        if moved and there and called:
            recorder.record(self.far, (here, called), refused=False, later=(here, there))
        for name in some:
            recorder.record(self.far, (here, name), refused=True)

    def _add_placeless(self, attempt: Attempt, step: SeenStep) -> None:
        """Take over an attempt while the agent was at no place: only side effects are counted."""
        if not attempt.refused and self.placeless < LIMITS.linked_attempts:
            self.placeless += 1
            self._count_sides(step, attempt.names)

    def _count_sides(self, step: SeenStep, named: Sequence[str]) -> None:
        """Count facts that changed about something not named, by the relation that tells which
        thing that is.
        """
        before = step.before
        after = step.after
        if not isinstance(before, FactBelief) or not isinstance(after, FactBelief):
            return
        slots = slots_of(named)
        certain = _facts_about_names(before)
        for side in _sides_of(before, after, slots, certain):
            self.sides.setdefault(side, SideCount({}, {}))
        for side, count in self.sides.items():
            for thing in _things_in(side.relation, slots, certain):
                effect = side.effect.bind({**slots, ANYTHING: thing})
                if effect.truth(before) is not Truth.FALSE:
                    continue
                came_about = effect.truth(after) is Truth.TRUE
                told = count.good if came_about else count.bad
                told.setdefault((step.witness.episode, *named, thing), step.witness)

    def _came_about(self, step: SeenStep, attempt: Attempt) -> Iterator[Atom]:
        """Facts about single things, which the command does not name, that were false and are
        true.
        """
        for predicate in self.vocabulary.predicates.values():
            if len(predicate.args) != 1 or predicate.exclusive:
                continue
            for name in step.after.names.get(predicate.args[0], ()):
                atom = Atom(predicate.name, (name,))
                if name not in attempt.names and _became_true(atom, step):
                    yield atom


def _became_true(atom: Atom, step: SeenStep) -> bool:
    return step.after.truth(atom) is Truth.TRUE and step.before.truth(atom) is Truth.FALSE


def _facts_about_names(belief: FactBelief) -> list[Atom]:
    """Facts that are known to hold, each of certain things."""
    found: list[Atom] = []
    for atom, holds in belief.known.items():
        if holds and ANYTHING not in atom.args:
            found.append(atom)
    return found


def _sides_of(
    before: FactBelief, after: FactBelief, slots: Mapping[str, str], certain: Sequence[Atom]
) -> Iterator[Side]:
    """Facts that changed about one thing that was not named, each with the relations between this
    thing and those named.
    """
    slot_of = {name: slot for slot, name in slots.items()}
    for atom, holds in after.known.items():
        thing = _only_other(atom, slot_of)
        if not thing or before.truth(atom) is not Truth.of(not holds):
            continue
        lifted = {**slot_of, thing: ANYTHING}
        effect = Literal(atom.bind(lifted), not holds)
        for relation in _relations_among(lifted, thing, certain):
            if relation.predicate != atom.predicate:
                yield Side(effect, relation.bind(lifted))


def _only_other(atom: Atom, names: Container[str]) -> str:
    """The one thing that a fact is about beside some names; empty if there is none, or more."""
    others = [arg for arg in atom.args if arg not in names]
    if len(others) != 1 or others[0] == ANYTHING:
        return ""
    return others[0]


def _relations_among(
    names: Mapping[str, str], thing: str, certain: Sequence[Atom]
) -> Iterator[Atom]:
    """Facts about a thing and others, none of them beyond some names."""
    for atom in certain:
        if len(atom.args) > 1 and thing in atom.args and names.keys() >= set(atom.args):
            yield atom


def _things_in(relation: Atom, slots: Mapping[str, str], certain: Sequence[Atom]) -> Iterator[str]:
    """Things that are known to be in a relation to those named, and are none of them."""
    index = relation.args.index(ANYTHING)
    for atom in certain:
        if atom.predicate != relation.predicate:
            continue
        thing = atom.args[index]
        if thing not in slots.values() and atom == relation.bind({**slots, ANYTHING: thing}):
            yield thing
