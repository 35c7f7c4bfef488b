"""Lessons in a model's words, in Appendix F's form: each is checked, marked with its origin, or left as it was.

The model is told the transcript around a failure and nothing of the manual, so that no rule enters by memory a prompt
that has none. What it writes is data from outside: one printable line, a rule about the action that failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rpms.core.episode import Episode, Step
from rpms.core.errors import ModelError, ModelUnavailable
from rpms.core.memory import Entry, FailureLesson, merge
from rpms.core.prompt import Part, Prompt, make_block
from rpms.foreign.shown import one_line, unseen
from rpms.models.base import Decoding, Model, Request

SHORTEST, LONGEST = 10, 200
"""Characters of a lesson: a line of a prompt."""
_AFTER = 6
"""Steps after the failure that the model is told: what worked instead is among the first."""
_DECODING = Decoding(max_tokens=96)
_FORM = re.compile(r"\bmust\b.* before [a-z]+ing\b")
_INSTANCE = re.compile(r"\b[a-z]+ \d+\b")
_INSTRUCTION = (
    "An action in a text game failed because something that it needs did not hold. State the rule that would have "
    "avoided it, for any room, in the form `must … before …ing`, such as: must be at the place and the place must be "
    "open before taking. Name no numbers. Answer with the rule alone, after `Lesson:`."
)


@dataclass(frozen=True)
class LessonWriter:
    """Puts lessons of one episode into a model's words, as far as they stand up to the check."""

    model: Model

    def over(self, entries: Iterable[Entry], episode: Episode) -> tuple[Entry, ...]:
        """The same entries, merged anew. ModelUnavailable passes through; another failure leaves a lesson as it was."""
        return merge(self._worded(entries, episode))

    def _worded(self, entries: Iterable[Entry], episode: Episode) -> Iterator[Entry]:
        for entry in entries:
            if isinstance(entry, FailureLesson):
                step = episode.steps[min(entry.origins).step - 1]
                text = self._ask(step, episode)
                if text and not objection(text, step):
                    yield replace(entry, corrective_rule=text, worded_by=one_line(self.model.name, 80))
                    continue
            yield entry

    def _ask(self, step: Step, episode: Episode) -> str:
        lines = list(_told(step, episode))
        blocks = (
            make_block(Part.INSTRUCTION, "", [_INSTRUCTION]),
            make_block(Part.OBSERVATION, "", lines),
        )
        try:
            answer = self.model.answer(Request(Prompt(blocks), _DECODING, f"lesson {episode.task} {step.number}"))
        except ModelUnavailable:
            raise
        except ModelError:
            return ""
        text = answer.text.strip()
        return text.rpartition("Lesson:")[2].strip().partition("\n")[0].strip()


def objection(text: str, step: Step) -> str:
    """The fault of a lesson; nothing where it is a rule about the action that failed."""
    if not SHORTEST <= len(text) <= LONGEST or any(unseen(char) for char in text):
        return f"is not one line of {SHORTEST} to {LONGEST} printable characters"
    if not _FORM.search(text):
        return "is not in the form `must … before …ing`"
    if name := _INSTANCE.search(text):
        return f"names {name[0]}, which is of one room alone"
    verb = step.command.split()[0]
    said = text.rpartition(" before ")[2].split()[0]
    about = said.startswith(verb[:-1]) or verb.startswith(said.removesuffix("ing"))
    return "" if about else f"is about {said}, and what failed was `{step.command}`"


def _told(step: Step, episode: Episode) -> Iterator[str]:
    """Transcript for the model: the task, the failure, and what came after it."""
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
