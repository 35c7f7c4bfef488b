"""Inclined planes: let a block slide down each, time it, and compare."""

from __future__ import annotations

import re
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed, named

_DOWN: Final = re.compile(r"approximately (\d+)% down")
BLOCK: Final = re.compile(r"\b(?:block|brick)$")
FAR_ENOUGH: Final = 60
"""Per cent of the plane after which a speed is known well enough."""
_LOOKS: Final = 4


def compare_planes(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Measure how fast the block slides on both planes, then focus on the one asked for."""
    planes = goal.candidates
    agent.purpose = "I need the planes, the block and the stopwatch"
    found = yield from agent.find(
        named(*planes), ("workshop", "living room", "bedroom", "art studio"), open_containers=False
    )
    if found is None:
        raise Failed("there are no planes")
    blocks = [thing.name for thing in agent.views[agent.room].walk() if BLOCK.search(thing.name)]
    if not blocks:
        raise Failed("there is nothing to let slide")
    yield from agent.take("stopwatch")
    speeds = []
    for plane in planes:
        agent.purpose = f"I time the block on the {plane}"
        speeds.append((yield from _speed(agent, blocks[0], plane)))
    if speeds[0] == speeds[1]:
        raise Failed("the block was as fast on both")
    fastest = goal.criterion in ("least", "steepest")
    chosen = planes[speeds.index(max(speeds) if fastest else min(speeds))]
    agent.purpose = f"The block was {'faster' if fastest else 'slower'} there: this plane has the {goal.target}"
    yield from agent.do(f"focus on {chosen}")


def _speed(agent: Agent, block: str, plane: str) -> Doing[float]:
    """Per cent of the plane in one tick."""
    yield from agent.put(block, plane)
    yield from agent.do("activate stopwatch in inventory")
    ticks, speed = 1, 0.0
    for look in range(_LOOKS):
        observation = yield from agent.do(f"look at {plane}")
        ticks += 1
        match = _DOWN.search(observation)
        if match is None and "bottom" in observation:
            speed = max(speed, 100.0 / ticks)
            break
        speed = int(match[1]) / ticks if match else 0.0
        if match and int(match[1]) >= FAR_ENOUGH:
            break
        if look >= 1 and speed * (ticks + 11) < 100:
            yield from agent.wait(10)
            ticks += 10
    yield from agent.do("deactivate stopwatch in inventory")
    yield from agent.do("look at stopwatch in inventory")
    return speed
