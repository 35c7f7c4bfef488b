"""Attempts of each action with the facts before and after, as bits, so that counting is quick.

A fact about an action's slots is one bit; a second set of bits, shifted by the number of facts,
stands for its negation. A bit that is set neither among what was true nor among what was false was
unknown then.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations, product
from random import Random
from typing import Any, NamedTuple

from rpms.induction.templates import Names
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, kind_of
from rpms.logic.rules import ANYTHING, Predicate
from rpms.store.evidence import Witness

NAME = re.compile(r"[a-z][a-z_]*")  # Pattern of the name of an action, a parameter or a process


class SeenStep(NamedTuple):
    """A step with the beliefs before and after it."""

    before: Belief
    after: Belief
    witness: Witness
    refused: bool


class Probe(NamedTuple):
    """A name nobody has seen, by which to ask if all there is of something is known."""

    name: str
    since: int  # Attempts before it was settled


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
    known: int  # Bit mask of the action's revelations that were known before it
    known_after: int
    lost: bool = False  # True if the task was lost after it
    won: bool = False
    goal: str = ""  # The type of the goal that was pursued
    scored: bool = False  # True if the score rose
    further: bool = False  # True if the score was higher after it than ever before in the episode
    # For each slot two bits: whether the goal's object, and whether its destination, is called so
    meant: int = 0
    shown: int = (
        0  # Of its revelations, those of which some fact about things it does not name became known
    )
    hidden: int = (
        0  # And those of which some fact about things that are known by now is unknown still
    )


def done_again(
    attempts: Iterable[Attempt], slots: Sequence[int], came: Callable[[Attempt], bool]
) -> Iterator[Attempt]:
    """Attempts after one that came to something in the same episode with the same names in some
    slots.
    """
    done = set()
    for attempt in attempts:
        key = (attempt.witness.episode, *(attempt.names[slot] for slot in slots))
        if key in done:
            yield attempt
        elif came(attempt):
            done.add(key)


def repeated(attempts: Sequence[Attempt], slots: int) -> frozenset[Witness]:
    """Refusals with a thing with which the action had worked in the episode, and never did so
    twice: it was done.
    """
    found: set[Witness] = set()
    for slot in range(slots):
        again = list(done_again(attempts, (slot,), lambda each: not each.refused))
        if len(again) >= LIMITS.several and all(each.refused for each in again):
            found.update(each.witness for each in again)
    return frozenset(found)


def slots_of(names: Sequence[str]) -> dict[str, str]:
    """Names by the slots that they fill, as facts write these."""
    return {str(place): name for place, name in enumerate(names)}


class AskedOnce(dict[tuple[str, tuple[str, ...]], "bool | None"]):
    """Answers of a belief, by predicate and names, each asked for once."""

    def __init__(self, belief: Belief) -> None:
        self.belief = belief

    def __missing__(self, asked: tuple[str, tuple[str, ...]]) -> bool | None:
        value = self[asked] = self.belief.value(*asked)
        return value


@dataclass(frozen=True)
class Vocabulary:
    """The facts that a world's belief answers, without those that follow from kinds: these are
    to be learned.
    """

    predicates: Mapping[str, Predicate]
    _answers: dict[int, AskedOnce] = field(
        default_factory=dict, compare=False
    )  # Of the last beliefs, by identity

    def answers(self, belief: Belief) -> AskedOnce:
        """Answers of a belief.

        Several actions ask one the same: of fixed names, before a step and after the last.
        """
        if id(belief) not in self._answers:
            if len(self._answers) >= LIMITS.beliefs_asked:
                del self._answers[next(iter(self._answers))]
            self._answers[id(belief)] = AskedOnce(belief)
        return self._answers[id(belief)]

    @cached_property
    def placing(self) -> list[Predicate]:
        """The predicates that say where the agent is: each holds of one place at a time."""
        return [
            each
            for each in self.predicates.values()
            if each.exclusive == "always" and len(each.args) == 1
        ]


@dataclass
class Book:
    """All attempts of one action."""

    template: str
    vocabulary: Vocabulary
    slots: list[set[str]] = field(
        default_factory=list
    )  # For each slot, the roles that names in it have had
    facts: list[Atom] = field(
        default_factory=list
    )  # Facts that may matter, over slots (`0`, `1`, …) and constants
    revelations: list[Atom] = field(default_factory=list)
    """Facts about many things that may become known at once, with `_` in place of these."""
    attempts: list[Attempt] = field(default_factory=list)
    succeeded: int = 0  # So many of them were not refused
    imagined: list[tuple[int, int]] = field(default_factory=list)
    """True and false facts of names drawn at random in states that came up: it tells which
    facts go together."""
    worked: Counter[tuple[str, ...]] = field(
        default_factory=Counter
    )  # The kinds in its slots with which it succeeded
    refused: Counter[tuple[str, ...]] = field(default_factory=Counter)
    losses: int = 0  # Number of times that the task was lost after it
    roles: list[set[str] | None] = field(default_factory=list)
    """For each slot, the roles that all names had with which it succeeded."""
    probes: dict[Atom, Probe] = field(default_factory=dict)
    """By revelation, a name that tells whether all is known."""
    plain: bool = False  # True if facts about fixed names are left out
    named: tuple[str, ...] = ()  # The fixed names that facts are about
    beliefs: list[tuple[Belief, Belief]] = field(default_factory=list)
    """Beliefs before and after the first attempts: a fixed name may be found to be one only
    later."""
    kept: tuple[object, Any] | None = field(default=None, init=False, compare=False)
    """The needs last drawn from it, with what they rest on."""
    _known: set[Atom] = field(default_factory=set)

    def record(
        self,
        step: SeenStep,
        names: tuple[str, ...],
        known: Names,
        dice: Random,
        later: tuple[str, ...] = (),
    ) -> Attempt:
        """An attempt with the facts before and after it. A refused one brings in no new facts."""
        before, after, witness, refused = step
        later = later or names  # the names by which its things go after it, where these are others
        if not refused:
            self.widen(names, known)
        known_before = self.known(before, names)
        if not self.plain and len(self.beliefs) < LIMITS.remembered:
            self.beliefs.append((before, after))
        if not refused:
            self.settle_probes(step, names, later, known.kinds, dice)
        then = (0, 0) if refused else self.measure(after, later)
        now, seen = self.measure(before, names), self.known(after, later)
        shown, hidden = (0, 0) if refused else self._glimpse(step, names)
        kinds = tuple(map(kind_of, names))
        return Attempt(
            witness,
            names,
            kinds,
            refused,
            *now,
            *then,
            known_before,
            seen,
            shown=shown,
            hidden=hidden,
        )

    def measure(
        self, belief: Belief, names: Sequence[str], places: Iterable[int] = ()
    ) -> tuple[int, int]:
        """True facts and false facts of some names: all, or those at some places in the list of
        facts.
        """
        true = false = 0
        facts, slots, answers = self.facts, slots_of(names), self.vocabulary.answers(belief)
        filled: dict[tuple[str, ...], tuple[str, ...]] = {}  # many facts are about the same slots
        for place in places or range(len(facts)):
            predicate, args = facts[place]
            if args not in filled:
                filled[args] = tuple([slots.get(arg, arg) for arg in args])
            value = answers[predicate, filled[args]]
            if value:
                true |= 1 << place
            elif value is not None:
                false |= 1 << place
        return true, false

    def widen(self, filled: Sequence[str], names: Names) -> None:
        """Take in the facts that names in new roles may have, and fixed names that were not
        known before.
        """
        arity = len(filled)
        if not self.slots:
            self.slots = [set() for _ in range(arity)]
            self.roles = [None] * arity
        roles = [names.roles.get(name, set()) for name in filled]
        constants = () if self.plain else names.constants
        new = set(constants) - set(self.named) if names.many else ()
        if (
            self._known
            and not new
            and all(known <= slot for known, slot in zip(roles, self.slots, strict=True))
        ):
            return
        since = len(self.facts)
        self.named = constants
        self.slots = [slot | known for known, slot in zip(roles, self.slots, strict=True)]
        known_roles = {role for roles in names.roles.values() for role in roles}
        for predicate in self.vocabulary.predicates.values():
            near = predicate.exclusive not in ("", "always")
            for args in self._arguments(predicate, names):
                # of places, too, it may be said that they are near: the room that one has come to
                if near or self._suits(args, predicate, known_roles, names):
                    self._take_in(self.facts, Atom(predicate.name, args))
            self._widen_revelations(predicate, known_roles, names)
        if new and since:
            self._look_up(since)

    def _widen_revelations(self, predicate: Predicate, roles: set[str], names: Names) -> None:
        if len(predicate.args) > 1:
            self._take_in(self.revelations, Atom(predicate.name, (ANYTHING,) * len(predicate.args)))
        for place in range(len(predicate.args)):
            for others in permutations(map(str, range(len(self.slots))), len(predicate.args) - 1):
                args = (*others[:place], ANYTHING, *others[place:])
                if self._suits(args, predicate, roles, names):
                    self._take_in(self.revelations, Atom(predicate.name, args))

    def _look_up(self, since: int) -> None:
        """Find out of the first attempts what was so of facts that were taken in after them."""
        new = range(since, len(self.facts))
        for place, (attempt, (before, after)) in enumerate(
            zip(self.attempts, self.beliefs, strict=False)
        ):
            true, false = self.measure(before, attempt.names, new)
            then = (0, 0) if attempt.refused else self.measure(after, attempt.names, new)
            self.attempts[place] = attempt._replace(
                true=attempt.true | true,
                false=attempt.false | false,
                true_after=attempt.true_after | then[0],
                false_after=attempt.false_after | then[1],
            )

    def _arguments(self, predicate: Predicate, names: Names) -> Iterator[tuple[str, ...]]:
        """Slots, a fixed name alone (`holding(oil can)`), or a slot beside one of few names
        (`calls_for(0, slice)`).
        """
        slots = [str(slot) for slot in range(len(self.slots))]
        if len(predicate.args) == 1:
            yield from ((name,) for name in (*slots, *self.named))
            return
        yield from permutations(slots, len(predicate.args))
        if len(predicate.args) == 2 and not self.plain:
            first, second = (names.few.get(role, ()) for role in predicate.args)
            yield from product(first, slots)
            yield from product(slots, second)

    def _suits(
        self, args: Sequence[str], predicate: Predicate, roles: set[str], names: Names
    ) -> bool:
        """True if a fact may be about some things: where an argument is called like a role,
        only about such.
        """
        return all(
            arg == ANYTHING
            or role not in roles
            or role in (self.slots[int(arg)] if arg.isdigit() else names.roles.get(arg, ()))
            for arg, role in zip(args, predicate.args, strict=True)
        )

    def _take_in(self, facts: list[Atom], atom: Atom) -> None:
        if atom not in self._known:
            self._known.add(atom)
            facts.append(atom)

    def known(self, belief: Belief, names: Sequence[str]) -> int:
        """Bit mask of the revelations that are known in a belief, judged by their probes; 0 for
        those without one.
        """
        found, slots = 0, slots_of(names)
        for place, atom in enumerate(self.revelations):
            probe = self.probes.get(atom)
            if probe is not None:
                slots[ANYTHING] = probe.name
                found |= (belief.value(*atom.bind(slots)) is not None) << place
        return found

    def settle_probes(
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
        before, after, kinds = slots_of(names), slots_of(later), tuple(known)
        for atom in self.revelations:
            # nobody has seen `lamp ?` yet: if it is known not to be in a place, then all that is
            # there is known
            for _ in range(LIMITS.probes if atom not in self.probes else 0):
                before[ANYTHING] = after[ANYTHING] = name = f"{dice.choice(kinds)} ?"
                if (
                    step.before.value(*atom.bind(before)) is None
                    and step.after.value(*atom.bind(after)) is not None
                    and (
                        {*atom.args} == {ANYTHING}
                        or self._sought(atom)
                        not in step.after.names  # such as `other`, which is no role
                        or self.found(
                            atom, step, later
                        )  # a taken thing is nowhere else, and nobody looked
                    )
                ):
                    self.probes[atom] = Probe(name, len(self.attempts))
                    break

    def _sought(self, atom: Atom) -> str:
        """The parameter of `_` in a revelation."""
        return self.vocabulary.predicates[atom.predicate].args[atom.args.index(ANYTHING)]

    def found(self, atom: Atom, step: SeenStep, names: Sequence[str]) -> bool:
        """True if a fact about something else and the action's things is true, and was unknown
        before.
        """
        before, after = map(self.vocabulary.answers, (step.before, step.after))
        things, slots = step.after.names.get(self._sought(atom), ()), slots_of(names)
        every = [atom.bind({**slots, ANYTHING: thing}) for thing in things]
        return any(after[each] and before[each] is None for each in every)

    def _glimpse(self, step: SeenStep, names: Sequence[str]) -> tuple[int, int]:
        """Facts that became known, and that did not, of all things in the roles of `_` that are
        known afterwards.
        """
        if self.plain or self.succeeded >= LIMITS.glimpsed:
            return 0, 0
        before, after = map(self.vocabulary.answers, (step.before, step.after))
        # sight depends on the agent's place: facts about places are not asked about here if the
        # agent has one
        places = (
            {each.args[0] for each in self.vocabulary.placing}
            if step.before.location is not None
            else set()
        )
        shown = hidden = 0
        known = {
            role: [name for name in found if name not in names]
            for role, found in step.after.names.items()
        }
        for place, atom in enumerate(self.revelations):
            declared = self.vocabulary.predicates[atom.predicate]
            if declared.exclusive or not places.isdisjoint(declared.args):
                continue
            slots = zip(atom.args, declared.args, strict=True)
            pools = [
                known.get(role, []) if arg == ANYTHING else [names[int(arg)]] for arg, role in slots
            ]
            of_its_own = {*atom.args} != {
                ANYTHING
            }  # of these, something true has to be found, as for probes
            for args in product(*pools):
                value = after[atom.predicate, args]
                if value is None:
                    hidden |= 1 << place
                    break
                if (
                    (value or not of_its_own)
                    and not shown >> place & 1
                    and before[atom.predicate, args] is None
                ):
                    shown |= 1 << place
        return shown, hidden

    def add(self, attempt: Attempt, names: Names) -> None:
        """Take over an attempt."""
        self.attempts.append(attempt)
        self.succeeded += not attempt.refused
        (self.refused if attempt.refused else self.worked)[attempt.kinds] += 1
        self.losses += attempt.lost
        if not attempt.refused:
            for place, name in enumerate(attempt.names):
                had, known = self.roles[place], names.roles.get(name, set())
                self.roles[place] = set(known) if had is None else had & known

    def called(self, names: Names) -> tuple[str, ...] | None:
        """Name of each slot: the narrowest role that all names in it had and that no other slot
        has yet.
        """
        count = Counter(role for roles in names.roles.values() for role in roles)
        chosen: list[str] = []
        for roles in self.roles:
            fit = sorted(roles or (), key=lambda role: (count[role], names.order[role]))
            role = next((role for role in fit if role not in chosen and NAME.fullmatch(role)), None)
            if role is None:
                return None
            chosen.append(role)
        return tuple(chosen)

    @property
    def successes(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts if not attempt.refused]


@dataclass
class Sights:
    """Places of finds: looks into each kind of place, and finds of each kind of thing there."""

    looked: Counter[str] = field(default_factory=Counter)
    found: dict[tuple[str, str], list[Witness]] = field(
        default_factory=dict
    )  # By kind of thing and of place

    def add(self, place: str, things: Iterable[str], witness: Witness) -> None:
        """Take over what a place was seen to hold."""
        where = kind_of(place)
        self.looked[where] += 1
        for kind in dict.fromkeys(map(kind_of, things)):
            self.found.setdefault((kind, where), []).append(witness)
