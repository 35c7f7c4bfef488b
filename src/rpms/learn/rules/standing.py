"""What is being pursued in one episode of an exploration, and what has come of it so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from rpms.core.belief import Situation
from rpms.core.facts import Truth
from rpms.core.rules import Instance
from rpms.learn.rules.agenda import Agenda
from rpms.learn.rules.ledger import Diary
from rpms.learn.rules.venture import Ventures
from rpms.learn.rules.wins import State
from rpms.worlds.base import Game

LAST_STEPS = 8
"""Steps at the end of an episode in which actions are tried that often end the task for good."""


@dataclass
class Standing:
    """One episode as it stands."""

    agenda: Agenda
    diary: Diary
    game: Game
    dice: Random
    target: Instance | None = None
    patience: int = 0
    wanted: State | None = None
    refused: set[str] = field(default_factory=set)
    tried: set[State] = field(default_factory=set)
    failures: Counter[str] = field(default_factory=Counter)
    looked: set[str] = field(default_factory=set)
    """The looks that were taken to find out what is unknown."""
    seen: tuple[str, ...] | None = None
    """What was just looked at."""
    then: str = ""
    """What is done next whatever comes."""
    ahead: list[str] = field(default_factory=list)
    """What the plan that was made goes on with."""
    about_goal: bool = False
    scoring: bool = False
    """Whether what scores is being done, as far as it is known."""
    left: int = 0
    """Steps that are left of the episode."""
    ventures: Ventures = field(init=False)

    def __post_init__(self) -> None:
        agenda, goal = self.agenda, self.diary.goal
        self.ventures = Ventures(agenda, goal.type, self.dice)
        self._before, self._heard = self.diary.belief, len(self.diary.past)
        self.about_goal = not agenda.settled(goal) and self.dice.random() < agenda.how.goals
        self.scoring = self.about_goal and agenda.learned is not None and goal.type in agenda.learned.scoring

    @property
    def situation(self) -> Situation:
        return Situation(self.diary.belief, self.diary.goal, past=self.diary.past)

    def told(self, command: str, *, refused: bool) -> None:
        """What became of a command."""
        before, self._before = self._before, self.diary.belief
        new, self._heard = self.diary.past[self._heard :], len(self.diary.past)
        self.ventures.told(before, self._before, scored=any(done.gained for done in new))
        if refused:
            self.refused.add(command)
            self.failures[command] += 1
        elif command not in ("look", "inventory"):
            self.refused.clear()

    def too_early(self, command: str) -> bool:
        """Whether to put off an action that often ends the task for good: late in an episode that costs little."""
        agenda = self.agenda
        if not agenda.deadly or self.left <= LAST_STEPS:
            return False
        return agenda.ledger.names.read(command).template in agenda.deadly

    def vain(self, command: str) -> bool:
        """Whether a command was refused since anything changed, or again and again."""
        return command in self.refused or self.failures[command] > 1

    def go_on(self) -> str | None:
        """The next action of the plan that was made, where it can be done; no new plan is needed then."""
        if not self.ahead:
            return None
        command, self.ahead = self.ahead[0], self.ahead[1:]
        instance = self.agenda.instance(command)
        if instance is None or self.vain(command) or instance.feasible(self.situation) is not Truth.TRUE:
            self.ahead = []
            return None
        return command
