"""Electrical circuits: power a component, or find out whether something conducts."""

from __future__ import annotations

import re
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.heat import find_substance
from rpms.worlds.scienceworld.planner.rooms import SEARCH_ORDER
from rpms.worlds.scienceworld.planner.text import View

SOURCES: Final = {
    "renewable": ("solar panel", "wind mill", "wind generator"),
    "nonrenewable": ("nuclear generator", "gas generator", "coal generator"),
    "": ("battery",),
}
"""By the kind that a task asks for; a battery will do where none is asked for."""
SUNNY: Final = frozenset({"solar panel", "wind mill", "wind generator"})
"""Sources that work outside alone."""
WIRE: Final = re.compile(r"^\w+ wire$")
BULB: Final = re.compile(r"^\w+ light bulb$")


def power_component(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Close a circuit of a power source, two wires and the component."""
    agent.purpose = "Electrical parts are in the workshop"
    yield from agent.goto("workshop")
    view = yield from agent.seen()
    source = _source(view, goal.source)
    wires = _wires(view, 2)
    agent.purpose = f"I focus on the {goal.target}"
    yield from agent.do(f"focus on {goal.target}")
    if source in SUNNY:
        agent.purpose = f"The {source} works outside: I carry everything there"
        for name in (goal.target, source, *wires):
            yield from agent.take(name)
        yield from agent.goto("outside")
        for name in (goal.target, source, *wires):
            yield from agent.do(f"drop {name} in inventory")
    agent.purpose = f"I connect the {goal.target} to the {source}"
    for action in (
        f"connect {source} anode to {wires[0]} terminal 1",
        f"connect {source} cathode to {wires[1]} terminal 1",
        f"connect {wires[0]} terminal 2 to cathode in {goal.target}",
        f"connect {wires[1]} terminal 2 to anode in {goal.target}",
    ):
        yield from agent.do(action)
    if source.endswith("generator"):
        yield from agent.do(f"activate {source}")
    while True:
        yield from agent.wait(1)


def conductivity(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Put the thing into a circuit with a bulb, and then into the box that the bulb decides."""
    thing = yield from find_substance(agent, goal.target, (goal.place, *SEARCH_ORDER))
    agent.purpose = f"I take the {goal.target} to the workshop, where the electrical parts are"
    yield from agent.take(thing.name)
    yield from agent.goto("workshop")
    view = yield from agent.seen()
    wires = _wires(view, 3)
    bulb = next((thing.name for thing in view.walk() if BULB.match(thing.name)), None)
    if bulb is None:
        raise Failed("there is no light bulb")
    agent.purpose = f"I focus on the {goal.target}"
    yield from agent.do(f"focus on {goal.target} in inventory")
    yield from agent.do(f"drop {goal.target} in inventory")
    agent.purpose = f"Does the {goal.target} light the {bulb}?"
    for action in (
        f"connect battery anode to {wires[0]} terminal 1",
        f"connect battery cathode to {wires[1]} terminal 1",
        f"connect {wires[0]} terminal 2 to cathode in {bulb}",
        f"connect {wires[2]} terminal 2 to anode in {bulb}",
        f"connect {goal.target} terminal 1 to {wires[1]} terminal 2",
        f"connect {goal.target} terminal 2 to {wires[2]} terminal 1",
    ):
        yield from agent.do(action)
    yield from agent.wait(2)
    view = yield from agent.look()
    lit = any(thing.name == bulb and "on" in thing.flags for thing in view.walk())
    branch = goal.branch("conductive" if lit else "nonconductive")
    if branch is None:
        raise Failed("the task names no boxes")
    agent.purpose = f"The bulb is {'on' if lit else 'off'}: the {branch.box}"
    yield from agent.put(goal.target, branch.box)


def _wires(view: View, count: int) -> list[str]:
    wires = [thing.name for thing in view.walk() if WIRE.match(thing.name)]
    if len(wires) < count:
        raise Failed("there are not enough wires")
    return wires[:count]


def _source(view: View, kind: str) -> str:
    names = [thing.name for thing in view.walk()]
    found = next((name for name in SOURCES[kind] if name in names), None)
    if found is None:
        raise Failed("there is no such power source")
    return found
