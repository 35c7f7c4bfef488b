"""Reader of the games' texts. What fits no pattern is None, or left out of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

REFUSALS: Final = ("Unknown action:", "You can't move there", "That is already ", "Your inventory currently has ")
DIRECTIONS: Final = ("north", "south", "east", "west")
LONGEST: Final = 50_000
"""No game prints more at a time; what is longer is cut."""

_ROOM: Final = re.compile(r"You are in the ([^.\n]+)\. ?([^\n]*)")
_SIGHT: Final = re.compile(
    r"(?:In one part of the room you see|There is also|You also see|In another part of the room you see) "
)
_EXIT: Final = re.compile(
    r"(?:Through an open [\w -]+ door, to|To) the (North|South|East|West) "
    r"you see (?:a closed ([\w -]+ door)|the ([\w -]+))\."
)
_THING: Final = re.compile(
    r"an? (?P<closed>[^,.]+?) that is closed\.?"
    r"|an? (?P<bare>[^,.]+?), that has nothing on it\.?"
    r"|an? (?P<loaded>[^,.]+?) that has (?P<on>[^.]+) on it\.?"
    r"|(?:an open|an?) (?P<empty>[^,.]+?), that is empty\.?"
    r"|(?:an open|an?) (?P<full>[^,.]+?), that contains (?P<inside>[^.]+?)\.?",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:an?|some) (?=\S)")
_STATE: Final = re.compile(r"(raw|fried|roasted|grilled|chopped|sliced|diced) (?=\S)")
_QUANTITY: Final = re.compile(r"(\d{1,9})(?:(kg|g|mg|l|ml|m|cm|mm) of)? .+")
_MATH: Final = re.compile(r"math problem: (add|subtract|multiply|divide) (\d{1,9}) (?:and|from|by) (\d{1,9}) ?\.")
_INVENTORY: Final = re.compile(r"Inventory(?: \(maximum capacity is (\d{1,4}) items\))?: *\n")
_FULL: Final = re.compile(r"Your inventory currently has (\d{1,4}) items, and is full\.")
_SIMON: Final = re.compile(r"Simon says, '([^'\n]{1,200})'\.")
_SIMON_LIST: Final = re.compile(r"Simon says, take these actions in order: ([^\n]{1,40000})\.")
_INSTRUCTION: Final = re.compile(r"The current task is to (\w+) the ([^.\n]{1,200})\.")
_DIRECTION: Final = re.compile(r"  (\w+) the ([^\n]{1,100})")
_MAP_LINE: Final = re.compile(r"  The ([^.\n]+?) connects to the ([^.\n]+)\.")
_UNITS: Final = {"": 1, "mg": 1, "g": 1_000, "kg": 1_000_000, "ml": 1, "l": 1_000, "mm": 1, "cm": 10, "m": 1_000}


@dataclass(frozen=True, slots=True)
class Food:
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


class LookAround(NamedTuple):
    """Content of a look around."""

    name: str
    place: Place
    foods: tuple[Food, ...]
    """Things on and in furniture, with what was done to them."""


@dataclass(frozen=True, slots=True)
class CookbookRecipe:
    """Content of the cookbook."""

    ingredients: tuple[str, ...]
    directions: tuple[tuple[str, str], ...]
    """Verb and food of each direction: `("slice", "red hot pepper")`."""


def refused(observation: str) -> bool:
    """True if the answer says that the command could not be done."""
    return observation.startswith(REFUSALS)


def food(text: str) -> Food:
    """A thing by its listed name: `a fried sliced carrot`."""
    text = _ARTICLE.sub("", text.strip(), count=1)
    states = []
    while (match := _STATE.match(text)) is not None:
        states.append(match[1])
        text = text[match.end() :]
    return Food(text, frozenset(states))


def things(text: str) -> tuple[Food, ...]:
    """A list of things: `a carrot, some salt, and a raw egg`."""
    return tuple(food(piece) for piece in re.split(r", (?:and )?", text.strip()) if piece.strip())


def room(observation: str) -> LookAround | None:
    """Read a look around; None of other texts."""
    match = _ROOM.search(observation[:LONGEST])
    if match is None:
        return None
    furniture: dict[str, Furniture] = {}
    loose: list[str] = []
    foods: list[Food] = []
    for piece in map(str.strip, _SIGHT.split(match[2])[1:]):
        seen = _THING.fullmatch(piece)
        if seen is None:
            loose += filter(None, [food(piece.rstrip(".")).name])
            continue
        name = next(filter(None, seen.group("closed", "bare", "loaded", "empty", "full")))
        foods += (held := things(seen["on"] or seen["inside"] or ""))
        opened = piece.lower().startswith("an open ") and not (seen["bare"] or seen["loaded"])
        content = None if seen["closed"] else tuple(each.name for each in held)
        furniture[name] = Furniture(not seen["closed"], content, lid=bool(seen["closed"]) or opened)
    exits: dict[str, str | None] = {}
    doors: dict[str, bool] = {}
    for way in _EXIT.finditer(observation[match.end() : LONGEST]):
        direction = way[1].lower()
        exits[direction] = way[3]
        if way[2] or way[0].startswith("Through"):
            doors[direction] = bool(way[2])
    return LookAround(match[1], Place(furniture, tuple(loose), exits, doors), tuple(foods))


def inventory(observation: str) -> tuple[tuple[Food, ...], int | None] | None:
    """Read the carried things and their limit from a listing; None of other texts."""
    match = _INVENTORY.match(observation)
    if match is None:
        return None
    lines = [line.strip() for line in observation[match.end() : LONGEST].splitlines() if line.strip()]
    carried = tuple(food(line) for line in lines if line != "Your inventory is currently empty.")
    return carried, int(match[1]) if match[1] else None


def capacity(observation: str) -> int | None:
    """Read from a refusal how many things can be carried."""
    match = _FULL.match(observation)
    return int(match[1]) if match else None


def recipe(observation: str) -> CookbookRecipe | None:
    """Read the cookbook; None of other texts."""
    _, named, rest = observation[:LONGEST].partition("Ingredients:\n")
    listed, told, directions = rest.partition("Directions:\n")
    if not named or not told:
        return None
    ingredients = tuple(line.strip() for line in listed.splitlines() if line.strip())
    return CookbookRecipe(ingredients, tuple((match[1], match[2].strip()) for match in _DIRECTION.finditer(directions)))


def chart(observation: str) -> dict[str, frozenset[str]] | None:
    """Read which rooms a map connects; None of other texts."""
    if not observation.startswith("The map reads:"):
        return None
    return {match[1]: frozenset(re.split(r", | and ", match[2])) for match in _MAP_LINE.finditer(observation[:LONGEST])}


def answer(observation: str) -> int | None:
    """The answer to a math problem; None of other texts, and where it has none that is whole."""
    match = _MATH.search(observation)
    if match is None:
        return None
    one, other = int(match[2]), int(match[3])
    match match[1]:
        case "add":
            return one + other
        case "subtract":
            return other - one
        case "multiply":
            return one * other
    return one // other if other and one % other == 0 else None


def quantity(name: str) -> int | None:
    """Quantity of a thing, in the smallest unit of its measure; None of a name without a number."""
    match = _QUANTITY.fullmatch(name)
    return int(match[1]) * _UNITS[match[2] or ""] if match else None


def orders(observation: str) -> tuple[str, ...]:
    """The commands that a text tells to give, in order."""
    if (match := _SIMON.match(observation)) is not None:
        return (match[1],)
    if (match := _SIMON_LIST.match(observation)) is not None:
        return tuple(piece.strip() for piece in match[1].split(",") if piece.strip())
    if (match := _INSTRUCTION.match(observation)) is not None:
        return (f"{match[1]} {match[2]}",)
    return ()


OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
DONE = {"slice": "sliced", "dice": "diced", "chop": "chopped", "fry": "fried", "roast": "roasted", "grill": "grilled"}
"""Verbs of the cookbook, and the name of food after each."""
CUTS = ("slice", "dice", "chop")
CONDITIONS = ("clean", "dirty", "wet", "rotten", "used")
"""Conditions of a thing by which it belongs elsewhere than others of its sort."""
