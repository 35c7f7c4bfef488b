"""Without rules: look around, go through every door, and focus on what the task calls by its name.

It knows no house, no procedure and no instrument. What the shown memories did is all the experience it has: rooms that
they went to are tried first.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing


def explore(agent: Agent, goal: ScienceGoal, rooms: Sequence[str] = ()) -> Doing[None]:
    """Walk through the house as doors are found, focus on the target once it is seen, and carry it to its box."""
    first = [room for room in (goal.place, *rooms) if room]
    path = [agent.room]
    visited = {agent.room}
    wanted = ["thermometer"] if "focus on the thermometer" in goal.text else []
    wanted += [goal.target] if goal.target else []
    carried = False
    while True:
        agent.purpose = "I look for what the task names"
        view = yield from agent.look()
        while wanted and any(thing.name.lower() == wanted[0].lower() for thing in view.walk()):
            name = wanted.pop(0)
            yield from agent.do(f"focus on {name}")
            carried = bool((yield from agent.take(name)))
        if carried and goal.box and any(thing.name == goal.box for thing in view.things):
            yield from agent.put(f"{goal.target} in inventory", goal.box)
            return
        new = [room for room in view.doors if room not in visited]
        new.sort(key=lambda room: first.index(room) if room in first else len(first))
        if new:
            yield from agent.do(f"open door to {new[0]}")
            yield from agent.do(f"go to {new[0]}")
            visited.add(new[0])
            path.append(agent.room)
        elif len(path) > 1:
            path.pop()
            yield from agent.do(f"go to {path[-1]}")
        else:
            return
