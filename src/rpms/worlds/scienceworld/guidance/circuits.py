"""Electrical circuits: power a component, or find out whether something conducts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, named
from rpms.worlds.scienceworld.guidance.substances import focus_once
from rpms.worlds.scienceworld.guidance.vessels import is_matter, running
from rpms.worlds.scienceworld.planner.circuits import BULB, SOURCES, SUNNY, WIRE

_WORKSHOP: Final = ("workshop",)
Joint = tuple[tuple[str, str], tuple[str, str]]
"""Two ends to be joined, each a terminal and what it is on."""


def power(scene: Scene) -> Needs | None:
    """Close a circuit of a power source, two wires and the component."""
    target = scene.goal.target
    start = scene.near(named(target), target, _WORKSHOP) or focus_once(scene, named(target), target)
    if start is not None:
        return start
    wires = _wires(scene)
    source = next((seen.name for seen in scene.visible if seen.name in SOURCES[scene.goal.source]), "")
    if not source or len(wires) < 2:
        return scene.search("a power source and two wires", _WORKSHOP)
    parts = (target, source, *wires[:2])
    one, two = wires[:2]
    joints = [
        (("anode", source), ("terminal 1", one)),
        (("cathode", source), ("terminal 1", two)),
        (("terminal 2", one), ("cathode", target)),
        (("terminal 2", two), ("anode", target)),
    ]
    return (
        (_carry_outside(scene, parts) if source in SUNNY else None)
        or _join(scene, joints)
        or _switch_on(scene, source)
        or scene.act(f"is the {target} on?", *_look_or_wait(scene))
    )


def _carry_outside(scene: Scene, parts: Sequence[str]) -> Needs | None:
    """The sun shines and the wind blows outside alone: take everything there and put it down."""
    if scene.room == "outside":
        held = [name for name in parts if scene.held(name)]
        return scene.act("put the parts down here", *(f"put down {name}" for name in held)) if held else None
    missing = [name for name in parts if not scene.held(name)]
    if missing:
        return scene.pick_up(named(missing[0]), missing[0])
    return scene.be_in("outside", f"the {parts[1]} works outside")


def _switch_on(scene: Scene, source: str) -> Needs | None:
    if not source.endswith("generator") or running(scene, source):
        return None
    return scene.act(f"switch the {source} on", f"activate {source}", "wait1")


def conductivity(scene: Scene) -> Needs | None:
    """Put the thing into a circuit with a bulb, and then into the box that the bulb decides."""
    target, test = scene.goal.target, is_matter(scene.goal.target)
    found = scene.find(test)
    boxes = {branch.box for branch in scene.goal.branches}
    if found is not None and not boxes.isdisjoint(found.above):
        return scene.act("it is in a box", "look around")
    start = scene.near(test, target, (scene.goal.place,)) or focus_once(scene, test, target)
    if start is not None or found is None:
        return start
    if scene.room != "workshop":
        return scene.have(test, target) or scene.be_in("workshop", "electrical parts are in the workshop")
    wires = _wires(scene)
    bulb = next((seen.name for seen in scene.visible if BULB.match(seen.name)), "")
    if len(wires) < 3 or not bulb:
        return scene.search("three wires and a light bulb", _WORKSHOP)
    if found.carried:
        return scene.act(f"put the {target} down here", f"put down {scene.call(found)}")
    one, two, three = wires[:3]
    joints = [
        (("anode", "battery"), ("terminal 1", one)),
        (("cathode", "battery"), ("terminal 1", two)),
        (("terminal 2", one), ("cathode", bulb)),
        (("terminal 2", three), ("anode", bulb)),
        (("terminal 1", found.name), ("terminal 2", two)),
        (("terminal 2", found.name), ("terminal 1", three)),
    ]
    return _join(scene, joints) or _conclude(scene, bulb, found.name)


def _conclude(scene: Scene, bulb: str, thing: str) -> Needs:
    lit = running(scene, bulb)
    if not lit and scene.last != "look around":
        return scene.act(f"is the {bulb} on?", *_look_or_wait(scene))
    branch = scene.goal.branch("conductive" if lit else "nonconductive")
    box = branch.box if branch else "box"
    return scene.act(f"the {bulb} is {'on' if lit else 'off'}: the {box}", f"move {thing} to {box}")


def _look_or_wait(scene: Scene) -> tuple[str, str]:
    return ("look around", "wait1") if scene.last == "wait1" else ("wait1", "look around")


def _wires(scene: Scene) -> list[str]:
    return list(dict.fromkeys(seen.name for seen in scene.visible if WIRE.match(seen.name)))


def _join(scene: Scene, joints: Sequence[Joint]) -> Needs | None:
    """Connect what is not joined yet."""
    joined = {frozenset(pair) for pair in scene.belief.connections}
    todo = [joint for joint in joints if frozenset(f"{part} on {thing}" for part, thing in joint) not in joined]
    commands = [f"connect {a} in {one} to {b} in {two}" for (a, one), (b, two) in todo]
    return scene.act("close the circuit, terminal by terminal", *commands) if commands else None
