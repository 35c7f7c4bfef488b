"""Inclined planes: let a block slide down each, compare how fast, focus on the one asked for."""

from __future__ import annotations

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, Seen, named
from rpms.worlds.scienceworld.planner.planes import BLOCK, FAR_ENOUGH
from rpms.worlds.scienceworld.tallies import speed_on, ticks_on

_ROOMS = ("workshop", "living room", "bedroom", "art studio")
_LONG_ENOUGH = 30
"""Ticks after which a slow block's speed is known."""


def compare(scene: Scene) -> Needs | None:
    """Time the block on both planes; the faster one is steeper, or has less friction."""
    goal, belief = scene.goal, scene.belief
    near = scene.near(named(*goal.candidates), "the inclined planes", _ROOMS)
    if near is not None:
        return near
    watch = scene.at_hand(named("stopwatch"))
    if watch is not None and not watch.carried:
        return scene.pick_up(named("stopwatch"), "stopwatch")
    for plane in goal.candidates:
        if not _timed(scene, plane):
            return _slide(scene, plane, watch)
    fast = goal.criterion in ("least", "steepest")
    pick = max if fast else min
    chosen = pick(goal.candidates, key=lambda plane: speed_on(belief, plane))
    if len({speed_on(belief, plane) for plane in goal.candidates}) == 1:
        return scene.act("the block was as fast on both, which decides nothing", "look around", "wait1")
    return scene.act(f"the block was {'faster' if fast else 'slower'} there", f"focus on {chosen}")


def _timed(scene: Scene, plane: str) -> bool:
    slid = scene.belief.readings.get(plane, "")
    far = slid.isdecimal() and int(slid) >= FAR_ENOUGH
    return speed_on(scene.belief, plane) > 0 and (far or ticks_on(scene.belief, plane) >= _LONG_ENOUGH)


def _slide(scene: Scene, plane: str, watch: Seen | None) -> Needs:
    block = scene.at_hand(lambda seen: bool(BLOCK.search(seen.name)))
    if block is None:
        return scene.act("there is no block here", "look around")
    on = watch is not None and "on" in watch.thing.flags
    if plane not in block.above:
        ways = (f"move {scene.call(block)} to {plane}",)
        if on:
            return scene.act("stop the watch and read it", "deactivate stopwatch", *ways)
        return scene.act(f"time the block on the {plane}", *ways)
    if scene.belief.readings.get(plane) == "100":
        return scene.act("the block came down unseen: time it again", f"pick up {scene.call(block)}")
    if watch is not None and not on:
        return scene.act("start the stopwatch", "activate stopwatch", f"look at {plane}")
    slow = ticks_on(scene.belief, plane) > 2 and scene.last == f"look at {plane}"
    order = ("wait", f"look at {plane}") if slow else (f"look at {plane}", "wait1")
    return scene.act(f"watch the block on the {plane}", *order)
