"""The task-facing belief b of Section 3.1 and its signature σ."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import ClassVar, NamedTuple, Self
from urllib.parse import unquote

from rpms.logic.facts import Atom, Facts, Literal, Truth, grouped, kind_of, parse_literal
from rpms.logic.goal import Goal, GoalStep, escape, is_named
from rpms.logic.inquiry import Gauge, Inquiry, answer
from rpms.logic.quantities import NOTHING_DECIDED, Decided
from rpms.logic.rules import ANYTHING
from rpms.logic.trends import Measurement

_EMPTY_WORDS = {"holding": "none", "inventory": "empty"}
"""The paper's words for a field known to be empty."""
_UNANSWERED = (-1, None)


Field = tuple[str, tuple[str, ...]]
"""A field of a signature: its name, and its values."""


@dataclass(frozen=True, slots=True)
class StateSignature:
    """σ: what of a belief is kept with an experience.

    Its text form is the paper's: `holding=none|open=fridge 1,microwave 1`. A field that is not
    there is unknown; a field with no values is known to be empty.
    """

    fields: tuple[Field, ...] = ()

    @classmethod
    def of(cls, **fields: tuple[str, ...] | None) -> Self:
        """Make one from named fields, in the order given; None means unknown."""
        return cls(tuple((name, values) for name, values in fields.items() if values is not None))

    def get(self, name: str) -> tuple[str, ...] | None:
        """The values of a field: empty if known to be so, None if unknown."""
        # asked thousands of times a step: a generator costs twice as much
        for known, values in self.fields:
            if known == name:
                return values
        return None

    @property
    def occupied(self) -> bool | None:
        """True if the hand (or the inventory) holds something; None if unknown."""
        for name in _EMPTY_WORDS:
            values = self.get(name)
            if values is not None:
                return bool(values)
        return None

    @property
    def coarse(self) -> Self:
        """Signature by which experiences are merged: occupancy instead of names, no open
        containers.
        """
        fields: list[Field] = []
        for name, values in self.fields:
            if name in ("open", "location"):
                continue
            is_held = bool(values) and name in _EMPTY_WORDS
            fields.append((name, ("something",) if is_held else values))
        return type(self)(tuple(fields))

    def __str__(self) -> str:
        return "|".join([_field_text(name, values) for name, values in self.fields])

    @classmethod
    @lru_cache(maxsize=65_536)
    def parse(cls, text: str) -> Self:
        """Read the text form; equal texts give one object. A ValueError says what is wrong."""
        if not text.strip():
            return cls(())
        fields: dict[str, tuple[str, ...]] = {}
        for piece in text.split("|"):
            name, equals, values = piece.partition("=")
            name = unquote(name.strip())
            if not equals or not name or name in fields:
                raise ValueError(
                    f"state signature {text[:200]!r} is not `field=value|field=value,value`"
                )
            fields[name] = ()
            if values.strip() not in ("", _EMPTY_WORDS.get(name, "none")):
                fields[name] = tuple(unquote(value.strip()) for value in values.split(","))
        return cls(tuple(fields.items()))


def _field_text(name: str, values: Sequence[str]) -> str:
    """A field of a signature as text: `open=fridge 1,microwave 1`."""
    empty = _EMPTY_WORDS.get(name, "none")
    text = ",".join([escape(value, "|,") for value in values])
    if not text:
        text = empty
    elif text == empty:  # a thing of just this name: its first letter is encoded
        text = f"%{ord(text[0]):02X}{text[1:]}"
    return f"{escape(name, '|=')}={text}"


class Numbers(NamedTuple):
    """The quantities by which a belief decides facts about measured numbers."""

    decided: Decided = NOTHING_DECIDED
    """The manual's predicates that quantities decide."""
    goal: Goal = Goal("")

    def value(self, belief: "Belief", fact: Atom) -> bool | None:
        """Truth of a fact that a quantity decides; None if nothing tells."""
        return answer(self.decided, fact, belief, Situation(belief, self.goal), self.goal.bound)

    def device_at(self, belief: "Belief", quantity: str, thing: str) -> str:
        """Kind of the device that is at a thing to drive its number; empty if none is."""
        for declared in self.decided.values():
            if declared.name == quantity:
                facts = Situation(belief, self.goal)
                return Inquiry(declared, thing, belief, facts, self.goal.bound).device
        return ""


