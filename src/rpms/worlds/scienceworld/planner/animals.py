"""Life spans and life stages, as common knowledge has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed

LIFE_SPANS: Final = {
    "giant tortoise": 150.0,
    "turtle": 80.0,
    "crocodile": 70.0,
    "elephant": 65.0,
    "parrot": 55.0,
    "brown bear": 30.0,
    "bear": 30.0,
    "beaver": 20.0,
    "wolf": 14.0,
    "toad": 11.0,
    "frog": 10.0,
    "rabbit": 9.0,
    "chipmunk": 8.0,
    "blue jay": 7.5,
    "hedgehog": 5.0,
    "dove": 5.0,
    "chameleon": 4.0,
    "mouse": 2.0,
    "ant": 1.0,
    "dragonfly": 0.5,
    "butterfly": 0.1,
    "moth": 0.1,
    "bee": 0.1,
}
"""Years in the wild, roughly: only the order matters."""

_STAGE_WORDS: Final = (
    "egg",
    "baby",
    "hatchling",
    "tadpole",
    "caterpillar",
    "larva",
    "pupa",
    "juvenile",
    "adult",
    "dead",
)
_PLANT_STAGES: Final = ("seed", "seedling", "adult", "reproducing")
_LARVAE: Final = {"caterpillar": ("butterfly", "moth"), "tadpole": ("frog", "common toad", "toad")}

_ALSO_CALLED: Final = {"common toad": ("frog",), "moth": ("butterfly",)}
"""The simulator calls a toad a frog and a moth a butterfly."""
_FIRST: Final = ("egg", "baby")


def life_span(name: str) -> float | None:
    """Years that the animal lives, from the name of any of its life stages; None if it is no known animal."""
    matches = [kind for kind in LIFE_SPANS if re.search(rf"\b{kind}\b(?! hive)", name)]
    return LIFE_SPANS[max(matches, key=len)] if matches else None


def is_animal(name: str) -> bool:
    """Whether a name is that of an animal in any life stage."""
    words = set(name.split())
    return life_span(name) is not None or bool(words & {"caterpillar", "tadpole"})


def focus_by_life_span(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Find the animals outside and focus on the longest lived, the shortest lived, or both in that order."""
    agent.purpose = "The animals are outside; I go there and look at them"
    yield from agent.goto("outside")
    view = yield from agent.seen()
    spans = {thing.name: span for thing in view.things if (span := life_span(thing.name)) is not None}
    if not spans:
        raise Failed("there are no animals here")
    for longest in (True, False):
        if ("longest" if longest else "shortest") not in goal.criterion:
            continue
        pick = max if longest else min
        name = pick(spans, key=lambda animal: spans[animal])
        agent.purpose = f"Of these animals the {name} lives {'longest' if longest else 'shortest'}"
        yield from agent.do(f"focus on {name}")


def focus_on_animal_stages(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Focus on an animal in each of its life stages as it grows up."""
    animal = goal.target
    agent.purpose = f"The {animal} is outside; I focus on it in each life stage as it grows"
    yield from agent.goto("outside")
    done: list[str] = []
    while True:
        view = yield from agent.look()
        current = next_stage((thing.name for thing in view.things), animal, done)
        if current is not None:
            stage, name = current
            done.append(stage)
            observation = yield from agent.do(f"focus on {name}", lambda option: animal in option)
            if "No known action" in observation or "Unknown action" in observation:
                yield from agent.do(f"focus on {stage} {animal}")
            continue
        yield from agent.wait(1)


def next_stage(names: Iterable[str], animal: str, done: Sequence[str]) -> tuple[str, str] | None:
    """The youngest stage among names that comes after those in the names focused on, with the name to use."""
    latest = max(
        (_STAGE_WORDS.index(word) for name in done for word in _STAGE_WORDS if word in name.split()), default=-1
    )
    found: list[tuple[int, str]] = []
    for name in names:
        words = name.split()
        stage = next((word for word in _STAGE_WORDS if word in words), None)
        if stage is None or stage == "dead":
            continue
        mine = any(
            re.search(rf"\b{kind}\b", name) for kind in (animal, *_ALSO_CALLED.get(animal, ()))
        ) or animal in _LARVAE.get(name, ())
        if mine and _STAGE_WORDS.index(stage) > latest:
            found.append((_STAGE_WORDS.index(stage), name))
    if not found:
        return None
    place, name = min(found)
    if not done and _STAGE_WORDS[place] not in _FIRST:
        return None  # too late, or some other animal: a focus on it would be the end
    return _STAGE_WORDS[place], name


def focus_on_plant_stages(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Focus on plants in pots outside, from seed to reproducing."""
    plant = goal.target
    agent.purpose = f"The {plant} plants are outside; I focus on each life stage in its order"
    yield from agent.goto("outside")
    for stage in _PLANT_STAGES:
        while True:
            view = yield from agent.look()
            wanted = f"{plant} seed" if stage == "seed" else f"{plant} tree in the {stage} stage"
            pots = [
                pot for pot in view.things if "flower pot" in pot.name and any(wanted == t.name for t in pot.walk())
            ]
            if pots:
                name = f"{wanted} in the seed stage" if stage == "seed" else wanted
                yield from agent.do(f"focus on {name} in {pots[0].name}")
                break
            yield from agent.wait(1)
