"""Houses: one room with its receptacles, their locations, and the objects in them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from rpms.worlds.alfworld.games.dice import Dice
from rpms.worlds.alfworld.games.geometry import FloorPlan, FloorSpot
from rpms.worlds.alfworld.games.goals import GameGoal
from rpms.worlds.alfworld.games.measured import FLOOR, RoomFacts, Weights, tables

_BESIDE = 12
"""Percent of the things on the floor that lie where a receptacle can be reached, so that `look` shows them."""
_INSIDE = 4
"""Percent of cutlery that lies in a cup, plate or pan of the same receptacle."""
_CUTLERY = frozenset({"ButterKnife", "Fork", "Knife", "Spatula", "Spoon"})


@dataclass(frozen=True, slots=True)
class Receptacle:
    """Something that objects are in or on; it never moves."""

    id: str
    type: str
    location: str
    openable: bool


@dataclass(frozen=True, slots=True)
class Item:
    """An object and the receptacles it is in: usually one, several for what stands across two, none on the floor."""

    id: str
    type: str
    location: str
    receptacles: tuple[str, ...]
    inside: str | None = None
    """The cup, plate or pan it lies in, which stands in the same receptacle."""


@dataclass(frozen=True, slots=True)
class House:
    """A room, furnished so that a goal can be reached but is not reached yet."""

    room: str
    start: str
    receptacles: tuple[Receptacle, ...]
    items: tuple[Item, ...]


def _receptacle_counts(dice: Dice, facts: RoomFacts, goal: GameGoal) -> dict[str, int]:
    counts = {kind: dice.weighted(numbers) for kind, numbers in facts.receptacles.items()}
    if goal.destination is not None:
        counts[goal.destination] = max(1, counts[goal.destination])
    lamp = [goal.receptacle] if goal.in_light else []
    for kind in [goal.object, *lamp]:
        places, barred = facts.places[kind], (FLOOR, goal.forbidden)
        sources = {place: weight for place, weight in places.items() if place not in barred}
        if not any(counts[place] for place in sources):
            counts[dice.weighted(sources)] = 1
    return {kind: count for kind, count in counts.items() if count}


def _furnish(
    dice: Dice, facts: RoomFacts, counts: dict[str, int], plan: FloorPlan
) -> tuple[list[Receptacle], dict[str, FloorSpot]]:
    """Place the receptacles, some of them where an earlier one can be reached already."""
    placed: dict[str, list[Receptacle]] = defaultdict(list)
    spots: dict[str, FloorSpot] = {}
    for kind in sorted(counts):
        for _ in range(counts[kind]):
            neighbour = None
            for partner, percent in facts.sharing.get(kind, {}).items():
                if neighbour is None and placed[partner] and dice.chance(percent):
                    neighbour = placed[partner][-1] if partner == kind else dice.pick(placed[partner])
            spot = plan.receptacle(dice, kind, None if neighbour is None else spots[neighbour.id])
            opens = dice.chance(tables().openable.get(kind, 0))
            receptacle = Receptacle(spot.id, kind, spot.location, opens)
            placed[kind].append(receptacle)
            spots[receptacle.id] = spot
    return [receptacle for group in placed.values() for receptacle in group], spots


class _Stocking:
    def __init__(self, dice: Dice, facts: RoomFacts, goal: GameGoal, plan: FloorPlan) -> None:
        self._dice, self._facts, self._goal, self._plan = dice, facts, goal, plan
        counts = _receptacle_counts(dice, facts, goal)
        self.receptacles, self._spots = _furnish(dice, facts, counts, plan)
        self._by_type: dict[str, list[Receptacle]] = defaultdict(list)
        for receptacle in self.receptacles:
            self._by_type[receptacle.type].append(receptacle)
        objects = {kind: dice.weighted(counts) for kind, counts in facts.objects.items()}
        objects[goal.object] = max(goal.wanted, objects[goal.object])
        if goal.in_light:
            objects[goal.receptacle] = max(1, objects[goal.receptacle])
        self.items: list[Item] = []
        for kind, count in objects.items():
            for number in range(count):
                self.items.append(self._item(kind, number))

    def _places(self, kind: str, number: int) -> Weights:
        """Places for the n-th object of a kind: the first of those the goal needs must be within reach."""
        places = {
            place: weight
            for place, weight in self._facts.places[kind].items()
            if place == FLOOR or self._by_type[place]
        }
        goal = self._goal
        if kind == goal.object:
            places.pop(goal.forbidden or "", None)
            if number < goal.wanted:
                places.pop(FLOOR, None)
        elif goal.in_light and kind == goal.receptacle:
            places.pop(FLOOR, None)
        return places or {FLOOR: 1}

    def _item(self, kind: str, number: int) -> Item:
        dice, plan = self._dice, self._plan
        place = dice.weighted(self._places(kind, number))
        if place == FLOOR:
            spot = plan.floor(dice, kind)
            beside = dice.chance(_BESIDE)
            location = dice.pick(self.receptacles).location if beside else spot.location
            return Item(spot.id, kind, location, ())
        main = dice.pick(self._by_type[place])
        spot = plan.on(dice, kind, self._spots[main.id])
        ids = [main.id]
        for other, percent in tables().also_in.get(place, {}).items():
            candidates = [r for r in self._by_type[other] if r.id not in ids]
            barred = kind == self._goal.object and other == self._goal.forbidden
            if candidates and not barred and dice.chance(percent):
                ids.append(dice.pick(candidates).id)
        return Item(spot.id, kind, main.location, tuple(ids), self._holder(kind, main.id))

    def _holder(self, kind: str, receptacle: str) -> str | None:
        hollow = tables().attributes["isReceptacleObject"]
        holders = [item.id for item in self.items if item.type in hollow and receptacle in item.receptacles]
        if kind in _CUTLERY and holders and self._dice.chance(_INSIDE):
            return self._dice.pick(holders)
        return None


def build_house(dice: Dice, room: str, goal: GameGoal) -> House:
    """Furnish a room by the measured facts, so that what the goal needs is there and within reach."""
    plan = FloorPlan(dice)
    stocking = _Stocking(dice, tables().rooms[room], goal, plan)
    return House(room, plan.start, tuple(stocking.receptacles), tuple(stocking.items))


Fact = tuple[str, ...]
"""A predicate and its arguments."""

AGENT = "agent1"

_NAMED_BY_DOMAIN = ("SinkType", "KnifeType", "ButterKnifeType")
"""Object types that the domain's actions name, so that every problem must declare them."""


