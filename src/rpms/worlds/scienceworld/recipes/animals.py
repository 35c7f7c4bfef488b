"""Animals and plants that grow by themselves: life spans and life stages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of
from rpms.worlds.scienceworld.scene import Scene, Seen

GREENS: Final = ("tree", "plant")
LIFE_SPANS: Final = {
    "giant tortoise": 150.0, "turtle": 80.0, "crocodile": 70.0, "elephant": 65.0, "parrot": 55.0, "brown bear": 30.0,
    "bear": 30.0, "beaver": 20.0, "wolf": 14.0, "toad": 11.0, "frog": 10.0, "rabbit": 9.0, "chipmunk": 8.0,
    "blue jay": 7.5, "hedgehog": 5.0, "dove": 5.0, "chameleon": 4.0, "mouse": 2.0, "ant": 1.0, "dragonfly": 0.5,
    "butterfly": 0.1, "moth": 0.1, "bee": 0.1,
}  # fmt: skip
"""Years in the wild, roughly: only the order matters."""


def life_span(name: str) -> float | None:
    """Years that the animal lives, from the name of any of its life stages; None if it is no known animal."""
    matches = [kind for kind in LIFE_SPANS if re.search(rf"\b{kind}\b(?! hive)", name)]
    return LIFE_SPANS[max(matches, key=len)] if matches else None


_STAGES: Final = ("egg", "baby", "hatchling", "tadpole", "caterpillar", "larva", "pupa", "juvenile", "adult")
_PLANT_STAGES: Final = ("seed", "seedling", "adult", "reproducing")
_YOUNG: Final = {"caterpillar": ("butterfly", "moth"), "tadpole": ("frog", "common toad", "toad")}
_ALSO_CALLED: Final = {"common toad": ("frog",), "moth": ("butterfly",)}
"""The simulator calls a toad a frog and a moth a butterfly."""


def _next_focus(scene: Scene) -> list[str]:
    """Next thing to focus on, where the order is by age or by life span; nothing while it is not seen."""
    goal = goal_of(scene)
    around = {name: seen for name, seen in scene.by_name.items() if seen.place == "outside"}
    if goal.task.startswith("lifespan"):
        return _by_life_span(scene, around)
    return _plant_stage(scene, around) if goal.task.endswith("2") else _animal_stage(scene, around)


def _by_life_span(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    order, done = goal_of(scene).criterion.split(", then "), len(scene.belief.focused)
    spans = {name: span for name, seen in around.items() if not seen.holders and (span := life_span(seen.name))}
    if not spans or done >= len(order):
        return []
    return [(max if order[done] == "longest" else min)(spans, key=lambda name: spans[name])]


def _animal_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    """The youngest of the kind that is older than those focused on; the first must be an egg or a baby."""
    kind, done = goal_of(scene).target, scene.belief.focused
    kinds = (kind, *_ALSO_CALLED.get(kind, ()), *(young for young, old in _YOUNG.items() if kind in old))
    latest = max((_age(name) for name in done), default=-1)
    alike = {name: seen.name for name, seen in around.items() if any(f" {each} " in f" {seen.name} " for each in kinds)}
    found = [(_age(shown), name) for name, shown in alike.items() if _age(shown) > latest]
    return [name for age, name in sorted(found)[:1] if done or age < 2]


def _age(name: str) -> int:
    """Its life stage; -1 of what is dead, or has none."""
    words = name.split()
    return next((age for age, stage in enumerate(_STAGES) if stage in words and "dead" not in words), -1)


def _plant_stage(scene: Scene, around: Mapping[str, Seen]) -> list[str]:
    kind, stage = goal_of(scene).target, _PLANT_STAGES[min(len(scene.belief.focused), len(_PLANT_STAGES) - 1)]
    names = (f"{kind} seed",) if stage == "seed" else (f"{kind} tree", f"{kind} plant")
    return [
        f"{seen.name} in {stage} stage in {seen.holder}"
        for seen in around.values()
        if seen.name in names and seen.holder and (stage == "seed" or f"in the {stage} stage" in seen.thing.flags)
    ][:1]


ANIMALS: Final = Recipe(roles={"next": _next_focus}, tasks=("identify", "lifespan"))
