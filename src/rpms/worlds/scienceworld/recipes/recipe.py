"""Parts of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.scene import Scene

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
