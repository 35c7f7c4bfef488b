"""Lessons in a model's words, held to what happened: each is checked, marked with its origin, or left as it was.

The model is told the transcript around a failure and nothing of the manual, so that no rule enters by memory a prompt
that has none. What it writes is data from outside: one printable line, about things and actions that were there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rpms.core.arbitration import prohibition
from rpms.core.belief import Situation
from rpms.core.episode import Episode, Step
from rpms.core.errors import ModelError, ModelUnavailable
from rpms.core.memory import Entry, FailureLesson, merge
from rpms.core.prompt import Part, Prompt, make_block
from rpms.core.rules import RuleManual
from rpms.core.tokens import estimate_tokens
from rpms.foreign.shown import one_line, unseen
from rpms.models.base import Decoding, Model, Request

SHORTEST, LONGEST = 10, 200
"""Characters of a lesson: a line of a prompt."""
_AFTER = 6
"""Steps after the failure that the model is told: what worked instead is among the first."""
_DECODING = Decoding(max_tokens=96)
_COMMAND = re.compile(r"`([^`]+)`")
_INSTANCE = re.compile(r"\b[a-z]+ \d+\b")
_INSTRUCTION = (
    "An action in a text game failed. In one sentence, say what to do instead, for whoever is in the same position "
    "later. Write every action between backticks, as it stands below, and name at least one that worked. Name nothing "
    "that does not stand below. Answer with the sentence alone, after `Lesson:`."
)


@dataclass(frozen=True)
class Wording:
    """Puts lessons of one episode into a model's words, as far as they stand up to the check."""

    model: Model
    manual: RuleManual

    def over(self, entries: Iterable[Entry], episode: Episode) -> tuple[Entry, ...]:
        """The same entries, merged anew. ModelUnavailable passes through; another failure leaves a lesson as it was."""
        return merge(self._worded(entries, episode))

    def _worded(self, entries: Iterable[Entry], episode: Episode) -> Iterator[Entry]:
        for entry in entries:
            if isinstance(entry, FailureLesson):
                step = episode.steps[min(entry.origins).step - 1]
                text = self._ask(step, episode)
                if text and not self.objection(text, step, episode):
                    yield replace(entry, corrective_rule=text, worded_by=one_line(self.model.name, 80))
                    continue
            yield entry

    def _ask(self, step: Step, episode: Episode) -> str:
        lines = list(_told(step, episode))
        blocks = (
            make_block(Part.INSTRUCTION, "", [_INSTRUCTION], estimate_tokens),
            make_block(Part.OBSERVATION, "", lines, estimate_tokens),
        )
        try:
            answer = self.model.answer(Request(Prompt(blocks), _DECODING, f"lesson {episode.task} {step.number}"))
        except ModelUnavailable:
            raise
        except ModelError:
            return ""
        text = answer.text.strip()
        return text.rpartition("Lesson:")[2].strip().partition("\n")[0].strip()

    def objection(self, text: str, step: Step, episode: Episode) -> str:
        """What is wrong with a lesson; nothing where it stands up to manual and transcript."""
        if not SHORTEST <= len(text) <= LONGEST or any(unseen(char) for char in text):
            return f"is not one line of {SHORTEST} to {LONGEST} printable characters"
        seen = " ".join(f"{each.observation} {each.command} {each.result}" for each in episode.steps)
        strange = [name for name in _INSTANCE.findall(text) if not re.search(rf"\b{re.escape(name)}\b", seen)]
        if strange:
            return f"names {strange[0]}, which was not there"
        others = [command for command in _COMMAND.findall(text) if command != step.command]
        wrong = (self._objection_to(command, step, episode) for command in others)
        return next(filter(None, wrong), "") if others else "names no action to do instead"

    def _objection_to(self, command: str, step: Step, episode: Episode) -> str:
        """What is wrong with advising a command."""
        if all(each.infeasible or each.command != command for each in episode.steps):
            return f"advises `{command}`, which did not work in this episode"
        rules = self.manual.active(step.decision.goal.type, step.decision.goal.object)
        if rules.environment and rules.instance(command) is None:
            return f"advises `{command}`, which is no action of the manual"
        forbidden = prohibition(command, rules, Situation(step.decision.belief, step.decision.goal))
        return f"advises what {forbidden.rule} forbids" if forbidden is not None and forbidden.conflict else ""


def _told(step: Step, episode: Episode) -> Iterator[str]:
    """What happened, for the model: the task, the failure, and what came after it."""
    decision = step.decision
    held = ", ".join(decision.belief.holding) or "nothing"
    where = f" at {decision.belief.location}" if decision.belief.location else ""
    yield f"Task: {one_line(episode.goal, 300)}"
    yield f"The agent was{where} with {held} in hand, and did `{step.command}`."
    yield f"It failed. The world answered: {one_line(step.result, 200)}"
    yield "What was done next:"
    for later in episode.steps[step.number : step.number + _AFTER]:
        how = "failed" if later.infeasible else "worked"
        yield f"- `{one_line(later.command, 120)}` {how}: {one_line(later.result, 120)}"
