"""Finding things, and putting them or the answer where they belong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rpms.worlds.scienceworld.affordances import is_fixed
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.recipes.animals import GREENS, life_span
from rpms.worlds.scienceworld.recipes.circuits import conducts
from rpms.worlds.scienceworld.recipes.garden import FLOWER_POT, heredity
from rpms.worlds.scienceworld.recipes.heat import flows, melting_side, reading_side
from rpms.worlds.scienceworld.recipes.planes import chosen_plane
from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of
from rpms.worlds.scienceworld.scene import Scene, Seen
from rpms.worlds.scienceworld.tree import alike, read_phrase

_PORTABLE: Final = re.compile(
    r"\b(?:cup|pot|jug|jar|wire|light bulb|battery|switch|thermometer|stopwatch|lighter|axe|shovel|fork|chair)$"
)


def _is_beast(seen: Seen) -> bool:
    loose = not seen.holders and "dead" not in seen.name and not seen.thing.restless
    return loose and (life_span(seen.name) is not None or seen.name in ("caterpillar", "tadpole"))


def _is_lifeless(seen: Seen) -> bool:
    return bool(_PORTABLE.search(seen.name)) and not FLOWER_POT.fullmatch(seen.name) and seen.name != "seed jar"


def _focus(_goal: object, _before: object, after: ScienceKnown, command: str) -> Iterator[tuple[str, str]]:
    """The words of a focus tell one of several plants; the answer calls each of them `plant`."""
    if after.observation.startswith("You focus on ") and command.startswith("focus on "):
        yield "focus", command.removeprefix("focus on ")


def _loads(scene: Scene) -> list[str]:
    """Thing for the box: the one focused on, in its flower pot or its vessel if it is in one."""
    goal = goal_of(scene)
    chosen = read_phrase(scene.belief.readings.get("focus", "") if goal.type == "F1" else goal.target)
    for name, seen in scene.by_name.items():
        near = not chosen.places or seen.holder in (chosen.places[0], "") or not FLOWER_POT.fullmatch(chosen.places[0])
        if near and (alike(seen.name, chosen.head) if goal.type == "F1" else name in scene.of_kind(goal.target)):
            poured = flows(seen.thing) and bool(seen.holders) and not is_fixed(seen.holder)
            if poured or FLOWER_POT.fullmatch(seen.holder):
                return [next((pot for pot, it in scene.by_name.items() if it.thing is seen.holders[0]), seen.holder)]
            return [name]
    return []


def _delivered(scene: Scene) -> bool:
    boxes = _boxes(scene)
    return any(holder.name in boxes for load in _loads(scene) for seen in scene.find(load) for holder in seen.holders)


def _boxes(scene: Scene) -> list[str]:
    """The box that is the answer, once that is known, or the plane."""
    goal = goal_of(scene)
    verdict = _VERDICTS.get(goal.task.partition("-")[0])
    if verdict is None:
        return [goal.box] if goal.box else []
    found = verdict(scene)
    return [found] if found in goal.candidates else [box for when, box in goal.branches if when == found]


_VERDICTS: Final[Mapping[str, Callable[[Scene], str]]] = {
    "use": reading_side,
    "measure": melting_side,
    "mendelian": heredity,
    "inclined": chosen_plane,
    "test": conducts,
}
"""First word of a task → which of its answers is right; empty while that is not known."""

BOXES: Final = Recipe(
    predicates={
        "delivered": _delivered,
        "concluded": lambda scene: any(name in _boxes(scene) for name in scene.belief.focused),
    },
    words={
        **dict.fromkeys(("animal", "living thing"), lambda scene: scene.such(_is_beast)),
        "plant": lambda scene: scene.such(
            lambda seen: seen.name.split(" ")[-1] in GREENS and seen.holders and "dead" not in seen.name
        ),
        "non-living thing": lambda scene: scene.such(lambda seen: _is_lifeless(seen) and seen.name in scene.by_name),
    },
    roles={"load": _loads, "box": lambda scene: [scene.called(box) for box in _boxes(scene)]},
    notes=_focus,
)
