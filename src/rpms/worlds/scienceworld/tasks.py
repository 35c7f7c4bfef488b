"""The thirty tasks, their families and their variations.

Facts about the simulator (1.2.3), stated here so that listing tasks needs neither Java nor the package; a test compares
them with the simulator's own answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rpms.core.errors import InputError
from rpms.core.names import nearest
from rpms.worlds.base import Task

SPLITS: Final = ("train", "dev", "test")
FAMILIES: Final = {
    "F1": "Search & Focus",
    "F2": "Measure & Observe",
    "F3": "Transform & Verify",
    "F4": "Long-horizon Procedure",
    "F5": "Electrical (outside the paper's set)",
}
SIMPLIFICATIONS: Final = (
    "easy",
    "noElectricalAction",
    "openContainers",
    "openDoors",
    "selfWateringFlowerPots",
    "teleportAction",
)
"""`easy` stands for all the others. None is used by default: results with and without are not comparable."""


@dataclass(frozen=True, slots=True)
class TaskKind:
    """One of the thirty tasks. Its variations are numbered from 0: train first, then dev, then test."""

    name: str
    family: str
    train: int
    dev: int
    test: int

    @property
    def total(self) -> int:
        return self.train + self.dev + self.test

    def variations(self, split: str) -> range:
        starts = {"train": 0, "dev": self.train, "test": self.train + self.dev}
        counts = {"train": self.train, "dev": self.dev, "test": self.test}
        return range(starts[split], starts[split] + counts[split])

    def split_of(self, variation: int) -> str:
        return next(split for split in SPLITS if variation in self.variations(split))


_TABLE: Final = (
    TaskKind("find-animal", "F1", 150, 75, 75),
    TaskKind("find-living-thing", "F1", 150, 75, 75),
    TaskKind("find-non-living-thing", "F1", 150, 75, 75),
    TaskKind("find-plant", "F1", 150, 75, 75),
    TaskKind("use-thermometer", "F2", 270, 135, 135),
    TaskKind("measure-melting-point-known-substance", "F2", 218, 109, 109),
    TaskKind("measure-melting-point-unknown-substance", "F2", 150, 75, 75),
    TaskKind("boil", "F3", 14, 7, 9),
    TaskKind("melt", "F3", 14, 7, 9),
    TaskKind("freeze", "F3", 14, 7, 9),
    TaskKind("change-the-state-of-matter-of", "F3", 14, 7, 9),
    TaskKind("chemistry-mix", "F3", 16, 8, 8),
    TaskKind("chemistry-mix-paint-secondary-color", "F3", 18, 9, 9),
    TaskKind("chemistry-mix-paint-tertiary-color", "F3", 18, 9, 9),
    TaskKind("grow-plant", "F4", 62, 31, 33),
    TaskKind("grow-fruit", "F4", 62, 31, 33),
    TaskKind("identify-life-stages-1", "F4", 6, 3, 5),
    TaskKind("identify-life-stages-2", "F4", 4, 2, 4),
    TaskKind("inclined-plane-determine-angle", "F4", 84, 42, 42),
    TaskKind("inclined-plane-friction-named-surfaces", "F4", 692, 346, 348),
    TaskKind("inclined-plane-friction-unnamed-surfaces", "F4", 80, 40, 42),
    TaskKind("lifespan-longest-lived", "F4", 62, 31, 32),
    TaskKind("lifespan-shortest-lived", "F4", 62, 31, 32),
    TaskKind("lifespan-longest-lived-then-shortest-lived", "F4", 62, 31, 32),
    TaskKind("mendelian-genetics-known-plant", "F4", 60, 30, 30),
    TaskKind("mendelian-genetics-unknown-plant", "F4", 240, 120, 120),
    TaskKind("power-component", "F5", 10, 5, 5),
    TaskKind("power-component-renewable-vs-nonrenewable-energy", "F5", 10, 5, 5),
    TaskKind("test-conductivity", "F5", 450, 225, 225),
    TaskKind("test-conductivity-of-unknown-substances", "F5", 300, 150, 150),
)
KINDS: Final = {kind.name: kind for kind in _TABLE}
PAPER_TASKS: Final = tuple(kind.name for kind in _TABLE if kind.family != "F5")
ELECTRICAL_TASKS: Final = tuple(kind.name for kind in _TABLE if kind.family == "F5")
PAPER_PER_TASK: Final = 10
"""Up to this many test variations of each of the paper's tasks, in order, are its 241 episodes."""


def kind_named(name: str) -> TaskKind:
    """Look a task up by the simulator's name for it, with a suggestion where there is none."""
    if name in KINDS:
        return KINDS[name]
    raise InputError(f"ScienceWorld has no task {name!r}: {nearest(name, KINDS)}")


def task_at(name: str, variation: int) -> Task:
    """Return one variation of a task, by number."""
    kind = kind_named(name)
    if not 0 <= variation < kind.total:
        raise InputError(f"{name} has no variation {variation}: they go from 0 to {kind.total - 1}")
    source = {"task": name, "variation": str(variation)}
    return Task(id=f"{name}/{variation}", split=kind.split_of(variation), type=name, source=source)


def list_tasks(
    split: str, per_task: int | None = None, tasks: Sequence[str] | None = None, simplifications: str = ""
) -> list[Task]:
    """List the variations of a split, in order: the first `per_task` of each task, by default of the paper's 26.

    With simplifications under which one of the tasks cannot be done, there is no list.

    >>> len(list_tasks("test", per_task=10))
    241
    >>> [task.id for task in list_tasks("dev", per_task=2, tasks=["boil"])]
    ['boil/14', 'boil/15']
    """
    if split not in SPLITS:
        raise InputError(f"ScienceWorld has no split {split!r}: the splits are {', '.join(SPLITS)}")
    if per_task is not None and per_task < 1:
        raise InputError(f"the number of variations of each task must be 1 or more, not {per_task}")
    kinds = [kind_named(name) for name in (PAPER_TASKS if tasks is None else dict.fromkeys(tasks))]
    for kind in kinds:
        canonical_simplifications(simplifications, kind.name)
    return [task_at(kind.name, variation) for kind in kinds for variation in kind.variations(split)[:per_task]]


def canonical_simplifications(text: str, task: str | None = None) -> str:
    """Return a comma-separated setting with its parts checked, sorted and without repeats; `""` is none.

    >>> canonical_simplifications("openDoors, teleportAction,openDoors")
    'openDoors,teleportAction'
    """
    parts = sorted({part.strip() for part in text.split(",")} - {""})
    for part in parts:
        if part not in SIMPLIFICATIONS:
            raise InputError(f"ScienceWorld has no simplification {part!r}: {nearest(part, SIMPLIFICATIONS)}")
    if task in ELECTRICAL_TASKS and "noElectricalAction" in parts:
        raise InputError(f"{task} cannot be done with the simplification 'noElectricalAction'")
    return ",".join(parts)
