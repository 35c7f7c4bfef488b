"""The progress pointer, and the sub-goal it points at."""

from __future__ import annotations

from rpms.core.goal import Progress
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.procedures import procedure
from rpms.worlds.scienceworld.update import update as perceive


def update(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    """f_UPD of Eq. 1: take in an answer, then move the pointer."""
    after = perceive(belief, action, observation)
    return after.but(pointer=pointer(after)) if isinstance(after.goal, ScienceGoal) else after


def pointer(belief: ScienceBelief) -> int:
    """How many sub-goals are reached, one after the other, from where the pointer stood before.

    It falls back only to a sub-goal that can be undone, and was: a thing put down that is to be carried.
    """
    goal = belief.goal
    if not isinstance(goal, ScienceGoal):
        return belief.pointer
    steps = procedure(goal)
    reached = [
        (place < belief.pointer and step.lasting) or step.reached(goal, belief) for place, step in enumerate(steps)
    ]
    for place in range(len(steps) - 2, -1, -1):
        reached[place] = reached[place] or (steps[place].means and reached[place + 1])
    return reached.index(False) if False in reached else len(steps)


def progress(goal: ScienceGoal, belief: ScienceBelief) -> Progress:
    """The current sub-goal; of a goal that no template fits, nothing is known."""
    steps = procedure(goal)
    if not steps:
        return Progress("follow_the_task", "", 0, 0)
    current = steps[min(belief.pointer, len(steps) - 1)]
    return Progress(current.kind, current.target, belief.pointer, len(steps))