NO_NUMBERS = Numbers()


FactFunction = tuple[int, Callable[..., bool | None]]
"""A function of a belief that answers for a predicate, after the number of that one's arguments."""


class Belief:
    """b = (location, hand, container states, last-seen objects), as each world's own frozen value
    keeps it.

    A world's belief answers `truth` for the facts of its manual and says what there is by `names`;
    all else has a default. `FactBelief` is one that keeps facts as they are, for worlds that need
    no more.
    """

    answers: ClassVar[Mapping[str, FactFunction]] = {}
    """Functions for the predicates that follow from the belief (`rpms.worlds.base.asking`)."""

    @property
    def location(self) -> str | None:
        """ℓ: where the agent is, by name; None if unknown or nowhere in particular."""
        return None

    @property
    def holding(self) -> tuple[str, ...]:
        """h: what the agent carries."""
        return ()

    @property
    def containers(self) -> Mapping[str, bool]:
        """C: which containers are known to be open (True) or closed (False)."""
        return {}

    @property
    def last_seen(self) -> Mapping[str, str]:
        """Π: where each object was last seen."""
        return {}

    @property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Names of known things, by the parameters they can fill in a command: `place` → all
        places.
        """
        return {}

    @cached_property
    def every_name(self) -> frozenset[str]:
        """The names of all known things, whatever they can fill."""
        return frozenset[str]().union(*self.names.values())

    def called(self, word: str) -> Sequence[str]:
        """Names of known things that a goal's word can mean: every `apple N` for `apple`."""
        return self._by_kind.get(word, ())

    @cached_property
    def _by_kind(self) -> Mapping[str, Sequence[str]]:
        names = dict.fromkeys(chain.from_iterable(self.names.values()))
        return _grouped_by_kind(tuple(names))

    def but(self, **changes: object) -> Self:
        """The belief with some fields changed."""
        return replace(self, **changes)  # type: ignore[type-var]

    def truth(self, atom: Atom, /) -> Truth:
        """The truth of a fact that the world's manual names, as far as it is known."""
        arity, ask = self.answers.get(atom.predicate, _UNANSWERED)
        if ask is None or len(atom.args) != arity:
            return Truth.UNKNOWN
        return Truth.of(ask(self, *atom.args))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        """Like `truth`, as a bool or None: plans ask so often that an atom for each question is
        too dear.
        """
        arity, ask = self.answers.get(predicate, _UNANSWERED)
        if ask is None or type(self).truth is not Belief.truth:
            return self.truth(Atom(predicate, args)).known
        if len(args) != arity:
            return None
        said = ask(self, *args)
        return None if said is None else bool(said)

    def gauge(self, quantity: str, thing: str, /) -> Gauge:  # noqa: ARG002  most keep no numbers
        """All that was measured of a thing; nothing where no numbers are kept."""
        return Gauge()

    def deciding(self, decided: Decided, goal: Goal) -> Self:  # noqa: ARG002  as above
        """The belief that answers for facts which a manual's quantities decide, too."""
        return self

    def serving(self, goal: Goal) -> Self:  # noqa: ARG002  some beliefs keep their goal
        """The belief for another goal."""
        return self

    def without_outcomes(self) -> Self:
        """The belief without outcomes, such as objects that were heated; most beliefs keep none."""
        return self

    def signature(self) -> StateSignature:
        """σ(b)."""
        return StateSignature.of(
            holding=self.holding, location=None if self.location is None else (self.location,)
        )

    def asked(self) -> Sequence[GoalStep]:
        """The steps that the goal's sentence asks for, in its order; none where the manual's
        facts tell progress.
        """
        return ()

    def recalled(self, _state: StateSignature) -> Facts:
        """The facts that a signature tells of the state it was taken in; by default none."""
        return Belief()

    @property
    def fingerprint(self) -> str:
        """A text that tells moments with the same signature apart, for worlds whose signature
        leaves out much.
        """
        return ""

    def lines(self) -> tuple[str, ...]:
        """The belief as the prompt shows it."""
        return (
            f"Holding: {', '.join(self.holding) or 'nothing'}",
            f"Location: {self.location or 'unknown'}",
        )


