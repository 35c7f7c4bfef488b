"""Things that are never what a task asks to focus on: focusing on one ends the episode at -100."""

from __future__ import annotations

import re
from typing import Final

from rpms.core.goal import Goal
from rpms.worlds.scienceworld.affordances import FITTINGS
from rpms.worlds.scienceworld.tree import read_phrase

_FIXTURES: Final = FITTINGS - {"box", "cup", "door", "flower pot"} | {
    "bookshelf", "ceramic cup", "glass cup", "hallway", "hot plate", "kitchen", "painting", "picture", "plastic cup",
    "seed jar", "stopwatch", "tin cup", "ultra low temperature freezer", "wood bowl", "wood cup", "workshop",
}  # fmt: skip
"""Furniture, devices, tools, vessels and rooms."""
_ANYTHING_LIFELESS: Final = "find-non-living-thing"
"""The one task in which a chair will do."""


def is_decoy(goal: Goal, words: str) -> bool:
    """True if what a command names is furniture, a device or a vessel that the goal's text does not name."""
    if goal.object == _ANYTHING_LIFELESS:
        return False
    name = read_phrase(words).head
    return name in _FIXTURES and not re.search(rf"\b{name}s?\b", goal.text.casefold())
