"""Which worlds there are: those of this package and those that others register under `rpms.worlds`."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from rpms.core.errors import InputError
from rpms.worlds.base import World, lacking

ENTRY_POINTS = "rpms.worlds"


def world_names() -> tuple[str, ...]:
    """The names of all installed worlds, in alphabetical order."""
    return tuple(sorted({point.name for point in entry_points(group=ENTRY_POINTS)}))


@cache
def find_world(name: str) -> World:
    """Load a world by its name; a wrong name, or a world that cannot be loaded, is one line for a person."""
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            try:
                world: World = point.load()
            except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                raise InputError(f"world {name!r} ({point.value}) cannot be loaded: {reason}") from None
            if problem := lacking(world):
                raise InputError(f"world {name!r} ({point.value}) is not finished: {problem}")
            return world
    near = get_close_matches(name, world_names(), 1)
    hint = f", did you mean {near[0]}?" if near else "."
    raise InputError(f"unknown world {name!r}{hint} Installed: {', '.join(world_names()) or 'none'}")
