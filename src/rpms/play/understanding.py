"""The goal of an episode: as the world knows it, or as a request in a person's words is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rpms.logic.goal import Goal
from rpms.models.base import Model, able
from rpms.paper.episode import Usage
from rpms.paper.verdict import Candidate

if TYPE_CHECKING:
    from rpms.reading.readings import Readings
    from rpms.reading.requests import Reader

READER_CONTROLS = ("words", "nearest", "random")
"""Readers without a model, by name."""
NO_GOAL = "no goal of the manual fits"
"""Beginning of the note on a request that means nothing here."""
Ask = Callable[[str, Sequence[str]], str]
"""Called if a request cannot be read: gets the request and the types of goals, and returns the goal
in other words."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A goal, and what it took to read it."""

    goal: Goal
    readings: Readings | None = None
    """None where the world knew the goal, or where nothing could be read."""
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()
    examples: tuple[Candidate, ...] = ()
    """Remembered requests that were shown as examples, or hidden by chance."""


@dataclass(frozen=True)
class Reads:
    """Readers of requests in an episode: a model, a control by name, and a person to ask if
    neither can.
    """

    model: Model | None = None
    control: str = ""
    ask: Ask | None = None
    leave_out: frozenset[str] = frozenset()
    """Knowledge that is not used for reading, for measurements: `rules`, `belief`, `memory`."""
    kept: dict[int, Reader] = field(init=False, repr=False, compare=False, default_factory=dict)
    """Readers, by the memory that they know."""

    @classmethod
    def by(
        cls, reader: str, open_reader: Callable[[], Model], model: Model, ask: Ask | None = None
    ) -> Reads:
        """The reader of a setting: a control, a model that is opened here, or without one the
        model that plays.
        """
        if reader in READER_CONTROLS:
            return cls(control=reader, ask=ask)
        return cls(open_reader() if reader else model, ask=ask)

    @property
    def source(self) -> str:
        """Reader by name, else the model if it is a language model, else the words alone."""
        if self.control:
            return self.control
        return "model" if self.model is not None and able(self.model, "reads") else "words"
