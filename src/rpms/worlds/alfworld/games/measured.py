"""Places of things in ALFWorld's training games, as numbers: the facts that generated houses follow.

`tables.json` was measured over the 3,553 training games:

- can_contain: receptacle type → the object types that may be put there
- cannot_contain: receptacle type → the object types that stand in a room with one in some game and may in none be put
  there; whatever is in neither list, no game has together
- openable: receptacle type → percent of its instances that open (all of them start closed)
- attributes: predicate → the object types that have it
- sharing: room → receptacle type → earlier type → percent that stand at the location of one of those
- also_in: receptacle type → second type → percent of the objects there that are also in one of those
- goals: task type → room → "Object>Receptacle" → games
- rooms: room → receptacles: type → how many → per mille of games;
         room → objects: type → counts: how many → per mille of games, places: receptacle type or floor → per mille
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rpms.worlds.base import read_table

MADE = read_table(__package__, "games.toml")
FLOOR = "floor"
"""The place of what is in no receptacle: it can be seen but not taken."""

SCENES = {"kitchen": 0, "living": 200, "bedroom": 300, "bathroom": 400}
"""Scene numbers start here; official scenes use 1 to 30 of each hundred, generated ones 31 to 99."""

Weights = dict[str, int]


@dataclass(frozen=True, slots=True)
class RoomFacts:
    """Content of a room, and its receptacles that stand together."""

    receptacles: dict[str, dict[int, int]]
    objects: dict[str, dict[int, int]]
    """Object type → how many there are → weight; likewise receptacles."""
    places: dict[str, Weights]
    """Object type → its places."""
    sharing: dict[str, Weights]


@dataclass(frozen=True, slots=True)
class Tables:
    """The contents of `tables.json`."""

    can_contain: dict[str, frozenset[str]]
    cannot_contain: dict[str, frozenset[str]]
    openable: Weights
    attributes: dict[str, frozenset[str]]
    also_in: dict[str, Weights]
    goals: dict[str, dict[str, Weights]]
    rooms: dict[str, RoomFacts]

    @property
    def object_types(self) -> list[str]:
        """Every object type that occurs or can be put anywhere, sorted."""
        named = {kind for room in self.rooms.values() for kind in room.objects}
        return sorted(named.union(*self.can_contain.values()))

    @property
    def receptacle_types(self) -> list[str]:
        return sorted(self.can_contain)


def _counts(raw: dict[str, int]) -> dict[int, int]:
    """Read how many → per mille, giving what is left of 1,000 to none."""
    counts = {int(number): share for number, share in raw.items()}
    none = 1000 - sum(counts.values())
    return {0: none, **counts} if none > 0 else counts


@cache
def tables() -> Tables:
    """Read the tables, once."""
    raw = json.loads(files(__package__).joinpath("tables.json").read_text(encoding="utf-8"))
    return Tables(
        can_contain={kind: frozenset(objects) for kind, objects in raw["can_contain"].items()},
        cannot_contain={kind: frozenset(objects) for kind, objects in raw["cannot_contain"].items()},
        openable=raw["openable"],
        attributes={fact: frozenset(kinds) for fact, kinds in raw["attributes"].items()},
        also_in=raw["also_in"],
        goals=raw["goals"],
        rooms={
            name: RoomFacts(
                receptacles={kind: _counts(counts) for kind, counts in room["receptacles"].items()},
                objects={kind: _counts(facts["counts"]) for kind, facts in room["objects"].items()},
                places={kind: facts["places"] for kind, facts in room["objects"].items()},
                sharing=raw["sharing"][name],
            )
            for name, room in raw["rooms"].items()
        },
    )
