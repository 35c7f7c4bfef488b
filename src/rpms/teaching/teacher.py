"""The teacher beside an episode: it decides at every state what it would do there, whoever led
the game to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from threading import Lock
from typing import NamedTuple

from rpms.models.base import Model
from rpms.models.parsing import parse_answer
from rpms.models.policy import FunctionModel
from rpms.paper.decide import Decision
from rpms.paper.episode import Episode, Step, Usage
from rpms.paper.prompt import Message, Prompt
from rpms.planning.advice import plan_of
from rpms.play.course import Asked, Move
from rpms.play.design import RunDesign
from rpms.play.seats import Seat
from rpms.play.step import Player
from rpms.store.memories import memory_hash
from rpms.teaching.pairs import Pair, PairSource, pairs_text
from rpms.worlds.base import Command, Outcome

_HASH = 12
"""Hexadecimal digits of a hash that are enough to tell two files apart."""


class Thoughts(StrEnum):
    """Ways to say the sub-goal in the thought of an answer."""

    WORDS = "words"
    """As one would say it: `find book`."""
    PRINTED = "printed"
    """As the prompt prints it: `find_object - book`."""

    def of(self, decision: Decision) -> str:
        """The thought of a step: its sub-goal, said this way."""
        progress = decision.progress
        said = progress.words if self is Thoughts.WORDS else progress.text
        return f"I want to {said}."


class TaughtStep(NamedTuple):
    """The teacher's answer at a state: the sub-goal as its thought, and the first command of its
    design.
    """

    thought: str
    command: str

    @property
    def answer(self) -> str:
        """The answer that a model should give."""
        return f"Thought: {self.thought}\nAction: {self.command}"


def player_of(design: RunDesign, model: Model | None = None) -> Player:
    """The player of a design; without a model, one whose decisions are of interest and whose
    answers are not.
    """
    return Seat(design, model or FunctionModel(lambda _: "Action:", plans=False)).player


class Follower:
    """A player beside an episode that somebody else plays: it decides, and another acts.

    Everything that a player knows comes from text, so that no game is needed to follow a recorded
    episode.
    """

    def __init__(self, player: Player, task: str, opening: str) -> None:
        self._player = player
        self._task = task
        self._course = player.begin(player.understand(opening, task))

    def decide(self, observation: str) -> Move:
        """The player's move here."""
        return self._player.choose(self._course, observation, self._task)

    def hear(self, move: Move, answer: str, command: str, outcome: Outcome) -> None:
        """Go on with what was answered and done in place of the player's own move."""
        asked = Asked(answer, parse_answer(answer), Command(command), Usage(), refusal=None)
        self._course = self._player.after(self._course, replace(move, asked=asked), outcome)


def follow(player: Player, episode: Episode) -> Iterator[Move]:
    """Decide each step of an episode as a player would, and go on with what was done in it."""
    if not episode.steps:
        return
    follower = Follower(player, episode.task, episode.steps[0].observation)
    for step in episode.steps:
        move = follower.decide(step.observation)
        yield move
        follower.hear(move, step.answer, step.command, Outcome(step.result, step.score))


def taught_step(move: Move, thoughts: Thoughts) -> TaughtStep | None:
    """The teacher's move as something to learn; None where it had no plan, and so nothing to
    teach.
    """
    if not plan_of(move.decision).options or not move.command:
        return None
    return TaughtStep(thoughts.of(move.decision), move.command)


