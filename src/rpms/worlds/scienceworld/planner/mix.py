"""Chemistry: read the recipe, gather the ingredients in one vessel, mix, focus on the result."""

from __future__ import annotations

import re
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.heat import fetch_vessel
from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER
from rpms.worlds.scienceworld.planner.text import Thing
from rpms.worlds.scienceworld.planner.transform import fill_with_water

_RECIPE: Final = re.compile(r"need to mix ([^.]+)\.")


def follow_recipe(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Make the substance by its recipe."""
    product, room = goal.target, goal.place
    vessel = yield from fetch_vessel(agent)
    agent.purpose = f"The recipe for {product} should be in the {room}"
    found = yield from agent.find(
        lambda thing: thing.name.startswith("recipe"), (room, *SEARCH_ORDER), open_containers=False
    )
    if found is None:
        raise Failed("there is no recipe")
    yield from agent.take("recipe")
    observation = yield from agent.do("read recipe in inventory")
    names = ingredients(observation)
    if not names:
        raise Failed("the recipe cannot be read")
    wet = [name for name in names if name == "water"]
    for name in [name for name in names if name != "water"]:
        yield from _add(agent, name, vessel, room)
    for _ in wet:
        yield from fill_with_water(agent, vessel)
    agent.purpose = "All ingredients are together: I mix them"
    yield from agent.do(f"mix {vessel}")
    observation = yield from agent.do(f"focus on {product} in {vessel}")
    if not observation.startswith("You focus"):
        yield from agent.do(f"focus on {product}")


def ingredients(recipe: str) -> list[str]:
    """What a recipe says to mix; nothing if it cannot be read."""
    found = _RECIPE.search(recipe)
    return [name.strip() for name in re.split(r", and | and |, ", found[1]) if name.strip()] if found else []


def _add(agent: Agent, name: str, vessel: str, room: str) -> Doing[None]:
    """Find an ingredient, the nearest rooms first, and get it into the vessel, which is carried."""
    agent.purpose = f"I need {name}"
    rooms = tuple(dict.fromkeys((*(("art studio",) if "paint" in name else ()), agent.room, room, *SEARCH_ORDER)))
    found = yield from agent.find(lambda thing: _is(thing, name), rooms)
    if found is None:
        raise Failed(f"there is no {name}")
    holder = agent.holder_of(found.name)
    for known_as in dict.fromkeys((found.name, name)):
        if (yield from agent.put(known_as, vessel)):
            return
    if holder is not None:
        observation = yield from agent.do(f"open {holder.name}")
        if "now open" in observation and (yield from agent.put(found.name, vessel)):
            return
        yield from agent.do(f"pour {holder.name} containing {found.name} into {vessel}")


def _is(thing: Thing, name: str) -> bool:
    """Whether a thing is the ingredient: `jam` may be found as `red jam`."""
    return thing.name == name or thing.name.endswith(f" {name}")
