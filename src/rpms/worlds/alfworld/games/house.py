"""Houses: one room with its receptacles, their locations, and the objects in them, drawn by dice.

Ids say where things are: `Apple|+00.25|…` and `loc|3|-2|1|60` in the letters PDDL allows.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import NamedTuple, TypeVar

from rpms.worlds.alfworld.affordances import object_types, tables
from rpms.worlds.alfworld.goals import MADE, SENTENCES, GameGoal

FLOOR = "floor"
"""The place of what is in no receptacle: it can be seen but not taken."""

_BASINS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}
"""Receptacles that are part of an object: the id is the object's with the part's name at its
end."""

_STEP = 25
"""Centimetres between two standing points, and the unit of the numbers in a location's id."""
_REACH = 3
"""Steps from a standing point to the wall."""
_TOWARDS_WALL = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""One step in x and z to each of the four walls."""
_ALONG_WALL = 9
"""Standing points along one wall, two steps apart."""
_TILTS = ((35, 60), (90, 45), (130, 30), (175, 15))
"""Up to which height one looks down how far."""


T = TypeVar("T")
Weights = dict[str, int]


class Dice:
    """Draws that depend on the key alone, by `random.Random.random`, whose sequence Python
    promises to keep.
    """

    def __init__(self, *key: int | str) -> None:
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - games, not secrets

    def below(self, limit: int) -> int:
        """Draw from 0 to limit - 1."""
        return int(self._random.random() * limit)

    def chance(self, percent: int) -> bool:
        """Say yes in about `percent` of 100 cases."""
        return self.below(100) < percent

    def pick(self, things: Sequence[T]) -> T:
        """Draw one, each as likely."""
        return things[self.below(len(things))]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """Draw one key in proportion to its weight; the order of the keys matters to the result."""
        drawn = self.below(sum(weights.values()))
        for thing, weight in weights.items():
            if drawn < weight:
                return thing
            drawn -= weight
        raise ValueError("nothing to draw from")

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Copy in a random order."""
        rest = list(things)
        return [rest.pop(self.below(len(rest))) for _ in range(len(rest))]


def counts(measured: Weights) -> dict[int, int]:
    """Shares by number, in per mille, with what is left of 1,000 for none."""
    shares = {int(number): share for number, share in measured.items()}
    none = 1000 - sum(shares.values())
    return {0: none, **shares} if none > 0 else shares


class _Stand(NamedTuple):
    """A standing point: grid cell and the wall it faces (0 to 3)."""

    x: int
    z: int
    facing: int

    def looking_down(self, tilt: int) -> str:
        """The id of the location of who stands there and looks down so far."""
        numbers = map(str, (*self, tilt))
        return "_bar_".join(("loc", *numbers)).replace("-", "_minus_")


class _Point(NamedTuple):
    """A place in the room, in centimetres."""

    x: int
    y: int
    z: int

    def id_of(self, kind: str) -> str:
        """The id of a thing of a kind that is here."""
        numbers = map(_signed, self)
        whole = "_bar_".join((_BASINS.get(kind, kind), *numbers))
        return f"{whole}_bar_{kind}" if kind in _BASINS else whole


def _signed(centimetres: int) -> str:
    sign = "minus" if centimetres < 0 else "plus"
    metres, rest = divmod(abs(centimetres), 100)
    return f"_{sign}_{metres:02d}_dot_{rest:02d}"


@dataclass(frozen=True, slots=True)
class Placed:
    """A receptacle or an object: its id and type, where it can be reached from, and its place."""

    id: str
    type: str
    location: str
    stand: _Stand
    point: _Point
    openable: bool = False
    receptacles: tuple[str, ...] = ()
    """Receptacles that an object is in: usually one, two if it stands across both, none on the
    floor."""
    inside: str | None = None
    """The cup, plate or pan that an object lies in, which stands in the same receptacle."""


