"""Sub-goal pointer from the goal's sentence and the belief, for manuals without facts or procedures of a goal."""

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
