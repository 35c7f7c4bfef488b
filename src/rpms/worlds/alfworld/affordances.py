"""Fixed properties of kinds of things, measured over all training games.

The answers are three-valued: what no training game shows is unknown, neither possible nor impossible.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rpms.worlds.alfworld.games.measured import tables

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
        if kind not in self.places:
            return None
        percent = self.doors.get(kind, 0)
        return {0: False, 100: True}.get(percent)

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
        objects=frozenset(kind.lower() for kind in measured.object_types),
        places=frozenset(kind.lower() for kind in measured.receptacle_types),
        attributes={name: frozenset(kind.lower() for kind in kinds) for name, kinds in measured.attributes.items()},
        accepts=_lower(measured.can_contain),
        refuses=_lower(measured.cannot_contain),
        doors={place.lower(): percent for place, percent in measured.openable.items()},
    )


def _lower(kinds: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """Kinds by kind, as the games' texts write them."""
    return {place.lower(): frozenset(kind.lower() for kind in things) for place, things in kinds.items()}
