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
from functools import cache
from importlib.resources import files
from typing import Any

from rpms.worlds.base import read_table

MADE = read_table(__package__, "games.toml")
FLOOR = "floor"
"""The place of what is in no receptacle: it can be seen but not taken."""

SCENES = {"kitchen": 0, "living": 200, "bedroom": 300, "bathroom": 400}
"""Scene numbers start here; official scenes use 1 to 30 of each hundred, generated ones 31 to 99."""

Weights = dict[str, int]


@cache
def tables() -> dict[str, Any]:
    """Read the tables, once."""
    found: dict[str, Any] = json.loads(files(__package__).joinpath("tables.json").read_text(encoding="utf-8"))
    return found


def object_types() -> list[str]:
    """Every object type that occurs or can be put anywhere, sorted."""
    rooms, can_contain = tables()["rooms"], tables()["can_contain"]
    return sorted({kind for room in rooms.values() for kind in room["objects"]}.union(*can_contain.values()))


def counts(measured: Weights) -> dict[int, int]:
    """Shares by number, in per mille, with what is left of 1,000 for none."""
    shares = {int(number): share for number, share in measured.items()}
    none = 1000 - sum(shares.values())
    return {0: none, **shares} if none > 0 else shares
