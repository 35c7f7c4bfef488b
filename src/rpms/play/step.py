"""The step that every loop takes: an action is chosen, and the world's answer to it becomes
part of the course.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rpms.foreign.call_text import Tool, narrowed
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.models.base import Answer, CannotHold, Decoding, Model, Request, able
from rpms.models.constraint import NOT_HELD
from rpms.models.parsing import ParsedAnswer, parse_answer
from rpms.paper.beyond import Noticed, turn_state
from rpms.paper.compose import extended
from rpms.paper.decide import Decision, Mind, decide
from rpms.paper.enforcement import Calls, Constrained, GuardMode, Repair
from rpms.paper.episode import ForbiddenCommand, RefusedCommand, Step, Usage
from rpms.paper.prompt import Part, Turn
from rpms.paper.review import Refusal, ask_again, review_rules
from rpms.paper.wording import HEADINGS
from rpms.play.course import Asked, Course, Move
from rpms.play.methods import METHODS, NOTHING, REACT, Method, Reflection
from rpms.play.understanding import Reads, Understood
from rpms.worlds.base import Command, Outcome, World

if TYPE_CHECKING:
    from rpms.reading.readings import Readings

_AGAIN = Refusal("it was refused, and nothing about its things or the place has changed since", "")
NO_ACTION = Refusal("there was no action in your answer; write one after `Action:`", "")


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
        """The goal that an opening observation states, read where it is in a person's words, or a
        person's `request`.
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
        asked = self._ask(decision, episode).after_reading(again)
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
        """The reason that a player by plans has nothing left to do for its goal; empty for one
        that may know better, such as a language model, and where something is left.
        """
        if not able(self.model, "plans"):
            return ""
        read = move.read
        if read is None or read.readings is None:
            from rpms.planning.advice import nothing_left  # noqa: PLC0415  the paper loads no planner

            return nothing_left(move.decision)
        from rpms.play.request_reading import given_up  # noqa: PLC0415  a known goal loads no reader

        reads = self.reads or Reads(self.model)
        return given_up(self.world, reads, read.readings, move.decision, self._extended)

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
        """The record of a step. The first one also has what was asked before it."""
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
        held = self._held_to(decision)
        tools = self._tools(decision)
        request = Request(
            decision.prompt, self.decoding, episode, decision, held.choices, held.templates, tools
        )
        proposals: list[_Proposal] = []
        refused: list[RefusedCommand] = []
        lost = ""
        while True:
            try:
                proposal = self._propose(request, decision)
            except ModelError as error:
                if not proposals or isinstance(error, ModelUnavailable):
                    raise
                lost = f"asked again without an answer: {error}"  # its earlier answer stands
                break
            proposals.append(proposal)
            objection = self._objection(proposal, decision, refused)
            if objection is None or len(refused) >= self.mind.beyond.enforcement.reasks:
                break
            command = proposal.command.text
            refused.append(RefusedCommand(command, objection.text))
            notice = ask_again(command, objection)
            prompt = request.prompt.noticing(notice, HEADINGS[Part.NOTICE])
            request = replace(request, prompt=prompt)
        return self._settle(decision, proposals, refused, lost)

    def _propose(self, request: Request, decision: Decision) -> "_Proposal":
        """Ask the model, read its answer, and find what speaks against its command."""
        answer = self._answer(request)
        parsed = parse_answer(answer.text)
        action = decision.menu.command_for(parsed.action) if parsed.action else ""
        command = self._command(action, decision.belief) if action else Command("")
        refusal = decision.advice.review(command.text) if parsed.action else NO_ACTION
        breach = None
        if refusal is None:
            situation = Situation(decision.belief, decision.goal)
            breach = review_rules(command.text, decision.schemas, situation)
        return _Proposal(answer, parsed, command, refusal, breach)

    def _objection(
        self, proposal: "_Proposal", decision: Decision, refused: Sequence[RefusedCommand]
    ) -> Refusal | None:
        """The reason to ask again: it was refused before, the guard holds it back, or memory warns
        of it, which it does once.
        """
        command = proposal.command.text
        if decision.advice.bars(command):
            return _AGAIN
        against = proposal.against(decision)
        if against is not None and self._blocks(decision):
            return against
        has_insisted = any(earlier.command == command for earlier in refused)
        if has_insisted:
            return None
        return decision.advice.caution(command, decision.candidates)

    def _settle(
        self,
        decision: Decision,
        proposals: "Sequence[_Proposal]",
        refused: Sequence[RefusedCommand],
        lost: str,
    ) -> Asked:
        """The last proposal, or what takes its place."""
        last = proposals[-1]
        replaced, command = self._replacement(decision, last)
        usage = Usage()
        notes: dict[str, None] = {}
        forbidden: list[ForbiddenCommand] = []
        for proposal in proposals:
            usage += proposal.answer.usage
            notes |= dict.fromkeys(proposal.answer.notes)
            if proposal.breach:
                forbidden.append(ForbiddenCommand(proposal.command.text, proposal.breach.rule))
        if lost:
            notes[lost] = None
        return Asked(
            text=last.answer.text,
            parsed=last.parsed,
            command=command,
            usage=usage,
            refusal=None if replaced else last.refusal,
            refused=tuple(refused),
            forbidden=tuple(forbidden),
            replaced=replaced,
            notes=tuple(notes),
            truncated=last.answer.truncated,
        )

    def _replacement(self, decision: Decision, last: "_Proposal") -> tuple[str, Command]:
        """The reason to replace a proposal, and the command in its place: the menu's best, else
        what the refusal names; none at all for one that is barred. Without a reason, its own.
        """
        barred = decision.advice.bars(last.command.text)
        reason = _AGAIN.text if barred else self._reason_to_replace(decision, last)
        best = decision.menu.best
        if best is None and last.refusal is not None and decision.rules.environment:
            best = last.refusal.remedy
        if reason and best and best != last.command.text:
            return reason, Command(best)
        if barred:
            return reason, Command("")
        return "", last.command

    def _blocks(self, decision: Decision) -> bool:
        """True if the guard holds back commands that it objects to. It knows only what the
        condition's rules say.
        """
        blocks = self.mind.beyond.enforcement.guard is GuardMode.BLOCK
        return blocks and bool(decision.rules.environment)

    def _command(self, action: str, belief: Belief) -> Command:
        """The action as the world is given it, with as much repaired as was asked for."""
        match self.repair:
            case Repair.OFF:
                return Command(action)
            case Repair.FORM:
                return self.world.form(action, belief)
        return self.world.command(action, belief)

    def _held_to(self, decision: Decision) -> "_HeldTo":
        """The menu, or in a run without one the templates of all actions, where the answer is
        to be held to them.
        """
        wanted = self.mind.beyond.enforcement.constrained
        if wanted is Constrained.OFF or self.calls is Calls.NATIVE:
            return _FREE
        held = _HeldTo(decision.menu.choices, self._templates(decision))
        if held == _FREE or able(self.model, "constrains"):
            return held
        if wanted is Constrained.ON:
            to = "a menu" if held.choices else "action templates"
            raise InputError(
                f"{self.model.name} cannot hold its answers to {to}; leave out constrained=on"
            )
        return _FREE

    def _templates(self, decision: Decision) -> tuple[str, ...]:
        """Every way to write an action, where no menu is offered."""
        if self.mind.beyond.enforcement.menu:
            return ()
        syntax = (schema.syntax for schema in decision.rules.environment)
        return tuple(chain.from_iterable(syntax))

    def _tools(self, decision: Decision) -> tuple[Tool, ...]:
        """The tools that the model is to call itself: all of the world's, or those on the menu."""
        if self.calls is Calls.TEXT:
            return ()
        tools = tuple(self.world.tools())
        if not tools:
            raise InputError(
                f"the actions of {self.world.name} are no calls of tools; leave out calls=native"
            )
        if not able(self.model, "calls_tools"):
            raise InputError(
                f"{self.model.name} cannot be given tools to call; leave out calls=native"
            )
        return narrowed(tools, decision.menu.commands)

    def _answer(self, request: Request) -> Answer:
        """Ask for an answer held to choices or templates, if the model can; if it cannot and the
        run insists, stop.
        """
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

    def _reason_to_replace(self, decision: Decision, last: "_Proposal") -> str:
        """The reason that the best entry of the menu takes the place of the model's command."""
        enforcement = self.mind.beyond.enforcement
        against = last.against(decision)
        if against is not None and enforcement.replace and self._blocks(decision):
            return f"refused to the last: {against.text}"
        if decision.notice and enforcement.unstick:
            return f"stuck: {decision.notice}"
        return ""


class _HeldTo(NamedTuple):
    """All that an answer may be, where it is held to something."""

    choices: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


_FREE = _HeldTo()


@dataclass(frozen=True, slots=True)
class _Proposal:
    """One answer of the model, read, with what speaks against its command."""

    answer: Answer
    parsed: ParsedAnswer
    command: Command
    refusal: Refusal | None
    """The reason that it is known to fail."""
    breach: Refusal | None
    """The rule that certainly forbids it."""

    def against(self, decision: Decision) -> Refusal | None:
        """The guard's objection: none to what a plan means to do against the manual."""
        if decision.advice.defies(self.command.text):
            return None
        return self.refusal or self.breach


def _readings_begun_with(course: Course, move: Move) -> "Readings | None":
    """The readings of a request in the step that begins to act on one of them; none while it is
    taken in the world's own words.
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
