"""The building blocks of every procedure: going, looking, opening, fetching, focusing, waiting.

A procedure is a generator: it yields moves and is sent what the world said. Run over a transcript from its beginning
it says what to do next, and its local variables are its memory. So procedures read like recipes, and yet the planner as
a whole is a function of the decision alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER, route
from rpms.worlds.scienceworld.planner.text import Thing, View, read_thing, read_view

STEPS: Final = 100
"""The step budget that procedures plan with."""


class Move(NamedTuple):
    """What to say and do next."""

    thought: str
    action: str


Result = TypeVar("Result")
Doing = Generator[Move, str, Result]
"""A piece of a procedure: yields moves, is sent observations, returns what it found out."""

_MENU: Final = re.compile(r"^(\d+):\t(.*)$", re.MULTILINE)
_MOVED: Final = re.compile(r"^You move the (.+) to the (.+)\.$")
_WENT: Final = re.compile(r"You move to the ([\w ]+)\.")
_DOOR: Final = re.compile(r"(?:open|close) door to (.+)")
_DOOR_STATE: Final = re.compile(r"The door is (?:now|already) (open|closed)")
_TEMPERATURE: Final = re.compile(r"measures a temperature of (-?\d+) degrees")


class Failed(Exception):
    """A procedure cannot go on; the planner then only waits, which can do no harm."""


@dataclass
class Agent:
    """What a procedure knows of the world, and the moves it is made of."""

    room: str = ""
    views: dict[str, View] = field(default_factory=dict)
    """The last look at each room. May be old: things move and grow."""
    doors: dict[frozenset[str], bool] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    """Containers that this agent opened, as `room/container`."""
    places: dict[str, str] = field(default_factory=dict)
    """Where this agent put things: what `metal pot` means where there are two."""
    steps: int = 0
    purpose: str = ""

    def note(self, action: str, observation: str) -> None:
        """Take in what an action brought about. Called for every step, whoever chose it."""
        self.steps += 1
        self.see(observation)
        moved = _WENT.match(observation)
        if moved:
            self.doors[frozenset((self.room, moved[1]))] = True
            self.room = moved[1]
        door, state = _DOOR.match(action), _DOOR_STATE.match(observation)
        if door and state:
            self.doors[frozenset((self.room, door[1]))] = state[1] == "open"

    def see(self, observation: str) -> None:
        """Take in a look at the room, if the observation has one."""
        view = read_view(observation)
        if view is not None:
            self.room = view.room
            self.views[view.room] = view
            for neighbour, is_open in view.doors.items():
                self.doors[frozenset((view.room, neighbour))] = is_open

    @property
    def left(self) -> int:
        return STEPS - self.steps

    def do(self, action: str, choose: Callable[[str], bool] | None = None) -> Doing[str]:
        """Do one thing. A menu is answered with the first option, by its text, that `choose` approves, or any."""
        observation = yield Move(self.purpose, action)
        if observation.startswith("Ambiguous request"):
            options = sorted(_MENU.findall(observation), key=lambda option: option[1])
            approve = choose or self._means
            wanted = next((number for number, text in options if approve(text)), None)
            observation = yield Move(self.purpose, wanted or (options[0][0] if options else "0"))
        return observation

    def _means(self, option: str) -> bool:
        """Whether a menu's option has the things that this agent moved in the places where it moved them."""
        nested = option.replace(" (in ", ", in ")  # `ice (in metal pot, in stove, in kitchen)`
        return all(f"{name}, in {place}" in nested for name, place in self.places.items() if f"{name}, in " in nested)

    def look(self) -> Doing[View]:
        """Look around and return what is seen."""
        observation = yield from self.do("look around")
        view = read_view(observation)
        if view is None:
            raise Failed("nothing to be seen")
        return view

    def seen(self) -> Doing[View]:
        """The view of this room: as last seen, or a fresh look on the first visit."""
        if self.room in self.views:
            return self.views[self.room]
        return (yield from self.look())

    def goto(self, room: str) -> Doing[None]:
        """Walk to a room, opening doors on the way."""
        for hop in route(self.room, room):
            if not self.doors.get(frozenset((self.room, hop))):
                yield from self.do(f"open door to {hop}")
            observation = yield from self.do(f"go to {hop}")
            if self.room != hop:
                raise Failed(observation)

    def open_all(self) -> Doing[None]:
        """Open what is closed in this room, then the drawers in it."""
        view = yield from self.seen()
        found = False
        for thing in view.things:
            key = f"{self.room}/{thing.name}"
            if (thing.closed or thing.name == "glass jar") and key not in self.opened:
                self.opened.add(key)
                yield from self.do(f"open {thing.name}")
                found = True
        if found:
            view = yield from self.look()
        drawers = [(holder.name, inner.name) for holder in view.things for inner in holder.contents]
        found = False
        for holder, name in drawers:
            key = f"{self.room}/{holder}/{name}"
            if name == "drawer" and key not in self.opened:
                self.opened.add(key)
                yield from self.do(f"open drawer in {holder}")
                found = True
        if found:
            yield from self.look()

    def find(
        self, wanted: Callable[[Thing], bool], rooms: Iterable[str] = SEARCH_ORDER, *, open_containers: bool = True
    ) -> Doing[Thing | None]:
        """Go through rooms until something is seen that fits; open containers only in the rooms gone to for it."""
        for name in rooms:
            if name in self.views:
                found = next(filter(wanted, self.views[name].walk()), None)
                if found is not None:
                    yield from self.goto(name)
                    return found
        for name in rooms:
            yield from self.goto(name)
            view = yield from self.seen()
            found = next(filter(wanted, view.walk()), None)
            if found is None and open_containers:
                yield from self.open_all()
                found = next(filter(wanted, self.views[self.room].walk()), None)
            if found is not None:
                return found
        return None

    def take(self, name: str) -> Doing[str]:
        """Pick something up; returns the name the world gives it, or the empty text if it stays where it is."""
        known = self.places.get(name, "inventory") != "inventory"
        choose = self._means if known else lambda option: "(in inventory" not in option
        observation = yield from self.do(f"pick up {name}", choose)
        moved = _MOVED.match(observation.strip())
        if moved:
            self.places[name] = "inventory"
        return moved[1] if moved else ""

    def carry(self, name: str) -> Doing[None]:
        """Pick something up unless it is carried already: `pick up` would then take another of the same name."""
        if self.places.get(name) != "inventory":
            yield from self.take(name)

    def put(self, name: str, place: str) -> Doing[bool]:
        """Move something into or onto something."""
        observation = yield from self.do(f"move {name} to {place}")
        moved = observation.startswith("You move")
        if moved:
            self.places[name.removesuffix(" in inventory")] = place
        return moved

    def examine(self, name: str) -> Doing[Thing]:
        """Look at one thing."""
        return read_thing((yield from self.do(f"look at {name}")))

    def measure(self, name: str, place: str = "") -> Doing[int | None]:
        """Read the thermometer on something; None if there is no such thing."""
        where = f" in {place}" if place else ""
        observation = yield from self.do(f"use thermometer in inventory on {name}{where}")
        match = _TEMPERATURE.search(observation)
        return int(match[1]) if match else None

    def wait(self, ticks: int) -> Doing[None]:
        """Let time pass."""
        for _ in range(ticks // 10):
            yield from self.do("wait")
        for _ in range(ticks % 10):
            yield from self.do("wait1")

    def holder_of(self, name: str) -> Thing | None:
        """What directly holds a thing in this room, as last seen; None if it lies in the room itself."""
        view = self.views.get(self.room)
        for thing in view.walk() if view else ():
            if any(inner.name == name for inner in thing.contents):
                return thing
        return None


def named(*names: str) -> Callable[[Thing], bool]:
    """Whether a thing has one of these names."""
    return lambda thing: thing.name in names
