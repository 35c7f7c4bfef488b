"""Electrical circuits and inclined planes: devices, readings, and what they tell."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rpms.worlds.base import keyed
from rpms.worlds.scienceworld.affordances import THINGS
from rpms.worlds.scienceworld.scene import RUNNING, Recipe, Scene, once

_BLOCK = re.compile(r"\b(?:block|brick)$")
_FAR = 60
"""Per cent of the plane after which a speed is known well enough."""
_LONG = 30
"""Ticks after which a slow block's speed is known."""

_SURE = 4
"""Ticks after which a block that is first seen at the bottom may long have been there."""


def _slides(before: Scene, after: Scene, command: str) -> Iterator[tuple[str, str]]:
    """Notes on blocks that slide: the ticks since each was put on its plane, and its speed whenever
    it is looked at. What a command shows is the state before its tick.
    """
    said = after.observation.casefold()
    for plane in after.aim.candidates:
        was_put_on = said.startswith("you move ") and f" to {plane.casefold()}" in command
        if was_put_on:
            yield f"{RUNNING}{plane}", "1"
            yield f"speed on {plane}", "0"
            continue
        ticks = _noted(after, f"{RUNNING}{plane}")
        had_arrived = before.readings.get(plane) == "100"
        if not ticks or had_arrived or not _is_loaded(after, plane):
            continue
        passed = after.clock - before.clock
        yield f"{RUNNING}{plane}", f"{ticks + passed:.0f}"
        if plane.casefold() in said:
            yield from _speed(after, plane, ticks)


def _speed(scene: Scene, plane: str, ticks: float) -> Iterator[tuple[str, str]]:
    """The speed of a block that was just looked at, unless it may have arrived long before."""
    slid = scene.readings.get(plane, "")
    came_late = slid == "100" and ticks > _SURE
    if slid.isdecimal() and not came_late:
        yield f"speed on {plane}", f"{int(slid) / ticks:.3f}"


def _is_loaded(scene: Scene, plane: str) -> bool:
    return any(seen.inside for seen in scene.find(plane))


def _noted(belief: Scene, what: str) -> float:
    """A number that `_slides` has noted; 0 if it has not.

    `ticks on PLANE` counts up to the bottom; `speed on PLANE` is in per cent of the plane a tick.
    """
    return float(belief.readings.get(what, "0"))


def _timed(scene: Scene, plane: str) -> bool:
    """True if a block came far, or was seen to take long; it may not move at all."""
    slid = scene.readings.get(plane, "")
    if slid.isdecimal() and int(slid) >= _FAR:
        return _noted(scene, f"speed on {plane}") > 0
    return slid.isdecimal() and _noted(scene, f"{RUNNING}{plane}") >= _LONG


def chosen_plane(scene: Scene) -> str:
    """The plane asked for, once both were timed."""
    goal = scene.aim
    speeds = {plane: _noted(scene, f"speed on {plane}") for plane in goal.candidates}
    if not all(_timed(scene, plane) for plane in speeds):
        return ""
    if len(set(speeds.values())) < len(speeds):
        return ""
    fastest = goal.criterion in ("least", "steepest")
    choose = max if fastest else min
    return choose(speeds, key=speeds.__getitem__)


def _lost_sight(scene: Scene, plane: str) -> bool:
    """True if a block came to the bottom unseen: it has to slide once more."""
    if scene.readings.get(plane) != "100" or _timed(scene, plane):
        return False
    for seen in scene.find(plane):
        if any(_BLOCK.search(thing.name) for thing in seen.inside):
            return True
    return False


def _creeping(scene: Scene, plane: str) -> bool:
    """True if there is time to wait: the block was just looked at, and had not come far."""
    ticks = _noted(scene, f"{RUNNING}{plane}")
    return ticks > 2 and scene.last_action == f"look at {plane}"


PLANES = Recipe(
    predicates=keyed(_timed, _lost_sight, _creeping),
    words={"planes": lambda scene: scene.aim.candidates},
    roles={
        "plane": lambda scene: scene.aim.candidates,
        "block": lambda scene: scene.such(lambda seen: _BLOCK.search(seen.name))[:1],
    },
    tasks=("inclined",),
    notes=_slides,
)


_PAUSE = 3
"""Ticks that the current takes to flow."""