def _stands_along_walls() -> list[_Stand]:
    """Every standing point that faces a wall."""
    half = _ALONG_WALL
    stands: list[_Stand] = []
    for along in range(-half + 1, half, 2):
        stands.append(_Stand(along, half, 0))
        stands.append(_Stand(half, along, 1))
        stands.append(_Stand(along, -half, 2))
        stands.append(_Stand(-half, along, 3))
    return stands


_BESIDE = 12
"""Percent of the things on the floor that lie where a receptacle can be reached, so that `look`
shows them."""
_INSIDE = 4
"""Percent of cutlery that lies in a cup, plate or pan of the same receptacle."""
_CUTLERY = frozenset({"ButterKnife", "Fork", "Knife", "Spatula", "Spoon"})


class DrawnGoal(NamedTuple):
    """A goal, and the room that it is for."""

    room: str
    goal: GameGoal


def draw_goal(dice: Dice, task_type: str) -> DrawnGoal:
    """Draw a room and a goal as often as the training games have them together."""
    goals_by_room = tables()["goals"][task_type]
    games_by_room = {room: sum(goals.values()) for room, goals in goals_by_room.items()}
    room = dice.weighted(games_by_room)
    thing, _, receptacle = dice.weighted(goals_by_room[room]).partition(">")
    sentence = dice.below(len(SENTENCES[task_type]))
    return DrawnGoal(room, GameGoal(task_type, thing, receptacle, sentence))


