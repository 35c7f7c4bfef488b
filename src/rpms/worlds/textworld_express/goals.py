"""The eight tasks, read from their descriptions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from rpms.core.goal import UNKNOWN_GOAL, Goal


@dataclass(frozen=True)
class ExpressGoal(Goal):
    """A goal, and where its text says that things are."""

    found: tuple[tuple[str, str], ...] = field(default=())
    """Things and their rooms."""
    given: tuple[str, ...] = field(default=())
    """Things carried from the start."""


_TEMPLATES: Final = (
    ("cookingworld", "meal", "", re.compile(r"You are hungry! Let's cook a delicious meal\.[^\n]{0,200}")),
    (
        "twc",
        "things",
        "",
        re.compile(r"Your task is to pick up objects, then place them in their usual locations[^\n]{0,200}"),
    ),
    ("coin", "coin", "", re.compile(r"Your task is to search the environment and find the coin\.[^\n]{0,200}")),
    ("arithmetic", "answer", "box", re.compile(r"Your first task is to solve the math problem\.[^\n]{0,200}")),
    ("sorting", "quantities", "box", re.compile(r"Your task is to sort objects by quantity\.[^\n]{0,300}")),
    ("simonsays", "order", "", re.compile(r"Your task is to do exactly what Simon says\.")),
    ("peckingorder", "order", "", re.compile(r"Your task is to read and follow the instructions book[^\n]{0,200}")),
)
"""Game, object, destination, and how its description begins."""
_MAP: Final = re.compile(
    r"Your task is to take the (\w[\w ]{0,60}) that is located in the (\w[\w ]{0,60}), and put it into the (\w+) "
    r"found in the (\w[\w ]{0,60})\.[^\n]{0,200}"
)


def parse_goal(opening: str) -> Goal:
    """Read the goal out of the first text; type `unknown` where it is none of the eight."""
    for game, thing, destination, pattern in _TEMPLATES:
        if (match := pattern.match(opening)) is not None:
            return ExpressGoal(game, thing, destination=destination, text=match[0].strip())
    if (match := _MAP.match(opening)) is not None:
        found = ((match[1], match[2]), (match[3], match[4]))
        given = ("map",) if "A map is provided" in match[0] else ()
        text = match[0].strip()
        return ExpressGoal("mapreader", match[1], destination=match[3], text=text, found=found, given=given)
    return Goal(UNKNOWN_GOAL, text=opening)
