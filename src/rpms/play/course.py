"""An episode in the making: its course so far, and a move before the world has answered it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from rpms.logic.belief import Belief
from rpms.logic.goal import Goal
from rpms.models.parsing import ParsedAnswer
from rpms.paper.beyond import NOTHING_NOTICED, Noticed
from rpms.paper.decide import Decision
from rpms.paper.episode import ForbiddenCommand, RefusedCommand, Step, Usage
from rpms.paper.prompt import Turn
from rpms.paper.review import Refusal
from rpms.play.understanding import Understood
from rpms.worlds.base import Command


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of asking at one step."""

    text: str
    """The model's last answer, to the letter."""
    parsed: ParsedAnswer
    command: Command
    usage: Usage
    refusal: Refusal | None
    """The reason why the command that was given to the world is known to fail, if it is."""
    refused: tuple[RefusedCommand, ...] = ()
    forbidden: tuple[ForbiddenCommand, ...] = ()
    replaced: str = ""
    notes: tuple[str, ...] = ()
    """Things that were done on the model's side to get an answer, such as shortening the
    history."""
    truncated: bool = False
    """True if the answer was cut at the limit of new tokens."""

    def after_reading(self, read: Iterable[Understood]) -> Self:
        """The same with what it took to read the request anew at this step."""
        usage = self.usage
        notes: list[str] = []
        for each in read:
            usage += each.usage
            notes += each.notes
        return replace(self, usage=usage, notes=(*notes, *self.notes))


@dataclass(frozen=True)
class Course:
    """An episode up to a command and the world's answer to it."""

    goal: Goal
    belief: Belief
    command: str | None = None
    """The last command; None at the start."""
    advice: str = ""
    """Reason for its failure, where the guard advises."""
    history: tuple[Turn, ...] = ()
    steps: tuple[Step, ...] = ()
    read: Understood | None = None
    """The reading of the goal, if it was put in a person's words."""
    noticed: Noticed = NOTHING_NOTICED
    """Evidence about the manual from the steps so far."""

    def with_advice(self, observation: str) -> str:
        """An observation as the player is shown it: with why the last command failed, where the
        guard advises.
        """
        return f"{observation} ({self.advice})" if self.advice else observation


@dataclass(frozen=True, slots=True)
class Move:
    """A choice on an observation, before its result is known."""

    decision: Decision
    asked: Asked
    observation: str
    shown: str
    """The observation as the player is shown it."""
    read: Understood | None = None

    @property
    def command(self) -> str:
        return self.asked.command.text
