"""Substances and their three states, as names show them."""

from __future__ import annotations

from typing import Final

from rpms.worlds.scienceworld.observations import MATTER, Thing

_WATER: Final = {"water": "liquid", "ice": "solid", "steam": "gas"}
_USUAL: Final = {
    "solid": frozenset(
        {"chocolate", "marshmallow", "ice cream", "soap", "rubber", "lead", "tin", "gallium", "caesium"}
    ),
    "liquid": frozenset({"orange juice", "apple juice", "mercury"}),
}
"""State of a substance when its name says nothing: as it is at the start."""


def substance_of(name: str) -> str:
    """The substance by one name in all its states.

    >>> substance_of("gaseous orange juice"), substance_of("ice")
    ('orange juice', 'water')
    """
    bare = MATTER.sub("", name, count=1) if MATTER.match(name) else name
    return "water" if bare in _WATER else bare


def state_of(thing: Thing) -> str | None:
    """Solid, liquid or gas; None where its name does not tell."""
    for state in ("solid", "liquid", "gas"):
        if state in thing.flags:
            return state
    name = thing.name.casefold()
    return _WATER.get(name) or next((state for state, names in _USUAL.items() if name in names), None)
