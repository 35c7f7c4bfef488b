"""The progress pointer, and the sub-goal it points at."""

from __future__ import annotations

import re
from typing import Final

from rpms.core.goal import Progress
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.procedures import procedure
from rpms.worlds.scienceworld.tallies import tally
from rpms.worlds.scienceworld.update import update as perceive

_TAKES_TIME: Final = re.compile(
    r"check|cool|have|heat|measure|open|time|wait|water|wire|focus_on.* stage\b|focus_on_life_stage"
)
"""The sub-goals at which the world is at work too."""
_WATCHING: Final = re.compile(r"(?:wait|look|examine|use thermometer|pour|move jug)")
"""The commands that let it work."""


def update(belief: ScienceBelief, action: str | None, observation: str) -> ScienceBelief:
    """f_UPD of Eq. 1: take in an answer, count what is to be counted, then move the pointer."""
    after = tally(belief, perceive(belief, action, observation))
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
        return Progress("follow_the_task", "", 0, 0, moment(belief))
    current = steps[min(belief.pointer, len(steps) - 1)]
    patient = (
        _TAKES_TIME.match(f"{current.kind} {current.target}") is not None
        and _WATCHING.match(belief.last_action or "") is not None
    )
    now = str(belief.steps) if patient and not belief.failed else moment(belief)
    return Progress(current.kind, current.target, belief.pointer, len(steps), now)


def moment(belief: ScienceBelief) -> str:
    """All that is known of the world, as a number: where it is the same, nothing has changed or was found out.

    Numbers are compared within one episode alone, and mean nothing outside the process that made them.
    """
    exits = frozenset((room, frozenset(ways.items())) for room, ways in belief.exits.items())
    known = (belief.rooms, belief.temperatures, belief.readings)
    told = (belief.inventory, belief.connections, belief.broken, belief.focused, belief.menu)
    return str(hash((exits, *(frozenset(facts.items()) for facts in known), *told)))
