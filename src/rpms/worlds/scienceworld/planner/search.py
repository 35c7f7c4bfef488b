"""Search and focus: an animal, a plant, a living or a non-living thing, into a box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.animals import is_animal
from rpms.worlds.scienceworld.planner.text import Thing, View

PORTABLE: Final = re.compile(
    r"\b(?:cup|pot|jug|jar|wire|light bulb|battery|switch|thermometer|stopwatch|lighter|axe|shovel|fork|chair)$"
)
NOT_PORTABLE: Final = re.compile(r"flower pot|seed jar")
_PLANT: Final = re.compile(r"\b(?:tree|plant)\b")


def find_thing(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Find a thing of the kind asked for, focus on it, and carry it to its box."""
    kind, box, room = goal.target, goal.box, goal.box_room
    agent.purpose = f"I look for a {kind}"
    if kind == "non-living thing":
        yield from _carry_nonliving(agent, box, room)
    elif kind == "plant":
        yield from _carry_plant(agent, box, room)
    else:
        yield from _carry_animal(agent, box, room)


def _carry_animal(agent: Agent, box: str, room: str) -> Doing[None]:
    yield from agent.goto("outside")
    view = yield from agent.seen()
    animals = [thing.name for thing in view.things if is_animal(thing.name) and "dead" not in thing.name]
    if not animals:
        raise Failed("there are no animals here")
    name = animals[0]
    agent.purpose = f"The {name} is alive: I focus on it"
    yield from agent.do(f"focus on {name}")
    agent.purpose = f"Now the {name} goes to the {box} in the {room}"
    taken = yield from agent.take(name)
    yield from agent.goto(room)
    for attempt in (f"{taken} in inventory", f"{name} in inventory", taken):
        if (yield from agent.put(attempt, box)):
            return


def _carry_plant(agent: Agent, box: str, room: str) -> Doing[None]:
    for place in ("greenhouse", "outside"):
        yield from agent.goto(place)
        view = yield from agent.seen()
        for pot, plant in _plants(view):
            agent.purpose = f"The {plant.name} in {pot.name} is a plant: I focus on it"
            name = plant.name.split(" in the ")[0]
            yield from agent.do(f"focus on {name} in {pot.name}")
            agent.purpose = f"Now its pot goes to the {box} in the {room}"
            yield from agent.take(pot.name)
            yield from agent.goto(room)
            yield from agent.put(f"{pot.name} in inventory", box)
            return
    raise Failed("there is no plant")


def _plants(view: View) -> Iterator[tuple[Thing, Thing]]:
    for pot in view.things:
        for thing in pot.contents:
            if _PLANT.search(thing.name) and "dead" not in thing.name:
                yield pot, thing


def _carry_nonliving(agent: Agent, box: str, room: str) -> Doing[None]:
    candidates = (room, "kitchen", "workshop", "living room", "art studio")
    for place in dict.fromkeys(candidates):
        yield from agent.goto(place)
        view = yield from agent.seen()
        names = [thing.name for thing in view.walk() if PORTABLE.search(thing.name)]
        names = [name for name in names if names.count(name) == 1 and not NOT_PORTABLE.search(name)]
        for name in sorted(names, key=lambda portable: portable == "chair"):
            agent.purpose = f"The {name} is not alive: I focus on it"
            observation = yield from agent.do(f"focus on {name}")
            if not observation.startswith("You focus"):
                continue
            agent.purpose = f"Now the {name} goes to the {box} in the {room}"
            yield from agent.take(name)
            yield from agent.goto(room)
            yield from agent.put(f"{name} in inventory", box)
            return
    raise Failed("nothing to carry")
