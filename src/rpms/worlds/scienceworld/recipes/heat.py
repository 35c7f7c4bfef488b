"""Heat and cold: which device to use, when to measure, and what the readings of an episode tell.

Nothing is known of a substance, nor of what a device can do, before it was measured in this
episode. A device that comes to rest, or will fall short of the goal's threshold, is left for the
next one.
"""

import math
from collections.abc import Sequence

from rpms.worlds.quantity import Measurement, Trend, course_of, last_stay
from rpms.worlds.scienceworld.affordances import THINGS
from rpms.worlds.scienceworld.observations import MATTER, Thing, sounds_liquid, substance_of
from rpms.worlds.scienceworld.scene import Ask, Recipe, Scene
from rpms.worlds.scienceworld.tree import head_of

_HEATERS: Sequence[str] = THINGS["devices"]["heaters"]
_COOLERS: Sequence[str] = THINGS["devices"]["coolers"]
_DEVICES = (*_HEATERS, *_COOLERS)
_MOMENT = 3
"""Ticks within which little changes."""
_WAIT = 12
"""Ticks that one `wait` and a look take."""
_LONGEST = 4 * _WAIT
"""Ticks after which a course that is known is checked all the same."""
_FAST = 100
"""Degrees in one `wait` that may lead through a whole state of matter."""
_CLOSE = 6
"""Degrees between the hottest solid and the coldest liquid that need not be told apart further."""
_ROUNDED = 1.0
"""Degrees by which two readings may be wrong together: a thermometer shows whole ones."""
_FASTEST_DRIFT = 1.5
"""Degrees a tick that a thing in no device may drift, before a second reading tells."""
_READINGS_FIRST = 2
"""Readings in a device before the first wait: two give the rate."""
_MOST_READINGS = 8
"""Readings after which a temperature beside the threshold is not measured again."""


def flows(thing: Thing) -> bool:
    """True if a thing's name says that it is liquid."""
    if "liquid" in thing.flags or thing.name.endswith("paint"):
        return True
    return sounds_liquid(thing.name)


# Readings


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


def _readings(scene: Scene, word: str) -> Sequence[Measurement]:
    return scene.measurements.get(_substance(scene, word), ())


def _stay(scene: Scene, word: str, device: str) -> list[Measurement]:
    return last_stay(_readings(scene, word), device)


def device_around(scene: Scene, word: str) -> str:
    """Heater or cooler that a substance is in or on; empty if there is none."""
    for seen in scene.find(word):
        for holder in seen.holders:
            if holder.name in _DEVICES:
                return holder.name
    return ""


# Devices


def _is_spent(scene: Scene, word: str, device: str) -> bool:
    """True if a device has done what it can for a substance, as measured, or will fall short."""
    course = course_of(_stay(scene, word, device))
    if course is None:
        return False
    limit = scene.aim.threshold
    if limit is not None and course.falls_short(limit):
        return True
    return course.is_at_rest(course.last.time)


def _heaters(scene: Scene) -> Sequence[str]:
    """Heaters in order of choice: what burns in a furnace is as good as gas, and else lost."""
    if scene.aim.task == "boil":
        return sorted(_HEATERS, key=lambda name: name == "oven")
    return _HEATERS


def _is_best(scene: Scene, device: str, word: str, choice: Sequence[str]) -> bool:
    """True if a device is the one to use: among devices that work and can still do more, one that
    is in use, or else the first.
    """
    fit = _fit_devices(scene, word, choice)
    around = device_around(scene, word)
    best = around if around in fit else fit[0]
    return head_of(device) == best


def _fit_devices(scene: Scene, word: str, choice: Sequence[str]) -> Sequence[str]:
    """The devices that work and can still do more for a substance; the last one if none is left."""
    broken = {name.rpartition(" in ")[0] for name in scene.broken}
    working = [name for name in choice if name not in broken] or choice[-1:]
    unspent = [name for name in working if not _is_spent(scene, word, name)]
    return unspent or working[-1:]


def _course(scene: Scene, word: str) -> Trend | None:
    """The way that the temperature takes in the device that a substance is in now."""
    return course_of(_stay(scene, word, device_around(scene, word)))


# Looks and measurements


def _is_driven(scene: Scene, word: str) -> bool:
    """True if a device is at work on a substance that can do more."""
    device = device_around(scene, word)
    if not device or _is_ready(scene, word, device):
        return False
    if device in _COOLERS:
        return _is_best(scene, device, word, _COOLERS)
    return scene.is_running(device) and _is_best(scene, device, word, _heaters(scene))


def _is_ready(scene: Scene, word: str, device: str) -> bool:
    """True if a device has done its part, where a substance is to be liquid and solid by turns:
    what goes on heating may burn.
    """
    if scene.aim.task not in ("freeze", "melt"):
        return False
    to_cool = _states(scene, word)[-1] == "liquid"
    return to_cool == (device in _HEATERS)


def _gauged(scene: Scene, word: str) -> bool:
    """True if the temperature is known well enough to let time pass.

    At first it is measured after each wait; once it is known where it will end, when it is there.
    """
    if not _is_driven(scene, word):
        return scene.aim.threshold is None or bool(_readings(scene, word))
    stay = _stay(scene, word, device_around(scene, word))
    if len(stay) < _READINGS_FIRST:
        return False
    age = scene.clock - stay[-1].time
    if age <= _MOMENT:
        return True
    return _is_foreseen(scene, word, age)


def _watched(scene: Scene, word: str) -> bool:
    """True if the state is known well enough: it was just seen, or does not matter.

    A reading past the threshold tells only once the state it was taken in is known.
    """
    if _would_tell(scene, word):
        return False
    if not _is_driven(scene, word) or not _matters(scene, word):
        return True
    return scene.age(_substance(scene, word)) <= _MOMENT