@lru_cache(maxsize=256)
def _grouped_by_kind(names: tuple[str, ...]) -> Mapping[str, Sequence[str]]:
    """Names by their kinds; a belief mostly knows the same names as the one before."""
    by_kind = grouped((kind_of(name), name) for name in names)
    return {kind: tuple(of_kind) for kind, of_kind in by_kind.items()}


@dataclass(frozen=True)
class FactBelief(Belief):
    """A belief that keeps facts as they were told: true, false, or not at all, which is unknown."""

    known: dict[Atom, bool] = field(default_factory=dict)
    """Known facts. One with `_` is about everything that has no fact of its own: `in(_,
    cellar)`."""
    things: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of known things, by the parameters they can fill."""
    at: str = "at"
    """The predicate that says where the agent is."""
    hand: str = "holding"
    """The predicate that says what it carries."""
    clock: int = 0
    """Ticks so far, for numbers that change with time."""
    readings: Mapping[tuple[str, str], tuple[Measurement, ...]] = field(default_factory=dict)
    """All that was measured, by quantity and thing."""
    numbers: Numbers = field(default=NO_NUMBERS, compare=False, repr=False)

    @property
    def location(self) -> str | None:
        return next(iter(self.true(self.at)), None)

    @property
    def holding(self) -> tuple[str, ...]:
        return tuple(self.true(self.hand))

    @property
    def names(self) -> Mapping[str, Sequence[str]]:
        return self.things

    def true(self, predicate: str) -> Iterator[str]:
        """The first arguments of all facts of a predicate that are known to hold."""
        for atom in self._certain:
            if atom.predicate == predicate and atom.args:
                yield atom.args[0]

    def gauge(self, quantity: str, thing: str, /) -> Gauge:
        return Gauge(self.readings.get((quantity, thing), ()), self.clock)

    def deciding(self, decided: Decided, goal: Goal) -> Self:
        numbers = Numbers(decided, goal)
        return self if numbers == self.numbers else replace(self, numbers=numbers)

    def measured(self, quantity: str, thing: str, value: float) -> Self:
        """The belief with one more reading, taken now, with the device that is at the thing."""
        key = (quantity, thing)
        device = self.numbers.device_at(self, quantity, thing)
        reading = Measurement(self.clock, value, device, "")
        readings = dict(self.readings)
        readings[key] = (*readings.get(key, ()), reading)
        return replace(self, readings=readings)

    def truth(self, atom: Atom, /) -> Truth:
        if atom.predicate in self.numbers.decided:
            return Truth.of(self.numbers.value(self, atom))
        if atom.predicate in self.answers:
            return super().truth(atom)
        if atom in self.known:
            return Truth.of(self.known[atom])
        for told in self._sweeping.get(atom.predicate, ()):
            if _covers(told.atom, atom):
                return Truth.of(not told.negated)
        return Truth.UNKNOWN

    @cached_property
    def _certain(self) -> list[Atom]:
        """The facts that are known to hold."""
        return [atom for atom, holds in self.known.items() if holds]

    @cached_property
    def _sweeping(self) -> dict[str, list[Literal]]:
        """Known facts about many things at once, by predicate, the latest first."""
        found: dict[str, list[Literal]] = {}
        for atom, holds in reversed(self.known.items()):
            if ANYTHING in atom.args:
                found.setdefault(atom.predicate, []).append(Literal(atom, not holds))
        return found

    @property
    def fingerprint(self) -> str:
        facts = str(sorted((str(atom), holds) for atom, holds in self.known.items()))
        return f"{facts} at {self.clock}" if self.readings else facts

    def lines(self) -> tuple[str, ...]:
        """Location, inventory, and every other fact known to hold, as the manual writes it."""
        shown = [str(atom) for atom in self._certain if atom.predicate not in (self.at, self.hand)]
        if not shown:
            return super().lines()
        return (*super().lines(), f"Known: {'; '.join(sorted(shown))}")

    def learn(self, *facts: str | Literal, **things: Iterable[str]) -> Self:
        """The belief with some facts told anew, in their order, and names that were seen in some
        roles.

        Facts are written as in a manual. `_` stands for anything: after `not in(_, cellar)` and
        `in(oil can, cellar)`, the oil can is in the cellar, and nothing else is.
        """
        known = dict(self.known)
        for fact in facts:
            literal = parse_literal(fact) if isinstance(fact, str) else fact
            if ANYTHING in literal.atom.args:
                for covered in [atom for atom in known if _covers(literal.atom, atom)]:
                    del known[covered]
            known[literal.atom] = not literal.negated
        seen = dict(self.things)
        for role, names in things.items():
            seen[role] = tuple(dict.fromkeys((*seen.get(role, ()), *names)))
        return replace(self, known=known, things=seen)

    def contradicted_by(self, facts: Iterable[str]) -> tuple[str, ...]:
        """Beliefs the simulator contradicts, given every fact that holds there."""
        true = {parse_literal(fact).atom for fact in facts}
        found: list[str] = []
        for atom in sorted(true, key=str):
            if self.truth(atom) is Truth.FALSE:
                found.append(f"{atom} holds")
        for atom in self._certain:
            if ANYTHING not in atom.args and atom not in true:
                found.append(f"{atom} does not hold")
        return tuple(found)


def _covers(pattern: Atom, atom: Atom) -> bool:
    """True if a fact with `_` in it stands for this fact too."""
    if pattern.predicate != atom.predicate or len(pattern.args) != len(atom.args):
        return False
    for one, other in zip(pattern.args, atom.args, strict=True):  # noqa: SIM110  asked so often that `all` is too dear
        if one not in (other, ANYTHING):
            return False
    return True


class Done(NamedTuple):
    """A command that the world took in this episode."""

    command: str
    gained: bool
    """True if the score rose with it."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A belief with the goal it serves: the facts that rules are checked against,
    `GOAL_PREDICATES` included.
    """

    belief: Belief
    goal: Goal
    stage: int | None = None
    """Number of the goal's stages already passed, if its manual has a procedure."""
    past: tuple[Done, ...] = ()
    """Actions done in this episode, for those that count only once."""

    def truth(self, atom: Atom, /) -> Truth:
        check = _GOAL_FACTS.get(atom.predicate)
        if check is None:
            return self.belief.truth(atom)
        return Truth.of(check(self.goal, *atom.args))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        """Like `truth`, as a bool or None."""
        if predicate in _GOAL_FACTS:
            return _GOAL_FACTS[predicate](self.goal, *args)
        return self.belief.value(predicate, args)


_GOAL_FACTS: dict[str, Callable[..., bool]] = {
    "kind": lambda _goal, name, kind: kind_of(name) == kind,
    "goal_object": lambda goal, name: kind_of(name) == goal.object,
    "goal_destination": lambda goal, name: kind_of(name) == goal.destination,
    "goal_names": lambda goal, name: is_named(kind_of(name), goal.text),
    "goal_state": lambda goal, state: goal.state == state,
    "goal_type": lambda goal, type_: goal.type == type_,
}

GOAL_PREDICATES = {
    name: len(inspect.signature(check).parameters) - 1 for name, check in _GOAL_FACTS.items()
}
"""The predicates every manual may use, with the number of their arguments beside the goal."""


def has_asked(belief: Belief | None) -> bool:
    """True if the world has asked a question, such as which of several things was meant. Nothing
    was done then, and nothing refused.
    """
    return belief is not None and belief.truth(Atom("asked", ())) is Truth.TRUE
