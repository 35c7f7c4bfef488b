"""Attempts of each action with the facts before and after, as bits, so that counting is quick.

A fact about an action's slots is one bit. A bit that is set neither among what was true nor among
what was false was unknown then.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from random import Random
from typing import Any, NamedTuple

from rpms.induction.evidence.revelations import Glimpse, Observer, SeenStep, slots_of
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import role_of
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Literal, kind_of, unseen_of
from rpms.logic.rules import ANYTHING, Predicate
from rpms.store.evidence import Witness

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Form of the name of an action, a parameter or a process."""


class Probe(NamedTuple):
    """A name nobody has seen, by which to ask if all there is of something is known."""

    name: str
    since: int  # Attempts before it was settled


class Known(NamedTuple):
    """Facts of some names that are true and facts that are false, as bits."""

    true: int
    false: int


NOTHING_KNOWN = Known(0, 0)


Occasion = tuple[str, tuple[str, ...]]  # An episode, and the things that an action was done to


class Attempt(NamedTuple):
    """One time that an action was tried."""

    witness: Witness
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    refused: bool
    true: int
    false: int
    true_after: int
    false_after: int
    revealed: int  # The action's revelations that were known before it, as bits
    revealed_after: int
    lost: bool = False  # True if the task was lost after it
    won: bool = False
    goal: str = ""  # The type of the goal that was pursued
    topic: str = ""  # The goal's object, where nothing was ever called so: `find-animal`
    scored: bool = False  # True if the score rose
    further: bool = False  # True if the score was higher after it than ever before in the episode
    goal_objects: int = 0  # For each slot one bit: whether the goal's object is called so
    goal_destinations: int = 0  # And whether its destination is
    said: int = 0  # And whether the goal's text names it
    gain: float = 0.0  # Points that it brought; what is lost with the task is what it had scored
    # Of its revelations, those of which some fact about things it does not name became known
    shown: int = 0
    # And those of which some fact about things that are known by now is unknown still
    hidden: int = 0

    @property
    def occasion(self) -> Occasion:
        """Attempts on one occasion are one witness: most facts hold for a whole episode, so that
        what is tried again with the same things mostly comes out as before.
        """
        return self.witness.episode, self.names

    @property
    def names_twice(self) -> bool:
        """True if one thing stands in two slots: what is made of one may be undone of the other."""
        return len(set(self.names)) < len(self.names)


def without_facts(attempt: Attempt) -> Attempt:
    """An attempt of which nothing is known but its outcome."""
    return attempt._replace(
        true=0, false=0, true_after=0, false_after=0, revealed=0, revealed_after=0
    )


