"""Inclined planes: how fast a block slides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of
from rpms.worlds.scienceworld.scene import Scene

_BLOCK: Final = re.compile(r"\b(?:block|brick)$")
_FAR: Final = 60
"""Per cent of the plane after which a speed is known well enough."""
_LONG: Final = 30
"""Ticks after which a slow block's speed is known."""

_SURE: Final = 4
"""Ticks after which a block that is first seen at the bottom may long have been there."""


def _slides(goal: ScienceGoal, before: ScienceKnown, after: ScienceKnown, command: str) -> Iterator[tuple[str, str]]:
    """The ticks since a block was put on a plane, and its distance then; a command shows the state before its tick."""
    said = after.observation.casefold()
    for plane in goal.candidates:
        ticks = _noted(after, f"ticks on {plane}")
        if said.startswith("you move ") and f" to {plane.casefold()}" in command:
            yield f"ticks on {plane}", "1"
            yield f"speed on {plane}", "0"
        elif ticks and before.readings.get(plane) != "100" and any(seen.inside for seen in Scene(after).find(plane)):
            yield f"ticks on {plane}", f"{ticks + after.clock - before.clock:.0f}"
            seen = after.readings.get(plane, "")
            came_late = seen == "100" and ticks > _SURE
            if plane.casefold() in said and seen.isdecimal() and not came_late:
                yield f"speed on {plane}", f"{int(seen) / ticks:.3f}"


def _noted(belief: ScienceKnown, what: str) -> float:
    """The ticks until a block was seen at the bottom, or its last speed in per cent of the plane a tick; 0 if never."""
    return float(belief.readings.get(what, "0"))


def _timed(scene: Scene, plane: str) -> bool:
    """True if a block came far, or was seen to take long; it may not move at all."""
    slid = scene.belief.readings.get(plane, "")
    if slid.isdecimal() and int(slid) >= _FAR:
        return _noted(scene.belief, f"speed on {plane}") > 0
    return slid.isdecimal() and _noted(scene.belief, f"ticks on {plane}") >= _LONG


def chosen_plane(scene: Scene) -> str:
    """The plane asked for, once both were timed."""
    goal = goal_of(scene)
    speeds = {plane: _noted(scene.belief, f"speed on {plane}") for plane in goal.candidates}
    if not all(_timed(scene, plane) for plane in speeds) or len(set(speeds.values())) < len(speeds):
        return ""
    return (max if goal.criterion in ("least", "steepest") else min)(speeds, key=lambda plane: speeds[plane])


def _lost_sight(scene: Scene, plane: str) -> bool:
    on_it = any(_BLOCK.search(thing.name) for seen in scene.find(plane) for thing in seen.inside)
    return on_it and scene.belief.readings.get(plane) == "100" and not _timed(scene, plane)


def _is_creeping(scene: Scene, plane: str) -> bool:
    """True if there is time to wait: the block was just looked at, and had not come far."""
    return _noted(scene.belief, f"ticks on {plane}") > 2 and scene.belief.last_action == f"look at {plane}"


PLANES: Final = Recipe(
    predicates={"timed": _timed, "creeping": _is_creeping, "lost_sight": _lost_sight},
    words={"planes": lambda scene: goal_of(scene).candidates},
    roles={
        "plane": lambda scene: goal_of(scene).candidates,
        "block": lambda scene: scene.such(lambda seen: _BLOCK.search(seen.name))[:1],
    },
    tasks=("inclined",),
    notes=_slides,
)
