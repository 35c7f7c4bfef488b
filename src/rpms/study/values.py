"""What a study is, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rpms.core.condition import FULL, Condition
from rpms.core.enforcement import PAPER, Enforcement
from rpms.core.errors import InputError
from rpms.worlds.base import Setting, Task, World


@dataclass(frozen=True)
class Part:
    """One of several parts that a task list is dealt into like cards, so that each part has every type."""

    number: int = 1
    of: int = 1


@dataclass(frozen=True)
class Choice:
    """Which tasks of a world are meant."""

    split: str | None = None
    part: Part = Part()
    limit: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """The world's own options."""

    def setting(self, base: Setting) -> Setting:
        """How these games are to be had."""
        return replace(base, options={**base.options, **self.options})

    def tasks(self, world: World, base: Setting) -> Sequence[Task]:
        """The tasks, in the world's order; none at all is an InputError."""
        split = self.split or world.splits[0]
        found = tuple(world.tasks(split, self.setting(base)))[self.part.number - 1 :: self.part.of][: self.limit]
        if not found:
            raise InputError(f"{world.name}: no tasks to run in the split {split!r}")
        return found


@dataclass(frozen=True)
class Learning:
    """The learning phase that comes before a study's conditions."""

    choice: Choice = Choice()
    rounds: int = 1
    later: Condition = FULL
    """The condition of rounds after the first."""
    model: str | None = None
    """Who learns; the model under test by default."""
    enforcement: Enforcement = PAPER
    """How far actions are enforced while learning."""


@dataclass(frozen=True)
class Case:
    """One condition of a study, by the name that tables give it."""

    name: str
    condition: Condition
    memory: Path | None = None
    """A memory to read, where it is not learned."""
    round: int | None = None
    """The round whose snapshot it plays with; the last by default."""


@dataclass(frozen=True)
class Study:
    """What is compared: one world, its tasks, models, and conditions."""

    title: str
    world: str
    cases: tuple[Case, ...]
    about: str = ""
    """What the numbers mean and do not mean, for whoever reads them."""
    choice: Choice = Choice()
    engine: str = "native"
    steps: int | None = None
    models: tuple[str, ...] = ()
    learning: Learning | None = None
    tables: tuple[str, ...] = ()
    """The report's tables that it is about, by name."""
    file: Path = Path()
