"""What no text says and the commands given tell: how long a block has slid, how much was poured, what was sown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown, SomeBelief
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.spots import meant
from rpms.worlds.scienceworld.tree import walk

_TICKS: Final = {"wait": 11, "wait1": 2, "inventory": 0, "look around": 0, "task": 0}
"""Ticks of the simulator's clock; every other command that it understands takes one."""
_NOT_UNDERSTOOD: Final = ("No known action", "Unknown action", "Ambiguous request", "It's not clear how")
_SURE: Final = 4
"""Ticks after which a block that is first seen at the bottom may long have been there."""
_POURED: Final = re.compile(r"You pour the contents of the jug into the (.{1,40}? pot \d{1,2})\.")
_SOWN: Final = re.compile(r"move .{1,60}? seed in .{1,60}?(?:plant|tree)\b.{0,60}? to (.{1,40}?pot \d{1,2})\b.*")
_PLACES: Final = re.compile(r" \(in ([^,()]{1,80})[^()]{0,200}\)")
"""How the simulator's options name the place of a thing, the nearest first."""


def tally(before: ScienceKnown, after: SomeBelief) -> SomeBelief:
    """Note what follows from the last command and its answer, beside what instruments said."""
    goal = after.goal
    if not isinstance(goal, ScienceGoal) or after.observation.startswith(_NOT_UNDERSTOOD) or after.last_action is None:
        return after
    command = _PLACES.sub(r" in \1", meant(before, after.last_action))
    after = after.but(clock=before.clock + _TICKS.get(command, 1))
    noted = {
        **dict(_slides(goal, before, after, command)),
        **dict(_garden(goal, after, command)),
        **dict(_focus(after, command)),
    }
    poured = _POURED.match(after.observation)
    if poured:
        after = after.but(since={**after.since, f"water in {poured[1]}": after.clock})
    return after.but(readings={**after.readings, **noted}) if noted else after


def _slides(goal: ScienceGoal, before: ScienceKnown, after: ScienceKnown, command: str) -> Iterator[tuple[str, str]]:
    """The ticks since a block was put on a plane, and how far it had come in them when it was seen.

    What a command shows comes before the tick that it takes.
    """
    said = after.observation.casefold()
    for plane in goal.candidates:
        ticks = ticks_on(after, plane)
        if said.startswith("you move ") and f" to {plane.casefold()}" in command:
            yield f"ticks on {plane}", "1"
            yield f"speed on {plane}", "0"
        elif ticks and before.readings.get(plane) != "100" and _loaded(after, plane):
            yield f"ticks on {plane}", str(ticks + _TICKS.get(command, 1))
            seen = after.readings.get(plane, "")
            came_late = seen == "100" and ticks > _SURE
            if plane.casefold() in said and seen.isdecimal() and not came_late:
                yield f"speed on {plane}", f"{int(seen) / ticks:.3f}"


def _loaded(belief: ScienceKnown, plane: str) -> bool:
    """Whether something is on a plane."""
    return any(
        thing.name == plane and thing.contents for forest in belief.rooms.values() for _, thing, _ in walk(forest)
    )


def ticks_on(belief: ScienceKnown, plane: str) -> int:
    """The ticks since a block was put on a plane, until it was seen at the bottom."""
    return int(belief.readings.get(f"ticks on {plane}", "0"))


def speed_on(belief: ScienceKnown, plane: str) -> float:
    """Per cent of a plane in a tick, as last seen; 0 if never."""
    return float(belief.readings.get(f"speed on {plane}", "0"))


def _focus(after: ScienceKnown, command: str) -> Iterator[tuple[str, str]]:
    """The words of a focus tell one of several plants; the answer calls each of them `plant`."""
    if after.observation.startswith("You focus on ") and command.startswith("focus on "):
        yield "focus", command.removeprefix("focus on ")


def last_focus(belief: ScienceKnown) -> str:
    """What was last focused on, in the words of the command where it was given in words."""
    return belief.readings.get("focus", "") or (belief.focused[-1] if belief.focused else "")


def _garden(goal: ScienceGoal, after: ScienceKnown, command: str) -> Iterator[tuple[str, str]]:
    """The jugs poured into each pot, the pots with offspring, and the form of the trait that it shows."""
    poured, sown = _POURED.match(after.observation), _SOWN.fullmatch(command)
    if poured:
        yield f"jugs in {poured[1]}", str(jugs_in(after, poured[1]) + 1)
    if sown and goal.trait and after.observation.startswith("You move "):
        yield f"offspring in {sown[1]}", "not seen"
    if goal.trait and "stage" in after.observation:
        for _, pot, _ in walk(after.here):
            form = _form(goal, pot) if f"offspring in {pot.name}" in after.readings else ""
            if form:
                yield f"offspring in {pot.name}", form


def jugs_in(belief: ScienceKnown, pot: str) -> int:
    """How many jugs were poured into a pot."""
    return int(belief.readings.get(f"jugs in {pot}", "0"))


def offspring(readings: Mapping[str, str]) -> dict[str, str]:
    """The pots with offspring, each with `yes`, `no` or `not seen`: whether it shows the form asked about."""
    lead = "offspring in "
    return {name.removeprefix(lead): form for name, form in readings.items() if name.startswith(lead)}


def _form(goal: ScienceGoal, pot: Thing) -> str:
    """Whether the plant in a pot shows the form of the trait; empty where that does not show."""
    for plant in pot.contents or ():
        if plant.name.endswith("plant") and goal.trait.startswith("flower"):
            shown = [inner.raw for inner in plant.contents or () if "flower" in inner.raw.split()]
        else:
            shown = [flag for flag in plant.flags if flag.startswith("with ")]
        if shown:
            return "yes" if goal.criterion in shown[0].split() else "no"
    return ""
