"""Facts measured over ALFWorld's training games, and the fixed properties of kinds of things that
they tell.

The properties are three-valued: what no training game shows is unknown, neither possible nor
impossible. Kinds are in lower case, as the games' texts name them.

`games/tables.json` was measured over the 3,553 training games, and generated houses follow it:

- can_contain: receptacle type → the object types that may be put there
- cannot_contain: receptacle type → the object types that stand in a room with one in some game and
  may in none be put there; whatever is in neither list, no game has together
- openable: receptacle type → percent of its instances that open (all of them start closed)
- attributes: predicate → the object types that have it
- sharing: room → receptacle type → earlier type → percent that stand at the location of one of
  those
- also_in: receptacle type → second type → percent of the objects there that are also in one of
  those
- goals: task type → room → "Object>Receptacle" → games
- rooms: room → receptacles: type → how many → per mille of games;
         room → objects: type → counts: how many → per mille of games, places: receptacle type or
         floor → per mille
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_LOCALITY = re.compile(r"category: (.+)\n +objects: \[([^]]*)\]")
"""The manual's list of objects found in the same places; a whole reading of it takes a tenth of
a second."""

TOOLS: Mapping[str, tuple[str, ...]] = {
    "heat": ("microwave",),
    "cool": ("fridge",),
    "clean": ("sinkbasin", "sink"),
}
"""The kinds of places that each transformation works with."""
_MAYBE_TOOLS: Mapping[str, tuple[str, ...]] = {"clean": ("bathtubbasin",)}
"""Kinds of places that may work: a few official games take a bathtub's basin for a sink's."""

KNIVES = frozenset({"knife", "butterknife"})


@cache
def tables() -> dict[str, Any]:
    """Read the tables, once."""
    return dict(
        json.loads(files(__package__).joinpath("games", "tables.json").read_text(encoding="utf-8"))
    )


def object_types() -> list[str]:
    """Every object type that occurs or can be put anywhere, sorted."""
    types: set[str] = set()
    for room in tables()["rooms"].values():
        types.update(room["objects"])
    for contained in tables()["can_contain"].values():
        types.update(contained)
    return sorted(types)


def category(kind: str) -> str:
    """The manual's category of a kind of object, for recalling experience; a kind without one
    is its own.
    """
    return _categories().get(kind, kind)


@cache
def _categories() -> Mapping[str, str]:
    manual = files(__package__).joinpath("domain.yaml").read_text(encoding="utf-8")
    categories: dict[str, str] = {}
    for name, listed in _LOCALITY.findall(manual):
        for kind in listed.split(","):
            categories[kind.strip()] = name
    return categories


@cache
def objects() -> frozenset[str]:
    """The kinds of objects that some game has."""
    return frozenset(map(str.lower, object_types()))


@cache
def places() -> frozenset[str]:
    """The kinds of places."""
    return frozenset(_kinds("can_contain"))


@cache
def _kinds(table: str) -> Mapping[str, frozenset[str]]:
    return {
        name.lower(): frozenset(map(str.lower, kinds)) for name, kinds in tables()[table].items()
    }


@cache
def has_door(kind: str) -> bool | None:
    """True if places of a kind can be opened and closed; None where some can and some cannot."""
    if kind not in places():
        return None
    percents = {place.lower(): percent for place, percent in tables()["openable"].items()}
    percent = percents.get(kind, 0)
    if percent == 0:
        return False
    return True if percent == 100 else None


def has(attribute: str, kind: str) -> bool | None:
    """True if objects of a kind always have an attribute, by its predicate of the PDDL domain
    in lower case.
    """
    if kind not in objects() or kind in _MIXED:
        return None
    return kind in _kinds("attributes")[attribute]


def fits(object_kind: str, place_kind: str) -> bool | None:
    """True if an object of a kind may be put into a place of a kind; None where no game had
    both in one room.
    """
    if object_kind in _kinds("can_contain").get(place_kind, ()):
        return True
    return False if object_kind in _kinds("cannot_contain").get(place_kind, ()) else None


def treats(verb: str, place_kind: str, object_kind: str) -> bool | None:
    """True if a kind of place heats, cools or cleans a kind of object."""
    if place_kind in _MAYBE_TOOLS.get(verb, ()):
        return False if has(f"{verb}able", object_kind) is False else None
    if place_kind not in TOOLS[verb]:
        return False if place_kind in places() else None
    return has(f"{verb}able", object_kind)


_MIXED = frozenset({"footstool"})
"""Kinds of which only some instances have an attribute."""
