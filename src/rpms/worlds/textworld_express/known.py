"""Things seen, told and read in a game: the values that a belief is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rpms.core.goal import Goal
from rpms.worlds.textworld_express.goals import ExpressGoal
from rpms.worlds.textworld_express.observations import CookbookRecipe

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
DONE = {
    "slice": "sliced",
    "dice": "diced",
    "chop": "chopped",
    "fry": "fried",
    "roast": "roasted",
    "grill": "grilled",
}
"""Verbs of the cookbook, and the name of food after each."""
CUTS = ("slice", "dice", "chop")
CONDITIONS = ("clean", "dirty", "wet", "rotten", "used")
"""Conditions of a thing by which it belongs elsewhere than others of its sort."""


@dataclass(frozen=True, slots=True)
class Furniture:
    """A piece of furniture, or a box: something that things are on or in."""

    open: bool
    content: tuple[str, ...] | None = ()
    """None while nobody has looked into it."""
    lid: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A room that was seen from inside."""

    furniture: Mapping[str, Furniture]
    loose: tuple[str, ...]
    """Things in it that hold nothing: things on the floor, and fixtures."""
    exits: Mapping[str, str | None]
    """Direction → the room there; None behind a door that was never open."""
    doors: Mapping[str, bool]
    """Direction → whether the door is closed."""

    @property
    def visible(self) -> Iterator[str]:
        """All that is in reach of somebody in the room."""
        yield from self.loose
        for name, each in self.furniture.items():
            yield name
            if each.open:
                yield from each.content or ()

    def holder_of(self, thing: str) -> str | None:
        """The piece of furniture that a thing is known to be in or on."""
        return next((name for name, each in self.furniture.items() if thing in (each.content or ())), None)


@dataclass(frozen=True)
class ExpressKnown:
    """All that is known in a game, whichever of the eight it is."""

    goal: Goal
    room: str | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    """The rooms that were seen, as they were when left."""
    carried: tuple[str, ...] = ()
    capacity: int | None = None
    """Most things that can be carried, if that is known."""
    states: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Preparation of food so far: `{"carrot": {"sliced", "fried"}}`."""
    placed: tuple[str, ...] = ()
    """Things the player has put somewhere, and not taken since, in order."""
    recipe: CookbookRecipe | None = None
    chart: Mapping[str, frozenset[str]] | None = None
    """The map: which rooms it connects."""
    result: int | None = None
    """The answer to the math problem, once it was read."""
    orders: tuple[str, ...] = ()
    """The commands that are to be given next."""
    eaten: tuple[str, ...] = ()

    @property
    def here(self) -> Place | None:
        return self.places.get(self.room) if self.room is not None else None

    @cached_property
    def ordered(self) -> tuple[Place, ...]:
        """The rooms that were seen, the present one first: of two trash cans, the one at hand is meant."""
        here = self.here
        others = (place for place in self.places.values() if place is not here)
        return (*([here] if here is not None else []), *others)

    @cached_property
    def rooms(self) -> tuple[str, ...]:
        """All rooms that were seen or told of, and one behind each door that was never open."""
        told = [*self.places, *(there for place in self.places.values() for there in place.exits.values() if there)]
        told += [room for _, room in self.told] + [*(self.chart or ())]
        told += [
            behind(room, way) for room, place in self.places.items() for way in place.exits if self.is_veiled(room, way)
        ]
        return tuple(dict.fromkeys(told))

    def is_veiled(self, room: str, direction: str) -> bool:
        """True if nobody knows what room a door leads to."""
        place = self.places.get(room)
        return place is not None and direction in place.exits and place.exits[direction] is None

    @cached_property
    def things(self) -> tuple[str, ...]:
        """All that was seen, or told of, and is no furniture that holds things."""
        seen = (thing for place in self.ordered for thing in _things_in(place))
        told = [thing for thing, _ in self.told]
        wanted = (*self.recipe.ingredients, "meal") if self.recipe else ()
        furniture = {name for place in self.ordered for name in place.furniture}
        return tuple(dict.fromkeys(name for name in (*self.carried, *seen, *told, *wanted) if name not in furniture))

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        return self.goal.found if isinstance(self.goal, ExpressGoal) else ()

    def rooms_of(self, thing: str) -> list[str]:
        """Place where something was seen, or is said to be."""
        seen = self._seen_in.get(thing, [])
        if not seen and thing not in self.carried and thing not in self.placed:
            return [room for told, room in self.told if told == thing and room not in self.places]
        return seen

    @cached_property
    def _seen_in(self) -> Mapping[str, list[str]]:
        """By name, the rooms in which something was seen, in the open or in what is shut now."""
        found: dict[str, list[str]] = {}
        for room, place in self.places.items():
            for name in {*place.visible, *(thing for each in place.furniture.values() for thing in each.content or ())}:
                found.setdefault(name, []).append(room)
        return found

    def furniture(self, name: str) -> Furniture | None:
        """A piece of furniture by its name, the one at hand if there are several."""
        return next((place.furniture[name] for place in self.ordered if name in place.furniture), None)

    def is_done(self, verb: str, food: str) -> bool:
        """True if a direction of the recipe was followed."""
        return DONE.get(verb, verb) in self.states.get(food, frozenset())


def behind(room: str, direction: str) -> str:
    """The name of a room that nobody has seen, behind a closed door."""
    return f"room {direction} of {room}"


def _things_in(place: Place) -> Iterator[str]:
    yield from place.loose
    for each in place.furniture.values():
        yield from each.content or ()
