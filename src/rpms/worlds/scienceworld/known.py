"""Facts that the texts have shown: room, inventory, things seen where, and states of matter.

The world changes by itself (water boils, bees fly); only the agent's room and inventory change by its own actions
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rpms.core.belief import Belief
from rpms.core.goal import Goal
from rpms.worlds.scienceworld.observations import Thing, substance_of
from rpms.worlds.scienceworld.tree import INVENTORY, Seen, find, read_phrase, walk

INSTRUMENTS = ("thermometer", "stopwatch", "lighter", "shovel", "axe")
"""Things that `use` works with, or that measure."""


@dataclass(frozen=True)
class ScienceKnown(Belief):
    """Values of one moment's belief. `rpms.worlds.scienceworld.belief` adds what follows from them."""

    goal: Goal
    room: str | None = None
    exits: Mapping[str, Mapping[str, bool | None]] = field(default_factory=dict)
    """Room → the rooms next door → whether the door between is open, None if unknown."""
    inventory: tuple[Thing, ...] = ()
    """Things known to be carried."""
    inventory_known: bool = False
    """True if nothing else is carried, which is known once an inventory was seen."""
    lost: bool = False
    """True if something that was carried may still be so without being known."""
    handled: frozenset[str] = frozenset()
    """Things the agent has moved, switched on or opened: they need not be where, or as, they were seen."""
    rooms: Mapping[str, tuple[Thing, ...]] = field(default_factory=dict)
    """Things last seen in each room; all of them only in rooms that are in `looked`."""
    looked: frozenset[str] = frozenset()
    """Rooms whose listing was seen."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """Substance (by its name in any state) or thing → the last temperature measured, in °C."""
    states: Mapping[str, str] = field(default_factory=dict)
    """Substance → solid, liquid or gas, as last seen."""
    state_history: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Substance → the states it was seen in, one after the other."""
    focused: tuple[str, ...] = ()
    """Things focused on, in order, by the simulator's names."""
    readings: Mapping[str, str] = field(default_factory=dict)
    """Readings of instruments and papers: `stopwatch` → ticks, `recipe` → its text, an inclined plane → the
    percentage that its block has slid (100 at the bottom)."""
    connections: frozenset[tuple[str, str]] = frozenset()
    """Terminals joined, by the simulator's names: (`anode on battery`, `terminal 1 on black wire`)."""
    broken: frozenset[str] = frozenset()
    """Devices that cannot be switched, with their room: `stove in kitchen`."""
    failed: frozenset[str] = frozenset()
    """Commands refused since the last one that did something."""
    last_action: str | None = None
    observation: str = ""
    """The last answer."""
    menu: tuple[str, ...] = ()
    """The options that the simulator is waiting for a number for."""
    steps: int = 0
    """Number of commands given."""
    clock: int = 0
    """Ticks of the simulator so far."""
    since: Mapping[str, int] = field(default_factory=dict)
    """Time of the last sight of a room, a substance or a thing, or of a measurement (`heat of water`), by that
    clock."""

    def age(self, name: str) -> int:
        """Ticks since something was seen or measured."""
        return self.clock - self.since.get(name, -1_000)

    @property
    def location(self) -> str | None:
        return self.room

    @property
    def holding(self) -> tuple[str, ...]:
        return tuple(thing.name for thing in self.inventory)

    @property
    def here(self) -> tuple[Thing, ...]:
        """Things last seen in this room."""
        return self.rooms.get(self.room or "", ())

    @property
    def containers(self) -> Mapping[str, bool]:
        """Doors and lids here that are known to be open; two of one name are told apart by what holds them."""
        found: dict[str, bool] = {}
        for seen in self.visible():
            if not seen.thing.flags.isdisjoint({"open", "closed"}):
                key = seen.name if seen.name not in found else f"{seen.name} in {seen.holder or seen.place}"
                found[key] = "open" in seen.thing.flags
        return found

    @property
    def last_seen(self) -> Mapping[str, str]:
        """Place where each thing was last seen: a room, or `inventory`."""
        everywhere = (seen for room, forest in self.rooms.items() for seen in walk(forest, room))
        return {seen.name: seen.place for seen in (*everywhere, *self.visible())}

    @property
    def instruments(self) -> tuple[str, ...]:
        """The instruments carried."""
        return tuple(name for name in self.holding if name in INSTRUMENTS)

    def visible(self) -> list[Seen]:
        """Everything known here and in the inventory."""
        return walk(self.here, self.room or "") + walk(self.inventory, INVENTORY)

    def carries(self, name: str) -> bool | None:
        """True if something of a name is carried, itself or inside something carried; None if unknown."""
        if find(self.inventory, replace(read_phrase(name), places=()), INVENTORY):
            return True
        return False if self.inventory_known else None

    def temperature(self, name: str) -> float | None:
        """The last temperature measured of a substance, in whatever state it was then, or of a thing."""
        return self.temperatures.get(substance_of(name))

    def next_door(self, room: str) -> bool | None:
        """True if a door leads from here to a room; None if unknown."""
        return None if self.room is None else self.adjoin(self.room, room)

    def adjoin(self, room: str, other: str) -> bool | None:
        """True if a door joins two rooms; None if unknown. A name that is no room's known so far is unknown."""
        if other in self.exits.get(room, ()):
            return True
        return False if room in self.looked and other in self.exits and other != room else None
