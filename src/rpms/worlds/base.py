"""What an environment offers: a World is knowledge and needs nothing installed, a Game is one live simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rpms.core.belief import Belief
from rpms.core.consistency import Compat
from rpms.core.decide import Decision
from rpms.core.goal import Goal, Progress
from rpms.core.recall import Retrieval
from rpms.core.voice import Voice


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


@dataclass(frozen=True, slots=True)
class Setting:
    """How the games of a run are to be had. Recorded in every result."""

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
    """What was forgiven on the way, such as `put … on` for `put … in/on`; recorded with the step."""


class World(Protocol):
    """Everything RPMS knows of an environment. Pure knowledge: only `open` needs a simulator.

    A world may also have `edition(tasks, setting)`, a mapping of texts that tells apart games of the same names and is
    recorded with every run; `paper_manual()`, a manual at the paper's scale beside its complete one; `form(action,
    belief)`, which forgives form alone where `command` also adds what the belief tells; `options`, the names of its own
    options; and `suggest`, `guide` and `focus`, which serve what goes past the paper.
    """

    name: str
    splits: tuple[str, ...]
    """Known splits, the one to use by default first."""
    engines: tuple[str, ...]
    step_budget: int
    max_tokens: int
    """New tokens a model may write at a step."""
    retrieval: Retrieval
    compat: Compat
    voice: Voice

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        """The tasks of a split, in a fixed order."""
        ...

    def open(self, task: Task, setting: Setting) -> Game:
        """Start a simulator for a task; it is reset before its first step."""
        ...

    def manual(self) -> tuple[tuple[str, str], ...]:
        """The YAML texts of tier 2 and 3, each with a name for messages. Tier 1 is every world's."""
        ...

    def goal(self, opening: str) -> Goal:
        """Read the goal out of the first observation; type `unknown` if it fits no template."""
        ...

    def start(self, goal: Goal) -> Belief:
        """The belief before anything was seen."""
        ...

    def update(self, belief: Belief, action: str | None, observation: str) -> Belief:
        """f_UPD of Eq. 1: deterministic, from text alone."""
        ...

    def progress(self, goal: Goal, belief: Belief) -> Progress:
        """The current sub-goal and how far along it is."""
        ...

    def command(self, action: str, belief: Belief) -> Command:
        """Forgive harmless form: letter case, a trailing dot, a synonym of the same command."""
        ...

    def infeasible(self, observation: str) -> bool:
        """Whether the world's answer says that the command could not be done."""
        ...

    def contradictions(self, belief: Belief, game: Game) -> tuple[str, ...]:
        """What the belief holds for known that is not so in the simulator: state drift, as a list."""
        ...

    def planner(self, decision: Decision) -> tuple[str, str]:
        """The thought and action of the model that is no LLM: it follows belief, active rules and memories."""
        ...