class House:
    """A room, furnished by the measured facts so that a goal can be reached but is not reached
    yet.
    """

    def __init__(self, dice: Dice, room: str, goal: GameGoal) -> None:
        self.room = room
        self._dice = dice
        self._goal = goal
        self._facts = tables()["rooms"][room]
        self._stands = cycle(dice.shuffled(_stands_along_walls()))
        """Round the walls; a crowded house comes round again and looks at another height."""
        self._ids: set[str] = set()
        self._locations: set[str] = set()
        self.start = self._claim(_Stand(0, 0, dice.below(4)), 30)
        self._by_type: dict[str, list[Placed]] = defaultdict(list)
        for kind, count in sorted(self._receptacle_counts().items()):
            for _ in range(count):
                self._by_type[kind].append(self._receptacle(kind))
        self.receptacles: list[Placed] = []
        """Things that objects are in or on; they never move."""
        for group in self._by_type.values():
            self.receptacles += group
        self.items: list[Placed] = []
        for kind, count in self._object_counts().items():
            for number in range(count):
                self.items.append(self._item(kind, number))

    def _object_counts(self) -> dict[str, int]:
        """The number of objects of each kind: as many as the goal needs at least."""
        goal = self._goal
        wanted = {}
        for kind, facts in self._facts["objects"].items():
            wanted[kind] = self._dice.weighted(counts(facts["counts"]))
        wanted[goal.object] = max(goal.wanted, wanted[goal.object])
        if goal.in_light:
            wanted[goal.receptacle] = max(1, wanted[goal.receptacle])
        return wanted

    def _claim(self, stand: _Stand, tilt: int) -> str:
        """A new location for who stands there, claimed for one thing."""
        location = stand.looking_down(tilt)
        while location in self._locations:
            tilt -= 15
            location = stand.looking_down(tilt)
        self._locations.add(location)
        return location

    def _spot(self, kind: str, stand: _Stand, location: str, point: _Point) -> Placed:
        """A thing at a point, or a little beside it where its id would be another thing's."""
        name = point.id_of(kind)
        while name in self._ids:
            x = point.x + self._dice.below(9) - 4
            z = point.z + self._dice.below(9) - 4
            point = _Point(x, point.y, z)
            name = point.id_of(kind)
        self._ids.add(name)
        return Placed(name, kind, location, stand, point)

    def _at_wall(self, stand: _Stand, height: int) -> _Point:
        """A point within reach of a standing point, a little to its side."""
        dx, dz = _TOWARDS_WALL[stand.facing]
        aside_x = (self._dice.below(31) - 15) * abs(dz)
        aside_z = (self._dice.below(31) - 15) * abs(dx)
        x = (stand.x + _REACH * dx) * _STEP
        z = (stand.z + _REACH * dz) * _STEP
        return _Point(x + aside_x, height, z + aside_z)

    def _receptacle_counts(self) -> dict[str, int]:
        """The number of receptacles of each kind: one for the goal's end at least, and one that the
        things it needs may be found in.
        """
        goal = self._goal
        wanted = {}
        for kind, numbers in self._facts["receptacles"].items():
            wanted[kind] = self._dice.weighted(counts(numbers))
        if goal.destination is not None:
            wanted[goal.destination] = max(1, wanted[goal.destination])
        needed = (goal.object, goal.receptacle) if goal.in_light else (goal.object,)
        for kind in needed:
            sources = dict(self._facts["objects"][kind]["places"])
            sources.pop(FLOOR, None)
            sources.pop(goal.forbidden or "", None)
            if not any(wanted[place] for place in sources):
                wanted[self._dice.weighted(sources)] = 1
        return wanted

    def _receptacle(self, kind: str) -> Placed:
        """Place a receptacle at a location of its own, or perhaps where an earlier one can be
        reached already.
        """
        neighbour = self._neighbour(kind)
        height = self._dice.pick(MADE["heights"].get(kind, (0,)))
        if neighbour is None:
            stand = next(self._stands)
            tilt = next((tilt for top, tilt in _TILTS if height < top), 0)
            location = self._claim(stand, tilt)
        else:
            stand = neighbour.stand
            location = neighbour.location
        spot = self._spot(kind, stand, location, self._at_wall(stand, height))
        return replace(spot, openable=self._dice.chance(tables()["openable"].get(kind, 0)))

    def _neighbour(self, kind: str) -> Placed | None:
        """An earlier receptacle that a new one shares its location with, by chance."""
        for partner, percent in tables()["sharing"][self.room].get(kind, {}).items():
            placed = self._by_type[partner]
            if placed and self._dice.chance(percent):
                return placed[-1] if partner == kind else self._dice.pick(placed)
        return None

    def _places(self, kind: str, number: int) -> Weights:
        """Places for the n-th object of a kind; objects that the goal needs come within reach."""
        goal = self._goal
        is_wanted = kind == goal.object and number < goal.wanted
        is_lamp = goal.in_light and kind == goal.receptacle
        places: Weights = {}
        for place, weight in self._facts["objects"][kind]["places"].items():
            if place == FLOOR:
                fits = not is_wanted and not is_lamp
            else:
                fits = bool(self._by_type[place]) and not self._is_forbidden(kind, place)
            if fits:
                places[place] = weight
        return places or {FLOOR: 1}

    def _is_forbidden(self, kind: str, place: str) -> bool:
        """True if things of a kind in such a place would be part of what the goal wants."""
        return kind == self._goal.object and place == self._goal.forbidden

    def _item(self, kind: str, number: int) -> Placed:
        dice = self._dice
        place = dice.weighted(self._places(kind, number))
        if place == FLOOR:
            return self._item_on_floor(kind)
        main = dice.pick(self._by_type[place])
        x = main.point.x + dice.below(41) - 20
        y = main.point.y + 2 + dice.below(8)
        z = main.point.z + dice.below(41) - 20
        spot = self._spot(kind, main.stand, main.location, _Point(x, y, z))
        ids = self._receptacles_of(kind, place, main)
        return replace(spot, receptacles=ids, inside=self._vessel_of(kind, main))

    def _item_on_floor(self, kind: str) -> Placed:
        stand = next(self._stands)
        spot = self._spot(kind, stand, self._claim(stand, 60), self._at_wall(stand, 0))
        if self._dice.chance(_BESIDE):
            return replace(spot, location=self._dice.pick(self.receptacles).location)
        return spot

    def _receptacles_of(self, kind: str, place: str, main: Placed) -> tuple[str, ...]:
        """The receptacles that an object is in: its main one, and by chance others beside it."""
        ids = [main.id]
        for other, percent in tables()["also_in"].get(place, {}).items():
            candidates = [each for each in self._by_type[other] if each.id not in ids]
            forbidden = self._is_forbidden(kind, other)
            if candidates and not forbidden and self._dice.chance(percent):
                ids.append(self._dice.pick(candidates).id)
        return tuple(ids)

    def _vessel_of(self, kind: str, main: Placed) -> str | None:
        """The bowl or mug that cutlery stands in, by chance, if there is one in its receptacle."""
        hollow = tables()["attributes"]["isReceptacleObject"]
        there = [item for item in self.items if main.id in item.receptacles]
        vessels = [item.id for item in there if item.type in hollow]
        if kind in _CUTLERY and vessels and self._dice.chance(_INSIDE):
            return self._dice.pick(vessels)
        return None


