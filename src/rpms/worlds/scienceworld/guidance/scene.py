"""The belief as a scene to act in: finding things, naming them, walking, searching, fetching.

A method that returns needs returns None where nothing is needed, so that a recipe is a chain of `or`: the first need
that is not met is what to see to, in whatever state the belief is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.planner.rooms import ROOMS, SEARCH_ORDER, route
from rpms.worlds.scienceworld.tree import walk

INVENTORY: Final = "inventory"
_NO_LID: Final = frozenset({"bee hive", "blast furnace", "drain", "oven"})
"""What can be open or shut and hides nothing that is looked for."""


class Seen(NamedTuple):
    """A thing, what holds it (the nearest first), and its room or `inventory`."""

    thing: Thing
    above: tuple[str, ...]
    place: str

    @property
    def name(self) -> str:
        return self.thing.name

    @property
    def carried(self) -> bool:
        return self.place == INVENTORY

    @property
    def holder(self) -> str:
        """What directly holds it; empty where it lies in the room itself or in the inventory."""
        return self.above[0] if self.above else ""


Test = Callable[[Seen], bool]


def named(*names: str) -> Test:
    """Whether a thing goes by one of these names."""
    return lambda seen: seen.name in names


@dataclass(frozen=True)
class Scene:
    """One moment, with the order in which rooms are worth searching."""

    goal: ScienceGoal
    belief: ScienceBelief
    likely: tuple[str, ...] = ()

    @property
    def room(self) -> str:
        return self.belief.room or ""

    @property
    def last(self) -> str:
        """The last command."""
        return self.belief.last_action or ""

    # Finding and naming

    @cached_property
    def things(self) -> tuple[Seen, ...]:
        """Everything known, carried and here first."""
        elsewhere = (
            Seen(thing, above, room)
            for room, forest in self.belief.rooms.items()
            if room != self.room
            for _, thing, above in walk(forest)
        )
        return (*self.visible, *elsewhere)

    @cached_property
    def visible(self) -> tuple[Seen, ...]:
        """What is carried or here."""
        carried = (Seen(thing, above, INVENTORY) for _, thing, above in walk(self.belief.inventory))
        here = (Seen(thing, above, self.room) for _, thing, above in walk(self.belief.here))
        return (*carried, *here)

    def find(self, test: Test) -> Seen | None:
        """The nearest thing that fits, wherever it was seen."""
        return next(filter(test, self.things), None)

    def at_hand(self, test: Test) -> Seen | None:
        """A thing that fits and is carried or here."""
        return next(filter(test, self.visible), None)

    def held(self, name: str) -> Seen | None:
        """A thing of a name that is carried, itself or in something."""
        return next((seen for seen in self.visible if seen.carried and seen.name == name), None)

    def call(self, seen: Seen) -> str:
        """How a command names it: with its place where there are several of its name."""
        return f"{seen.name} in {seen.holder or seen.place}" if self._names[seen.name] > 1 else seen.name

    @cached_property
    def _names(self) -> Counter[str]:
        return Counter(seen.name for seen in self.visible)

    # Needs

    def act(self, text: str, *commands: str) -> Needs:
        """Do something here; what has just been refused is not tried again."""
        return Needs(text, tuple(command for command in commands if command not in self.belief.failed))

    def be_in(self, room: str, why: str = "") -> Needs | None:
        """Walk to a room, opening doors on the way."""
        if self.room == room:
            return None
        if not self.room:
            return self.act("where am I?", "look around")
        hop = next(iter(route(self.room, room) or self.belief.exits.get(self.room, ())), "")
        if not hop:
            return self.act(f"no way to the {room} is known", "look around")
        way = f"go to {hop}" if self.belief.way_open(hop) else f"the door to {hop} is closed: open it"
        return self.act(f"{why or f'the {room} is next'}; {way}", self.enter(hop))

    def enter(self, room: str) -> str:
        """The command that comes first on the way to a room next door."""
        return f"go to {room}" if self.belief.way_open(room) else f"open door to {room}"

    def near(self, test: Test, what: str, rooms: Iterable[str] = ()) -> Needs | None:
        """Be where a thing is: go where it was seen, or search."""
        found = self.find(test)
        if found is None:
            return self.search(what, rooms)
        return None if found.carried else self.be_in(found.place, f"{what} was seen in the {found.place}")

    def have(self, test: Test, what: str, rooms: Iterable[str] = ()) -> Needs | None:
        """Carry a thing."""
        found = self.find(test)
        if found is not None and found.carried:
            return None
        return self.near(test, what, rooms) or self.pick_up(test, what)

    def pick_up(self, test: Test, what: str) -> Needs:
        """Take a thing that is here."""
        found = self.at_hand(test)
        name = self.call(found) if found else what
        return self.act(f"{what} is here: pick it up", f"pick up {name}", "look around")

    def search(self, what: str, rooms: Iterable[str] = ()) -> Needs:
        """Look for something that was never seen: in the likely rooms, then here, then in all others."""
        first = dict.fromkeys((*rooms, *self.likely))
        order = tuple(dict.fromkeys((*first, self.room, *SEARCH_ORDER)))
        left = tuple(room for room in order if room in ROOMS and not self.searched(room))
        likelier = bool(left) and left[0] in first and self.room not in first
        if not self.room or (self.room in left and not likelier):
            commands = tuple(self.uncover()) if self.room in self.belief.looked else ()
            return Needs(f"look for {what}: {(*commands, 'look around')[0]}", commands or ("look around",), left)
        way = self.be_in(left[0], f"look for {what}") if left else None
        return Needs(way.text, way.do, left) if way else self.act(f"look for {what}", "look around")

    def searched(self, room: str) -> bool:
        """Whether a room was looked at and nothing is shut there, or open and not yet looked into."""
        return room in self.belief.looked and not any(map(_covered, self._lids(room)))

    def uncover(self) -> Iterator[str]:
        """The commands that show more of this room."""
        shut = [seen for seen in self._lids(self.room) if "closed" in seen.thing.flags]
        yield from (f"open {self.call(seen)}" for seen in shut if f"open {self.call(seen)}" not in self.belief.failed)
        if not shut and any(map(_covered, self._lids(self.room))):
            yield "look around"

    def _lids(self, room: str) -> Iterator[Seen]:
        for _, thing, above in walk(self.belief.rooms.get(room, ())):
            if not thing.flags.isdisjoint({"open", "closed"}) and thing.name not in _NO_LID:
                yield Seen(thing, above, room)


def _covered(lid: Seen) -> bool:
    """Whether what is inside is not known. A drawer's inside is not listed when there is nothing."""
    return lid.thing.contents is None and lid.name != "drawer"