@dataclass
class Book:
    """All attempts of one action."""

    template: str
    vocabulary: Vocabulary
    slots: list[set[str]] = field(default_factory=list)
    """For each slot, the roles that names in it have had."""
    facts: list[Atom] = field(default_factory=list)
    """Facts that may matter, over slots (`0`, `1`, …) and constants."""
    revelations: list[Atom] = field(default_factory=list)
    """Facts about many things that may become known at once, with `_` in place of these."""
    attempts: list[Attempt] = field(default_factory=list)
    succeeded: int = 0  # Number of those that were not refused
    imagined: list[Known] = field(default_factory=list)
    """Facts of names drawn at random in states that came up: it tells which facts go together."""
    worked: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """The kinds in its slots with which it succeeded."""
    refused: Counter[tuple[str, ...]] = field(default_factory=Counter)
    losses: int = 0  # Number of times that the task was lost after it
    roles: list[set[str] | None] = field(default_factory=list)
    """For each slot, the roles that all names had with which it succeeded; those of most names
    where no role is common to all: what works with things may work with rooms as well."""
    role_counts: list[Counter[str]] = field(default_factory=list)
    """For each slot, in how many successes its name had each role."""
    probes: dict[Atom, Probe] = field(default_factory=dict)
    """By revelation, a name that tells whether all is known."""
    plain: bool = False  # True if facts about fixed names are left out
    named: tuple[str, ...] = ()  # The fixed names that facts are about
    declared: tuple[str, ...] = ()  # Its parameters, where the world says how it is written
    beliefs: list[tuple[Belief, Belief]] = field(default_factory=list)
    """Beliefs before and after the first attempts: a fixed name may be found to be one only
    later."""
    needs: Any = field(default=None, init=False, compare=False)
    """The needs last drawn from it, with what they rest on."""
    columns: Any = field(default=None, init=False, compare=False)
    """Its attempts as a table."""
    implications: Any = field(default=None, init=False, compare=False)
    """What was seen to follow from what among its facts."""
    _known: set[Atom] = field(default_factory=set)
    _grouped: dict[Sequence[int], dict[tuple[str, ...], list[tuple[str, int]]]] = field(
        default_factory=dict
    )
    """By places in the list of facts, these by what they are about."""

    # Attempts.

    def record(
        self,
        step: SeenStep,
        names: tuple[str, ...],
        names_seen: Names,
        dice: Random,
        later: tuple[str, ...] = (),
    ) -> Attempt:
        """An attempt with the facts before and after it.

        `later`: the names by which its things go after it, where these are others. A refused
        attempt brings in no new facts, unless the world says what the action takes.
        """
        later = later or names
        if not step.refused or self.declared:
            self.widen(names, names_seen)
        revealed = self.revealed(step.before, names)
        if not self.plain and len(self.beliefs) < LIMITS.remembered:
            self.beliefs.append((step.before, step.after))
        after = NOTHING_KNOWN
        glimpse = Glimpse(0, 0)
        if not step.refused:
            self._settle_probes(step, names, later, names_seen.kinds, dice)
            after = self.measure(step.after, later)
            glimpse = self._glimpse(step, names)
        before = self.measure(step.before, names)
        return Attempt(
            witness=step.witness,
            names=names,
            kinds=tuple(map(kind_of, names)),
            refused=step.refused,
            true=before.true,
            false=before.false,
            true_after=after.true,
            false_after=after.false,
            revealed=revealed,
            revealed_after=self.revealed(step.after, later),
            shown=glimpse.shown,
            hidden=glimpse.hidden,
        )

    def add(self, attempt: Attempt, names: Names) -> None:
        """Take over an attempt."""
        self.attempts.append(attempt)
        self.losses += attempt.lost
        if attempt.refused:
            self.refused[attempt.kinds] += 1
            return
        self.succeeded += 1
        self.worked[attempt.kinds] += 1
        for place, name in enumerate(attempt.names):
            if name in names.roles:
                self._share_roles(place, names.roles[name])

    def _share_roles(self, place: int, roles: set[str]) -> None:
        """Take over the roles of a name with which it succeeded."""
        while len(self.role_counts) <= place:
            self.role_counts.append(Counter())
        counts = self.role_counts[place]
        counts.update(roles)
        shared = self.roles[place]
        common = set(roles) if shared is None else shared & roles
        if not common:
            least = LIMITS.often * self.succeeded
            common = {role for role, count in counts.items() if count >= least}
        self.roles[place] = common

    @property
    def settled(self) -> bool:
        """True if it has worked with different names, which alone tells its slots apart."""
        return any(not attempt.refused and not attempt.names_twice for attempt in self.attempts)

    @property
    def successes(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if not attempt.refused]

    @property
    def refusals(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.refused]

    def holds(self, literal: Literal, attempt: Attempt) -> bool:
        """True if a literal was known to hold before an attempt."""
        known = attempt.false if literal.negated else attempt.true
        return bool(known >> self.facts.index(literal.atom) & 1)

    def called(self, names: Names) -> tuple[str, ...] | None:
        """Name of each slot: the narrowest role that all names in it had and that no other slot
        has yet.

        Where every such role is taken, the narrowest is numbered: `block_2`.
        """
        if self.declared:
            return self.declared
        chosen: list[str] = []
        for roles in self.roles:
            writable = [role for role in roles or () if NAME.fullmatch(role)]
            if not writable:
                return None
            chosen.append(_not_taken(sorted(writable, key=names.breadth), chosen))
        return tuple(chosen)

    # Facts.

    def measure(self, belief: Belief, names: Sequence[str], places: Iterable[int] = ()) -> Known:
        """True facts and false facts of some names: all, or those at some places in the list of
        facts.
        """
        true = 0
        false = 0
        slots = slots_of(names)
        answers = self.vocabulary.answers(belief)
        for args, facts in self._by_args(tuple(places) or range(len(self.facts))).items():
            filled = tuple([slots.get(arg, arg) for arg in args])
            for predicate, bit in facts:
                value = answers[predicate, filled]
                if value:
                    true |= bit
                elif value is not None:
                    false |= bit
        return Known(true, false)

    def _by_args(self, places: Sequence[int]) -> dict[tuple[str, ...], list[tuple[str, int]]]:
        """By what they are about, the predicates of the facts at some places, each with its bit:
        names are put in once for all of them.
        """
        if places not in self._grouped:
            found: dict[tuple[str, ...], list[tuple[str, int]]] = {}
            for place in places:
                predicate, args = self.facts[place]
                found.setdefault(args, []).append((predicate, 1 << place))
            self._grouped[places] = found
        return self._grouped[places]

    def widen(self, filled: Sequence[str], names: Names) -> None:
        """Take in the facts that names in new roles may have, and fixed names that were not
        known before.
        """
        if not self.slots:
            self._open_slots(len(filled))
        constants = () if self.plain else names.constants
        new_names = bool(names.many and set(constants) - set(self.named))
        new_roles = self._take_in_roles(filled, names)
        if self._known and not new_names and not new_roles:
            return
        since = len(self.facts)
        self.named = constants
        self._take_in_predicates(names)
        if new_names and since:
            self._look_up(since)

    def _take_in_predicates(self, names: Names) -> None:
        """Add the facts and revelations that each predicate allows."""
        known_roles = set().union(*names.roles.values())
        for predicate in self.vocabulary.predicates.values():
            self._widen_facts(predicate, known_roles, names)
            self._widen_revelations(predicate, known_roles, names)

    def _open_slots(self, count: int) -> None:
        self.slots = [set() for _ in range(count)]
        self.roles = [None for _ in range(count)]

    def _take_in_roles(self, filled: Sequence[str], names: Names) -> bool:
        """Add the roles of names to those of their slots; whether any is new."""
        any_new = False
        for name, slot in zip(filled, self.slots, strict=True):
            new = names.roles.get(name, set()) - slot
            any_new |= bool(new)
            slot.update(new)
        return any_new

    def _widen_facts(self, predicate: Predicate, roles: set[str], names: Names) -> None:
        # of places, too, it may be said that they are near: the room that one has come to
        near = bool(predicate.companion)
        for args in self._arguments(predicate, names):
            if near or self._suits(args, predicate, roles, names):
                self._take_in(self.facts, Atom(predicate.name, args))

    def _widen_revelations(self, predicate: Predicate, roles: set[str], names: Names) -> None:
        arity = len(predicate.args)
        if arity > 1:
            self._take_in(self.revelations, Atom(predicate.name, (ANYTHING,) * arity))
        slots = [str(slot) for slot in range(len(self.slots))]
        for place in range(arity):
            for others in permutations(slots, arity - 1):
                args = (*others[:place], ANYTHING, *others[place:])
                if self._suits(args, predicate, roles, names):
                    self._take_in(self.revelations, Atom(predicate.name, args))

    def _take_in(self, facts: list[Atom], atom: Atom) -> None:
        if atom not in self._known:
            self._known.add(atom)
            facts.append(atom)

    def _arguments(self, predicate: Predicate, names: Names) -> Iterator[tuple[str, ...]]:
        """Slots, a fixed name alone (`holding(oil can)`), or a slot beside one of few names
        (`calls_for(0, slice)`).
        """
        slots = [str(slot) for slot in range(len(self.slots))]
        if len(predicate.args) == 1:
            for name in (*slots, *self.named):
                yield (name,)
            return
        yield from permutations(slots, len(predicate.args))
        if len(predicate.args) == 2 and not self.plain:
            first, second = (names.few(role_of(role)) for role in predicate.args)
            yield from product(first, slots)
            yield from product(slots, second)

    def _suits(
        self, args: Sequence[str], predicate: Predicate, roles: set[str], names: Names
    ) -> bool:
        """True if a fact may be about some things: where an argument is called like a role,
        only about such.
        """
        for arg, parameter in zip(args, predicate.args, strict=True):
            role = parameter if parameter in roles else role_of(parameter)
            if arg == ANYTHING or role not in roles:
                continue
            had = self.slots[int(arg)] if arg.isdigit() else names.roles.get(arg, ())
            if role not in had:
                return False
        return True

    def _look_up(self, since: int) -> None:
        """Find out of the first attempts what was so of facts that were taken in after them."""
        new = range(since, len(self.facts))
        remembered = zip(self.attempts, self.beliefs, strict=False)
        for place, (attempt, (before, after)) in enumerate(remembered):
            then = self.measure(before, attempt.names, new)
            later = NOTHING_KNOWN if attempt.refused else self.measure(after, attempt.names, new)
            self.attempts[place] = attempt._replace(
                true=attempt.true | then.true,
                false=attempt.false | then.false,
                true_after=attempt.true_after | later.true,
                false_after=attempt.false_after | later.false,
            )

    # Revelations.

    def revealed(self, belief: Belief, names: Sequence[str]) -> int:
        """The revelations that are known in a belief, as bits, judged by their probes; 0 for
        those without one.
        """
        if not self.probes:
            return 0
        found = 0
        slots = slots_of(names)
        answers = self.vocabulary.answers(belief)
        for place, atom in enumerate(self.revelations):
            probe = self.probes.get(atom)
            if probe is None:
                continue
            slots[ANYTHING] = probe.name
            if answers[atom.bind(slots)] is not None:
                found |= 1 << place
        return found

    def _settle_probes(
        self,
        step: SeenStep,
        names: Sequence[str],
        later: Sequence[str],
        known: Collection[str],
        dice: Random,
    ) -> None:
        """Find, for each revelation, a kind of which this action has made something known, to
        ask about from now on.
        """
        if not known or self.succeeded >= LIMITS.remembered:
            return
        kinds = tuple(known)
        before = slots_of(names)
        after = slots_of(later)
        observer = Observer(self.vocabulary, step, later)
        for atom in self.revelations:
            if atom in self.probes:
                continue
            for _ in range(LIMITS.probes):
                # nobody has seen `lamp ?` yet: if it is known not to be in a place, then all that
                # is there is known
                name = unseen_of(dice.choice(kinds))
                before[ANYTHING] = name
                after[ANYTHING] = name
                if _became_known(atom, step, before, after) and observer.may_show(atom):
                    self.probes[atom] = Probe(name, len(self.attempts))
                    break

    def _glimpse(self, step: SeenStep, names: Sequence[str]) -> Glimpse:
        """The revelations of the first successes about things that the action does not name."""
        if self.plain or self.succeeded >= LIMITS.glimpsed:
            return Glimpse(0, 0)
        return Observer(self.vocabulary, step, names).glimpses(self.revelations)


def _became_known(
    atom: Atom, step: SeenStep, before: Mapping[str, str], after: Mapping[str, str]
) -> bool:
    """True if nothing was known of a fact before a step, and something is after it; with the names
    of its slots at either time.
    """
    if step.before.value(*atom.bind(before)) is not None:
        return False
    return step.after.value(*atom.bind(after)) is not None


def _not_taken(roles: Sequence[str], taken: Collection[str]) -> str:
    """The first role that is not taken; the first of all with a number where each is."""
    for role in roles:
        if role not in taken:
            return role
    return _numbered(roles[0], taken)


def _numbered(role: str, taken: Collection[str]) -> str:
    """A name for one more slot of a role."""
    number = 2
    while f"{role}_{number}" in taken:
        number += 1
    return f"{role}_{number}"
