"""Properties of furniture, devices, tools, vessels and papers, known by their names alone.

Only what neither grows nor turns into something else is listed; of all other things nothing is said here. A name that
is in no list may be anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FIXED: Final = frozenset({
    "agent", "air", "bathtub", "blast furnace", "door", "drain", "freezer", "fridge", "inventory", "oven", "sink",
    "stove", "toilet",
})  # fmt: skip
"""Immovable things; all else can be moved, chairs and tables too, but for liquids and gases."""
_LIDDED: Final = frozenset({
    "bee hive", "blast furnace", "closet", "cupboard", "drawer", "freezer", "fridge", "glass jar", "oven",
})  # fmt: skip
_SWITCHED: Final = frozenset({
    "bathtub", "blast furnace", "freezer", "fridge", "gas generator", "nuclear generator", "oven", "sink", "stopwatch",
    "stove", "switch", "toilet",
})  # fmt: skip
_WIRED: Final = frozenset({
    "battery", "electric buzzer", "electric motor", "gas generator", "light bulb", "nuclear generator", "solar panel",
    "switch", "wind generator", "wire",
})  # fmt: skip
"""Components that are connected by their terminals, anode or cathode alone."""
_TOOLS: Final = frozenset({"axe", "lighter", "shovel", "thermometer"})
_BREAKABLE: Final = _SWITCHED | _WIRED | _TOOLS
"""Things that an axe has an effect on."""
_WITHOUT_HEAT: Final = frozenset({
    "agent", "animal", "apple", "banana", "battery", "blast furnace", "freezer", "fridge", "inventory", "light bulb",
    "orange", "oven", "potato", "stopwatch", "stove", "switch",
})  # fmt: skip
"""Things that can be neither measured by a thermometer nor heated by a lighter."""
_PAPERS: Final = frozenset({"book", "recipe"})
_FOOD: Final = frozenset({
    "apple", "banana", "bread", "chocolate", "jam", "marshmallow", "orange", "orange juice", "peanut", "potato",
})  # fmt: skip
_METALS: Final = frozenset({"caesium", "gallium", "gold", "lead", "mercury", "tin"})
_FLOWING: Final = frozenset({"air", "ice", "steam", "water"})
_STUFF: Final = _METALS | _FLOWING | {"soap", "sodium chloride", "soil", "wood"}
"""Neither wares nor food, and good for none of the uses below."""
_LIDLESS: Final = frozenset({
    "bathtub", "bed", "book shelf", "bowl", "box", "chair", "couch", "counter", "cup", "desk", "fire pit",
    "flower pot", "fountain", "ground", "jug", "mattress", "metal pot", "sink", "stove", "table", "toilet",
})  # fmt: skip
_SOLID: Final = _TOOLS | _PAPERS | _WIRED | {
    "brick", "drawing", "painting", "picture", "pillow", "steel block", "stopwatch", "wood block",
}  # fmt: skip
"""Things that nothing can be put into."""
FITTINGS: Final = _FIXED | _LIDDED | _LIDLESS | _TOOLS
"""Furniture, devices, vessels and tools."""
_WARES: Final = _LIDDED | _LIDLESS | _SOLID
_KNOWN: Final = _WARES | _FOOD | _STUFF | {"paint"}
_ANIMAL: Final = re.compile(
    r"(?:hatchling|juvenile|adult|baby|dead) (?!.* (?:tree|plant)$).*|.* (?:egg|pupa)|caterpillar|tadpole"
)
_MATTER: Final = re.compile(
    r"(?:.* )?(?:plant|tree|seed|flower|pollen)(?: in the .* stage.*)?"
    r"|(?:(?:solid|liquid|gaseous) )?unknown substance(?: [a-z])?"
)
"""Plants, their parts, and unknown substances: in the simulator no devices, no documents and nothing with a lid. Some
can be eaten."""
_TAIL: Final = re.compile(r" (?:\d+|\(.*\)|of .*)$")


def ware(name: str) -> str:
    """The kind of a thing by its last words; empty if it is none of those known here.

    >>> ware("ultra low temperature freezer"), ware("red light bulb"), ware("book (Beowulf)"), ware("apple tree")
    ('freezer', 'light bulb', 'book', '')
    """
    return _tail(name, _WARES)


@lru_cache(maxsize=16_384)
def _tail(name: str, kinds: frozenset[str]) -> str:
    words = _TAIL.sub("", name.casefold())
    while words and words not in kinds:
        words = words.partition(" ")[2]
    return words


def _kind(name: str) -> str:
    """A ware, food, stuff, `paint` or `animal`; empty if nothing is known of it."""
    return _tail(name, _KNOWN) or ("animal" if is_animal(name) else "")


_USES: Final = {
    "lid": _LIDDED,
    "switch": _SWITCHED,
    "paper": _PAPERS,
    "food": _FOOD,
    "flushed": frozenset({"toilet"}),
}


def serves(use: str, name: str) -> bool | None:
    """True if a thing has a lid or a switch, or is a paper, food, or flushed; None if unknown.

    >>> serves("food", "stove"), serves("food", "pea seed"), serves("lid", "pea seed"), serves("lid", "gizmo")
    (False, None, False, None)
    """
    kind = _kind(name)
    if kind:
        return kind in _USES[use]
    return False if use != "food" and _MATTER.fullmatch(name.casefold()) else None


def is_wired(name: str) -> bool:
    """True if it is connected by its terminals alone."""
    return ware(name) in _WIRED


def helps(tool: str, name: str) -> bool | None:
    """True if a tool has an effect on a thing; None if unknown.

    The simulator knows four tools, and its shovel digs in the ground alone.

    >>> helps("shovel", "ground"), helps("shovel", "soil"), helps("axe", "stove"), helps("axe", "tree")
    (True, False, True, None)
    >>> helps("stove", "ground"), helps("gizmo", "ground")
    (False, None)
    """
    kind = _kind(name)
    match ware(tool):
        case "shovel":
            return kind == "ground"
        case "axe":
            return kind in _BREAKABLE if kind else None
        case "thermometer" | "lighter":
            return False if (kind or name) in _WITHOUT_HEAT else None
        case _:
            return False if _kind(tool) else None


_ALSO: Final = {"drawer": "wood table", "seed jar": "ceramic cup"}


def may_be_called(shown: str, kind: str) -> bool:
    """True if a thing shown by a name that tells otherwise may go by a ware's: every book is a book."""
    return ware(shown) == kind in _PAPERS or ware(_ALSO.get(shown, "")) == kind


def is_animal(name: str) -> bool:
    """True if a name is an animal's at some age: it lives on where it is, and grows. Bees do not stay."""
    return _ANIMAL.fullmatch(name) is not None and not name.endswith("bee")


def is_fixed(name: str) -> bool:
    """True if it stays where it is."""
    return (ware(name) or name) in _FIXED


def takes_things(name: str) -> bool | None:
    """True if things can be put into it as it is; None where a lid decides, or where nothing is known."""
    kind = _kind(name)
    if kind in _LIDLESS:
        return True
    return None if kind in _LIDDED or not kind else False


def starts_closed(name: str) -> bool:
    """True if a thing has a lid that no listing shows: it is closed until it is opened."""
    return ware(name) in ("drawer", "glass jar")


def is_inert(name: str) -> bool:
    """True if a thing neither lives nor flows: by itself it comes into no room."""
    return _kind(name) in _KNOWN - _FLOWING


def is_food(name: str) -> bool:
    """True if it is food: it may grow on a plant, and be carried from the start."""
    return _kind(name) in _FOOD
