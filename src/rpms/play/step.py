"""The step that every loop takes: an action is chosen, and the world's answer to it becomes
part of the course.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rpms.foreign.call_text import Tool, narrowed
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.models.base import Answer, CannotHold, Decoding, Model, Request, able
from rpms.models.constraint import NOT_HELD
from rpms.models.parsing import ParsedAnswer, parse_answer
from rpms.paper.beyond import NOTHING_NOTICED, Noticed, turn_state
from rpms.paper.compose import extended
from rpms.paper.decide import Decision, Mind, decide
from rpms.paper.enforcement import Calls, Constrained, GuardMode, Repair
from rpms.paper.episode import Step
from rpms.paper.prompt import Part, Turn
from rpms.paper.review import Refusal, ask_again, review_rules
from rpms.paper.usage import Usage
from rpms.paper.wording import HEADINGS
from rpms.play.methods import METHODS, NOTHING, REACT, Method, Reflection
from rpms.play.understanding import Reads, Understood
from rpms.worlds.base import Command, Outcome, World

if TYPE_CHECKING:
    from rpms.reading.readings import Readings

_AGAIN = Refusal("it was refused, and nothing about its things or the place has changed since", "")
NO_ACTION = Refusal("there was no action in your answer; write one after `Action:`", "")


@dataclass(frozen=True, slots=True)
class Asked:
    """Result of asking at one step."""

    text: str
    """The model's last answer, to the letter."""
    parsed: ParsedAnswer
    command: Command
    usage: Usage
    refusal: Refusal | None
    """Reason why the command given to the world is known to fail, if it is."""
    refused: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    """Each command of the model's that a rule certainly forbids, with that rule's id."""
    replaced: str = ""
    notes: tuple[str, ...] = ()
    """Measures on the model's side to get an answer, such as shortening the history."""
    truncated: bool = False
    """True if the answer was cut at the limit of new tokens."""


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
    noticed: Noticed = NOTHING_NOTICED
    """Evidence about the manual from the steps so far."""

    def told(self, observation: str) -> str:
        """An observation as the player is told it: with why the last command failed, where the
        guard advises.
        """
        return f"{observation} ({self.advice})" if self.advice else observation


@dataclass(frozen=True, slots=True)
class Move:
    """A choice on an observation, before its result is known."""

    decision: Decision
    asked: Asked
    observation: str
    told: str
    read: Understood | None = None

    @property
    def command(self) -> str:
        return self.asked.command.text


def _reconsidered(readings: "Readings", decision: Decision, mind: Mind) -> "Readings | None":
    """Readings with another one taken, where a step speaks against the present one."""
    from rpms.play.request_reading import reconsidered  # noqa: PLC0415  a known goal loads no reader

    return reconsidered(readings, decision, mind)


