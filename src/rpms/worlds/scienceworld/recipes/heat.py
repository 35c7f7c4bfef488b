"""Heat and cold: the states that substances were seen in, and what readings tell of an answer.

Nothing is known of a substance, nor of what a device can do, before it was measured in this
episode: which device to use, and when to measure, follows from the manual's `quantities`.
"""

from collections.abc import Sequence

from rpms.logic.inquiry import Gauge, expected_next, side_of_turn
from rpms.logic.quantities import Scale, TurningPoint
from rpms.worlds.scienceworld.affordances import THINGS
from rpms.worlds.scienceworld.observations import MATTER, Thing, sounds_liquid, substance_of
from rpms.worlds.scienceworld.scene import Ask, Recipe, Scene
from rpms.worlds.scienceworld.tree import head_of

TEMPERATURE = "temperature"
"""The quantity that thermometers measure."""
_HEATERS: Sequence[str] = THINGS["devices"]["heaters"]
_COOLERS: Sequence[str] = THINGS["devices"]["coolers"]
_DEVICES = (*_HEATERS, *_COOLERS)
_SCALE = Scale(wait=12)
_MELTING = TurningPoint(below=("solid",), above=("liquid", "gas"))


def flows(thing: Thing) -> bool:
    """True if a thing's name says that it is liquid."""
    if "liquid" in thing.flags or thing.name.endswith("paint"):
        return True
    return sounds_liquid(thing.name)


def _substance(scene: Scene, word: str) -> str:
    found = scene.first(word)
    return substance_of(found.name if found else head_of(word))


def _states(scene: Scene, word: str) -> tuple[str, ...]:
    """The states that a word's substance was seen in; where nothing told, the state that most
    are in.
    """
    substance = _substance(scene, word)
    seen = scene.state_history.get(substance)
    return seen or ("liquid" if sounds_liquid(substance) else "solid",)


def gauge(scene: Scene, word: str) -> Gauge:
    """All that was measured of a substance, and the states that it was seen in."""
    substance = _substance(scene, word)
    return Gauge(
        scene.measurements.get(substance, ()),
        scene.clock,
        scene.since.get(substance),
        _states(scene, word),
    )


def device_around(scene: Scene, word: str) -> str:
    """Heater or cooler that a substance is in or on; empty if there is none."""
    for seen in scene.find(word):
        for holder in seen.holders:
            if holder.name in _DEVICES:
                return holder.name
    return ""


def _is_called(scene: Scene, word: str) -> bool:
    """True unless a command did not know a substance by its name: it goes by another one now."""
    return f"misnamed {_substance(scene, word)}" not in scene.since


def _became(*states: str) -> Ask:
    """True if a substance was seen in these states, one after the other."""

    def ask(scene: Scene, word: str) -> bool:
        missing = list(states)
        for state in _states(scene, word):
            if missing and state == missing[0]:
                missing.pop(0)
        return not missing

    return ask


def melting_side(scene: Scene) -> str:
    """`above` or `below` the goal's bound, once readings tell where a substance melts; empty
    before.
    """
    bound = scene.aim.bound
    if bound is None:
        return ""
    return side_of_turn(gauge(scene, scene.aim.target).readings, _MELTING, bound, _SCALE)


def reading_side(scene: Scene) -> str:
    """`above` or `below` the bound, as is to be expected when the substance is in its box."""
    measured = gauge(scene, scene.aim.target)
    bound = scene.aim.bound
    if not measured.readings or bound is None:
        return ""
    return "above" if expected_next(measured, _SCALE) > bound else "below"


HEAT = Recipe(
    predicates={
        "called": _is_called,
        "fathomed": lambda scene, word: _substance(scene, word) in scene.state_history,
        "telling": lambda _scene, word: MATTER.match(head_of(word)) is not None,
        "runny": lambda scene, word: _states(scene, word)[-1] == "liquid",
        "firm": _became("solid"),
        "fluid": _became("liquid"),
        "melted": _became("solid", "liquid"),
        "frozen": _became("liquid", "solid"),
        "boiled": _became("gas"),
        "changed": lambda scene, word: len(set(_states(scene, word))) > 1,
    },
    roles={
        "heater": lambda scene: [scene.name_of(name) for name in _HEATERS],
        "cooler": lambda scene: [scene.name_of(name) for name in _COOLERS],
    },
)
