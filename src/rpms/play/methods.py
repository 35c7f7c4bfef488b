"""The methods that people compare with, as values: what each asks of the model and carries between trials.

A method changes only the form of an answer and what a prompt carries over; see docs/methods.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from rpms.core.belief import Belief
from rpms.core.errors import InputError
from rpms.core.goal import Goal
from rpms.core.prompt import Part
from rpms.core.wording import Wording
from rpms.store.experience import Experience
from rpms.worlds.base import World

REACT = "react"
BOTH = "a short thought and one"
"""Phrases by which a world's instruction says what an answer is made of."""
_REFLECT = (
    "You will read an attempt at a task in a text world that did not succeed. Find where it went wrong: what was "
    "looked for in the wrong place, left out, or repeated in vain. Then write a short plan, in two to four sentences "
    "and in the first person, of what to do differently in the next attempt at the same task. Name the places, "
    "objects and actions that matter. Answer with the plan alone."
)
_CAUSES = (
    "You will read an attempt at a task in a text world, and what was noted after earlier attempts. Write the notes "
    "anew, at most ten lines, each about what an action is good for, in one of these forms:\n"
    "X is necessary to Y\nX may be necessary to Y\nX may contribute to Y\nX does not contribute to Y\n"
    "Say `may` where you are not sure. Keep what still holds, correct what the attempt shows to be wrong, and "
    "leave out what is of no use for the task. Answer with the lines alone."
)


@dataclass(frozen=True)
class Method:
    """An agent's way of playing beside what RPMS adds; plain data, which goes to wherever episodes are played."""

    name: str
    trials: int = 1
    """Attempts at a task at most, the first included; by default as many as in the method's paper."""
    thinks: bool = True
    """True if a thought is asked for, and shown in the history."""
    labels: tuple[str, ...] = ()
    """Lines that the model writes before its thought, by their labels."""
    question: str = ""
    """Question after a failed attempt; empty if nothing is carried to the next one."""
    kept: int = 0
    """Of the texts that it wrote after attempts, how many of the last a prompt shows; 0: each replaces the one before.
    """
    form: str = ""
    """A pattern that a line of such a text must have to be carried; nothing: the text is one item as it is."""
    heading: str = ""
    """Of the block with what is carried."""
    recalled: int = 0
    """Trajectories of other tasks that a prompt shows."""
    experience: Experience | None = None
    """Insights and trajectories of recorded runs, for a method that has them."""

    def wording(self, wording: Wording, world: World) -> Wording:
        """A world's wording, with instruction and example in this method's form."""
        wording = replace(wording, headings={Part.CARRIED: self.heading, **wording.headings})
        printed = self._instruction(wording.printed) if wording.printed else ""
        wording = replace(wording, instruction=self._instruction(wording.instruction), printed=printed)
        if not self.thinks:
            example, choosing = _without_thoughts(wording.example), _without_thoughts(wording.choosing)
            return replace(wording, example=example, choosing=choosing)
        return replace(wording, example=_with_states(wording.example, world)) if self.labels else wording

    def _instruction(self, text: str) -> str:
        """An instruction that asks for an answer in this method's form."""
        if not self.thinks:
            return f"{_without_thoughts(_worded(text, 'one'))}\nWrite the action alone, without a thought."
        if not self.labels:
            return text
        told = _worded(text, f"the goal, your state, {BOTH}")
        told = re.sub(r"^Thought:", f"{_LABELLED}\nThought:", told, count=1, flags=re.MULTILINE)
        return told if _LABELLED in told else f"{told}\nBegin each answer with these lines:\n{_LABELLED}"

    def words(self, thought: str) -> tuple[str, str]:
        """The thought as later histories tell it, and the labelled lines in its place where it is more than one."""
        if not self.thinks:
            return "", ""
        if not self.labels:
            return thought, ""
        lines = thought.split("\n")
        labelled = {each: line for each in self.labels for line in lines if line.startswith(f"{each}:")}
        rest = " ".join(line for line in lines if line not in labelled.values())
        return thought, "\n".join((*labelled.values(), *((f"Thought: {rest}",) if rest else ())))

    def opening(self, goal: Goal, task: str) -> tuple[str, ...]:
        """Texts brought along to every episode: insights, and trajectories of the tasks most like this one."""
        if self.experience is None:
            return ()
        insights = tuple(f"  - {insight.text}" for insight in self.experience.insights)
        recalled = self.experience.recall(goal.text, task, self.recalled)
        return (*insights, *(f"An attempt at another task that succeeded:\n{each.text}" for each in recalled))

    def once(self, why: str) -> Method:
        """The same, where a task is attempted once; one that lives by its trials is an InputError there."""
        if self.question:
            raise InputError(
                f"the agent {self.name} carries notes from trial to trial of a task, and {why}: "
                "choose react, act, stateact or expel"
            )
        return self

    def settings(self) -> dict[str, object]:
        """Entry in a protocol. The number of trials decides no result of any one of them."""
        insights = {"insights": self.experience.hash} if self.experience is not None else {}
        return {"name": self.name, **insights}


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(REACT),
        Method("act", thinks=False),
        Method(
            "reflexion",
            trials=12,
            question=_REFLECT,
            kept=3,
            heading="[Your plans after earlier attempts at this task]",
        ),
        Method(
            "expel",
            recalled=2,
            heading="[Insights from other tasks, and attempts at tasks like this one that succeeded]",
        ),
        Method("stateact", labels=("Goal", "State")),
        Method(
            "clin",
            trials=5,
            question=_CAUSES,
            form=r"\b(?:(?:is|are|may be|should be) necessary (?:to|for)|(?:does not|may) contribute to)\b",
            heading="[What you noted after earlier attempts at this task]",
        ),
    )
}
"""By name; the numbers are the papers', those of clin as far as its figures show."""

_LABELLED = "Goal: the task in a few words\nState: where you are, and what you carry"


def _worded(instruction: str, instead: str) -> str:
    """An instruction that asks for something else than a thought and an action."""
    return re.sub(BOTH.replace(" ", r"\s+"), instead, instruction, count=1)


def _without_thoughts(text: str) -> str:
    """Without thoughts, each from its label up to the next one, and without the advice to think."""
    text = re.sub(r"^Thought:.*(?:\n|\Z)(?:(?!(?:Action|Obs|Thought):).*\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"^.*\bThink when necessary\b.*\n?", "", text, flags=re.MULTILINE).rstrip("\n")


def _with_states(example: str, world: World) -> str:
    """The example with a goal and a state before each turn: the world's own reading of it, in the form asked for."""
    pieces = re.split(r"^(?=(?:Thought|Action|Obs):)", example, flags=re.MULTILINE)
    goal = world.goal(pieces[0])
    belief = world.update(world.start(goal), None, pieces[0])
    told, action = [pieces[0]], ""
    for before, piece in pairwise(pieces):
        if piece.startswith("Obs:"):
            belief = world.update(belief, action, piece.removeprefix("Obs:").strip())
        elif not before.startswith("Thought:"):
            told.append(f"Goal: {goal.text or 'the task above'}\nState: {_state(belief)}\n")
        if piece.startswith("Action:"):
            action = piece.removeprefix("Action:").partition("\n")[0].strip()
        told.append(piece)
    return "".join(told)


def _state(belief: Belief) -> str:
    return f"at {belief.location or 'the start'}; carrying {', '.join(belief.holding) or 'nothing'}"
