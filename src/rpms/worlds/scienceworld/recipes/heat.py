"""Heat and cold: states of matter, devices, and what a thermometer tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rpms.worlds.scienceworld.matter import substance_of
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.recipes.recipe import Ask, Recipe, goal_of, head_of
from rpms.worlds.scienceworld.scene import Scene

_HEATERS: Final = {"stove": 245, "oven": 500, "blast furnace": 5_000}
"""Heaters, and the temperature, in °C, near which each has done what it can; the slowest first."""
_COOLERS: Final = {"freezer": -16, "ultra low temperature freezer": -85}
_MOMENT: Final = 3
"""Ticks within which little changes."""
_LIQUIDS: Final = ("water", "juice", "mercury", "milk", "oil", "vinegar")


def flows(thing: Thing) -> bool:
    """True if a thing is liquid, as far as its name tells."""
    return "liquid" in thing.flags or thing.name.endswith((*_LIQUIDS, "paint"))


def _states(scene: Scene, word: str) -> tuple[str, ...]:
    """The states a substance was seen in; where no name told, the state it is in by nature."""
    seen = scene.belief.state_history.get(substance_of(word), ())
    return seen or ("liquid" if word.endswith(_LIQUIDS) else "solid",)


def _substance(scene: Scene, word: str) -> str:
    found = scene.first(word)
    return substance_of(found.name if found else head_of(word))


def _heats(scene: Scene, device: str, word: str) -> bool:
    """True if a device is the one to heat a substance with; food catches fire in a furnace, which is as good as gas."""
    fierce = goal_of(scene).task == "boil" or goal_of(scene).type == "F2"
    return _is_best(scene, device, word, ("stove", "blast furnace", "oven") if fierce else tuple(_HEATERS))


def _is_best(scene: Scene, device: str, word: str, choice: Sequence[str]) -> bool:
    """True if a device is the first that works and has not done yet what it can, or one in use of which that is so."""
    degrees = scene.belief.temperature(_substance(scene, word))
    useless = {name.rpartition(" in ")[0] for name in scene.belief.broken}
    if degrees is not None:
        useless |= {name for name, limit in _HEATERS.items() if degrees > limit}
        useless |= {name for name, limit in _COOLERS.items() if degrees < limit}
    fit = [name for name in choice if name not in useless] or [choice[-1]]
    holders = {holder.name for seen in scene.find(word) for holder in seen.holders}
    return head_of(device) == next((name for name in fit if name in holders), fit[0])


def treated(scene: Scene, word: str) -> bool:
    """True if a substance is in or on a device: then it changes while time passes."""
    return any(holder.name in (*_HEATERS, *_COOLERS) for seen in scene.find(word) for holder in seen.holders)


def _just(scene: Scene, word: str, what: str) -> bool:
    """True if a substance was seen, or measured, a moment ago; or ever, where it does not change."""
    name = what + _substance(scene, word)
    return scene.belief.age(name) <= _MOMENT or (name in scene.belief.since and not treated(scene, word))


def _became(*states: str) -> Ask:
    """True if a substance was seen in these states, one after the other."""

    def ask(scene: Scene, word: str) -> bool:
        history = iter(_states(scene, _substance(scene, word)))
        return all(state in history for state in states)  # each is sought after the one before

    return ask


def melting_side(scene: Scene) -> str:
    """`above` or `below` the threshold, once readings tell where a substance melts; empty before."""
    goal = goal_of(scene)
    degrees, limit, states = scene.belief.temperature(goal.target), goal.threshold, _states(scene, goal.target)
    if degrees is None or limit is None:
        return ""
    if states[-1] == "liquid":
        return "below" if degrees < limit or "solid" in states else ""
    return "above" if degrees > limit else "below" if "liquid" in states else ""


def reading_side(scene: Scene) -> str:
    """`above` or `below` the threshold, once the temperature was measured."""
    goal = goal_of(scene)
    degrees = scene.belief.temperature(goal.target)
    return "" if degrees is None or goal.threshold is None else "above" if degrees > goal.threshold else "below"


HEAT: Final = Recipe(
    predicates={
        "measured": lambda scene, word: scene.belief.temperature(_substance(scene, word)) is not None,
        "gauged": lambda scene, word: _just(scene, word, "heat of "),
        "watched": lambda scene, word: _just(scene, word, ""),
        "heats": _heats,
        "cools": lambda scene, device, word: _is_best(scene, device, word, tuple(_COOLERS)),
        "runny": lambda scene, word: _states(scene, _substance(scene, word))[-1] == "liquid",
        "swift": lambda _scene, name: head_of(name) in ("oven", "blast furnace"),
        "firm": _became("solid"),
        "fluid": _became("liquid"),
        "melted": _became("solid", "liquid"),
        "frozen": _became("liquid", "solid"),
        "boiled": _became("gas"),
        "changed": lambda scene, word: len(set(_states(scene, _substance(scene, word)))) > 1,
        "settled": lambda scene, _word: bool(melting_side(scene)),
    },
    roles={
        "heater": lambda scene: [scene.called(name) for name in _HEATERS],
        "cooler": lambda scene: [scene.called(name) for name in _COOLERS],
    },
)
