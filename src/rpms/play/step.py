"""The step that every loop takes: an action is chosen, and the world's answer to it becomes part of the course."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from rpms.core.acting.enforcement import Calls, GuardMode, Repair
from rpms.core.acting.step_context import turn_state
from rpms.core.belief import Belief
from rpms.core.decide import Decision, Mind, decide
from rpms.core.episode import Step
from rpms.core.goal import Goal
from rpms.core.planning.trust import UNSHAKEN, Trust
from rpms.core.prompt import Turn
from rpms.core.usage import Usage
from rpms.models.base import Decoding, Model
from rpms.play.asking import Asked, Asker
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.reading import Reads, Understood, reconsidered, understand
from rpms.play.reflecting import NOTHING, Reflection
from rpms.worlds.base import Outcome, World


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
    """Reading of the goal, where it was put in a person's words."""
    trust: Trust = UNSHAKEN
    """Trust in the manual's lines after the steps so far."""

    def told(self, observation: str) -> str:
        """An observation as the player is told it: with why the last command failed, where the guard advises."""
        return f"{observation} ({self.advice})" if self.advice else observation

    @property
    def usage(self) -> Usage:
        return sum((step.usage for step in self.steps), Usage())


@dataclass(frozen=True, slots=True)
class Move:
    """A choice on an observation, before its result is known."""

    decision: Decision
    asked: Asked
    observation: str
    told: str
    read: Understood | None = None
    """Present reading of the goal."""

    @property
    def command(self) -> str:
        return self.asked.command.text


@dataclass(frozen=True)
class Player:
    """A mind with a model to ask, in one world. It changes nothing: courses go in and come out."""

    world: World
    mind: Mind
    model: Model
    decoding: Decoding
    method: Method = field(default_factory=lambda: METHODS[REACT])
    repair: Repair = Repair.FORM
    """Forgiven departures of an action."""
    calls: Calls = Calls.TEXT
    """Form of tool calls."""
    reads: Reads | None = None
    """Reader of requests; by default the model that plays."""

    @cached_property
    def _reads(self) -> Reads:
        return self.reads or Reads(self.model)

    def understand(self, opening: str, episode: str) -> Understood:
        """The goal that an opening observation states, read where it is in a person's words."""
        return understand(self.world, self.mind, self._reads, opening, episode)

    def begin(self, read: Understood) -> Course:
        """An episode before its first observation."""
        return Course(read.goal, self.world.start(read.goal), read=read)

    def choose(self, course: Course, observation: str, episode: str) -> Move:
        """Lines 1 to 9 of Algorithm 1: decide, and ask the model."""
        mind, told = self.mind, course.told(observation)
        given = (mind, course.goal, course.belief, course.command, observation, course.history, told)
        decision = decide(*given, trust=course.trust)
        read = course.read
        while read is not None and (following := reconsidered(read.readings, decision, mind)) is not None:
            read = replace(read, goal=following.now.goal, readings=following)
            prior = course.belief.serving(read.goal)
            given = (mind, read.goal, prior, course.command, observation, course.history, told)
            decision = decide(*given, trust=replace(course.trust, held=None))
        if read is not None and read.examples and not course.steps:
            decision = replace(decision, candidates=(*decision.candidates, *read.examples))
        asker = Asker(self.world, self.model, self.decoding, mind.enforcement, self.repair, self.calls)
        return Move(decision, asker.ask(decision, episode), observation, told, read)

    def after(
        self, course: Course, move: Move, outcome: Outcome, drift: tuple[str, ...] = (), brought: Reflection = NOTHING
    ) -> Course:
        """The course once the world has answered.

        `drift`: what the belief held for known that was not so. `brought`: what was asked for before the episode,
        which is counted with its first step.
        """
        decision, asked, parsed, command = move.decision, move.asked, move.asked.parsed, move.command
        before = NOTHING if course.steps else brought
        read = move.read
        asked_first = read.usage if read is not None and not course.steps else Usage()
        notes = read.notes if read is not None and not course.steps else ()
        changed = read is not None and (not course.steps or read is not course.read)
        step = Step(
            number=len(course.steps) + 1,
            observation=move.observation,
            decision=decision,
            answer=asked.text,
            thought=parsed.thought,
            action=parsed.action,
            command=command,
            repairs=(*parsed.repairs, *asked.command.repairs),
            result=outcome.observation,
            score=outcome.score,
            infeasible=not command or self.world.infeasible(outcome.observation),
            objection=asked.refusal.text if asked.refusal is not None else "",
            contradictions=drift,
            surprises=decision.noticed.surprises,
            usage=before.usage + asked_first + asked.usage,
            refusals=asked.refused,
            forbidden=asked.forbidden,
            replaced=asked.replaced,
            readings=read.readings if read is not None and changed else None,
            notes=(*notes, *((before.note,) if before.note else ()), *asked.notes),
        )
        thought, said = self.method.words(parsed.thought)
        state = turn_state(decision.belief, decision.progress)
        gained = outcome.score > (course.steps[-1].score if course.steps else 0.0)
        own = step.repairs and command and not (decision.menu.items or asked.replaced or asked.refused)
        wrote = " ".join((parsed.action or "").split()) if own else ""
        wrote = "" if wrote == command else wrote
        turn = Turn(move.told, command, thought, state, step.infeasible, said, gained, wrote)
        advises = self.mind.enforcement.guard is GuardMode.ADVISE and bool(decision.rules.environment)
        return Course(
            decision.goal,
            decision.belief,
            command,
            step.advice if advises else "",
            (*course.history, turn),
            (*course.steps, step),
            read,
            decision.noticed.trust,
        )