def _would_tell(scene: Scene, word: str) -> bool:
    """True if the last reading gives the answer, should the state be as before: nobody has
    looked since.
    """
    limit = scene.aim.threshold
    readings = _readings(scene, word)
    if limit is None or not readings or readings[-1].state:
        return False
    if _states(scene, word)[-1] == "solid":
        return readings[-1].value > limit
    return readings[-1].value < limit


def _is_foreseen(scene: Scene, word: str, age: int) -> bool:
    """True if the course is known, nothing on the way matters, and it has not come to rest."""
    course = _course(scene, word)
    if course is None or course.end is None or _matters(scene, word):
        return False
    return age <= _LONGEST and not course.is_at_rest(scene.clock)


def _matters(scene: Scene, word: str) -> bool:
    """True if a state on the way must not be passed unseen: where a substance melts, or to have
    it liquid before it is frozen.
    """
    if scene.aim.threshold is not None:
        return True
    return scene.aim.task in ("freeze", "melt") and len(_states(scene, word)) < 2


def _is_delicate(scene: Scene, word: str) -> bool:
    """True if a wait might lead too far: through a whole state, or past a threshold that was
    passed before without an answer.
    """
    course = _course(scene, word)
    if course is None or not _matters(scene, word):
        return False
    fast = abs(course.rate) * _WAIT > _FAST
    limit = scene.aim.threshold
    if limit is None:
        return fast or _may_burn(scene, course)
    now = course.last.value
    then = course.value_at(scene.clock + _WAIT)
    passes = min(now, then) <= limit <= max(now, then)
    return passes and (fast or _has_changed(scene, word))


def _may_burn(scene: Scene, course: Trend) -> bool:
    """True if what is melted only to be frozen would warm by more in one wait than it has so far:
    nobody knows at what temperature it burns, nor how far below that it melts.
    """
    if scene.aim.task != "freeze":
        return False
    return course.rate * _WAIT > course.last.value - course.first


def _has_changed(scene: Scene, word: str) -> bool:
    """True if a substance was seen in more than one state."""
    return len(set(_states(scene, word))) > 1


def _is_called(scene: Scene, word: str) -> bool:
    """True unless a command did not know a substance by its name: it goes by another one now."""
    return f"misnamed {_substance(scene, word)}" not in scene.since


# What they tell


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
    """`above` or `below` the threshold, once readings tell where a substance melts; empty
    before.

    It melts between the hottest reading of the solid and the coldest of the liquid.
    """
    limit = scene.aim.threshold
    if limit is None:
        return ""
    hottest_solid = -math.inf
    coldest_molten = math.inf
    for reading in _readings(scene, scene.aim.target):
        if reading.state == "solid":
            hottest_solid = max(hottest_solid, reading.value)
        elif reading.state in ("liquid", "gas"):
            coldest_molten = min(coldest_molten, reading.value)
    if hottest_solid > limit:
        return "above"
    if coldest_molten < limit:
        return "below"
    if coldest_molten - hottest_solid <= _CLOSE:
        return "above" if hottest_solid + coldest_molten >= 2 * limit else "below"
    return ""


def reading_side(scene: Scene) -> str:
    """`above` or `below` the threshold, as is to be expected when the substance is in its box."""
    readings = _readings(scene, scene.aim.target)
    limit = scene.aim.threshold
    if not readings or limit is None:
        return ""
    return "above" if _expected(scene, readings) > limit else "below"


def _expected(scene: Scene, readings: Sequence[Measurement]) -> float:
    """Temperature after the next command, by the rate that the last readings tell."""
    trend = course_of(last_stay(readings, readings[-1].device))
    return readings[-1].value if trend is None else trend.value_at(scene.clock + 1)


def _is_measured(scene: Scene, word: str) -> bool:
    """True if a temperature is known, and on which side of the threshold it will be in its box.

    What is colder or warmer than its surroundings may pass the threshold on the way, so a reading
    near it is taken again, as often as it may have been passed since.
    """
    readings = _readings(scene, word)
    limit = scene.aim.threshold
    if limit is None or not readings or len(readings) >= _MOST_READINGS:
        return scene.temperature(_substance(scene, word)) is not None
    stay = last_stay(readings, readings[-1].device)
    passed = scene.clock + 1 - stay[-1].time
    apart = stay[-1].time - stay[0].time
    drift = _ROUNDED / apart if apart else _FASTEST_DRIFT
    return abs(_expected(scene, readings) - limit) > _ROUNDED + drift * passed


HEAT = Recipe(
    predicates={
        "measured": _is_measured,
        "gauged": _gauged,
        "watched": _watched,
        "called": _is_called,
        "fathomed": lambda scene, word: _substance(scene, word) in scene.state_history,
        "telling": lambda _scene, word: MATTER.match(head_of(word)) is not None,
        "delicate": _is_delicate,
        "heats": lambda scene, device, word: _is_best(scene, device, word, _heaters(scene)),
        "cools": lambda scene, device, word: _is_best(scene, device, word, _COOLERS),
        "runny": lambda scene, word: _states(scene, word)[-1] == "liquid",
        "firm": _became("solid"),
        "fluid": _became("liquid"),
        "melted": _became("solid", "liquid"),
        "frozen": _became("liquid", "solid"),
        "boiled": _became("gas"),
        "changed": _has_changed,
        "settled": lambda scene, _word: bool(melting_side(scene)),
    },
    roles={
        "heater": lambda scene: [scene.name_of(name) for name in _HEATERS],
        "cooler": lambda scene: [scene.name_of(name) for name in _COOLERS],
    },
)
