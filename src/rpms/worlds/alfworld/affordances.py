"""Fixed properties of kinds of things, measured over all training games.

The answers are three-valued: what no training game shows is unknown, neither possible nor impossible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rpms.worlds.alfworld.games.measured import object_types, tables

_LOCALITY = re.compile(r"category: (.+)\n +objects: \[([^]]*)\]")
"""The manual's list of objects found in the same places; a whole reading of it takes a tenth of a second."""

TOOLS: Mapping[str, tuple[str, ...]] = {"heat": ("microwave",), "cool": ("fridge",), "clean": ("sinkbasin", "sink")}
"""The kinds of places that each transformation works with."""
_MAYBE_TOOLS: Mapping[str, tuple[str, ...]] = {"clean": ("bathtubbasin",)}
"""Those of which it works with some: a few official games hold a bathtub's basin for a sink's."""

KNIVES = frozenset({"knife", "butterknife"})


def category(kind: str) -> str:
    """The manual's category of a kind of object, for recalling experience; a kind without one is its own."""
    return _categories().get(kind, kind)


@cache
def _categories() -> Mapping[str, str]:
    manual = files(__package__).joinpath("domain.yaml").read_text(encoding="utf-8")
    return {kind.strip(): name for name, objects in _LOCALITY.findall(manual) for kind in objects.split(",")}


@dataclass(frozen=True, slots=True)
class Affordances:
    """Kinds in lower case, as the games' texts name them."""

    objects: frozenset[str]
    places: frozenset[str]
    attributes: Mapping[str, frozenset[str]]
    """Predicate of the PDDL domain → the kinds of objects that always have it."""
    accepts: Mapping[str, frozenset[str]]
    """Kind of place → the kinds of objects that the games let one put there."""
    refuses: Mapping[str, frozenset[str]]
    """Kind of place → the kinds of objects that were in a room with one and that no game lets one put there."""
    doors: Mapping[str, int]
    """Kind of place → percent of its instances that open and close; absent: none does."""

    def has(self, attribute: str, kind: str) -> bool | None:
        """True if objects of a kind have an attribute."""
        return kind in self.attributes[attribute] if kind in self.objects and kind not in _MIXED else None

    def has_door(self, kind: str) -> bool | None:
        """True if places of a kind can be opened and closed; None where some can and some cannot."""
        return {0: False, 100: True}.get(self.doors.get(kind, 0)) if kind in self.places else None

    def fits(self, object_kind: str, place_kind: str) -> bool | None:
        """True if an object of a kind may be put into a place of a kind; None where no game had both in one room."""
        if object_kind in self.accepts.get(place_kind, ()):
            return True
        return False if object_kind in self.refuses.get(place_kind, ()) else None

    def treats(self, verb: str, place_kind: str, object_kind: str) -> bool | None:
        """True if a kind of place heats, cools or cleans a kind of object."""
        if place_kind in _MAYBE_TOOLS.get(verb, ()):
            return False if self.has(f"{verb}able", object_kind) is False else None
        if place_kind not in TOOLS[verb]:
            return False if place_kind in self.places else None
        return self.has(f"{verb}able", object_kind)


_MIXED = frozenset({"footstool"})
"""Kinds of which only some instances have an attribute."""


@cache
def affordances() -> Affordances:
    """Read the measured facts, once."""
    measured = tables()
    return Affordances(
        objects=_lower(object_types()),
        places=_lower(measured["can_contain"]),
        attributes={name: _lower(kinds) for name, kinds in measured["attributes"].items()},
        accepts={place.lower(): _lower(kinds) for place, kinds in measured["can_contain"].items()},
        refuses={place.lower(): _lower(kinds) for place, kinds in measured["cannot_contain"].items()},
        doors={place.lower(): percent for place, percent in measured["openable"].items()},
    )


def _lower(kinds: Iterable[str]) -> frozenset[str]:
    return frozenset(kind.lower() for kind in kinds)
