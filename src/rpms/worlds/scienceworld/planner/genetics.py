"""Mendelian genetics: cross two plants that differ, and see which form of the trait their offspring has.

The two seeds in the jar are pure bred for opposite forms, so that all their offspring show the dominant one. Traits of
the seed show on the parents' own seeds; those of the plant only when such a seed has grown up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.grow import FIRST_JUGS, Garden, fetch_seeds, plant_in
from rpms.worlds.scienceworld.planner.text import Thing

OFFSPRING: Final = 3
ENOUGH: Final = 2
"""So many that agree are taken for all."""


def dominant_or_recessive(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Cross the plants, read the trait off the offspring, and focus on the box."""
    form, trait, plant = goal.criterion, goal.trait, goal.target.removesuffix(" plant")
    garden = Garden(agent)
    yield from fetch_seeds(agent, "greenhouse")
    yield from agent.goto("greenhouse")
    yield from agent.seen()
    parents = yield from garden.fill_with_soil(2)
    if len(parents) < 2:
        raise Failed("two pots with soil are needed")
    yield from _plant(agent, garden, parents, f"{plant} seed in seed jar", "the parents' seeds")
    yield from garden.wait_until(lambda: _count(garden, parents, "reproducing") == len(parents), parents)
    yield from garden.shut_in()
    agent.purpose = "I wait for the bees, and for seeds on the plants"
    wanted = 2 if trait.startswith("seed") else OFFSPRING
    yield from garden.wait_until(lambda: len(_seeds(garden, parents)) >= wanted, parents)
    if trait.startswith("seed"):
        seen = [seed.name for seed in _seeds(garden, parents)]
    else:
        seen = yield from _raise_offspring(agent, garden, plant, goal)
    shown = Counter(form in name.split() for name in seen)
    if not shown or shown[True] == shown[False]:
        raise Failed("the offspring does not tell")
    wins = shown[True] > shown[False]
    agent.purpose = (
        f"The offspring is {'' if wins else 'not '}{form}: the trait is {'dominant' if wins else 'recessive'}"
    )
    branch = goal.branch("dominant" if wins else "recessive")
    if branch is not None:
        yield from agent.do(f"focus on {branch.box}")


def _plant(agent: Agent, garden: Garden, pots: list[str], seed: str, what: str) -> Doing[None]:
    for pot in pots:
        agent.purpose = f"I plant {what}"
        yield from agent.put(seed, pot)
    for pot in pots:
        agent.purpose = f"{pot} needs water"
        yield from garden.water(pot, FIRST_JUGS)
    agent.purpose = "Now the plants need time and water"


def _raise_offspring(agent: Agent, garden: Garden, plant: str, goal: ScienceGoal) -> Doing[list[str]]:
    """Plant seeds of the cross and return the descriptions of what grows from them."""
    pots = yield from garden.fill_with_soil(OFFSPRING)
    yield from _plant(agent, garden, pots, f"{plant} seed in {plant} plant", "their offspring")
    shown: dict[str, str] = {}

    def enough() -> bool:
        """Flowers come and go, so what was once seen is kept; two that agree are enough."""
        shown.update(_described(garden, pots, goal.trait))
        forms = {goal.criterion in name.split() for name in shown.values()}
        return len(shown) >= len(pots) or (len(shown) >= ENOUGH and len(forms) == 1)

    yield from garden.wait_until(enough, pots)
    return list(shown.values())


def _described(garden: Garden, pots: list[str], trait: str) -> Iterator[tuple[str, str]]:
    """What is seen of the trait, by pot: plants once adult, or their flowers."""
    for pot in garden.pots():
        plant = plant_in(pot)
        if pot.name not in pots or plant is None:
            continue
        if trait.startswith("flower"):
            yield from ((pot.name, thing.name) for thing in plant.contents if "flower" in thing.name.split())
        elif " with " in plant.name:
            yield pot.name, plant.name


def _seeds(garden: Garden, pots: list[str]) -> list[Thing]:
    plants = [plant for pot in garden.pots() if pot.name in pots for plant in pot.contents if "plant" in plant.name]
    return [thing for plant in plants for thing in plant.contents if thing.name.endswith(" seed")]


def _count(garden: Garden, pots: list[str], stage: str) -> int:
    plants = [plant_in(pot) for pot in garden.pots() if pot.name in pots]
    return sum(plant is not None and stage in plant.name for plant in plants)