Fact = tuple[str, ...]
"""A predicate and its arguments."""

AGENT = "agent1"

_NAMED_BY_DOMAIN = ("SinkType", "KnifeType", "ButterKnifeType")
"""Object types that the domain's actions name, so that every problem must declare them."""


def initial_facts(house: House) -> list[Fact]:
    """Everything that is true at the start, in the order official problems have."""
    return [
        *_types(house),
        *_containments(house),
        *_attributes(house),
        ("atLocation", AGENT, house.start),
        *_holdings(house),
        *_locations(house),
    ]


def _types(house: House) -> Iterator[Fact]:
    for receptacle in house.receptacles:
        yield ("receptacleType", receptacle.id, f"{receptacle.type}Type")
    for item in house.items:
        yield ("objectType", item.id, f"{item.type}Type")


def _locations(house: House) -> Iterator[Fact]:
    for receptacle in house.receptacles:
        yield ("receptacleAtLocation", receptacle.id, receptacle.location)
    for item in house.items:
        yield ("objectAtLocation", item.id, item.location)


def _attributes(house: House) -> Iterator[Fact]:
    """The attributes of objects, and the receptacles that can be opened."""
    for attribute, kinds in tables()["attributes"].items():
        for item in house.items:
            if item.type in kinds:
                yield (attribute, item.id)
    for receptacle in house.receptacles:
        if receptacle.openable:
            yield ("openable", receptacle.id)


def _holdings(house: House) -> Iterator[Fact]:
    """The receptacles that objects are in, and then the objects that others are in."""
    for item in house.items:
        for receptacle in item.receptacles:
            yield ("inReceptacle", item.id, receptacle)
    for item in house.items:
        if item.inside is not None:
            yield ("inReceptacleObject", item.id, item.inside)


def _containments(house: House) -> Iterator[Fact]:
    """Facts that a type of receptacle can hold a type of object, for all types in the house."""
    types = {item.type for item in house.items}
    for place in sorted({receptacle.type for receptacle in house.receptacles}):
        for kind in sorted(types.intersection(tables()["can_contain"][place])):
            yield ("canContain", f"{place}Type", f"{kind}Type")


def problem(name: str, house: House, goal: GameGoal) -> str:
    """Write the problem `name`."""
    objects = "\n".join(f"{thing} - {kind}" for thing, kind in _declared(house))
    init = "\n".join(f"({' '.join(fact)})" for fact in initial_facts(house))
    return (
        f"(define (problem {name})\n(:domain alfred)\n"
        f"(:objects\n{objects}\n)\n(:init\n{init}\n)\n(:goal {goal.pddl()})\n)\n"
    )


def _declared(house: House) -> Iterator[tuple[str, str]]:
    """Every id of a problem, with its type, in the order official problems have."""
    yield AGENT, "agent"
    kinds = {f"{kind}Type" for kind in object_types()}
    for kind in sorted(kinds.union(_NAMED_BY_DOMAIN)):
        yield kind, "otype"
    for kind in sorted(tables()["can_contain"]):
        yield f"{kind}Type", "rtype"
    locations = {house.start}
    for item in house.items:
        locations.add(item.location)
        yield item.id, "object"
    for receptacle in house.receptacles:
        locations.add(receptacle.location)
        yield receptacle.id, "receptacle"
    for location in sorted(locations):
        yield location, "location"
