"""The belief of Section 3.1 for ALFWorld: what is known, as the core asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rpms.core.belief import StateSignature
from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.goal import Goal
from rpms.worlds.alfworld.known import AlfworldKnown
from rpms.worlds.alfworld.predicates import PREDICATES
from rpms.worlds.alfworld.wording import belief_lines


@dataclass(frozen=True, slots=True)
class AlfworldBelief(AlfworldKnown):
    """One moment's belief. Made by `rpms.worlds.alfworld.update.update`."""

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        things = {thing: None for inside in self.contents.values() for thing in inside} | dict.fromkeys(self.holding)
        objects = tuple(things)
        return {"place": self.places, "object": objects, "tool": objects, "thing": (*self.places, *objects)}

    def called(self, word: str) -> tuple[str, ...]:
        return tuple(name for name in self.names["thing"] if kind_of(name) == word)

    def truth(self, atom: Atom, /) -> Truth:
        answer = PREDICATES.get(atom.predicate)
        if answer is None:
            return Truth.UNKNOWN
        arity, ask = answer
        return Truth.of(ask(self, *atom.args)) if len(atom.args) == arity else Truth.UNKNOWN

    def serving(self, goal: Goal) -> AlfworldBelief:
        return self.but(goal=goal)

    def signature(self) -> StateSignature:
        opened = tuple(sorted(place for place, is_open in self.containers.items() if is_open))
        location = None if self.location is None else (self.location,)
        return StateSignature.of(holding=self.holding, location=location, open=opened or None)

    def lines(self) -> tuple[str, ...]:
        return belief_lines(self)

    def but(self, **changes: object) -> AlfworldBelief:
        """The same belief with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]
