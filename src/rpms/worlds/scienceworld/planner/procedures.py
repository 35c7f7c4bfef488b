"""Which procedure serves which task."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rpms.worlds.scienceworld.planner.agent import Agent, Doing
from rpms.worlds.scienceworld.planner.animals import focus_by_life_span, focus_on_animal_stages, focus_on_plant_stages
from rpms.worlds.scienceworld.planner.genetics import dominant_or_recessive
from rpms.worlds.scienceworld.planner.grow import grow
from rpms.worlds.scienceworld.planner.measure import measure_melting_point, use_thermometer
from rpms.worlds.scienceworld.planner.mix import follow_recipe
from rpms.worlds.scienceworld.planner.paint import mix_paint
from rpms.worlds.scienceworld.planner.planes import compare_planes
from rpms.worlds.scienceworld.planner.search import find_thing
from rpms.worlds.scienceworld.planner.transform import change_state

Procedure = Callable[[Agent, str], Doing[None]]

_BY_TEXT: Final[tuple[tuple[re.Pattern[str], Procedure], ...]] = tuple(
    (re.compile(pattern), procedure)
    for pattern, procedure in (
        (r"find a\(n\)", find_thing),
        (r"life span", focus_by_life_span),
        (r"life stages of the [\w ]+ plant", focus_on_plant_stages),
        (r"life stages of", focus_on_animal_stages),
        (r"inclined planes", compare_planes),
        (r"create [\w-]+ paint", mix_paint),
        (r"dominant or recessive", dominant_or_recessive),
        (r"to grow a ", grow),
        (r"create the substance", follow_recipe),
        (r"to (?:boil|melt|freeze|change the state of matter of) ", change_state),
        (r"measure the temperature", use_thermometer),
        (r"measure the melting point", measure_melting_point),
    )
)


def procedure_for(task: str, agent: Agent) -> Doing[None]:
    """The procedure that the task's words call for."""
    for pattern, procedure in _BY_TEXT:
        if pattern.search(task):
            return procedure(agent, task)
    raise ValueError(f"no procedure for {task!r}")
