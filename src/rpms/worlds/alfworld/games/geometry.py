"""Positions of things, and ids that say so: `Apple|+00.25|…` and `loc|3|-2|1|60` in the letters PDDL allows."""

from __future__ import annotations

from dataclasses import dataclass

from rpms.worlds.alfworld.games.dice import Dice
from rpms.worlds.alfworld.games.measured import MADE

_BASINS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}
"""Receptacles that are part of an object: the id is the object's with the part's name at its end."""

_STEP = 25
"""Centimetres between two standing points, and the unit of the numbers in a location's id."""
_REACH = 3
"""Steps from a standing point to the wall."""
_ALONG_WALL = 9
"""Standing points along one wall, two steps apart."""
_TILTS = ((35, 60), (90, 45), (130, 30), (175, 15))
"""Up to which height one looks down how far."""


def _signed(centimetres: int) -> str:
    sign = "minus" if centimetres < 0 else "plus"
    return f"_{sign}_{abs(centimetres) // 100:02d}_dot_{abs(centimetres) % 100:02d}"


def _plain(number: int) -> str:
    return f"_minus_{-number}" if number < 0 else str(number)


@dataclass(frozen=True, slots=True)
class _Stand:
    """A standing point: grid cell and the wall it faces (0 to 3)."""

    x: int
    z: int
    facing: int

    @property
    def ahead(self) -> tuple[int, int]:
        return ((0, 1), (1, 0), (0, -1), (-1, 0))[self.facing]

    def location(self, tilt: int) -> str:
        return "_bar_".join(["loc", *map(_plain, (self.x, self.z, self.facing, tilt))])


@dataclass(frozen=True, slots=True)
class FloorSpot:
    """A thing's id and type, where it can be reached from, and its place in centimetres."""

    id: str
    type: str
    location: str
    stand: _Stand
    x: int
    y: int
    z: int
    openable: bool = False


class FloorPlan:
    """The floor plan of one house: hands out places and never the same id or unshared location twice."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        half = _ALONG_WALL
        walls = [[(along, half), (half, along), (along, -half), (-half, along)] for along in range(-half + 1, half, 2)]
        self._stands = dice.shuffled([_Stand(*at, facing) for row in walls for facing, at in enumerate(row)])
        self._next = 0
        self._ids: set[str] = set()
        self._locations: set[str] = set()
        self.start = self._claim(_Stand(0, 0, dice.below(4)), 30)

    def _claim(self, stand: _Stand, tilt: int) -> str:
        while (location := stand.location(tilt)) in self._locations:
            tilt -= 15
        self._locations.add(location)
        return location

    def _stand(self) -> _Stand:
        """Go round the walls; a crowded house comes round again and looks at another height."""
        stand = self._stands[self._next % len(self._stands)]
        self._next += 1
        return stand

    def _spot(self, kind: str, stand: _Stand, location: str, place: tuple[int, int, int]) -> FloorSpot:
        x, y, z = place
        part = f"_bar_{kind}" if kind in _BASINS else ""
        while True:
            name = "_bar_".join([_BASINS.get(kind, kind), _signed(x), _signed(y), _signed(z)]) + part
            if name not in self._ids:
                self._ids.add(name)
                return FloorSpot(name, kind, location, stand, x, y, z)
            x, z = x + self._dice.below(9) - 4, z + self._dice.below(9) - 4

    def _at_wall(self, stand: _Stand, height: int) -> tuple[int, int, int]:
        dx, dz = stand.ahead
        x = (stand.x + _REACH * dx) * _STEP + (self._dice.below(31) - 15) * abs(dz)
        z = (stand.z + _REACH * dz) * _STEP + (self._dice.below(31) - 15) * abs(dx)
        return x, height, z

    def receptacle(self, kind: str, neighbour: FloorSpot | None) -> FloorSpot:
        """Place a receptacle at a location of its own, or where its neighbour is reached from."""
        height = self._dice.pick(MADE["heights"].get(kind, (0,)))
        stand = self._stand() if neighbour is None else neighbour.stand
        tilt = next((tilt for top, tilt in _TILTS if height < top), 0)
        location = self._claim(stand, tilt) if neighbour is None else neighbour.location
        return self._spot(kind, stand, location, self._at_wall(stand, height))

    def floor(self, kind: str) -> FloorSpot:
        """Place something in no receptacle, at a location of its own."""
        stand = self._stand()
        return self._spot(kind, stand, self._claim(stand, 60), self._at_wall(stand, 0))

    def on(self, kind: str, receptacle: FloorSpot) -> FloorSpot:
        """Place an object in or on a receptacle."""
        x, y, z = self._dice.below(41) - 20, 2 + self._dice.below(8), self._dice.below(41) - 20
        place = (receptacle.x + x, receptacle.y + y, receptacle.z + z)
        return self._spot(kind, receptacle.stand, receptacle.location, place)
