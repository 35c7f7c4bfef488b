"""Inclined planes: how fast a block slides."""

from __future__ import annotations

import re
from typing import Final

from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of
from rpms.worlds.scienceworld.scene import Scene
from rpms.worlds.scienceworld.tallies import speed_on, ticks_on

_BLOCK: Final = re.compile(r"\b(?:block|brick)$")
_FAR: Final = 60
"""Per cent of the plane after which a speed is known well enough."""
_LONG: Final = 30
"""Ticks after which a slow block's speed is known."""


def _timed(scene: Scene, plane: str) -> bool:
    slid = scene.belief.readings.get(plane, "")
    far = slid.isdecimal() and int(slid) >= _FAR
    return speed_on(scene.belief, plane) > 0 and (far or ticks_on(scene.belief, plane) >= _LONG)


def chosen_plane(scene: Scene) -> str:
    """The plane asked for, once both were timed."""
    goal, speeds = goal_of(scene), {plane: speed_on(scene.belief, plane) for plane in goal_of(scene).candidates}
    if not all(_timed(scene, plane) for plane in speeds) or len(set(speeds.values())) < len(speeds):
        return ""
    return (max if goal.criterion in ("least", "steepest") else min)(speeds, key=lambda plane: speeds[plane])


def _lost_sight(scene: Scene, plane: str) -> bool:
    on_it = any(_BLOCK.search(thing.name) for seen in scene.find(plane) for thing in seen.inside)
    return on_it and scene.belief.readings.get(plane) == "100" and not _timed(scene, plane)


def _is_creeping(scene: Scene, plane: str) -> bool:
    """Whether there is time to wait: the block was just looked at, and had not come far."""
    return ticks_on(scene.belief, plane) > 2 and scene.belief.last_action == f"look at {plane}"


PLANES: Final = Recipe(
    predicates={"timed": _timed, "creeping": _is_creeping, "lost_sight": _lost_sight},
    words={"planes": lambda scene: goal_of(scene).candidates},
    roles={
        "plane": lambda scene: goal_of(scene).candidates,
        "block": lambda scene: scene.such(lambda seen: _BLOCK.search(seen.name))[:1],
    },
    tasks=("inclined",),
)
