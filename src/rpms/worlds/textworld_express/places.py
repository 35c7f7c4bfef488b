"""Rooms and furniture, and what the cookbook does to food: the values that a belief is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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

    @property
    def things(self) -> Iterator[str]:
        """All that is in it, in the open or not, and holds nothing itself."""
        yield from self.loose
        for each in self.furniture.values():
            yield from each.content or ()

    def holder_of(self, thing: str) -> str | None:
        """The piece of furniture that a thing is known to be in or on."""
        return next((name for name, each in self.furniture.items() if thing in (each.content or ())), None)
