"""One episode: the loop around `decide`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rpms.core.advise import turn_state
from rpms.core.decide import Mind, decide
from rpms.core.enforcement import GuardMode
from rpms.core.episode import Ending, Episode, Step
from rpms.core.errors import ModelError, ModelUnavailable, WorldError
from rpms.core.mask import Mask
from rpms.core.prompt import Turn
from rpms.core.usage import Usage
from rpms.models.base import Decoding, Model
from rpms.play.asking import Asker
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.reflecting import NOTHING, Reflection
from rpms.worlds.base import Command, Game, Outcome, Task, World

NO_ACTION = "Nothing happens. Your answer had no action; write one after `Action:`."
"""What a model is told when its answer names no action."""


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
    """What hidden memories are drawn with, together with the task."""
    method: Method = METHODS[REACT]
    brought: Reflection = NOTHING
    """What is carried from earlier attempts; what asking for it took is counted with the first step."""
    steps: list[Step] = field(default_factory=list)
    ending: Ending | None = None
    error: str = ""

    def __post_init__(self) -> None:
        if self.mind.retrieval.mask:
            self.mind = replace(self.mind, mask=Mask(self.mind.retrieval.mask, self.seed, self.task.id))
        self._outcome = Outcome("")
        try:
            self._outcome = self.game.reset()
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
        self.goal = self.world.goal(self._outcome.observation)
        carried = (*self.brought.carried, *self.method.opening(self.goal, self.task.id))
        if carried:
            self.mind = replace(self.mind, carried=carried)
        self._belief = self.world.start(self.goal)
        self._command: str | None = None
        self._history: list[Turn] = []
        self._advice = ""
        mind = self.mind
        self._asker = Asker(self.world, self.model, self.decoding, mind.enforcement, mind.repair, mind.calls)

    def _stop(self, ending: Ending, error: str = "") -> None:
        self.ending, self.error = ending, error

    @property
    def told(self) -> str:
        """What the player is told now: the observation, and why the last command failed where the guard advises."""
        observation = self._outcome.observation
        return f"{observation} ({self._advice})" if self._advice else observation

    def step(self) -> None:
        """Decide, ask, act. ModelUnavailable passes through: the run is to stop, this episode to be done again."""
        observation, told = self._outcome.observation, self.told
        decision = decide(self.mind, self.goal, self._belief, self._command, observation, self._history, told)
        try:
            asked = self._asker.ask(decision, self.episode_id or self.task.id)
        except ModelUnavailable:
            raise
        except ModelError as error:
            self._stop(Ending.MODEL_ERROR, str(error))
            return
        try:
            drift = self.world.contradictions(decision.belief, self.game)
            outcome = self._act(asked.command)
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
            return
        command, parsed = asked.command, asked.parsed
        first = NOTHING if self.steps else self.brought
        infeasible = not command.text or self.world.infeasible(outcome.observation)
        step = Step(
            number=len(self.steps) + 1,
            observation=observation,
            decision=decision,
            answer=asked.text,
            thought=parsed.thought,
            action=parsed.action,
            command=command.text,
            repairs=(*parsed.repairs, *command.repairs),
            result=outcome.observation,
            score=outcome.score,
            infeasible=infeasible,
            objection=asked.refusal.text if asked.refusal is not None else "",
            contradictions=drift,
            usage=first.usage + asked.usage,
            refusals=asked.refused,
            forbidden=asked.forbidden,
            replaced=asked.replaced,
            notes=(*((first.note,) if first.note else ()), *asked.notes),
        )
        self.steps.append(step)
        state = turn_state(decision.belief, decision.progress)
        thought, said = self.method.words(parsed.thought)
        self._history.append(Turn(told, command.text, thought, state, infeasible, said))
        self._belief, self._command, self._outcome = decision.belief, command.text, outcome
        advise = self.mind.enforcement.guard is GuardMode.ADVISE and bool(decision.rules.environment)
        self._advice = step.advice if advise else ""
        self._judge_end(outcome)

    def _act(self, command: Command) -> Outcome:
        if command.text:
            return self.game.step(command.text)
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
        usage = Usage()
        for step in self.steps:
            usage = usage + step.usage
        return Episode(
            task=self.task.id,
            type=self.task.type,
            goal=self.goal.text,
            ending=self.ending or Ending.OUT_OF_STEPS,
            score=self.steps[-1].score if self.steps else 0.0,
            steps=tuple(self.steps),
            error=self.error,
            usage=usage,
        )


def play(episode: Play, on_step: Callable[[Step], None] | None = None) -> Episode:
    """Play an episode to its end."""
    while episode.ending is None:
        before = len(episode.steps)
        episode.step()
        if on_step is not None and len(episode.steps) > before:
            on_step(episode.steps[-1])
    return episode.episode()