def _surprised(steps: tuple[Step, ...], noticed: Noticed) -> tuple[Step, ...]:
    """The steps, the last one with what surprised in the answer to it."""
    if not steps:
        return ()
    *earlier, last = steps
    new = noticed.in_last_step(last.decision.advice, last.command, refused=last.infeasible)
    return (*earlier, replace(last, surprises=(*last.surprises, *new)))


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
        """The goal that an opening observation states, read where it is in a person's words."""
        goal = self.world.goal(opening)
        if goal.type != UNKNOWN_GOAL:
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
        mind, told = self._mind_for(course), course.told(observation)
        given = (
            mind,
            course.goal,
            course.belief,
            course.command,
            observation,
            course.history,
            told,
        )
        decision = decide(*given, earlier=course.noticed)
        read = course.read
        while (
            read is not None
            and read.readings is not None
            and (following := _reconsidered(read.readings, decision, mind)) is not None
        ):
            read = replace(read, goal=following.now.goal, readings=following)
            prior = course.belief.serving(read.goal)
            given = (mind, read.goal, prior, course.command, observation, course.history, told)
            decision = decide(*given, earlier=course.noticed.for_another_goal())
        if read is not None and read.examples and not course.steps:
            decision = replace(decision, candidates=(*decision.candidates, *read.examples))
        return Move(decision, self._ask(decision, episode), observation, told, read)

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
        decision, asked, parsed, command = (
            move.decision,
            move.asked,
            move.asked.parsed,
            move.command,
        )
        before = NOTHING if course.steps else brought
        read = move.read
        first = read if read is not None and not course.steps else Understood(decision.goal)
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
            surprises=() if course.steps else decision.noticed.surprises,
            usage=before.usage + first.usage + asked.usage,
            refusals=asked.refused,
            forbidden=asked.forbidden,
            replaced=asked.replaced,
            truncated=asked.truncated,
            readings=read.readings if read is not None and changed else None,
            notes=(*first.notes, *((before.note,) if before.note else ()), *asked.notes),
        )
        thought, said = self.method.words(parsed.thought)
        state = turn_state(decision.belief, decision.progress)
        gained = outcome.score > (course.steps[-1].score if course.steps else 0.0)
        own = (
            step.repairs
            and command
            and not (decision.menu.items or asked.replaced or asked.refused)
        )
        wrote = " ".join((parsed.action or "").split()) if own else ""
        wrote = "" if wrote == command else wrote
        turn = Turn(move.told, command, thought, state, step.infeasible, said, gained, wrote)
        advises = self.mind.beyond.enforcement.guard is GuardMode.ADVISE and bool(
            decision.rules.environment
        )
        return Course(
            decision.goal,
            decision.belief,
            command,
            step.advice if advises else "",
            (*course.history, turn),
            (*_surprised(course.steps, decision.noticed), step),
            read,
            decision.noticed,
        )

    def end(self, course: Course, outcome: Outcome) -> tuple[Step, ...]:
        """The steps of an episode that is over, with what surprised in the world's last answer."""
        belief = self.mind.update(course.belief, course.command, outcome.observation)
        mind = self._mind_for(course)
        now = mind.context(belief, course.goal, course.history)
        before = Situation(course.belief, course.goal)
        return _surprised(
            course.steps, mind.beyond.notice(course.noticed, now, before, won=outcome.won)
        )

    def _mind_for(self, course: Course) -> Mind:
        """The mind of an episode: one whose goal was read plans, since a plan that fails speaks
        against the reading.
        """
        read = course.read is not None and course.read.readings is not None
        return self._extended if read else self.mind

    @cached_property
    def _extended(self) -> Mind:
        return extended(self.mind)

    def _ask(self, decision: Decision, episode: str) -> Asked:
        """Ask once, as in the paper, or again while the guard refuses, as often as the
        enforcement allows.
        """
        rules = self.mind.beyond.enforcement
        situation = Situation(decision.belief, decision.goal)
        prompt, usage = decision.prompt, Usage()
        refused: list[tuple[str, str]] = []
        forbidden: list[tuple[str, str]] = []
        choices, templates = self._held_to(decision)
        tools = self._tools(decision)
        notes: dict[str, None] = {}
        while True:
            try:
                answer = self._answer(
                    Request(prompt, self.decoding, episode, decision, choices, templates, tools)
                )
            except ModelError as error:
                if not refused or isinstance(error, ModelUnavailable):
                    raise
                notes[f"asked again without an answer: {error}"] = None  # its earlier answer stands
                break
            usage = usage + answer.usage
            notes |= dict.fromkeys(answer.notes)
            parsed = parse_answer(answer.text)
            action = decision.menu.meant(parsed.action) if parsed.action else ""
            command = self._command(action, decision.belief) if action else Command("")
            refusal = decision.advice.review(command.text) if parsed.action else NO_ACTION
            breach = None if refusal else review_rules(command.text, decision.schemas, situation)
            if breach is not None:
                forbidden.append((command.text, breach.rule))
            against = None if decision.advice.defies(command.text) else refusal or breach
            objection = against if self._blocks(decision) else None
            objection = _AGAIN if decision.advice.bars(command.text) else objection
            if objection is None and command.text not in dict(refused):
                objection = decision.advice.caution(command.text, decision.candidates)
            if objection is None or len(refused) >= rules.reasks:
                break
            refused.append((command.text, objection.text))
            prompt = prompt.noticing(ask_again(command.text, objection), HEADINGS[Part.NOTICE])
        again = decision.advice.bars(command.text)
        replaced = _AGAIN.text if again else self._reason_to_replace(decision, against)
        best = decision.menu.best or (
            refusal.remedy if refusal and decision.rules.environment else ""
        )
        if replaced and best and best != command.text:
            command, refusal = Command(best), None
        elif again:
            command, refusal = Command(""), None
        else:
            replaced = ""
        return Asked(
            answer.text,
            parsed,
            command,
            usage,
            refusal,
            tuple(refused),
            tuple(forbidden),
            replaced,
            tuple(notes),
            answer.truncated,
        )

    def _blocks(self, decision: Decision) -> bool:
        """True if the guard holds back what it objects to: it knows what the condition's rules
        say, or nothing.
        """
        return self.mind.beyond.enforcement.guard is GuardMode.BLOCK and bool(
            decision.rules.environment
        )

    def _command(self, action: str, belief: Belief) -> Command:
        """The action as the world is given it, with as much repaired as was asked for."""
        match self.repair:
            case Repair.OFF:
                return Command(action)
            case Repair.FORM:
                return self.world.form(action, belief)
        return self.world.command(action, belief)

    def _held_to(self, decision: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The menu, or in a run without one the templates of all actions, where the answer is
        to be held to them.
        """
        wanted, choices = self.mind.beyond.enforcement.constrained, decision.menu.choices
        without = not self.mind.beyond.enforcement.menu
        templates = (
            tuple(way for schema in decision.rules.environment for way in schema.syntax)
            if without
            else ()
        )
        if wanted is Constrained.OFF or not (choices or templates) or self.calls is Calls.NATIVE:
            return (), ()
        if able(self.model, "constrains"):
            return choices, templates
        if wanted is Constrained.ON:
            to = "a menu" if choices else "action templates"
            raise InputError(
                f"{self.model.name} cannot hold its answers to {to}; leave out constrained=on"
            )
        return (), ()

    def _tools(self, decision: Decision) -> tuple[Tool, ...]:
        """The tools that the model is to call itself: all of the world's, or of these what the
        menu has.
        """
        if self.calls is Calls.TEXT:
            return ()
        if not (tools := tuple(self.world.tools())):
            raise InputError(
                f"the actions of {self.world.name} are no calls of tools; leave out calls=native"
            )
        if not able(self.model, "calls_tools"):
            raise InputError(
                f"{self.model.name} cannot be given tools to call; leave out calls=native"
            )
        return narrowed(tools, decision.menu.commands)

    def _answer(self, request: Request) -> Answer:
        """Ask, held as far as the model can be; a run that insists is stopped where it cannot."""
        insists = self.mind.beyond.enforcement.constrained is Constrained.ON
        try:
            answer = self.model.answer(request)
        except CannotHold as error:
            if insists:
                raise InputError(f"{error}; leave out constrained=on") from None
            return self.model.answer(replace(request, templates=()))
        if insists and any(note.startswith(NOT_HELD) for note in answer.notes):
            to = "the menu" if request.choices else "the action templates"
            raise InputError(
                f"{self.model.name} does not hold its answers to {to}, on which constrained=on"
                " insists"
            )
        return answer

    def _reason_to_replace(self, decision: Decision, refusal: Refusal | None) -> str:
        if refusal is not None and self.mind.beyond.enforcement.replace and self._blocks(decision):
            return f"refused to the last: {refusal.text}"
        return (
            f"stuck: {decision.notice}"
            if decision.notice and self.mind.beyond.enforcement.unstick
            else ""
        )
