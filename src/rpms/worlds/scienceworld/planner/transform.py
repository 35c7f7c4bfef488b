"""Transform and verify: boil, melt, freeze, or any change of the state of matter."""

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
)
from rpms.worlds.scienceworld.planner.text import Thing

_WATERS: Final = {"water": "liquid", "ice": "solid", "steam": "gas"}
LIQUIDS: Final = ("water", "juice", "mercury", "milk", "oil", "vinegar")
_FREEZERS: Final = (("freezer", "kitchen"), ("ultra low temperature freezer", "workshop"))
_PLATEAU: Final = 15
"""Degrees: a heater that warms by less than this in a dozen ticks is near its end."""
_OVEN_LOOKS: Final = 30
"""Ticks after which an oven has done what it can."""


def change_state(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Bring a substance into the state asked for, by way of the state before it."""
    verb, substance = goal.task, goal.target
    yield from fetch_thermometer(agent)
    vessel = yield from fetch_vessel(agent)
    yield from fill(agent, substance, vessel)
    state = yield from _state(agent, substance, vessel)
    if verb == "freeze":
        targets = ["solid"] if state == "liquid" else ["liquid", "solid"]
    elif verb == "melt":
        targets = ["liquid"] if state == "solid" else ["solid", "liquid"]
    elif verb == "boil":
        targets = ["gas"] if state == "liquid" else ["liquid", "gas"]
    else:
        targets = ["solid"] if state == "liquid" else ["liquid"]
    for target in targets:
        if target == "solid":
            yield from _cool(agent, substance, vessel)
        else:
            yield from _heat(agent, substance, vessel, target, gentle="gas" not in targets)


def fill(agent: Agent, substance: str, vessel: str) -> Doing[None]:
    """Get the substance into the vessel, with the focus on it."""
    if substance == "water":
        yield from fill_with_water(agent, vessel)
        yield from agent.do(f"focus on water in {vessel}")
        return
    thing = yield from find_substance(agent, substance)
    agent.purpose = f"This is the {substance}: I focus on it"
    yield from agent.do(f"focus on {thing.name}")
    yield from into_vessel(agent, thing, vessel)


def fill_with_water(agent: Agent, vessel: str) -> Doing[None]:
    """Fill a vessel that is carried at the nearest tap that works."""
    taps = [("sink", "kitchen"), ("sink", "bathroom"), ("bathtub", "bathroom"), ("sink", "greenhouse")]
    if agent.room in ("greenhouse", "outside", "hallway", "workshop"):
        taps.insert(0, taps.pop())
    for tap, room in taps:
        agent.purpose = f"Water comes from the {tap} in the {room}"
        yield from agent.goto(room)
        yield from agent.put(vessel, tap)
        observation = yield from agent.do(f"activate {tap}")
        works = "now activated" in observation
        if works:
            yield from agent.do(f"deactivate {tap}")
        yield from agent.carry(vessel)
        if works:
            return
    raise Failed("no tap works")


def state_of(thing: Thing) -> str:
    """The state of matter that a name tells: `solid orange juice`, `ice`, `chocolate`."""
    if thing.name in _WATERS:
        return _WATERS[thing.name]
    first = thing.name.split()[0]
    if first in ("solid", "liquid"):
        return first
    if first == "gaseous":
        return "gas"
    return "liquid" if thing.name.endswith(LIQUIDS) else "solid"


def _state(agent: Agent, substance: str, vessel: str) -> Doing[str]:
    seen = yield from agent.examine(vessel)
    found = _inside(seen, substance)
    return state_of(found) if found else ""


def _inside(vessel: Thing, substance: str) -> Thing | None:
    wanted = set(_WATERS) if substance in _WATERS else {base_name(substance)}
    return next((thing for thing in vessel.contents if base_name(thing.name) in wanted), None)


def _heat(agent: Agent, substance: str, vessel: str, target: str, *, gentle: bool) -> Doing[None]:
    """Heat until the substance is in the target state; a gas wins the game, so the loop need not know it."""
    heater = Heater(agent, vessel, gentle=gentle)
    if not (yield from heater.start()):
        raise Failed("nothing heats")
    readings: list[int] = []
    looks = 0
    while agent.left > 0:
        agent.purpose = f"I heat the {substance} until it is {target}"
        seen = yield from agent.examine(vessel)
        found = _inside(seen, substance)
        if found is not None and state_of(found) == target:
            return
        if heater.name != "stove":  # the others heat fast enough to set it on fire while a thermometer is read
            looks += 1
            if heater.name == "oven" and looks > _OVEN_LOOKS:
                yield from heater.start()
            continue
        reading = yield from agent.measure(found.name if found else substance, vessel)
        if reading is not None:
            readings.append(reading)
        if len(readings) > 2 and readings[-1] - readings[-2] < _PLATEAU:
            readings.clear()
            yield from heater.start()
        else:
            yield from agent.wait(10)


def _cool(agent: Agent, substance: str, vessel: str) -> Doing[None]:
    """Cool until the substance is solid."""
    for freezer, room in _FREEZERS:
        agent.purpose = f"I cool the {substance} in the {freezer}"
        yield from agent.carry(vessel)
        yield from agent.goto(room)
        yield from agent.do(f"open {freezer}")
        yield from agent.put(vessel, freezer)
        for _ in range(9):
            state = yield from _state(agent, substance, vessel)
            if state == "solid":
                return
            yield from agent.wait(10)
