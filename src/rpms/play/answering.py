"""From what a user writes after `--model` to a model, on this machine or on another."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rpms.models.base import Model
from rpms.models.catalogue import ModelOptions, check_openable, open_model
from rpms.store.answers import FolderOfAnswers
from rpms.store.packed_answers import open_answers


@dataclass(frozen=True)
class NamedModel:
    """A model by name, opened when called; it can be pickled and sent to where the episodes are played."""

    name: str
    world: str
    options: ModelOptions = field(default_factory=ModelOptions)
    record: Path | None = None
    """A folder that keeps every answer, and gives back what it holds."""

    def __call__(self) -> Model:
        return open_model(self.name, self.options, open_answers=open_answers, record=self._kept)

    def check(self) -> None:
        """Raise what opening it here would, as far as that is known at once."""
        check_openable(self.name, self.options, open_answers=open_answers, record=self._kept)

    @property
    def _kept(self) -> FolderOfAnswers | None:
        return FolderOfAnswers(self.record) if self.record is not None else None
