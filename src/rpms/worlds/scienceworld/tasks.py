"""The thirty tasks, their families and their variations, as `tasks.toml` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rpms.core.errors import InputError
from rpms.core.names import nearest
from rpms.worlds.base import Task, read_table

SPLITS: Final = ("train", "dev", "test")
TABLE: Final = read_table(__package__, "tasks.toml")
FAMILIES: Final[Mapping[str, str]] = TABLE["families"]
SIMPLIFICATIONS: Final = tuple(TABLE["simplifications"])


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
        start = {"train": 0, "dev": self.train, "test": self.train + self.dev}[split]
        return range(start, start + getattr(self, split))

    def split_of(self, variation: int) -> str:
        return next(split for split in SPLITS if variation in self.variations(split))


KINDS: Final = {name: TaskKind(name, *row) for name, row in TABLE["tasks"].items()}
PAPER_TASKS: Final = tuple(name for name, kind in KINDS.items() if kind.family != "F5")
ELECTRICAL_TASKS: Final = tuple(name for name, kind in KINDS.items() if kind.family == "F5")
PAPER_PER_TASK: Final = 10
"""Up to this many test variations of each of the paper's tasks, in order, are its 241 episodes."""


def kind_named(name: str) -> TaskKind:
    """Look a task up by the simulator's name for it, with a suggestion where there is none."""
    if name in KINDS:
        return KINDS[name]
    raise InputError(f"ScienceWorld has no task {name!r}: {nearest(name, KINDS)}")


def task_at(name: str, number: int) -> Task:
    """Return one variation of a task, by number."""
    kind = kind_named(name)
    if not 0 <= number < kind.total:
        raise InputError(f"{name} has no variation {number}: they go from 0 to {kind.total - 1}")
    source = {"task": name, "variation": str(number)}
    return Task(id=f"{name}/{number}", split=kind.split_of(number), type=name, source=source)


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
