"""Parts of a recipe, and questions that all of them ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.scene import Scene
from rpms.worlds.scienceworld.tree import read_phrase

Ask = Callable[..., bool | None]
"""A predicate: the scene and its arguments, and whether it holds."""
Names = Callable[[Scene], Sequence[str]]
"""The things that a word or a role stands for."""
Note = Callable[[ScienceGoal, ScienceKnown, ScienceKnown, str], Iterable[tuple[str, str]]]
"""Notes that no text says and commands tell: given the belief before and after a command."""


@dataclass(frozen=True)
class Recipe:
    """Knowledge of some tasks beyond the manual."""

    predicates: Mapping[str, Ask] = field(default_factory=dict)
    words: Mapping[str, Names] = field(default_factory=dict)
    """Words of goals and procedures that are no thing's name."""
    roles: Mapping[str, Names] = field(default_factory=dict)
    """Things that parameters of commands may stand for."""
    tasks: tuple[str, ...] = ()
    """Beginnings of the names of the tasks that its roles are for."""
    notes: Note | None = None
    """Note to keep of a command and its answer."""


_NO_GOAL: Final = ScienceGoal("")


def goal_of(scene: Scene) -> ScienceGoal:
    """Goal for which the scene is looked at; of a goal that fits no template, nothing is known."""
    goal = scene.belief.goal
    return goal if isinstance(goal, ScienceGoal) else _NO_GOAL


def head_of(word: str) -> str:
    """Name of a thing without its place, seen or not."""
    return read_phrase(word.removesuffix(" ?")).head


def named(*names: str) -> Names:
    """The things of some names, wherever they are."""
    return lambda scene: scene.such(lambda seen: seen.name in names)