class _Circuit(NamedTuple):
    """Names of a circuit's parts; empty for one that is not known to be anywhere."""

    target: str
    """The thing that is powered, or tested."""
    source: str
    lamp: str
    """The thing that lights up: a bulb in a test, else the target itself."""
    wires: Sequence[str]

    @property
    def parts(self) -> list[str]:
        """All parts, each once."""
        return list(dict.fromkeys((self.target, self.source, self.lamp, *self.wires)))


def _first(names: Iterable[str]) -> str:
    """The first of some names; empty if there is none."""
    return next(iter(names), "")


def _circuit(scene: Scene) -> _Circuit:
    """The circuit to build, from what was seen."""
    goal = scene.aim
    sources = THINGS["sources"][goal.source]
    names = dict.fromkeys(seen.name for seen in scene.things)
    source = _first(name for name in sources if name in names)
    wires = sorted(name for name in names if name.endswith(" wire"))
    if goal.task.startswith("power"):
        return _Circuit(goal.target, source, goal.target, wires[:2])
    tested = scene.of_kind(goal.target)
    target = scene.by_name[tested[0]].name if tested else goal.target
    bulb = _first(name for name in names if name.endswith(" light bulb"))
    return _Circuit(target, source, bulb, wires[:3])


def _to_bring(scene: Scene) -> list[str]:
    """The parts that have to be brought to where the circuit is built."""
    target, *others = _circuit(scene).parts
    found = scene.such(lambda seen: seen.name == target)
    nearest = found[0] if found else target
    return [nearest, *others] if scene.aim.source == "renewable" else [nearest]


@once
def _joints(scene: Scene) -> list[tuple[str, str]]:
    """Pairs of contacts that belong together.

    What is tested comes between the second wire and the last.
    """
    circuit = _circuit(scene)
    is_test = circuit.lamp != circuit.target
    needed = 3 if is_test else 2
    if not circuit.source or not circuit.lamp or len(circuit.wires) < needed:
        return []
    named = {
        "source": circuit.source,
        "lamp": circuit.lamp,
        "target": circuit.target,
        "one": circuit.wires[0],
        "two": circuit.wires[1],
        "last": circuit.wires[-1],
    }
    joints = [(one.format(**named), other.format(**named)) for one, other in THINGS["joints"]]
    return joints if is_test else joints[:4]


def _site(scene: Scene) -> str:
    return "outside" if scene.aim.source == "renewable" else "workshop"


def conducts(scene: Scene) -> str:
    """`conductive` or `nonconductive`, once the bulb was looked at; empty before."""
    if not _tested(scene):
        return ""
    return "conductive" if scene.is_running(_circuit(scene).lamp) else "nonconductive"


def _tested(scene: Scene) -> bool:
    """True if the bulb was looked at when the current had time to flow.

    Taking the thing away undoes nothing.
    """
    closed = scene.since.get("connection", -1)
    return closed >= 0 and scene.since.get(_site(scene), -1) >= closed + _PAUSE


def _contacts(scene: Scene) -> list[str]:
    contacts: list[str] = []
    for joint in _joints(scene):
        contacts += joint
    return contacts


def _are_joint(scene: Scene, one: str, other: str) -> bool:
    """True if two contacts belong together."""
    joints = _joints(scene)
    return (one, other) in joints or (other, one) in joints


def _is_placed(scene: Scene, part: str) -> bool:
    """True if a part is where the circuit is built."""
    return any(seen.place == _site(scene) for seen in scene.find(part))


def _is_joined(scene: Scene, contact: str) -> bool:
    return contact.replace(" in ", " on ", 1).casefold() in scene.ends


def _is_powered(scene: Scene) -> bool:
    """True if the source gives current: generators have to be switched on."""
    source = _circuit(scene).source
    return not source.endswith("generator") or scene.is_running(source)


CIRCUITS = Recipe(
    predicates={
        "placed": _is_placed,
        "joint": _are_joint,
        "joined": _is_joined,
        "powered": _is_powered,
        "paused": lambda scene: scene.age("connection") > _PAUSE,
        "tested": _tested,
    },
    words={"parts": _to_bring, "contacts": _contacts},
    roles={
        "one": _contacts,
        "other": _contacts,
        "part": _to_bring,
        "site": lambda scene: [_site(scene)],
        "source": lambda scene: [_circuit(scene).source],
    },
    tasks=("power", "test"),
)