def initial_facts(house: House) -> list[Fact]:
    """List what is true at the start, in the order official problems have."""
    known = tables()
    receptacle_types = {receptacle.type for receptacle in house.receptacles}
    object_types = {item.type for item in house.items}
    facts: list[Fact] = [("receptacleType", r.id, f"{r.type}Type") for r in house.receptacles]
    facts += [("objectType", item.id, f"{item.type}Type") for item in house.items]
    facts += [
        ("canContain", f"{place}Type", f"{kind}Type")
        for place in sorted(receptacle_types)
        for kind in sorted(known.can_contain[place] & object_types)
    ]
    for fact, kinds in known.attributes.items():
        facts += [(fact, item.id) for item in house.items if item.type in kinds]
    facts += [("openable", r.id) for r in house.receptacles if r.openable]
    facts.append(("atLocation", AGENT, house.start))
    facts += [("inReceptacle", item.id, receptacle) for item in house.items for receptacle in item.receptacles]
    facts += [("inReceptacleObject", item.id, item.inside) for item in house.items if item.inside is not None]
    facts += [("receptacleAtLocation", r.id, r.location) for r in house.receptacles]
    facts += [("objectAtLocation", item.id, item.location) for item in house.items]
    return facts


def problem(name: str, house: House, goal: GameGoal) -> str:
    """Write the problem `name`."""
    known = tables()
    locations = {house.start, *(r.location for r in house.receptacles), *(item.location for item in house.items)}
    object_types = {f"{kind}Type" for kind in known.object_types}.union(_NAMED_BY_DOMAIN)
    declared = [
        ([AGENT], "agent"),
        (sorted(object_types), "otype"),
        ([f"{kind}Type" for kind in known.receptacle_types], "rtype"),
        ([item.id for item in house.items], "object"),
        ([receptacle.id for receptacle in house.receptacles], "receptacle"),
        (sorted(locations), "location"),
    ]
    objects = "\n".join(f"{thing} - {kind}" for things, kind in declared for thing in things)
    init = "\n".join(f"({' '.join(fact)})" for fact in initial_facts(house))
    return (
        f"(define (problem {name})\n(:domain alfred)\n"
        f"(:objects\n{objects}\n)\n(:init\n{init}\n)\n(:goal {goal.pddl()})\n)\n"
    )
