"""The methods that people compare with (methods.toml, docs/studies.md), and what an attempt
leaves for the next.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

from rpms.foreign.shown import excerpt, one_line
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.logic.goal import Goal
from rpms.models.base import Decoding, Model, Request
from rpms.models.parsing import LONGEST_TEXT
from rpms.paper.episode import Episode, Usage
from rpms.paper.prompt import Budget, Form, Layout, Part, Prompt, Turn, make_block, prompt_limit
from rpms.paper.selection import build
from rpms.paper.wording import Wording, transcript
from rpms.store.episodes import EpisodeRecord
from rpms.store.expel_material import Experience
from rpms.worlds.base import World

REACT = "react"
BOTH = "a short thought and one"
"""Phrases by which a world's instruction says what an answer is made of."""


class ThoughtWords(NamedTuple):
    """A thought as later histories tell it."""

    thought: str
    labelled: str = ""
    """The labelled lines in its place, where it is more than one."""


@dataclass(frozen=True)
class Method:
    """An agent's way of playing beside what RPMS adds; plain data, which goes to wherever
    episodes are played.
    """

    name: str
    trials: int = 1
    """Attempts at a task at most, the first included; by default as many as in the method's
    paper."""
    thinks: bool = True
    """True if a thought is asked for, and shown in the history."""
    labels: tuple[str, ...] = ()
    """Lines that the model writes before its thought, by their labels."""
    question: str = ""
    """Question after a failed attempt; empty if nothing is carried to the next one."""
    kept: int = 0
    """Number of texts written after attempts that a prompt shows, the last ones; with 0, each
    replaces the one before."""
    form: str = ""
    """A pattern that a line of such a text must have to be carried; nothing: the text is one
    item as it is."""
    heading: str = ""
    """Heading of the block with the carried texts."""
    recalled: int = 0
    """Trajectories of other tasks that a prompt shows."""
    experience: Experience | None = None
    """Insights and trajectories of recorded runs, for a method that has them."""

    def wording(self, wording: Wording, world: World) -> Wording:
        """A world's wording, with instruction and example in this method's form."""
        example = wording.example
        choosing = wording.choosing
        if not self.thinks:
            example = _without_thoughts(example)
            choosing = _without_thoughts(choosing)
        elif self.labels:
            example = _with_states(example, world)
        return replace(
            wording,
            instruction=self._instruction(wording.instruction),
            printed=self._instruction(wording.printed) if wording.printed else "",
            example=example,
            choosing=choosing,
            headings={Part.CARRIED: self.heading, **wording.headings},
        )

    def _instruction(self, text: str) -> str:
        """An instruction that asks for an answer in this method's form."""
        if not self.thinks:
            asked = _without_thoughts(_worded(text, "one"))
            return f"{asked}\nWrite the action alone, without a thought."
        if not self.labels:
            return text
        instruction = _worded(text, f"the goal, your state, {BOTH}")
        labels_first = f"{_LABELLED}\nThought:"
        instruction = re.sub(r"^Thought:", labels_first, instruction, count=1, flags=re.MULTILINE)
        if _LABELLED in instruction:
            return instruction
        return f"{instruction}\nBegin each answer with these lines:\n{_LABELLED}"

    def words(self, thought: str) -> ThoughtWords:
        """The thought as later histories tell it."""
        if not self.thinks:
            return ThoughtWords("")
        if not self.labels:
            return ThoughtWords(thought)
        lines = thought.split("\n")
        labelled: list[str] = []
        for label in self.labels:
            of_label = [line for line in lines if line.startswith(f"{label}:")]
            labelled += of_label[-1:]  # the last one counts
        rest = " ".join(line for line in lines if line not in labelled)
        if rest:
            labelled.append(f"Thought: {rest}")
        return ThoughtWords(thought, "\n".join(labelled))

    def opening(self, goal: Goal, task: str) -> tuple[str, ...]:
        """Texts brought along to every episode: insights, and trajectories of the tasks most
        like this one.
        """
        if self.experience is None:
            return ()
        texts = [f"  - {insight.text}" for insight in self.experience.insights]
        for attempt in self.experience.recall(goal.text, task, self.recalled):
            texts.append(f"An attempt at another task that succeeded:\n{attempt.text}")
        return tuple(texts)

    def once(self, why: str) -> Self:
        """The method itself. One that makes several attempts at a task is an InputError, with the
        reason why there is only one.
        """
        if self.question:
            raise InputError(
                f"the agent {self.name} carries notes from trial to trial of a task, and {why}: "
                "choose react, act, stateact or expel"
            )
        return self

    def protocol_entry(self) -> dict[str, object]:
        """Entry in a protocol. The number of trials decides no result of any one of them."""
        insights = {"insights": self.experience.hash} if self.experience is not None else {}
        return {"name": self.name, **insights}


_ROWS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("methods.toml").read_text(encoding="utf-8")
)
METHODS = {
    name: Method(name, **{**row, "labels": tuple(row.get("labels", ()))})
    for name, row in _ROWS.items()
}
_LABELLED = "Goal: the task in a few words\nState: where you are, and what you carry"


