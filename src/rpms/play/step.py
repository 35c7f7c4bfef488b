"""The step that every loop takes: an action is chosen, and the world's answer to it becomes
part of the course.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rpms.logic.belief import Belief, Situation
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.models.base import Decoding, Model, able
from rpms.paper.beyond import Noticed, turn_state
from rpms.paper.compose import extended
from rpms.paper.decide import Decision, Mind, decide
from rpms.paper.enforcement import Calls, GuardMode, Repair
from rpms.paper.episode import Step
from rpms.paper.prompt import Turn
from rpms.play.asking import Asking
from rpms.play.course import Course, Move
from rpms.play.methods import METHODS, NOTHING, REACT, Method, Reflection
from rpms.play.understanding import Reads, Understood
from rpms.worlds.base import Outcome, World

if TYPE_CHECKING:
    from rpms.reading.readings import Readings


def _surprised(steps: tuple[Step, ...], noticed: Noticed) -> tuple[Step, ...]:
    """The steps, the last one with what surprised in the answer to it."""
    if not steps:
        return ()
    *earlier, last = steps
    new = noticed.in_last_step(last.decision.advice, last.command, refused=last.infeasible)
    return (*earlier, replace(last, surprises=(*last.surprises, *new)))


class _Reread(NamedTuple):
    """A decision after a request was read again."""

    decision: Decision
    read: Understood
    again: list[Understood]
    """The readings that it took."""


@dataclass(frozen=True)
class Player:
    """A mind with a model to ask, in one world. It changes nothing: courses go in and come out.

    A model that reads plans, such as the planner, gives its mind plans.
    """

    world: World
    mind: Mind
    model: Model
    decoding: Decoding
    method: Method = field(default_factory=lambda: METHODS[REACT])
    repair: Repair = Repair.FORM
    calls: Calls = Calls.TEXT
    reads: Reads | None = None
    """Reader of requests; by default the model that plays."""

    def __post_init__(self) -> None:
        if able(self.model, "plans"):
            object.__setattr__(self, "mind", extended(self.mind))

    def understand(self, opening: str, episode: str, request: str = "") -> Understood:
        """The goal that an opening observation states. If it is in a person's words, or a person's
        `request` is given, it is read.
        """
        goal = self.world.goal(opening)
        if goal.type != UNKNOWN_GOAL and not request:
            return Understood(goal)
        from rpms.play.request_reading import understand  # noqa: PLC0415  a known goal loads no reader

        return understand(
            self.world, self.mind, self.reads or Reads(self.model), opening, episode, request
        )

    def begin(self, read: Understood) -> Course:
        """An episode before its first observation."""
        return Course(read.goal, self.world.start(read.goal), read=read)

    def choose(self, course: Course, observation: str, episode: str) -> Move:
        """Lines 1 to 9 of Algorithm 1: decide, and ask the model."""
        decision = self._decide(course, observation, course.goal, course.belief, course.noticed)
        read = course.read
        again: list[Understood] = []
        if read is not None and read.readings is not None:
            decision, read, again = self._read_again(decision, read, course, observation, episode)
        examples = list(chain.from_iterable(each.examples for each in again))
        if read is not None and not course.steps:
            examples += read.examples
        if examples:
            decision = replace(decision, candidates=(*decision.candidates, *examples))
        asked = self._asking.ask(decision, episode).after_reading(again)
        return Move(decision, asked, observation, course.with_advice(observation), read)

    def _decide(
        self, course: Course, observation: str, goal: Goal, belief: Belief, noticed: Noticed
    ) -> Decision:
        """Decide for a goal, as the course stands."""
        return decide(
            self._mind_for(course),
            goal,
            belief,
            course.command,
            observation,
            course.history,
            course.with_advice(observation),
            noticed,
        )

    def _read_again(
        self, decision: Decision, read: Understood, course: Course, observation: str, episode: str
    ) -> "_Reread":
        """Read a request again as long as the decision speaks against its present reading, and
        decide for the goal of each.
        """
        again: list[Understood] = []
        while read.readings is not None:
            following = self._reconsidered(read.readings, decision, course, episode)
            if following is None or following.readings is None:
                break
            again.append(following)
            stays = following.readings.now is read.readings.now
            read = replace(read, goal=following.goal, readings=following.readings)
            if stays:
                break
            belief = course.belief.serving(read.goal)
            noticed = course.noticed.for_another_goal()
            decision = self._decide(course, observation, read.goal, belief, noticed)
        return _Reread(decision, read, again)

    def _reconsidered(
        self, readings: "Readings", decision: Decision, course: Course, episode: str
    ) -> Understood | None:
        """The request understood anew, where a step speaks against its present reading."""
        from rpms.play.request_reading import reconsidered  # noqa: PLC0415  a known goal loads no reader

        reads = self.reads or Reads(self.model)
        mind = self._mind_for(course)
        return reconsidered(self.world, reads, readings, decision, mind, episode)

    def gives_up(self, move: Move) -> str:
        """The reason that a player that follows plans has nothing left to do for its goal, or one
        that only chooses from menus without reading them nothing to choose from. It is empty if
        something is left, and for players that may know better, such as a language model.
        """
        only_chooses = able(self.model, "constrains") and not able(self.model, "reads")
        has_no_choice = only_chooses and not move.decision.menu.choices
        if not able(self.model, "plans") and not has_no_choice:
            return ""
        from rpms.planning.advice import nothing_left  # noqa: PLC0415  the paper loads no planner

        read = move.read
        left = nothing_left(move.decision)
        if read is None or read.readings is None:
            return left
        from rpms.play.request_reading import given_up  # noqa: PLC0415  a known goal loads no reader

        reads = self.reads or Reads(self.model)
        reason = given_up(self.world, reads, read.readings, move.decision, self._extended)
        return reason or (left if read.readings.is_last else "")

    def after(
        self,
        course: Course,
        move: Move,
        outcome: Outcome,
        drift: tuple[str, ...] = (),
        brought: Reflection = NOTHING,
    ) -> Course:
        """The course after the world's answer.

        `drift`: contradicted beliefs; `brought`: asked for before step 1.
        """
        decision = move.decision
        step = self._step(course, move, outcome, drift, brought)
        turn = self._turn(course, move, step)
        guard = self.mind.beyond.enforcement.guard
        advises = guard is GuardMode.ADVISE and bool(decision.rules.environment)
        return Course(
            decision.goal,
            decision.belief,
            move.command,
            step.advice if advises else "",
            (*course.history, turn),
            (*_surprised(course.steps, decision.noticed), step),
            move.read,
            decision.noticed,
        )

    def _step(
        self,
        course: Course,
        move: Move,
        outcome: Outcome,
        drift: tuple[str, ...],
        brought: Reflection,
    ) -> Step:
        """The record of a step; the first one also has the questions that were asked before it."""
        decision = move.decision
        asked = move.asked
        first = not course.steps
        usage = asked.usage
        notes = asked.notes
        if first:
            read = move.read or Understood(decision.goal)
            usage = brought.usage + read.usage + usage
            notes = (*read.notes, *filter(None, [brought.note]), *notes)
        return Step(
            number=len(course.steps) + 1,
            observation=move.observation,
            decision=decision,
            answer=asked.text,
            thought=asked.parsed.thought,
            action=asked.parsed.action,
            command=move.command,
            repairs=(*asked.parsed.repairs, *asked.command.repairs),
            result=outcome.observation,
            score=outcome.score,
            infeasible=not move.command or self.world.infeasible(outcome.observation),
            objection=asked.refusal.text if asked.refusal is not None else "",
            contradictions=drift,
            surprises=decision.noticed.surprises if first else (),
            usage=usage,
            refusals=asked.refused,
            forbidden=asked.forbidden,
            replaced=asked.replaced,
            truncated=asked.truncated,
            readings=_readings_begun_with(course, move),
            notes=notes,
        )

    def _turn(self, course: Course, move: Move, step: Step) -> Turn:
        """The step as later prompts tell it."""
        decision = move.decision
        thought, said = self.method.words(step.thought)
        score_before = course.steps[-1].score if course.steps else 0.0
        return Turn(
            observation=move.shown,
            action=step.command,
            thought=thought,
            state=turn_state(decision.belief, decision.progress),
            failed=step.infeasible,
            said=said,
            gained=step.score > score_before,
            wrote=_as_written(step),
        )

    def end(self, course: Course, outcome: Outcome) -> tuple[Step, ...]:
        """The steps of an episode that is over, with what surprised in the world's last answer."""
        mind = self._mind_for(course)
        belief = mind.updated(course.belief, course.command, outcome.observation, course.goal)
        now = mind.context(belief, course.goal, course.history)
        before = Situation(course.belief, course.goal)
        noticed = mind.beyond.notice(course.noticed, now, before, won=outcome.won)
        return _surprised(course.steps, noticed)

    def _mind_for(self, course: Course) -> Mind:
        """The mind of an episode. If the goal was read from a request the mind makes plans, since a
        plan that fails speaks against the reading.
        """
        read = course.read is not None and course.read.readings is not None
        return self._extended if read else self.mind

    @cached_property
    def _asking(self) -> Asking:
        enforcement = self.mind.beyond.enforcement
        return Asking(self.world, self.model, self.decoding, enforcement, self.repair, self.calls)

    @cached_property
    def _extended(self) -> Mind:
        return extended(self.mind)


def _readings_begun_with(course: Course, move: Move) -> "Readings | None":
    """The readings of a request, in the step that begins to act on one of them; None if the request
    is taken as the world itself understands it.
    """
    if move.read is None or move.read.readings is None:
        return None
    readings = move.read.readings
    if readings.fits_template:
        return None
    before = course.read.readings if course.read is not None else None
    goes_on = bool(course.steps) and before is not None and before.now is readings.now
    return None if goes_on else readings


def _as_written(step: Step) -> str:
    """The action as the model wrote it, where a repair made another command of it."""
    chosen_for_it = step.decision.menu.items or step.replaced or step.refusals
    if not step.repairs or not step.command or chosen_for_it:
        return ""
    wrote = " ".join((step.action or "").split())
    return "" if wrote == step.command else wrote
