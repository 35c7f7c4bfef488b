"""What a recipe is made of, and what all of them ask."""

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
"""What no text says and commands tell, beside what instruments said: given the belief before and after a command."""


@dataclass(frozen=True)
class Recipe:
    """What is known of some tasks beyond the manual."""

    predicates: Mapping[str, Ask] = field(default_factory=dict)
    words: Mapping[str, Names] = field(default_factory=dict)
    """Words of goals and procedures that are no thing's name."""
    roles: Mapping[str, Names] = field(default_factory=dict)
    """What parameters of commands may stand for."""
    tasks: tuple[str, ...] = ()
    """How the names of the tasks begin that its roles are for."""
    notes: Note | None = None
    """What is to be kept of a command and its answer."""


_NO_GOAL: Final = ScienceGoal("")


def goal_of(scene: Scene) -> ScienceGoal:
    """What the scene is looked at for; of a goal that fits no template, nothing is known."""
    goal = scene.belief.goal
    return goal if isinstance(goal, ScienceGoal) else _NO_GOAL


def head_of(word: str) -> str:
    """What a thing is called without where it is, seen or not."""
    return read_phrase(word.removesuffix(" ?")).head


def named(*names: str) -> Names:
    """The things of some names, wherever they are."""
    return lambda scene: scene.such(lambda seen: seen.name in names)
