"""Growing plants in the greenhouse: soil, seeds, water, time, and bees.

A plant drinks one jug of water for each life stage, and a pot holds several: three jugs bring a seed to its flowers
while the agent waits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER
from rpms.worlds.scienceworld.planner.text import Thing

POT: Final = re.compile(r"^(?:self watering )?flower pot \d+$")
_GREENS: Final = re.compile(r"\b(?:tree|plant)\b")
_NO_FRUIT: Final = re.compile(r"\b(?:flower|pollen|bee|seed)\b")
FIRST_JUGS: Final = 3
FRUIT_PLANTS: Final = 3


class Garden:
    """The greenhouse and what is done there."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.running = False

    def pots(self) -> list[Thing]:
        """The flower pots as last seen."""
        view = self.agent.views.get("greenhouse")
        return [thing for thing in view.things if POT.match(thing.name)] if view else []

    def fill_with_soil(self, count: int) -> Doing[list[str]]:
        """Make sure that so many empty pots have soil; returns their names."""
        agent = self.agent
        free = [pot for pot in self.pots() if not any(_grows(thing) for thing in pot.contents)]
        ready = [pot.name for pot in free if any(thing.name == "soil" for thing in pot.contents)]
        bare = [pot.name for pot in free if pot.name not in ready][: max(0, count - len(ready))]
        if bare and any(thing.name == "soil" for thing in agent.views["greenhouse"].things):
            agent.purpose = "There is soil here"
            if (yield from agent.put("soil", bare[0])):
                ready.append(bare.pop(0))
        if bare:
            ready += yield from self._dig(bare)
        return ready[:count]

    def _dig(self, bare: list[str]) -> Doing[list[str]]:
        """Fetch soil from outside for some pots."""
        agent = self.agent
        agent.purpose = "The pots need soil: I dig some up outside"
        found = yield from agent.find(
            lambda thing: thing.name == "shovel", ("greenhouse", "outside", *SEARCH_ORDER), open_containers=False
        )
        if found is None:
            return []
        yield from agent.take("shovel")
        yield from agent.goto("outside")
        dug = 0
        for _ in bare:
            yield from agent.do("use shovel in inventory on ground")
            if (yield from agent.take("soil")):
                dug += 1
        yield from agent.goto("greenhouse")
        for pot in bare[:dug]:
            yield from agent.put("soil in inventory", pot)
        return bare[:dug]

    def water(self, pot: str, jugs: int = 1) -> Doing[None]:
        """Pour some jugs of water into a pot; the tap stays on."""
        agent = self.agent
        if not self.running:
            self.running = True
            yield from agent.do("activate sink")
        for _ in range(jugs):
            yield from agent.do("move jug to sink")
            yield from agent.do(f"pour jug into {pot}")

    def shut_in(self) -> Doing[None]:
        """Close the doors and let the bees out, so that they find no other flowers."""
        agent = self.agent
        agent.purpose = "The bees shall pollinate the flowers: doors shut, hive open"
        for room in ("outside", "hallway"):
            if agent.doors.get(frozenset(("greenhouse", room)), True):
                yield from agent.do(f"close door to {room}")
        yield from agent.do("open bee hive")

    def keep_watered(self, pots: list[str]) -> Doing[None]:
        """Water the pots that were seen dry, if what grows there is alive."""
        for pot in self.pots():
            growing = [thing for thing in pot.contents if _grows(thing)]
            dry = not any(thing.name == "water" for thing in pot.contents)
            if pot.name in pots and dry and any("dead" not in thing.name for thing in growing):
                yield from self.water(pot.name)

    def wait_until(self, reached: Callable[[], bool], pots: list[str], *, pace: int = 10) -> Doing[bool]:
        """Wait and water, looking now and then, until something is seen; False if time runs out."""
        while self.agent.left > 3:
            yield from self.agent.wait(pace)
            yield from self.agent.look()
            if reached():
                return True
            yield from self.keep_watered(pots)
        return False


def _grows(thing: Thing) -> bool:
    return bool(_GREENS.search(thing.name)) or thing.name.endswith(" seed")


def plant_in(pot: Thing) -> Thing | None:
    """The living plant in a pot."""
    return next((t for t in pot.contents if _GREENS.search(t.name) and "dead" not in t.name), None)


def fetch_seeds(agent: Agent, room: str) -> Doing[None]:
    """Find the seed jar and take it along."""
    agent.purpose = f"The seeds should be in the {room}"
    found = yield from agent.find(lambda thing: thing.name == "seed jar", (room, *SEARCH_ORDER), open_containers=False)
    if found is None:
        raise Failed("there are no seeds")
    yield from agent.take("seed jar")


def grow(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Grow a plant to its flowers, or several to their fruit."""
    plant, room = goal.target, goal.place
    fruit = goal.task == "grow-fruit"
    yield from fetch_seeds(agent, room)
    yield from agent.goto("greenhouse")
    garden = Garden(agent)
    yield from agent.seen()
    pots = yield from garden.fill_with_soil(FRUIT_PLANTS if fruit else 1)
    if not pots:
        raise Failed("there is no pot with soil")
    for pot in pots:
        agent.purpose = f"A {plant} seed goes into {pot}"
        yield from agent.put(f"{plant} seed in seed jar", pot)
        if not fruit:
            yield from agent.do(f"focus on {plant} seed in {pot}")
    for pot in pots:
        agent.purpose = f"{pot} needs water"
        yield from garden.water(pot, FIRST_JUGS)
    agent.purpose = "Now the plants need time and water"
    if not fruit:
        yield from garden.wait_until(lambda: False, pots, pace=4)
        return
    yield from garden.wait_until(lambda: _flowering(garden) >= min(2, len(pots)), pots)
    yield from garden.shut_in()
    agent.purpose = "I wait for fruit"
    yield from garden.wait_until(lambda: _fruit(garden), pots)
    if _fruit(garden):
        agent.purpose = f"There is a {plant} on a tree: I focus on it"
        for tree in (f"{plant} tree", f"{plant} plant"):
            observation = yield from agent.do(f"focus on {plant} in {tree}")
            if observation.startswith("You focus"):
                return


def _flowering(garden: Garden) -> int:
    plants = [plant_in(pot) for pot in garden.pots()]
    return sum(plant is not None and "reproducing" in plant.name for plant in plants)


def _fruit(garden: Garden) -> bool:
    """Whether a fruit is seen on a plant."""
    plants = [plant for pot in garden.pots() for plant in pot.contents if _GREENS.search(plant.name)]
    return any(not _NO_FRUIT.search(thing.name) for plant in plants for thing in plant.contents)
