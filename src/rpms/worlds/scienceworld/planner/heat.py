"""Getting a substance into a vessel, hot or cold, and watching it change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER
from rpms.worlds.scienceworld.planner.text import Thing

VESSEL: Final = "metal pot"
"""Stands the heat of the blast furnace; always in the kitchen's cupboard."""
_STATES: Final = re.compile(r"^(?:solid|liquid|gaseous) ")
_GENTLE: Final = (("stove", "kitchen"), ("oven", "kitchen"), ("blast furnace", "foundry"))
_FIERCE: Final = (("stove", "kitchen"), ("blast furnace", "foundry"), ("oven", "kitchen"))


def base_name(name: str) -> str:
    """A substance's name without its state: `solid chocolate` is `chocolate`."""
    return _STATES.sub("", name)


def is_substance(substance: str) -> Callable[[Thing], bool]:
    """Whether a thing is the substance, in whatever state."""
    wanted = base_name(substance).lower()
    return lambda thing: base_name(thing.name).lower() == wanted


def fetch_thermometer(agent: Agent) -> Doing[None]:
    """Find the thermometer and pick it up."""
    agent.purpose = "I need the thermometer"
    found = yield from agent.find(lambda thing: thing.name == "thermometer")
    if found is None:
        raise Failed("there is no thermometer")
    yield from agent.take("thermometer")


def fetch_vessel(agent: Agent) -> Doing[str]:
    """Find an empty vessel in the kitchen and pick it up; returns its name."""
    yield from agent.goto("kitchen")
    yield from agent.seen()
    agent.purpose = f"I need a vessel: the {VESSEL} should be in the cupboard"
    if "kitchen/cupboard" not in agent.opened:
        agent.opened.add("kitchen/cupboard")
        yield from agent.do("open cupboard")
    if (yield from agent.take(VESSEL)):
        return VESSEL
    view = yield from agent.look()
    for name in ("ceramic cup", "tin cup", "glass cup", "bowl"):
        if any(thing.name == name for thing in view.walk()) and (yield from agent.take(name)):
            return name
    raise Failed("there is no vessel")


def find_substance(agent: Agent, substance: str, rooms: tuple[str, ...] = SEARCH_ORDER) -> Doing[Thing]:
    """Search the rooms for a substance; the agent ends up beside it."""
    agent.purpose = f"I look for {substance}"
    found = yield from agent.find(is_substance(substance), rooms)
    if found is None:
        raise Failed(f"there is no {substance}")
    return found


def into_vessel(agent: Agent, thing: Thing, vessel: str) -> Doing[None]:
    """Get a substance out of where it is and into the vessel."""
    agent.purpose = f"The {thing.name} goes into the {vessel}"
    holder = agent.holder_of(thing.name)
    if (yield from agent.put(thing.name, vessel)):
        return
    if holder is not None:
        yield from agent.do(f"pour {holder.name} containing {thing.name} into {vessel}")


class Heater:
    """A place to heat something; falls back on the next one if it is broken."""

    def __init__(self, agent: Agent, vessel: str, *, gentle: bool = False) -> None:
        """Gentle heat melts food without setting it on fire, but does not melt metals."""
        self.agent, self.vessel = agent, vessel
        self.name = ""
        self._left = list(_GENTLE if gentle else _FIERCE)

    def start(self) -> Doing[bool]:
        """Put the vessel on the next heater that works and switch it on; False if there is none left."""
        agent = self.agent
        while self._left:
            self.name, room = self._left.pop(0)
            agent.purpose = f"I heat the {self.vessel} with the {self.name}"
            yield from agent.carry(self.vessel)
            yield from agent.goto(room)
            if self.name != "stove":
                yield from agent.do(f"open {self.name}")
            yield from agent.put(self.vessel, self.name)
            observation = yield from agent.do(f"activate {self.name}")
            if "activated" in observation and "broken" not in observation:
                return True
        return False
