"""Measure and observe: temperatures and melting points, and the box that the reading decides."""

from __future__ import annotations

from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.heat import (
    Heater,
    base_name,
    fetch_thermometer,
    fetch_vessel,
    find_substance,
    into_vessel,
    is_substance,
)
from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER


def use_thermometer(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Measure a thing's temperature beside the boxes and put it into the one that fits."""
    name, room, boxes, threshold, box_room = _read(goal)
    yield from fetch_thermometer(agent)
    yield from agent.do("focus on thermometer in inventory")
    thing = yield from find_substance(agent, name, (room, *SEARCH_ORDER))
    agent.purpose = f"This is the {name}: I take it along"
    taken = yield from agent.take(thing.name)
    taken = taken or thing.name
    yield from agent.do(f"focus on {taken} in inventory")
    yield from agent.measure(taken, "inventory")
    yield from agent.goto(box_room)
    reading = yield from agent.measure(taken, "inventory")
    if reading is None:
        raise Failed(f"the thermometer says nothing of {taken}")
    box = boxes["above" if reading > threshold else "below"]
    agent.purpose = f"{reading} degrees is {'above' if reading > threshold else 'below'} {threshold}: the {box}"
    yield from agent.put(f"{taken} in inventory", box)


def measure_melting_point(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Heat a solid until it melts, or learn that it is liquid already, and focus on the box that fits."""
    name, room, boxes, threshold, box_room = _read(goal)
    yield from fetch_thermometer(agent)
    yield from agent.do("focus on thermometer in inventory")
    vessel = yield from fetch_vessel(agent)
    thing = yield from find_substance(agent, name, (room, *SEARCH_ORDER))
    agent.purpose = f"This is the {name}"
    yield from agent.do(f"focus on {thing.name}")
    yield from into_vessel(agent, thing, vessel)
    melted = yield from _melts_below(agent, name, vessel, threshold)
    box = boxes["below" if melted else "above"]
    agent.purpose = f"The melting point is {'below' if melted else 'above'} {threshold}: the {box}"
    yield from agent.goto(box_room)
    yield from agent.do(f"focus on {box}")


def _melts_below(agent: Agent, name: str, vessel: str, threshold: float) -> Doing[bool]:
    """Whether the melting point is below the threshold: heat what is solid, cool what is liquid, until it shows."""
    agent.purpose = "Is it solid or liquid, and how warm?"
    liquid, reading = yield from _state(agent, name, vessel)
    if liquid:
        if reading < threshold:
            return True
        return (yield from _liquid_when_cold(agent, name, vessel, threshold))
    heater = Heater(agent, vessel)
    if not (yield from heater.start()):
        raise Failed("nothing heats")
    heated = 0
    last = reading
    while agent.left > 12:
        agent.purpose = "I watch it melt, with the thermometer at hand"
        liquid, reading = yield from _state(agent, name, vessel)
        heated += 1
        if liquid:
            return reading < threshold or last < threshold
        if reading > threshold and heated > 1:
            return False
        last = reading
    raise Failed("it does not get hot enough in time, and a guess could cost more than it may bring")


def _liquid_when_cold(agent: Agent, name: str, vessel: str, threshold: float) -> Doing[bool]:
    """Whether a liquid is still one when it is colder than the threshold."""
    for freezer, room in (("freezer", "kitchen"), ("ultra low temperature freezer", "workshop")):
        agent.purpose = f"I cool it in the {freezer}"
        yield from agent.carry(vessel)
        yield from agent.goto(room)
        yield from agent.do(f"open {freezer}")
        yield from agent.put(vessel, freezer)
        for _ in range(8):
            liquid, reading = yield from _state(agent, name, vessel)
            if liquid and reading < threshold:
                return True
            if not liquid:
                return reading < threshold
            yield from agent.wait(10)
    raise Failed("it does not get cold enough")


def _state(agent: Agent, name: str, vessel: str) -> Doing[tuple[bool, int]]:
    """Whether the substance is liquid now, and its temperature."""
    for _ in range(3):
        seen = yield from agent.examine(vessel)
        found = next((thing.name for thing in seen.walk() if is_substance(name)(thing)), base_name(name))
        reading = yield from agent.measure(found, vessel)
        if reading is not None:
            solid = found.startswith("solid") or (
                not found.startswith("liquid") and not _liquid_by_nature(name, reading)
            )
            return not solid, reading
    raise Failed("the thermometer says nothing")


def _liquid_by_nature(name: str, reading: float) -> bool:
    """Whether a substance whose name shows no state is liquid at this temperature, as far as is commonly known."""
    point = MELTING_POINTS.get(base_name(name).lower())
    return point is not None and reading > point


MELTING_POINTS: Final = {
    "ice": 0.0,
    "water": 0.0,
    "orange juice": -2.0,
    "apple juice": -2.0,
    "chocolate": 32.0,
    "marshmallow": 45.0,
    "mercury": -39.0,
    "gallium": 30.0,
    "caesium": 28.0,
    "tin": 232.0,
    "lead": 327.0,
}
"""Degrees celsius, roughly, of what the simulator does not call solid or liquid."""


def _read(goal: ScienceGoal) -> tuple[str, str, dict[str, str], float, str]:
    if goal.threshold is None:
        raise Failed("the task names no threshold")
    return goal.target, goal.place, {branch.when: branch.box for branch in goal.branches}, goal.threshold, goal.box_room
