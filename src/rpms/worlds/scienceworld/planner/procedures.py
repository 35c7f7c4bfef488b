"""Which procedure serves which task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing
from rpms.worlds.scienceworld.planner.animals import focus_by_life_span, focus_on_animal_stages, focus_on_plant_stages
from rpms.worlds.scienceworld.planner.circuits import conductivity, power_component
from rpms.worlds.scienceworld.planner.genetics import dominant_or_recessive
from rpms.worlds.scienceworld.planner.grow import grow
from rpms.worlds.scienceworld.planner.measure import measure_melting_point, use_thermometer
from rpms.worlds.scienceworld.planner.mix import follow_recipe
from rpms.worlds.scienceworld.planner.paint import mix_paint
from rpms.worlds.scienceworld.planner.planes import compare_planes
from rpms.worlds.scienceworld.planner.search import find_thing
from rpms.worlds.scienceworld.planner.transform import change_state

Procedure = Callable[[Agent, ScienceGoal], Doing[None]]

PROCEDURES: Final[dict[str, Procedure]] = {
    "find-animal": find_thing,
    "find-living-thing": find_thing,
    "find-non-living-thing": find_thing,
    "find-plant": find_thing,
    "use-thermometer": use_thermometer,
    "measure-melting-point-known-substance": measure_melting_point,
    "measure-melting-point-unknown-substance": measure_melting_point,
    "boil": change_state,
    "melt": change_state,
    "freeze": change_state,
    "change-the-state-of-matter-of": change_state,
    "chemistry-mix": follow_recipe,
    "chemistry-mix-paint-secondary-color": mix_paint,
    "chemistry-mix-paint-tertiary-color": mix_paint,
    "grow-plant": grow,
    "grow-fruit": grow,
    "identify-life-stages-1": focus_on_animal_stages,
    "identify-life-stages-2": focus_on_plant_stages,
    "inclined-plane-determine-angle": compare_planes,
    "inclined-plane-friction-named-surfaces": compare_planes,
    "inclined-plane-friction-unnamed-surfaces": compare_planes,
    "lifespan-longest-lived": focus_by_life_span,
    "lifespan-shortest-lived": focus_by_life_span,
    "lifespan-longest-lived-then-shortest-lived": focus_by_life_span,
    "mendelian-genetics-known-plant": dominant_or_recessive,
    "mendelian-genetics-unknown-plant": dominant_or_recessive,
    "power-component": power_component,
    "power-component-renewable-vs-nonrenewable-energy": power_component,
    "test-conductivity": conductivity,
    "test-conductivity-of-unknown-substances": conductivity,
}
"""By the simulator's name of the task."""
