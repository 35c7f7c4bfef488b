"""Facts that the texts of ALFWorld have shown, and nothing beyond.

Only the agent changes the world, so what was seen stays so until the agent changes it. Where it is, is a site, not a
place: several places may share one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rpms.core.belief import Belief
from rpms.core.facts import kind_of
from rpms.core.goal import Goal
from rpms.worlds.alfworld.affordances import affordances
from rpms.worlds.alfworld.sites import NOWHERE, Sites


@dataclass(frozen=True, slots=True)
class AlfworldKnown(Belief):
    """Values of one moment's belief. `rpms.worlds.alfworld.belief` adds what follows from them."""

    goal: Goal
    places: tuple[str, ...] = ()
    """Every place of the room, in the order of the opening text."""
    location: str | None = None
    site: str | None = None
    """Place of the agent; None if unknown."""
    sites: Sites = field(default_factory=Sites)
    hand: str | None = None
    containers: Mapping[str, bool] = field(default_factory=dict)
    contents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Known content of each place."""
    seen: frozenset[str] = frozenset()
    """Places whose contents are known completely."""
    states: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Known states of objects: hot, cool, clean, sliced, on."""
    last_seen: Mapping[str, str] = field(default_factory=dict)
    dialect: str | None = None
    """`0.3` or `0.4`, from the first arrival on; None where none was announced, until a refused `put` tells."""
    inert: frozenset[str] = frozenset()
    """Basins that failed to clean something."""
    refused: frozenset[str] = frozenset()
    """Commands that did nothing since the last one that changed something."""

    @property
    def holding(self) -> tuple[str, ...]:
        return () if self.hand is None else (self.hand,)

    @property
    def visited(self) -> frozenset[str]:
        """Places that were seen, from outside at least."""
        return self.seen | self.containers.keys()

    def here(self, place: str) -> bool | None:
        """True if the agent stands at a place; None if unknown."""
        if self.places and place not in self.places:
            return False
        if self.site is None:
            return None
        return self.sites.holds(self.site, place) if self.site else False

    def closed(self, place: str) -> bool | None:
        """True if a closed door bars a place; what has no door is never closed."""
        known = self.containers.get(place)
        if known is not None:
            return not known
        if place in self.seen or affordances().has_door(kind_of(place)) is False:
            return False
        return None

    def has_door(self, place: str) -> bool | None:
        if place in self.containers:
            return True
        return False if place in self.seen else affordances().has_door(kind_of(place))

    def contains(self, place: str, thing: str) -> bool | None:
        """True if an object is in a place; None if unknown."""
        if thing in self.contents.get(place, ()):
            return True
        if place in self.seen or (self.places and place not in self.places):
            return False
        return None

    def homes(self, thing: str) -> tuple[str, ...]:
        """The places that are known to hold an object."""
        return tuple(place for place, inside in self.contents.items() if thing in inside)

    def near(self, thing: str) -> bool | None:
        """True if an object is in a place where the agent stands, behind a closed door or not."""
        if self.site == NOWHERE:
            return False
        if self.site is None:
            return None
        return self._in_site(self.site, thing)

    def _in_site(self, site: str, thing: str) -> bool | None:
        for place in self.homes(thing):
            if self.sites.of.get(place) == site:
                return True
        there = self.sites.at(site)
        return False if site in self.sites.whole and self.seen.issuperset(there) else None

    def together(self, one: str, other: str) -> bool | None:
        """True if two places, or a place and a fixed object, share a site: being at one is being at the other."""
        if self.places:
            if one not in self.places:
                return None
            if other not in self.places:
                # the opening names every place, so one more is not there
                return False if kind_of(other) in affordances().places else self._beside(one, other)
        return self.sites.together(one, other)

    def _beside(self, place: str, thing: str) -> bool | None:
        """Only what cannot be carried away is sure to be where it is when someone gets there."""
        site = self.sites.of.get(place)
        if affordances().has("pickupable", kind_of(thing)) is not False:
            return None
        if thing in self.contents.get(place, ()):
            return True
        if thing.endswith("?"):  # seen nowhere so far, and so in no place that was searched
            return self.contains(place, thing)
        return None if site is None else self._in_site(site, thing)

    def gathered(self) -> tuple[str, tuple[str, ...]]:
        """The place of the destination's kind with most of the goal's objects, and these; empty if none is known."""
        best: tuple[str, tuple[str, ...]] = ("", ())
        for place, inside in self.contents.items():
            if kind_of(place) == self.goal.destination:
                found = tuple(thing for thing in inside if kind_of(thing) == self.goal.object)
                if len(found) > len(best[1]):
                    best = (place, found)
        return best

    def is_(self, thing: str, state: str) -> bool:
        """True if an object is known to be in a state."""
        return state in self.states.get(thing, ())
