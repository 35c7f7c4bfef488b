"""Sub-goal pointer from the goal alone: what its sentence asks for, in its order, moved by what the belief shows.

For manuals without facts or procedures of a goal, such as the paper's for ScienceWorld: nothing but the goal's own
words and what was seen decides what is shown as the current objective.
"""

from __future__ import annotations

from rpms.core.belief import Belief
from rpms.core.goal import EXPLORING, Progress


def point(belief: Belief) -> tuple[Progress, int | None]:
    """The first step that is not behind, and how many are; one is behind when it was done, or a later one was."""
    steps = belief.asked()
    if not steps:
        return Progress(EXPLORING, "", 0, 1), None
    behind = max((number for number, step in enumerate(steps, start=1) if step.done), default=0)
    step = steps[min(behind, len(steps) - 1)]
    return Progress(step.name, step.target, behind, len(steps)), behind
