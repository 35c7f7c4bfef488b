"""What is known of furniture, devices, tools, vessels and papers by their names alone.

Only what neither grows nor turns into something else is listed; of all other things nothing is said here.
"""

from __future__ import annotations

import re
from typing import Final

_FIXED: Final = frozenset({
    "agent", "air", "bathtub", "blast furnace", "door", "drain", "freezer", "fridge", "inventory", "oven", "sink",
    "stove", "toilet",
})  # fmt: skip
"""What cannot be moved; all else can, chairs and tables too, but for liquids and gases."""
_LIDDED: Final = frozenset({
    "bee hive", "blast furnace", "closet", "cupboard", "drawer", "freezer", "fridge", "glass jar", "oven",
})  # fmt: skip
_SWITCHED: Final = frozenset({
    "bathtub", "blast furnace", "freezer", "fridge", "gas generator", "nuclear generator", "oven", "sink", "stopwatch",
    "stove", "switch", "toilet",
})  # fmt: skip
_TOOLS: Final = frozenset({"axe", "lighter", "shovel", "thermometer"})
_PAPERS: Final = frozenset({"book", "recipe"})
_FOOD: Final = frozenset({
    "apple", "banana", "bread", "chocolate", "jam", "marshmallow", "orange", "orange juice", "peanut", "potato",
})  # fmt: skip
_STUFF: Final = frozenset({"air", "ice", "soap", "sodium chloride", "soil", "steam", "water", "wood"})
"""Neither wares nor food: they come and go, but are good for none of the uses below."""
_VESSELS: Final = frozenset({"bowl", "cup", "jug", "metal pot"})
"""Portable, lidless, and empty until somebody fills them."""
_LIDLESS: Final = _VESSELS | {
    "bathtub", "bed", "book shelf", "box", "chair", "couch", "counter", "desk", "fire pit", "flower pot", "fountain",
    "ground", "mattress", "sink", "stove", "table", "toilet",
}  # fmt: skip
_SOLID: Final = _TOOLS | _PAPERS | {
    "battery", "drawing", "electric buzzer", "electric motor", "gas generator", "light bulb", "nuclear generator",
    "painting", "picture", "pillow", "solar panel", "steel block", "stopwatch", "switch", "wire", "wood block",
}  # fmt: skip
"""What nothing can be put into."""
_WARES: Final = _LIDDED | _LIDLESS | _SOLID
_ANIMAL: Final = re.compile(r"(?:hatchling|juvenile|adult|baby) .*|.* (?:egg|pupa)")
_TAIL: Final = re.compile(r" (?:\d+|\(.*\)|of .*)$")


def ware(name: str) -> str:
    """The kind of a thing by its last words; empty if it is none of those known here.

    >>> ware("ultra low temperature freezer"), ware("red light bulb"), ware("book (Beowulf)"), ware("apple tree")
    ('freezer', 'light bulb', 'book', '')
    """
    words = _TAIL.sub("", name.casefold())
    while words and words not in _WARES:
        words = words.partition(" ")[2]
    return words


_USES: Final = {
    "lid": _LIDDED,
    "switch": _SWITCHED,
    "tool": _TOOLS,
    "paper": _PAPERS,
    "food": _FOOD,
    "flushed": frozenset({"toilet"}),
}


def serves(use: str, name: str) -> bool | None:
    """Whether a thing has a lid or a switch, or is a tool, a paper, food, or flushed; None if unknown.

    >>> serves("food", "stove"), serves("food", "red apple"), serves("food", "apple tree")
    (False, None, None)
    """
    kind = ware(name) or name
    if kind in _WARES | _FOOD | _STUFF:
        return kind in _USES[use]
    return False if is_animal(name) or name.endswith(" paint") else None


_ALSO: Final = {"drawer": "wood table", "seed jar": "ceramic cup"}


def may_be_called(shown: str, kind: str) -> bool:
    """Whether a thing shown by a name that tells otherwise may go by a ware's: every book is a book."""
    return ware(shown) == kind in _PAPERS or ware(_ALSO.get(shown, "")) == kind


def is_animal(name: str) -> bool:
    """Whether a name is an animal's at some age: it lives on where it is, and grows. Bees do not stay."""
    return _ANIMAL.fullmatch(name) is not None and not name.endswith("bee")


def is_fixed(name: str) -> bool:
    """Whether it stays where it is."""
    return (ware(name) or name) in _FIXED


def takes_things(name: str) -> bool | None:
    """Whether things can be put into it as it is; None where a lid decides, or where nothing is known."""
    kind = ware(name) or name
    if kind in _SOLID | _FOOD | _STUFF or is_animal(name) or name.endswith(" paint"):
        return False
    return True if kind in _LIDLESS else None


def is_vessel(name: str) -> bool:
    """Whether it is empty until somebody fills it."""
    return ware(name) in _VESSELS
