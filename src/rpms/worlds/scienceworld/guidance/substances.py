"""Changing the state of matter, and measuring: boil, melt, freeze, temperatures and melting points."""

from __future__ import annotations

from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.scene import Scene, Test, named
from rpms.worlds.scienceworld.guidance.vessels import (
    COOLERS,
    FIERCE,
    GENTLE,
    THERMOMETER,
    Device,
    Vessel,
    fill,
    is_matter,
    measure,
    treat,
    usable,
    watch,
)
from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.planner.transform import LIQUIDS


def transform(scene: Scene) -> Needs | None:
    """Bring a substance into the state asked for, by way of the state before it."""
    target, test = scene.goal.target, is_matter(scene.goal.target)
    vessel, water = Vessel(scene, test), target == "water"
    return (
        (None if water else focus_once(scene, test, target))
        or scene.have(THERMOMETER, "thermometer", ("kitchen",))
        or fill(vessel, target, test)
        or (focus_once(scene, test, target, f"water in {vessel.name}") if water else None)
        or _change(vessel)
    )


def focus_once(scene: Scene, test: Test, target: str, words: str = "") -> Needs | None:
    """Focus on what the task names as soon as it is at hand; nothing if that was done, or it is not seen yet."""
    done = any(substance_of(name).casefold() == substance_of(target).casefold() for name in scene.belief.focused)
    found = scene.at_hand(test)
    if done or found is None:
        return None
    return scene.act(f"{target} is here: focus on it", f"focus on {words or scene.call(found)}", "look around")


def states(scene: Scene) -> tuple[str, ...]:
    """The states the target was seen in; where no name told, the state it is in by nature."""
    target = scene.goal.target
    seen = scene.belief.state_history.get(substance_of(target), ())
    return seen or ("liquid" if target.endswith(LIQUIDS) else "solid",)


def _change(vessel: Vessel) -> Needs | None:
    scene, was = vessel.scene, states(vessel.scene)
    now, before = was[-1], was[:-1]
    wanted = {"boil": "gas", "melt": "liquid", "freeze": "solid"}.get(scene.goal.task, "")
    first = {"melt": "solid", "freeze": "liquid"}.get(scene.goal.task, "")
    if (not wanted and before) or (now == wanted and (not first or first in before)):
        return scene.act(f"the {scene.goal.target} is {now} now", f"look at {vessel.words}", "wait1")
    cool = now == "liquid" and wanted != "gas"
    return _apply(vessel, COOLERS if cool else FIERCE if wanted == "gas" else GENTLE)


def _apply(vessel: Vessel, devices: tuple[Device, ...], *, closely: bool = False) -> Needs | None:
    target = vessel.scene.goal.target
    device = usable(vessel, devices, target)
    fast = device.fast or (closely and device.switched)
    return treat(vessel, device) or watch(vessel, target, fast=fast, closely=closely)


def use_thermometer(scene: Scene) -> Needs | None:
    """Measure a thing's temperature and carry it to the box that fits."""
    goal, test = scene.goal, is_matter(scene.goal.target)
    reading = scene.belief.temperature(goal.target)
    return (
        scene.have(THERMOMETER, "thermometer", ("kitchen",))
        or focus_once(scene, THERMOMETER, "thermometer")
        or scene.near(test, goal.target, (goal.place,))
        or focus_once(scene, test, goal.target)
        or _lift(scene, test, goal.target)
        or (None if reading is not None else scene.act("measure it", measure(scene, goal.target)))
        or scene.be_in(goal.box_room, f"the boxes are in the {goal.box_room}")
        or _into_box(scene, test, "above" if (reading or 0) > (goal.threshold or 0) else "below")
    )


def _lift(scene: Scene, test: Test, what: str) -> Needs | None:
    """Carry a thing; a liquid in what holds it."""
    found = scene.find(test)
    if found is None or found.carried:
        return None
    words = scene.call(found)
    return scene.act(f"pick the {what} up", f"pick up {words}", f"pick up {found.holder or words}", "look around")


def _into_box(scene: Scene, test: Test, when: str) -> Needs:
    found, branch = scene.at_hand(test), scene.goal.branch(when)
    box = branch.box if branch else "box"
    name = scene.call(found) if found else scene.goal.target
    ways = [f"move {name} to {box}", f"move {name} in inventory to {box}"]
    if found is not None and found.holder:
        ways.append(f"move {found.holder} to {box}")
    return scene.act(f"it is {when}: move it to the {box}", *ways)


def melting_point(scene: Scene) -> Needs | None:
    """Heat a solid until it melts, or cool a liquid, and focus on the box that fits."""
    goal, test = scene.goal, is_matter(scene.goal.target)
    vessel, verdict = Vessel(scene, test), _melts(scene)
    branch = goal.branch(verdict)
    if branch is not None and len(scene.belief.focused) > 1:
        text = f"its melting point is {verdict} the threshold: the {branch.box}"
        return (
            scene.be_in(goal.box_room, text)
            or scene.near(named(branch.box), branch.box, (goal.box_room,))
            or scene.act(text, f"focus on {branch.box}")
        )
    return (
        scene.have(THERMOMETER, "thermometer", ("kitchen",))
        or focus_once(scene, THERMOMETER, "thermometer")
        or focus_once(scene, test, goal.target)
        or fill(vessel, goal.target, test, (goal.place,))
        or _experiment(vessel)
    )


def _experiment(vessel: Vessel) -> Needs | None:
    """First see how warm it is; then heat a solid and cool a liquid."""
    scene = vessel.scene
    if scene.belief.temperature(scene.goal.target) is None:
        return watch(vessel, scene.goal.target)
    return _apply(vessel, COOLERS if states(scene)[-1] == "liquid" else FIERCE, closely=True)


def _melts(scene: Scene) -> str:
    """`above` or `below` the threshold, once readings tell; empty before."""
    degrees, limit = scene.belief.temperature(scene.goal.target), scene.goal.threshold
    if degrees is None or limit is None:
        return ""
    if states(scene)[-1] == "liquid":
        return "below" if degrees < limit or "solid" in states(scene) else ""
    return "above" if degrees > limit else "below" if "liquid" in states(scene) else ""
