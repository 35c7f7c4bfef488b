"""The belief as a prompt shows it: the paper's one line, and what can be said beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.tree import walk

ROOMS: Final = (
    *("kitchen", "bathroom", "hallway", "living room", "bedroom"),
    *("workshop", "art studio", "greenhouse", "outside", "foundry"),
)
"""As the instruction names them."""
_SHOWN: Final = 6


def belief_lines(belief: ScienceKnown) -> tuple[str, ...]:
    """The lines of the [Current State] block; the first is the paper's. Only what is known is said."""
    carrying = ", ".join(belief.holding) or ("nothing" if belief.inventory_known else "nothing known")
    lines = [f"Room: {belief.room or 'unknown'}  Carrying: {carrying}"]
    said = {
        "Seen": _some(_sightings(belief)),
        "States": _some(f"{name} is {state}" for name, state in belief.states.items()),
        "Measured": _some(f"{name} {degrees:g} °C" for name, degrees in belief.temperatures.items()),
        "Focused on": ", ".join(belief.focused),
        "Not yet searched": ", ".join(room for room in ROOMS if room not in belief.looked) if belief.looked else "",
    }
    return (*lines, *(f"{name}: {text}" for name, text in said.items() if text))


def _sightings(belief: ScienceKnown) -> Iterable[str]:
    """Things that the task names and that were last seen in another room."""
    task = belief.goal.text.casefold()
    for room, things in belief.rooms.items():
        if room != belief.room:
            for _, thing, _ in walk(things):
                if thing.name in task:
                    yield f"{thing.name} in {room}"


def _some(items: Iterable[str]) -> str:
    every: Sequence[str] = list(dict.fromkeys(items))
    more = f", +{len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return ", ".join(every[:_SHOWN]) + more
