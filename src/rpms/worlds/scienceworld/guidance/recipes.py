"""Which recipe serves which task, and what it needs now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rpms.worlds.scienceworld.guidance.animals import animal_stages, by_life_span, plant_stages, search_and_carry
from rpms.worlds.scienceworld.guidance.circuits import conductivity, power
from rpms.worlds.scienceworld.guidance.garden import cross, grow_fruit, grow_plant
from rpms.worlds.scienceworld.guidance.mixing import follow_recipe, mix_paint
from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.planes import compare
from rpms.worlds.scienceworld.guidance.scene import Scene
from rpms.worlds.scienceworld.guidance.substances import melting_point, transform, use_thermometer

_RECIPES: Final[Mapping[str, Callable[[Scene], Needs | None]]] = {
    "find-animal": search_and_carry,
    "find-living-thing": search_and_carry,
    "find-non-living-thing": search_and_carry,
    "find-plant": search_and_carry,
    "use-thermometer": use_thermometer,
    "measure-melting-point-known-substance": melting_point,
    "measure-melting-point-unknown-substance": melting_point,
    "boil": transform,
    "melt": transform,
    "freeze": transform,
    "change-the-state-of-matter-of": transform,
    "chemistry-mix": follow_recipe,
    "chemistry-mix-paint-secondary-color": mix_paint,
    "chemistry-mix-paint-tertiary-color": mix_paint,
    "grow-plant": grow_plant,
    "grow-fruit": grow_fruit,
    "identify-life-stages-1": animal_stages,
    "identify-life-stages-2": plant_stages,
    "inclined-plane-determine-angle": compare,
    "inclined-plane-friction-named-surfaces": compare,
    "inclined-plane-friction-unnamed-surfaces": compare,
    "lifespan-longest-lived": by_life_span,
    "lifespan-shortest-lived": by_life_span,
    "lifespan-longest-lived-then-shortest-lived": by_life_span,
    "mendelian-genetics-known-plant": cross,
    "mendelian-genetics-unknown-plant": cross,
    "power-component": power,
    "power-component-renewable-vs-nonrenewable-energy": power,
    "test-conductivity": conductivity,
    "test-conductivity-of-unknown-substances": conductivity,
}


def needs_of(scene: Scene) -> Needs:
    """What is needed now; of a goal that no template fits, nothing is known but to look."""
    recipe = _RECIPES.get(scene.goal.task)
    found = recipe(scene) if recipe else None
    return found or scene.act("nothing is left to do but to wait", "look around", "wait1")
