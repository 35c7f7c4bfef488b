"""One episode: steps in a game until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rpms.core.episode import Ending, Episode, Step
from rpms.core.errors import ModelError, ModelUnavailable, WorldError
from rpms.core.verdict import Mask
from rpms.play.methods import NOTHING, Reflection
from rpms.play.step import Player
from rpms.worlds.base import REQUEST, Game, Outcome, Task, act, start

NO_ACTION = "Nothing happens. Your answer had no action; write one after `Action:`."
"""Observation for a model whose answer names no action."""


@dataclass
class Play:
    """An episode in the making. `step` until `ending` is set; a caller with its own loop may stop at any time."""

    player: Player
    game: Game
    task: Task
    budget: int
    stuck_after: int = 0
    """End after so many failures of the same command in a row; 0 for never, which is the paper's protocol."""
    episode_id: str = ""
    seed: int = 0
    """Seed that draws hidden memories, together with the task."""
    brought: Reflection = NOTHING
    """Texts carried from earlier attempts; the cost of asking for them is counted with the first step."""
    ending: Ending | None = None
    error: str = ""

    def __post_init__(self) -> None:
        player, mind = self.player, self.player.mind
        if share := mind.experience.retrieval.mask:
            mind = replace(mind, mask=Mask(share, self.seed, self.task.id))
        self._outcome = Outcome("")
        try:
            self._outcome = start(self.game)
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
        self.games_own = ""
        """The goal that the game states and decides by, where somebody asked for something in other words."""
        if request := self.task.source.get(REQUEST, ""):
            self.games_own = player.world.goal(self._outcome.observation).text
            stated = player.world.stating(self._outcome.observation, request)
            self._outcome = replace(self._outcome, observation=stated)
        name = self.episode_id or self.task.id
        read = replace(player, mind=mind).understand(self._outcome.observation, name, request)
        self.goal = read.goal
        carried = (*self.brought.carried, *player.method.opening(self.goal, self.task.id))
        self.player = replace(player, mind=replace(mind, carried=carried))
        self._course = player.begin(read)

    def _stop(self, ending: Ending, error: str = "") -> None:
        self.ending, self.error = ending, error

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._course.steps

    @property
    def told(self) -> str:
        """Text for the player now: the observation, and why the last command failed where the guard advises."""
        return self._course.told(self._outcome.observation)

    def step(self) -> None:
        """Decide, ask, act. ModelUnavailable passes through: the run is to stop, this episode to be done again."""
        try:
            move = self.player.choose(self._course, self._outcome.observation, self.episode_id or self.task.id)
        except ModelUnavailable:
            raise
        except ModelError as error:
            self._stop(Ending.MODEL_ERROR, str(error))
            return
        try:
            drift = self.player.world.contradictions(move.decision.belief, self.game)
            unsaid = Outcome(NO_ACTION, self._outcome.score)
            self._outcome = act(self.game, move.command) if move.command else unsaid
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
            return
        self._course = self.player.after(self._course, move, self._outcome, drift, self.brought)
        self._judge_end(self._outcome)

    def _judge_end(self, outcome: Outcome) -> None:
        if outcome.won:
            self._stop(Ending.WON)
        elif outcome.done:
            self._stop(Ending.LOST)
        elif len(self.steps) >= self.budget:
            self._stop(Ending.OUT_OF_STEPS)
        elif self.stuck_after and len(self.steps) >= self.stuck_after:
            last = self.steps[-self.stuck_after :]
            if all(step.infeasible and step.command == last[-1].command for step in last):
                self._stop(Ending.STUCK)

    def episode(self) -> Episode:
        """The episode so far."""
        return Episode(
            task=self.task.id,
            type=self.task.type,
            goal=self.goal.text,
            ending=self.ending or Ending.OUT_OF_STEPS,
            score=self.steps[-1].score if self.steps else 0.0,
            steps=self.steps,
            error=self.error,
            usage=self._course.usage,
        )


def play(episode: Play, on_step: Callable[[Step], None] | None = None) -> Episode:
    """Play an episode to its end."""
    while episode.ending is None:
        before = len(episode.steps)
        episode.step()
        if on_step is not None and len(episode.steps) > before:
            on_step(episode.steps[-1])
    return episode.episode()
