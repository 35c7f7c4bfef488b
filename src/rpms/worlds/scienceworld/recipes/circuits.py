"""Electrical circuits: which contact belongs to which, and what the bulb tells."""

from __future__ import annotations

from typing import Final

from rpms.worlds.scienceworld.recipes.recipe import Recipe, goal_of
from rpms.worlds.scienceworld.scene import Scene

_SOURCES: Final = {
    "renewable": ("solar panel", "wind mill", "wind generator"),
    "nonrenewable": ("nuclear generator", "gas generator", "coal generator"),
    "": ("battery",),
}
"""By the kind that a task asks for; a battery will do where none is asked for. The renewable ones work outside."""


_PAUSE: Final = 3
"""Ticks that the current takes to flow."""


def _parts(scene: Scene) -> list[str]:
    """Parts of the circuit: the thing itself, a source, what lights up, and wires; a test needs a bulb."""
    goal, names = goal_of(scene), [seen.name for seen in scene.things]
    source = next((name for name in _SOURCES[goal.source] if name in names), "")
    wires = sorted({name for name in names if name.endswith(" wire")})
    if goal.task.startswith("power"):
        return [goal.target, source, goal.target, *wires[:2]]
    target = next((scene.by_name[name].name for name in scene.of_kind(goal.target)), goal.target)
    bulb = next((name for name in names if name.endswith(" light bulb")), "")
    return [target, source, bulb, *wires[:3]]


def _to_bring(scene: Scene) -> list[str]:
    """The parts that have to be brought to where the circuit is built."""
    parts = list(dict.fromkeys(_parts(scene)))
    parts[0] = next((name for name in scene.such(lambda seen: seen.name == parts[0])), parts[0])  # of two, the nearest
    return parts if goal_of(scene).source == "renewable" else parts[:1]


def _joints(scene: Scene) -> list[tuple[str, str]]:
    """Pairs of contacts that belong together. What is tested comes between the second wire and the last."""
    target, source, lamp, *wires = _parts(scene)
    if not (source and lamp) or len(wires) < (2 if lamp == target else 3):
        return []
    one, two, last = wires[0], wires[1], wires[-1]
    joints = [
        (f"anode in {source}", f"terminal 1 in {one}"),
        (f"cathode in {source}", f"terminal 1 in {two}"),
        (f"terminal 2 in {one}", f"cathode in {lamp}"),
        (f"terminal 2 in {last}", f"anode in {lamp}"),
        (f"terminal 1 in {target}", f"terminal 2 in {two}"),
        (f"terminal 2 in {target}", f"terminal 1 in {last}"),
    ]
    return joints[:4] if lamp == target else joints


def _joined(scene: Scene, contact: str) -> bool:
    name = contact.replace(" in ", " on ", 1).casefold()
    return any(name == end.casefold() for pair in scene.belief.connections for end in pair)


def _site(scene: Scene) -> str:
    return "outside" if goal_of(scene).source == "renewable" else "workshop"


def _is_on(scene: Scene, name: str) -> bool:
    return any("on" in seen.thing.flags for seen in scene.find(name))


def conducts(scene: Scene) -> str:
    """`conductive` or `nonconductive`, once the bulb was looked at; empty before."""
    if not _tested(scene):
        return ""
    return "conductive" if _is_on(scene, _parts(scene)[2]) else "nonconductive"


def _tested(scene: Scene) -> bool:
    """True if the bulb was looked at when the current had time to flow. Taking the thing away undoes nothing."""
    belief = scene.belief
    closed = belief.since.get("connection", -1)
    return closed >= 0 and belief.since.get(_site(scene), -1) >= closed + _PAUSE


def _contacts(scene: Scene) -> list[str]:
    return [end for joint in _joints(scene) for end in joint]


def _is_powered(scene: Scene) -> bool:
    """True if the source works: generators have to be switched on."""
    source = _parts(scene)[1]
    return not source.endswith("generator") or _is_on(scene, source)


CIRCUITS: Final = Recipe(
    predicates={
        "placed": lambda scene, part: any(seen.place == _site(scene) for seen in scene.find(part)),
        "joint": lambda scene, one, other: not {(one, other), (other, one)}.isdisjoint(_joints(scene)),
        "joined": _joined,
        "powered": _is_powered,
        "paused": lambda scene: scene.belief.age("connection") > _PAUSE,
        "tested": _tested,
    },
    words={"parts": _to_bring, "contacts": _contacts},
    roles={
        "one": _contacts,
        "other": _contacts,
        "part": _to_bring,
        "site": lambda scene: [_site(scene)],
        "source": lambda scene: _parts(scene)[1:2],
    },
    tasks=("power", "test"),
)
