"""What a study is, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rpms.core.condition import FULL, Condition


@dataclass(frozen=True)
class Learning:
    """The learning phase that comes before a study's conditions."""

    split: str | None = None
    rounds: int = 1
    limit: int | None = None
    later: Condition = FULL
    """The condition of rounds after the first."""
    model: str | None = None
    """Who learns; the model under test by default."""


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
    split: str | None = None
    limit: int | None = None
    engine: str = "native"
    options: Mapping[str, str] = field(default_factory=dict)
    steps: int | None = None
    models: tuple[str, ...] = ()
    learning: Learning | None = None
    tables: tuple[str, ...] = ()
    """The report's tables that it is about, by name."""
    file: Path = Path()