def _worded(instruction: str, instead: str) -> str:
    """An instruction that asks for something else than a thought and an action."""
    return re.sub(BOTH.replace(" ", r"\s+"), instead, instruction, count=1)


def _without_thoughts(text: str) -> str:
    """Without thoughts, each from its label up to the next one, and without the advice to think."""
    text = re.sub(
        r"^Thought:.*(?:\n|\Z)(?:(?!(?:Action|Obs|Thought):).*\n)*", "", text, flags=re.MULTILINE
    )
    return re.sub(r"^.*\bThink when necessary\b.*\n?", "", text, flags=re.MULTILINE).rstrip("\n")


def _with_states(example: str, world: World) -> str:
    """The example with a goal and a state before each turn: the world's own reading of it, in
    the form asked for.
    """
    pieces = re.split(r"^(?=(?:Thought|Action|Obs):)", example, flags=re.MULTILINE)
    goal = world.goal(pieces[0])
    belief = world.update(world.start(goal), None, pieces[0])
    shown = [pieces[0]]
    action = ""
    for before, piece in pairwise(pieces):
        if piece.startswith("Obs:"):
            belief = world.update(belief, action, piece.removeprefix("Obs:").strip())
        elif not before.startswith("Thought:"):
            held = ", ".join(belief.holding) or "nothing"
            state = f"at {belief.location or 'the start'}; carrying {held}"
            shown.append(f"Goal: {goal.text or 'the task above'}\nState: {state}\n")
        if piece.startswith("Action:"):
            action = piece.removeprefix("Action:").partition("\n")[0].strip()
        shown.append(piece)
    return "".join(shown)


CARRIED = "carried"
"""The folder of a run that holds what each of its episodes brought along from earlier attempts."""
LONGEST_ITEM = 1_000
MOST_LINES = 10
"""Lines that are carried of a text."""
LONGEST_LINE = 200
"""Characters that are carried of a line."""


@dataclass(frozen=True)
class Earlier:
    """The last attempt at a task, and the texts that it had carried over."""

    turns: tuple[Turn, ...]
    last: str
    """The world's last text."""
    ending: str
    carried: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, episode: Episode | EpisodeRecord, ending: str, carried: tuple[str, ...] = ()
    ) -> Self:
        """The earlier attempt, from an episode that was just played or from its file."""
        turns = tuple(Turn(step.observation, step.command, step.thought) for step in episode.steps)
        return cls(turns, episode.steps[-1].result if episode.steps else "", ending, carried)


@dataclass(frozen=True, slots=True)
class Reflection:
    """Texts carried to the next attempt, with the cost of asking for them."""

    carried: tuple[str, ...]
    usage: Usage
    note: str


NOTHING = Reflection((), Usage(), "")


def reflect(
    method: Method,
    earlier: Earlier,
    model: Model,
    decoding: Decoding,
    episode: str,
    context: int = 0,
) -> Reflection:
    """Ask the model about an attempt. If it fails to answer, the earlier texts are carried on;
    ModelUnavailable is raised.
    """
    prompt = question(method, earlier, prompt_limit(context, decoding.max_tokens))
    try:
        answer = model.answer(Request(prompt, replace(decoding, stop=()), f"{episode} after"))
    except ModelUnavailable:
        raise
    except ModelError as error:
        note = f"nothing was written after the last attempt: {excerpt(error)}"
        return Reflection(earlier.carried, Usage(), note)
    written = _items(method, answer.text)
    if not written:
        note = "nothing of use was written after the last attempt"
        return Reflection(earlier.carried, answer.usage, note)
    carried = (*earlier.carried, *written)[-method.kept :] if method.kept else written
    note = "the last attempt was read first, and its tokens are counted here"
    return Reflection(carried, answer.usage, note)


def question(method: Method, earlier: Earlier, limit: int = 0) -> Prompt:
    """The prompt: the question, the carried texts, and the attempt; if it is too long, the oldest
    turns go first.
    """
    history, last = transcript(earlier.turns, earlier.last)
    task = "Now write anew." if earlier.carried else "Now write."
    end = f"The attempt ended here: {earlier.ending}. {task}"
    blocks = (
        make_block(Part.INSTRUCTION, "", [method.question]),
        make_block(Part.CARRIED, method.heading, earlier.carried),
        history,
        last,
        make_block(Part.NOTICE, "", [end]),
    )
    return build(blocks, Layout.CACHED, Budget(prompt=limit), form=Form.SINGLE)


def _items(method: Method, text: str) -> tuple[str, ...]:
    """A model's text, bounded: as one item, or the lines of it that have the method's form."""
    # the reasoning before it is dropped
    text = re.split(r"</think(?:ing)?>", text[:LONGEST_TEXT])[-1]
    if not method.form:
        item = one_line(text, LONGEST_ITEM).strip()
        return (f"  - {item}",) if item else ()
    found: dict[str, None] = {}
    for line in text.splitlines():
        item = one_line(line.strip(" -*•\t"), LONGEST_LINE)
        if re.search(method.form, item, re.IGNORECASE):
            found[f"  - {item}"] = None
    return tuple(found)[:MOST_LINES]