@dataclass(frozen=True)
class RetoldEpisodes:
    """Retells a teacher's episode as each condition would have shown it; kept beside the
    episode.
    """

    teacher: RunDesign
    told: Mapping[str, RunDesign]
    """By condition: the run in which a student would see such prompts."""
    thoughts: Thoughts
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Held while an episode is retold: players keep what they have computed, and threads share
    them here."""

    @cached_property
    def _players(self) -> Mapping[str, Player]:
        return {condition: player_of(design) for condition, design in self.told.items()}

    def __call__(self, episode: Episode) -> str:
        """The pairs of an episode; of one that was not won, none."""
        if not episode.won:
            return ""
        with self._one_at_a_time:
            found: list[Pair] = []
            for condition in self.told:
                found += self._pairs(condition, episode)
            return pairs_text(found)

    def _pairs(self, condition: str, episode: Episode) -> Iterator[Pair]:
        steps = tuple(_as_taught(step, self.thoughts) for step in episode.steps)
        spoken = replace(episode, steps=steps)
        about = _about(self.teacher, self.told[condition], condition, episode)
        about = replace(about, thoughts=self.thoughts)
        for move, step in zip(follow(self._players[condition], spoken), spoken.steps, strict=True):
            said = TaughtStep(step.thought, step.command)
            yield make_pair(move.decision.prompt, said, about, step.number)


def _as_taught(step: Step, thoughts: Thoughts) -> Step:
    """A teacher's step as the student's turns will show it: a thought and an action, and
    nothing else.
    """
    thought = step.thought
    if plan_of(step.decision).options:
        thought = thoughts.of(step.decision)
    answer = TaughtStep(thought, step.command).answer
    return replace(step, answer=answer, thought=thought, action=step.command, repairs=())


@dataclass(frozen=True)
class Corrections:
    """Says what the teacher would have done at each state of a student's episode; kept beside
    the episode.
    """

    teacher: RunDesign
    student: RunDesign
    condition: str
    thoughts: Thoughts
    most: int
    """States of an episode that are kept at most, spread over it: a loop of fifty steps says
    little more than one."""
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)

    @cached_property
    def _player(self) -> Player:
        return player_of(self.teacher, self.teacher.open_model())

    def __call__(self, episode: Episode) -> str:
        with self._one_at_a_time:
            return pairs_text(spread(list(self._pairs(episode)), self.most))

    def _pairs(self, episode: Episode) -> Iterator[Pair]:
        about = replace(
            _about(self.teacher, self.student, self.condition, episode),
            source=PairSource.CORRECTION,
            student=self.student.model_name,
            thoughts=self.thoughts,
        )
        for move, step in zip(follow(self._player, episode), episode.steps, strict=True):
            said = taught_step(move, self.thoughts)
            if said is not None:
                yield make_pair(step.decision.prompt, said, about, step.number)


def spread(pairs: list[Pair], most: int) -> list[Pair]:
    """At most so many pairs, evenly over all of them, the first among them."""
    if len(pairs) <= most:
        return pairs
    return [pairs[number * len(pairs) // most] for number in range(most)]


def manual_label(teacher: RunDesign) -> str:
    """The manual that a teacher plans by: its name and the beginning of its hash."""
    manual = teacher.sources.manual
    return f"{manual.name}:{manual.hash(teacher.world)[:_HASH]}"


def memory_label(student: RunDesign) -> str:
    """Beginning of the hash of the memory that a student's prompts recall from; empty in a
    condition without memory.
    """
    if not student.condition.memory:
        return ""
    return memory_hash(student.memory)[:_HASH]


def _about(teacher: RunDesign, student: RunDesign, condition: str, episode: Episode) -> Pair:
    """A pair that says where its step is from."""
    split = next(task.split for task in student.tasks if task.id == episode.task)
    return Pair(
        prompt=(),
        completion=(),
        world=student.world.name,
        split=split,
        task=episode.task,
        condition=condition,
        step=0,
        source=PairSource.TEACHER,
        manual=manual_label(teacher),
        memory=memory_label(student),
    )


def make_pair(prompt: Prompt, said: TaughtStep, about: Pair, step: int) -> Pair:
    """A prompt with its answer, and what is known about both."""
    answer = Message("assistant", said.answer)
    return replace(about, prompt=tuple(prompt.messages()), completion=(answer,), step=step)
