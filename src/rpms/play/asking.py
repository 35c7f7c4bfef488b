"""A model is asked for an action: again while the guard refuses it, held to a menu, or by tools."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from rpms.foreign.call_text import Tool, narrowed
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.base import Answer, CannotHold, Decoding, Model, Request, able
from rpms.models.constraint import NOT_HELD
from rpms.models.parsing import ParsedAnswer, parse_answer
from rpms.paper.decide import Decision
from rpms.paper.enforcement import Calls, Constrained, Enforcement, GuardMode, Repair
from rpms.paper.episode import ForbiddenCommand, RefusedCommand, Usage
from rpms.paper.prompt import Part
from rpms.paper.review import Refusal, ask_again, review_rules
from rpms.paper.wording import HEADINGS
from rpms.play.course import Asked
from rpms.worlds.base import Command, World

_AGAIN = Refusal("it was refused, and nothing about its things or the place has changed since", "")
NO_ACTION = Refusal("there was no action in your answer; write one after `Action:`", "")


class _HeldTo(NamedTuple):
    """The choices or templates that an answer is held to, if it is held to any."""

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


class _Replacement(NamedTuple):
    """The command that is played in place of a proposal."""

    reason: str
    """Empty where the proposal stands."""
    command: Command


@dataclass(frozen=True)
class Asking:
    """Asks a model for the action of a step, as the enforcement says."""

    world: World
    model: Model
    decoding: Decoding
    enforcement: Enforcement
    repair: Repair
    calls: Calls

    def ask(self, decision: Decision, episode: str) -> Asked:
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
            if objection is None or len(refused) >= self.enforcement.reasks:
                break
            command = proposal.command.text
            refused.append(RefusedCommand(command, objection.text))
            notice = ask_again(command, objection)
            prompt = request.prompt.noticing(notice, HEADINGS[Part.NOTICE])
            request = replace(request, prompt=prompt)
        return self._settle(decision, proposals, refused, lost)

    def _propose(self, request: Request, decision: Decision) -> _Proposal:
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
        self, proposal: _Proposal, decision: Decision, refused: Sequence[RefusedCommand]
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
        proposals: Sequence[_Proposal],
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

    def _replacement(self, decision: Decision, last: _Proposal) -> _Replacement:
        """The command in place of a proposal: the menu's best, else what the refusal names; none
        at all for one that is barred. Without a reason, its own.
        """
        barred = decision.advice.bars(last.command.text)
        reason = _AGAIN.text if barred else self._reason_to_replace(decision, last)
        best = decision.menu.best
        if best is None and last.refusal is not None and decision.rules.environment:
            best = last.refusal.remedy
        if reason and best and best != last.command.text:
            return _Replacement(reason, Command(best))
        if barred:
            return _Replacement(reason, Command(""))
        return _Replacement("", last.command)

    def _blocks(self, decision: Decision) -> bool:
        """True if the guard holds back commands that it objects to. It knows only what the
        condition's rules say.
        """
        blocks = self.enforcement.guard is GuardMode.BLOCK
        return blocks and bool(decision.rules.environment)

    def _command(self, action: str, belief: Belief) -> Command:
        """The action as the world is given it, with as much repaired as was asked for."""
        match self.repair:
            case Repair.OFF:
                return Command(action)
            case Repair.FORM:
                return self.world.form(action, belief)
        return self.world.command(action, belief)

    def _held_to(self, decision: Decision) -> _HeldTo:
        """The menu, or in a run without one the templates of all actions, where the answer is
        to be held to them.
        """
        wanted = self.enforcement.constrained
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
        if self.enforcement.menu:
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
        insists = self.enforcement.constrained is Constrained.ON
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

    def _reason_to_replace(self, decision: Decision, last: _Proposal) -> str:
        """The reason that the best entry of the menu takes the place of the model's command."""
        enforcement = self.enforcement
        against = last.against(decision)
        if against is not None and enforcement.replace and self._blocks(decision):
            return f"refused to the last: {against.text}"
        if decision.notice and enforcement.unstick:
            return f"stuck: {decision.notice}"
        return ""
