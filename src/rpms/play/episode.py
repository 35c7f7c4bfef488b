"""One episode: steps in a game until it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rpms.core.acting.enforcement import Calls, Repair
from rpms.core.decide import Mind
from rpms.core.episode import Ending, Episode, Step
from rpms.core.errors import ModelError, ModelUnavailable, WorldError
from rpms.core.verdict import Mask
from rpms.models.base import Decoding, Model
from rpms.play.methods import METHODS, NOTHING, REACT, Method, Reflection
from rpms.play.reading import Reads
from rpms.play.step import Player
from rpms.worlds.base import REQUEST, Game, Outcome, Task, World, act, start

NO_ACTION = "Nothing happens. Your answer had no action; write one after `Action:`."
"""Observation for a model whose answer names no action."""


@dataclass
class Play:
    """An episode in the making. `step` until `ending` is set; a caller with its own loop may stop at any time."""

    world: World
    game: Game
    task: Task
    mind: Mind
    model: Model
    decoding: Decoding
    budget: int
    stuck_after: int = 0
    """End after so many failures of the same command in a row; 0 for never, which is the paper's protocol."""
    episode_id: str = ""
    seed: int = 0
    """Seed that draws hidden memories, together with the task."""
    method: Method = METHODS[REACT]
    reads: Reads | None = None
    """Reader of goals in a person's words; by default the model that plays."""
    brought: Reflection = NOTHING
    """Texts carried from earlier attempts; the cost of asking for them is counted with the first step."""
    repair: Repair = Repair.FORM
    calls: Calls = Calls.TEXT
    ending: Ending | None = None
    error: str = ""

    def __post_init__(self) -> None:
        if share := self.mind.experience.retrieval.mask:
            self.mind = replace(self.mind, mask=Mask(share, self.seed, self.task.id))
        self._outcome = Outcome("")
        try:
            self._outcome = start(self.game)
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
        self.games_own = ""
        """The goal that the game states and decides by, where somebody asked for something in other words."""
        if request := self.task.source.get(REQUEST, ""):
            self.games_own = self.world.goal(self._outcome.observation).text
            stated = self.world.stating(self._outcome.observation, request)
            self._outcome = replace(self._outcome, observation=stated)
        player = Player(
            self.world, self.mind, self.model, self.decoding, self.method, self.repair, self.calls, self.reads
        )
        read = player.understand(self._outcome.observation, self.episode_id or self.task.id, request)
        self.goal = read.goal
        carried = (*self.brought.carried, *self.method.opening(self.goal, self.task.id))
        if carried:
            self.mind = replace(self.mind, carried=carried)
        self._player = replace(player, mind=self.mind)
        self._course = self._player.begin(read)

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
            move = self._player.choose(self._course, self._outcome.observation, self.episode_id or self.task.id)
        except ModelUnavailable:
            raise
        except ModelError as error:
            self._stop(Ending.MODEL_ERROR, str(error))
            return
        try:
            drift = self.world.contradictions(move.decision.belief, self.game)
            self._outcome = self._act(move.command)
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
            return
        self._course = self._player.after(self._course, move, self._outcome, drift, self.brought)
        self._judge_end(self._outcome)

    def _act(self, command: str) -> Outcome:
        if command:
            return act(self.game, command)
        return Outcome(NO_ACTION, self._outcome.score)

    def _judge_end(self, outcome: Outcome) -> None:
        if outcome.won:
            self._stop(Ending.WON)
        elif outcome.done:
            self._stop(Ending.LOST)
        elif len(self.steps) >= self.budget:
            self._stop(Ending.OUT_OF_STEPS)
        elif self.stuck_after and self._failing_in_a_row() >= self.stuck_after:
            self._stop(Ending.STUCK)

    def _failing_in_a_row(self) -> int:
        last = self.steps[-1]
        count = 0
        for step in reversed(self.steps):
            if not step.infeasible or step.command != last.command:
                break
            count += 1
        return count

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
