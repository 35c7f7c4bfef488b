"""Vessels, and what is put together in them."""

from __future__ import annotations

import re
from typing import Final

from rpms.worlds.scienceworld.observations import Thing, substance_of
from rpms.worlds.scienceworld.recipes.recipe import Names, Recipe, goal_of, named
from rpms.worlds.scienceworld.scene import Scene, Seen

_POTS: Final = ("metal pot", "ceramic cup", "tin cup", "glass cup", "bowl", "jug")
_PAINT_POTS: Final = ("jug", "bowl", "glass cup", "metal pot", "ceramic cup")
SECONDARY: Final = {
    "orange": ("red", "yellow"),
    "green": ("blue", "yellow"),
    "violet": ("red", "blue"),
    "purple": ("red", "blue"),
}
_RECIPE: Final = re.compile(r"need to mix ([^.]+)\.")


def ingredients(recipe: str) -> list[str]:
    """Ingredients of a recipe; nothing if it cannot be read."""
    found = _RECIPE.search(recipe)
    return [name.strip() for name in re.split(r", and | and |, ", found[1]) if name.strip()] if found else []


def _halves(scene: Scene) -> list[str]:
    """The secondary colour to mix first, and the primary one to add for a tertiary one, as paints."""
    parts = goal_of(scene).target.removesuffix(" paint").split("-")
    return [f"{part} paint" for part in sorted(parts, key=lambda part: part not in SECONDARY)]


def _wanted_inside(scene: Scene) -> list[str]:
    """Substances that the vessel is to hold."""
    goal = goal_of(scene)
    if goal.task == "chemistry-mix":
        return [*ingredients(scene.belief.readings.get("recipe", "")), goal.target]
    if goal.place == "art studio":
        halves = _halves(scene)
        return [*(halves if scene.of_kind(halves[0]) else _primaries(scene)), goal.target]
    return [goal.target]


def _vessels(scene: Scene) -> list[str]:
    """The vessel to use: what holds something of it already, else one that is carried, else an empty one."""
    goal, wanted = goal_of(scene), _wanted_inside(scene)
    paint = goal.place == "art studio"
    kinds = _PAINT_POTS if paint else _POTS

    def of_use(seen: Seen) -> int:
        return sum(any(_fits(inner.name, word) for word in wanted) for inner in seen.inside)

    def worth(name: str) -> tuple[int, bool, bool, int]:
        seen = scene.by_name[name]
        return of_use(seen), seen.carried, not seen.inside, -kinds.index(seen.name)

    def serves(seen: Seen) -> bool:
        near = bool(seen.inside) or seen.carried or seen.place == goal.place
        return seen.name in kinds and of_use(seen) == len(seen.inside) and near

    pots = scene.such(serves if paint else lambda seen: seen.name == kinds[0])
    if not pots and not paint and "kitchen" in scene.belief.looked and not scene.hiding("kitchen"):
        pots = scene.such(lambda seen: seen.name in kinds and not seen.inside)
    return [max(pots, key=worth)] if pots else [f"{kinds[0]} ?"]


def _fits(shown: str, word: str) -> bool:
    """True if a thing is an ingredient: `jam` may be found as `red jam`."""
    name = substance_of(shown).casefold()
    return name == substance_of(word).casefold() or name.endswith(f" {word.casefold()}")


def vessel_in(scene: Scene) -> Thing | None:
    """The vessel itself; None while none was seen."""
    return next((seen.thing for seen in map(scene.first, scene.mean("vessel", _vessels)) if seen), None)


def to_use(scene: Scene, word: str, names: list[str]) -> list[str]:
    """Of things, what is in the vessel already, or else the nearest; of all the water in the house, nothing else."""
    vessel = vessel_in(scene)
    inside = [name for name in names if vessel in scene.by_name[name].holders]
    return (inside or ([] if word == "water" else names))[:1]


def _ingredients(words: Names) -> Names:
    """Things to put together, water last."""

    def thing(scene: Scene, word: str) -> str:
        return next(iter(to_use(scene, word, scene.such(lambda seen: _fits(seen.name, word)))), f"{word} ?")

    return lambda scene: [thing(scene, word) for word in sorted(words(scene), key=lambda word: word == "water")]


def _made(scene: Scene, word: str, vessel: str) -> bool:
    return any(_fits(inner.name, word.removesuffix(" ?")) for pot in scene.find(vessel) for inner in pot.inside)


def _primaries(scene: Scene) -> list[str]:
    """The paints that make the secondary colour."""
    return [f"{colour} paint" for colour in SECONDARY.get(_halves(scene)[0].removesuffix(" paint"), ())]


MIXING: Final = Recipe(
    predicates={"made": _made},
    words={
        "vessel": _vessels,
        "ingredients": _ingredients(lambda scene: ingredients(scene.belief.readings.get("recipe", ""))),
        "primary colours": _ingredients(_primaries),
        "last colours": _ingredients(_halves),
    },
    roles={
        "vessel": lambda scene: scene.mean("vessel", _vessels),
        "tap": lambda scene: [tap for tap in named("sink", "bathtub")(scene) if not scene.is_broken(tap)] or ["sink ?"],
    },
)
