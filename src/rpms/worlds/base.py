"""What an environment offers: a World is knowledge and needs nothing installed, a Game is one live simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do, named so that the same name means the same task on every machine."""

    id: str
    """Unique in its world and stable across machines; used in file names after escaping, never as a path."""
    split: str
    type: str
    """The task type that tables group by (ALFWorld's six types, ScienceWorld's task names)."""
    source: Mapping[str, str] = field(default_factory=dict)
    """What `World.open` needs to start it, such as the game file's path. Not part of the task's identity."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did, as far as the player may know."""

    observation: str
    score: float = 0.0
    """The world's own score on its own scale: 0 or 1 in ALFWorld, -100 to 100 in ScienceWorld."""
    won: bool = False
    done: bool = False
    """No further command is of use: the game is won, or lost for good."""


class Game(Protocol):
    """One live simulator playing one task. Not shared between threads; many may live in one process."""

    def reset(self) -> Outcome:
        """Start the task from its beginning."""
        ...

    def step(self, command: str) -> Outcome:
        """Give the simulator a command exactly as written; any text is allowed."""
        ...

    def admissible(self) -> tuple[str, ...]:
        """The commands the simulator itself would accept now, sorted: for checks and benchmarks, never for prompts."""
        ...

    def close(self) -> None:
        """Release what the game holds. Calling it twice does no harm."""
        ...
