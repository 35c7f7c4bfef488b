"""Things that are never what a task asks to focus on: focusing on one ends the episode at -100."""

from __future__ import annotations

import re
from typing import Final

from rpms.core.goal import Goal
from rpms.worlds.scienceworld.tree import read_phrase

_FIXTURES: Final = frozenset({
    "agent", "air", "axe", "bathtub", "bed", "bee hive", "blast furnace", "book shelf", "bookshelf", "bowl",
    "ceramic cup", "chair", "closet", "couch", "counter", "cupboard", "desk", "drain", "drawer", "fire pit",
    "fountain", "freezer", "fridge", "glass cup", "glass jar", "ground", "hallway", "hot plate", "inventory", "jug",
    "kitchen", "lighter", "mattress", "metal pot", "oven", "painting", "picture", "plastic cup", "seed jar", "shovel",
    "sink", "stopwatch", "stove", "table", "thermometer", "tin cup", "toilet", "ultra low temperature freezer",
    "wood bowl", "wood cup", "workshop",
})  # fmt: skip
"""Furniture, devices, tools, vessels and rooms."""
_ANYTHING_LIFELESS: Final = "find-non-living-thing"
"""The one task in which a chair will do."""


def is_decoy(goal: Goal, words: str) -> bool:
    """Whether what a command names is furniture, a device or a vessel that the goal's text does not name."""
    if goal.object == _ANYTHING_LIFELESS:
        return False
    name = read_phrase(words).head
    return name in _FIXTURES and not re.search(rf"\b{name}s?\b", goal.text.casefold())
