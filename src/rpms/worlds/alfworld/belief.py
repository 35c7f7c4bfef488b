"""The belief of Section 3.1 for ALFWorld: what is known, as the core asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from rpms.core.belief import StateSignature
from rpms.core.facts import Atom, Facts, Truth, kind_of
from rpms.core.goal import Goal
from rpms.worlds.alfworld.affordances import affordances
from rpms.worlds.alfworld.known import AlfworldKnown
from rpms.worlds.alfworld.predicates import PREDICATES
from rpms.worlds.alfworld.wording import belief_lines

_DEEDS = ("heated", "cooled", "cleaned", "sliced")


@dataclass(frozen=True, slots=True)
class Recalled:
    """Facts of the state that a signature was taken in. Places of different kinds are taken to be apart."""

    state: StateSignature

    def truth(self, atom: Atom, /) -> Truth:
        held, location = self.state.get("holding"), self.state.get("location")
        known: bool | None = None
        match atom.predicate, atom.args:
            case "hand_empty", ():
                known = None if held is None else not held
            case "holding", (thing,):
                known = None if held is None else thing in held
            case "at", (place,):
                known = _same(location[0], place) if location else None
            case "same_place", (one, other):
                known = _same(one, other)
            case "closed", (place,):
                known = False if place in (self.state.get("open") or ()) else None
            case deed, (_,) if deed in _DEEDS:
                known = False if held == () else None  # what is taken from here on was not treated before
        return Truth.of(known)


@lru_cache(maxsize=16_384)
def _same(one: str, other: str) -> bool | None:
    """True for one place, false for receptacles of two kinds; two of a kind may share a location, as may a lamp."""
    if one == other:
        return True
    kinds = {kind_of(one), kind_of(other)}
    return False if len(kinds) > 1 and kinds <= affordances().places else None


@dataclass(frozen=True)
class AlfworldBelief(AlfworldKnown):
    """One moment's belief. Made by `rpms.worlds.alfworld.update.update`."""

    answers = PREDICATES

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        things = {thing: None for inside in self.contents.values() for thing in inside} | dict.fromkeys(self.holding)
        objects = tuple(things)
        return {"place": self.places, "object": objects, "tool": objects, "thing": (*self.places, *objects)}

    @cached_property
    def _by_kind(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for name in self.names["thing"]:
            found.setdefault(kind_of(name), []).append(name)
        return {kind: tuple(names) for kind, names in found.items()}

    def called(self, word: str) -> tuple[str, ...]:
        return self._by_kind.get(word, ())

    def serving(self, goal: Goal) -> AlfworldBelief:
        return self.but(goal=goal)

    def signature(self) -> StateSignature:
        opened = tuple(sorted(place for place, is_open in self.containers.items() if is_open))
        location = None if self.location is None else (self.location,)
        return StateSignature.of(holding=self.holding, location=location, open=opened or None)

    def recalled(self, state: StateSignature) -> Facts:
        return Recalled(state)

    def lines(self) -> tuple[str, ...]:
        return belief_lines(self)

    def but(self, **changes: object) -> AlfworldBelief:
        """The same belief with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
