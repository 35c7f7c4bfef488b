"""Reader of the games' texts. What fits no pattern is None, or left out of a list."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rpms.worlds.base import read_table

_TABLE: Final = read_table(__package__, "texts.toml")
TEXTS: Final = {name: re.compile(pattern) for name, pattern in _TABLE["texts"].items()}
"""Forms of texts and commands."""
_FURNITURE: Final = re.compile("|".join(_TABLE["furniture"]), re.IGNORECASE)
CHANGES: Final = [(re.compile(pattern), change) for pattern, change in _TABLE["changes"].items()]
"""Answers to commands that changed something, and which change that was."""
REFUSALS: Final = tuple(_TABLE["refusals"])
OPPOSITE: Final[Mapping[str, str]] = _TABLE["opposite"]
DIRECTIONS: Final = tuple(OPPOSITE)
DONE: Final[Mapping[str, str]] = _TABLE["done"]
"""Verbs of the cookbook, and the name of food after each."""
CUTS: Final = ("slice", "dice", "chop")
CONDITIONS: Final = ("clean", "dirty", "wet", "rotten", "used")
"""Conditions of a thing by which it belongs elsewhere than others of its sort."""
LONGEST: Final = 50_000
"""No game prints more at a time; what is longer is cut."""


class Food(NamedTuple):
    """A thing by the name that commands want, and what was done to it, as its longer name says."""

    name: str
    states: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Furniture:
    """A piece of furniture, or a box: something that things are on or in."""

    open: bool
    content: tuple[str, ...] | None = ()
    """None while nobody has looked into it."""
    lid: bool = False


@dataclass(frozen=True)
class Place:
    """A room that was seen from inside."""

    furniture: Mapping[str, Furniture]
    loose: tuple[str, ...]
    """Things in it that hold nothing: things on the floor, and fixtures."""
    exits: Mapping[str, str | None]
    """Direction → the room there; None behind a door that was never open."""
    doors: Mapping[str, bool]
    """Direction → whether the door is closed."""

    @cached_property
    def visible(self) -> tuple[str, ...]:
        """All that is in reach of somebody in the room."""
        seen = [*self.loose]
        for name, each in self.furniture.items():
            seen.append(name)
            if each.open:
                seen += each.content or ()
        return tuple(seen)

    @cached_property
    def things(self) -> tuple[str, ...]:
        """All that is in it, in the open or not, and holds nothing itself."""
        found = [*self.loose]
        for each in self.furniture.values():
            found += each.content or ()
        return tuple(found)

    @cached_property
    def holders(self) -> Mapping[str, str]:
        """The piece of furniture that each thing is known to be in or on."""
        found: dict[str, str] = {}
        for name, each in self.furniture.items():
            for thing in each.content or ():
                found.setdefault(thing, name)
        return found


class CookbookRecipe(NamedTuple):
    """Content of the cookbook."""

    ingredients: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    """Verb and food of each direction: `("slice", "red hot pepper")`."""


def refused(observation: str) -> bool:
    """True if the answer says that the command could not be done."""
    return observation.startswith(REFUSALS)


def food(text: str) -> Food:
    """A thing by its listed name: `a fried sliced carrot`."""
    text = TEXTS["article"].sub("", text.strip(), count=1)
    states = []
    while (match := TEXTS["state"].match(text)) is not None:
        states.append(match[1])
        text = text[match.end() :]
    return Food(text, frozenset(states))


def things(text: str) -> tuple[Food, ...]:
    """A list of things: `a carrot, some salt, and a raw egg`."""
    return tuple(food(piece) for piece in re.split(r", (?:and )?", text.strip()) if piece.strip())


def room(observation: str) -> tuple[str, Place, tuple[Food, ...]] | None:
    """Read a look around: a room's name, the room, and all that lies on and in its furniture;
    None of other texts.
    """
    if (match := TEXTS["room"].search(observation[:LONGEST])) is None:
        return None
    furniture: dict[str, Furniture] = {}
    loose: list[str] = []
    foods: list[Food] = []
    for piece in map(str.strip, TEXTS["sight"].split(match[2])[1:]):
        if (seen := _FURNITURE.fullmatch(piece)) is None:
            loose += filter(None, [food(piece.rstrip(".")).name])
            continue
        name = next(filter(None, seen.group("closed", "bare", "loaded", "empty", "full")))
        foods += (held := things(seen["on"] or seen["inside"] or ""))
        opened = piece.lower().startswith("an open ") and not (seen["bare"] or seen["loaded"])
        content = None if seen["closed"] else tuple(each.name for each in held)
        furniture[name] = Furniture(not seen["closed"], content, lid=bool(seen["closed"]) or opened)
    exits: dict[str, str | None] = {}
    doors: dict[str, bool] = {}
    for way in TEXTS["exit"].finditer(observation[match.end() : LONGEST]):
        direction = way[1].lower()
        exits[direction] = way[3]
        if way[2] or way[0].startswith("Through"):
            doors[direction] = bool(way[2])
    return match[1], Place(furniture, tuple(loose), exits, doors), tuple(foods)


def inventory(observation: str) -> tuple[tuple[Food, ...], int | None] | None:
    """Read the carried things and their limit from a listing; None of other texts."""
    if (match := TEXTS["inventory"].match(observation)) is None:
        return None
    lines = [
        line.strip() for line in observation[match.end() : LONGEST].splitlines() if line.strip()
    ]
    carried = tuple(food(line) for line in lines if line != "Your inventory is currently empty.")
    return carried, int(match[1]) if match[1] else None


def recipe(observation: str) -> CookbookRecipe | None:
    """Read the cookbook; None of other texts."""
    _, named, rest = observation[:LONGEST].partition("Ingredients:\n")
    listed, told, directions = rest.partition("Directions:\n")
    if not named or not told:
        return None
    ingredients = tuple(line.strip() for line in listed.splitlines() if line.strip())
    steps = TEXTS["direction"].findall(directions)
    return CookbookRecipe(ingredients, tuple((verb, food.strip()) for verb, food in steps))


def chart(observation: str) -> dict[str, frozenset[str]] | None:
    """Read which rooms a map connects; None of other texts."""
    if not observation.startswith("The map reads:"):
        return None
    lines = TEXTS["map_line"].findall(observation[:LONGEST])
    return {room: frozenset(re.split(r", | and ", others)) for room, others in lines}


def answer(observation: str) -> int | None:
    """The answer to a math problem; None of other texts, and where it has none that is whole."""
    if (match := TEXTS["math"].search(observation)) is None:
        return None
    one, other = int(match[2]), int(match[3])
    whole = one // other if other and one % other == 0 else None
    return {"add": one + other, "subtract": other - one, "multiply": one * other, "divide": whole}[
        match[1]
    ]


def quantity(name: str) -> int | None:
    """Quantity of a thing, in the smallest unit of its measure; None of a name without a number."""
    match = TEXTS["quantity"].fullmatch(name)
    return int(match[1]) * (_TABLE["units"][match[2]] if match[2] else 1) if match else None


def orders(observation: str) -> tuple[str, ...]:
    """The commands that a text tells to give, in order."""
    if (match := TEXTS["simon"].match(observation)) is not None:
        return (match[1],)
    if (match := TEXTS["simon_list"].match(observation)) is not None:
        return tuple(piece.strip() for piece in match[1].split(",") if piece.strip())
    if (match := TEXTS["instruction"].match(observation)) is not None:
        return (f"{match[1]} {match[2]}",)
    return ()
