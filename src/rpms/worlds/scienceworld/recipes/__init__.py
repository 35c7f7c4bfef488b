"""Predicates of ScienceWorld's procedures over a belief: the only module that knows its tasks beyond the manual.

A predicate is a function of the scene and its arguments. A word is a goal's or a procedure's term for things; a role is
the kind of thing that a command's parameter takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from rpms.worlds.scienceworld.commands import meant
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.recipes.biology import ANIMALS, GARDEN
from rpms.worlds.scienceworld.recipes.household import BOXES, EVERYDAY, MIXING, to_use
from rpms.worlds.scienceworld.recipes.physics import CIRCUITS, HEAT, PLANES, treated
from rpms.worlds.scienceworld.scene import Ask, Names, Scene
from rpms.worlds.scienceworld.tasks import ScienceGoal

_ALL: Final = (EVERYDAY, BOXES, HEAT, MIXING, ANIMALS, GARDEN, PLANES, CIRCUITS)
RECIPES: Final[Mapping[str, Ask]] = {name: ask for recipe in _ALL for name, ask in recipe.predicates.items()}
"""Predicate → who answers."""
SomeBelief = TypeVar("SomeBelief", bound=Scene)
_WORDS: Final[Mapping[str, Names]] = {word: names for recipe in _ALL for word, names in recipe.words.items()}

_TICKS: Final = {"wait": 11, "wait1": 2, "inventory": 0, "look around": 0, "task": 0}
"""Ticks of the simulator's clock; every other command that it understands takes one."""
_NOT_UNDERSTOOD: Final = ("No known action", "Unknown action", "Ambiguous request", "It's not clear how")
_PLACES: Final = re.compile(r" \(in ([^,()]{1,80})[^()]{0,200}\)")
"""Prepositions of a thing's place in the simulator's options, the nearest first."""


def called(scene: Scene, word: str) -> Sequence[str]:
    """Things that a goal or a procedure may mean by a word."""
    return scene.mean(word, _WORDS.get(word, lambda scene: to_use(scene, word, scene.of_kind(word))))


def roles(scene: Scene) -> Mapping[str, Sequence[str]]:
    """Known things, by the roles they may have in a command. What was never seen may have any."""
    task = scene.aim.task
    mine = [recipe for recipe in _ALL if not recipe.tasks or task.startswith(recipe.tasks)]
    found = {role: names(scene) for recipe in mine for role, names in recipe.roles.items()}
    unseen_things = [name for names in found.values() for name in names if name.endswith("?")]
    return found | {role: [*found[role], *unseen_things] for role in ("object", "place")}


def tally(before: ScienceKnown, after: SomeBelief) -> SomeBelief:
    """Note the time that the last command took, and what follows from it and its answer."""
    known = isinstance(after.goal, ScienceGoal) and not after.observation.startswith(_NOT_UNDERSTOOD)
    if not known or after.last_action is None:
        return after
    command = _PLACES.sub(r" in \1", meant(before, after.last_action))
    after = after.but(clock=before.clock + _TICKS.get(command, 1))
    noted = {name: text for recipe in _ALL if recipe.notes for name, text in recipe.notes(before, after, command)}
    return after.but(readings={**after.readings, **noted}) if noted else after


def at_work(scene: Scene) -> bool:
    """True if the world changes here by itself: what is heated or cooled, what grows, slides or conducts."""
    goal = scene.aim
    running = any("on" in seen.thing.flags for seen in scene.things if seen.place == (scene.room or ""))
    return running or goal.type in ("F4", "F5") or bool(goal.target and treated(scene, goal.target))
