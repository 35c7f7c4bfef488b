"""The task-facing belief b of Section 3.1 and its signature σ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self
from urllib.parse import unquote

from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.goal import Goal, escape

_EMPTY_WORDS = {"holding": "none", "inventory": "empty"}
"""How the paper writes that a field is known to be empty."""


@dataclass(frozen=True, slots=True)
class StateSignature:
    """σ: what of a belief is kept with an experience.

    Its text form is the paper's: `holding=none|open=fridge 1,microwave 1`. A field that is not there is unknown; a
    field with no values is known to be empty.
    """

    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(cls, **fields: tuple[str, ...] | None) -> StateSignature:
        """Make one from named fields, in the order given; None means unknown."""
        return cls(tuple((name, values) for name, values in fields.items() if values is not None))

    def at_stage(self, stage: int | None) -> StateSignature:
        """The same with how far along a procedure is, if there is one: `progress=2`."""
        return self if stage is None else StateSignature((*self.fields, ("progress", (str(stage),))))

    def get(self, name: str) -> tuple[str, ...] | None:
        """The values of a field: empty if known to be so, None if unknown."""
        return next((values for field, values in self.fields if field == name), None)

    @property
    def occupied(self) -> bool | None:
        """Whether the hand (or the inventory) holds something; None if unknown."""
        for name in _EMPTY_WORDS:
            values = self.get(name)
            if values is not None:
                return bool(values)
        return None

    @property
    def coarse(self) -> StateSignature:
        """What decides whether two experiences are the same: occupancy instead of names, no open containers."""
        kept = [
            (name, ("something",) if values and name in _EMPTY_WORDS else values)
            for name, values in self.fields
            if name not in ("open", "location")
        ]
        return StateSignature(tuple(kept))

    def __str__(self) -> str:
        pieces = []
        for name, values in self.fields:
            empty = _EMPTY_WORDS.get(name, "none")
            text = ",".join(escape(value, "|,") for value in values)
            text = f"%{ord(text[0]):02X}{text[1:]}" if text == empty else text or empty
            pieces.append(f"{escape(name, '|=')}={text}")
        return "|".join(pieces)

    @classmethod
    @lru_cache(maxsize=65_536)
    def parse(cls, text: str) -> StateSignature:
        """Read the text form; equal texts give one object. A ValueError says what is wrong."""
        fields: list[tuple[str, tuple[str, ...]]] = []
        known: set[str] = set()
        for piece in text.split("|") if text.strip() else ():
            name, equals, values = piece.partition("=")
            name = unquote(name.strip())
            if not equals or not name or name in known:
                raise ValueError(f"state signature {text[:200]!r} is not `field=value|field=value,value`")
            known.add(name)
            empty = values.strip() in ("", _EMPTY_WORDS.get(name, "none"))
            fields.append((name, () if empty else tuple(unquote(value.strip()) for value in values.split(","))))
        return cls(tuple(fields))


class Belief:
    """b = (location, hand, container states, last-seen objects), as each world's own frozen value keeps it.

    A world's belief answers `truth` for the facts of its manual and says what there is by `names`; all else has a
    default. `FactBelief` is one that keeps facts as they are, for worlds that need no more.
    """

    __slots__ = ()

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
        """What is known to be there, by the parameters it may stand for in a command: `place` → all places."""
        return {}

    def called(self, word: str) -> Sequence[str]:
        """What is known to be there that a goal may mean by a word: every `apple N` for `apple`."""
        known = dict.fromkeys(name for names in self.names.values() for name in names)
        return [name for name in known if kind_of(name) == word]

    def truth(self, _atom: Atom, /) -> Truth:
        """Say what is known of a fact that the world's manual names."""
        return Truth.UNKNOWN

    def signature(self) -> StateSignature:
        """σ(b)."""
        return StateSignature.of(holding=self.holding, location=None if self.location is None else (self.location,))

    @property
    def moment(self) -> str:
        """What tells this moment from others of the same signature, where a signature leaves much out."""
        return ""

    def lines(self) -> tuple[str, ...]:
        """The belief as the prompt shows it."""
        return (f"Holding: {', '.join(self.holding) or 'nothing'}", f"Location: {self.location or 'unknown'}")


@dataclass(frozen=True)
class FactBelief(Belief):
    """A belief that keeps facts as they were told: true, false, or not at all, which is unknown."""

    known: Mapping[Atom, bool] = field(default_factory=dict)
    things: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is known to be there, by the parameters it may stand for."""
    at: str = "at"
    """The predicate that says where the agent is."""
    hand: str = "holding"
    """The predicate that says what it carries."""

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
        return (atom.args[0] for atom, holds in self.known.items() if holds and atom.predicate == predicate)

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.known.get(atom))

    @property
    def moment(self) -> str:
        return str(sorted((str(atom), holds) for atom, holds in self.known.items()))

    def learn(self, facts: Mapping[Atom, bool], **things: Iterable[str]) -> Self:
        """The same belief with some facts told anew, and names that were seen in some roles."""
        seen = {role: tuple(dict.fromkeys((*self.things.get(role, ()), *names))) for role, names in things.items()}
        return replace(self, known={**self.known, **facts}, things={**self.things, **seen})


@dataclass(frozen=True, slots=True)
class Situation:
    """A belief with the goal it serves: the facts that rules are checked against.

    Beside the world's own predicates it knows those of the goal: `kind(x, K)`, `goal_object(x)`,
    `goal_destination(x)`, `goal_state(s)` and `goal_type(t)`.
    """

    belief: Belief
    goal: Goal
    stage: int | None = None
    """How many stages of the goal's procedure are behind, where it has one."""

    def truth(self, atom: Atom, /) -> Truth:
        check = _GOAL_FACTS.get(atom.predicate)
        return self.belief.truth(atom) if check is None else Truth.of(check(self.goal, *atom.args))


_GOAL_FACTS: dict[str, Callable[..., bool]] = {
    "kind": lambda _goal, name, kind: kind_of(name) == kind,
    "goal_object": lambda goal, name: kind_of(name) == goal.object,
    "goal_destination": lambda goal, name: kind_of(name) == goal.destination,
    "goal_state": lambda goal, state: goal.state == state,
    "goal_type": lambda goal, type_: goal.type == type_,
}

GOAL_PREDICATES = {"kind": 2, "goal_object": 1, "goal_destination": 1, "goal_state": 1, "goal_type": 1}
"""The predicates every manual may use, with the number of their arguments."""
