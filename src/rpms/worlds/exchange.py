"""Values that pass between a player and a world: tasks, games, outcomes, commands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from rpms.logic.facts import grouped


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do, named so that the same name means the same task on every machine."""

    id: str
    """Unique in its world and stable across machines; used in file names after escaping, never
    as a path."""
    split: str
    type: str
    """The task type that tables group by (ALFWorld's six types, ScienceWorld's task names)."""
    source: Mapping[str, str] = field(default_factory=dict)
    """Data for `World.open`, such as the game file's path. Not part of the task's identity."""


REQUEST = "request"
"""The key in a task's source of its goal in a person's words, if it has one."""
SENTENCE = "#"
"""Stands in a task's id before the number of the sentence, where each sentence of a game is a
task of its own."""


def game_of(task: str) -> str:
    """The game that a task is played in, by its id without the number of its sentence."""
    game, mark, number = task.rpartition(SENTENCE)
    return game if mark and number.isdecimal() else task


class GamesWon(NamedTuple):
    """Games whose sentences are tasks of their own."""

    in_every: int
    """Games won in every sentence."""
    in_some: int
    """Games won in at least one."""
    total: int


def games_won(played: Iterable[tuple[str, bool]]) -> GamesWon | None:
    """Games won, by task and success; None if no game has two sentences."""
    games = grouped((game_of(task), won) for task, won in played)
    if all(len(sentences) == 1 for sentences in games.values()):
        return None
    in_every = sum(map(all, games.values()))
    in_some = sum(map(any, games.values()))
    return GamesWon(in_every, in_some, len(games))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one command: all of it that the player may know."""

    observation: str
    score: float = 0.0
    """The world's own score on its own scale: 0 or 1 in ALFWorld, -100 to 100 in ScienceWorld."""
    won: bool = False
    done: bool = False
    """No further command is of use: the game is won, or lost for good."""


class Game(Protocol):
    """One live simulator playing one task.

    Not shared between threads; many may live in one process.
    """

    def reset(self) -> Outcome:
        """Start the task from its beginning."""
        ...

    def step(self, command: str) -> Outcome:
        """Give the simulator a command exactly as written; any text is allowed."""
        ...

    def admissible(self) -> tuple[str, ...]:
        """The commands the simulator itself would accept now, sorted: for checks and
        benchmarks, never for prompts.
        """
        ...

    def close(self) -> None:
        """Release what the game holds. Calling it twice does no harm."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """Setting of a run's games. Recorded in every result."""

    data: Path | None = None
    """A folder of game files, for worlds that read some."""
    engine: str = "native"
    options: Mapping[str, str] = field(default_factory=dict)
    """The world's own options, such as ScienceWorld's `simplifications`."""


@dataclass(frozen=True, slots=True)
class Command:
    """An action as the simulator wants it written."""

    text: str
    repairs: tuple[str, ...] = ()
    """Forgiven departures, such as `put … on` for `put … in/on`; recorded with the step."""
