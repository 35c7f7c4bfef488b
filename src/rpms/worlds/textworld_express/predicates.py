"""Truth of the manual's facts in a belief: true, false, or None where nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rpms.worlds.textworld_express.known import CONDITIONS, CUTS, ExpressKnown, behind
from rpms.worlds.textworld_express.observations import DIRECTIONS, quantity


def _at(belief: ExpressKnown, room: str) -> bool | None:
    return None if belief.room is None else room == belief.room


def _here(belief: ExpressKnown, thing: str) -> bool | None:
    place = belief.here
    if place is None or belief.room is None:
        return None
    if thing in belief.carried or thing in place.visible or thing == belief.room:
        return True
    if thing in belief.rooms or belief.rooms_of(thing) or not _may_hide(belief, belief.room):
        return False
    return None


def _may_hide(belief: ExpressKnown, room: str) -> bool:
    """True if something in a room was never looked into."""
    return any(each.content is None for each in belief.places[room].furniture.values())


def _with(belief: ExpressKnown, room: str, thing: str) -> bool | None:
    if room not in belief.rooms:
        return False
    if thing in belief.carried:
        return room == belief.room
    known = belief.rooms_of(thing)
    if room in known:
        return True
    if room in belief.places:
        return None if not known and _may_hide(belief, room) else False
    return None if belief.furniture(thing) is not None or not known else False


def _leads(belief: ExpressKnown, room: str, direction: str, other: str) -> bool | None:
    place = belief.places.get(room)
    if place is None:
        return None if room in belief.rooms else False
    if direction not in place.exits:
        return False
    there = place.exits[direction]
    if there is not None:
        return there == other
    if other == behind(room, direction):
        return True
    return None if _charted_only(belief, room, other) else False


def _charted_only(belief: ExpressKnown, room: str, other: str) -> bool:
    """True if a map connects two rooms, and no way between them was seen."""
    seen = belief.places[room].exits.values() if room in belief.places else ()
    return belief.chart is not None and other in belief.chart.get(room, ()) and other not in seen


def _mapped(belief: ExpressKnown, room: str, other: str) -> bool | None:
    place = belief.places.get(room)
    if place is not None and any(
        there == other or (there is None and other == behind(room, way)) for way, there in place.exits.items()
    ):
        return True
    return _charted_only(belief, room, other)


def _shut(belief: ExpressKnown, room: str, direction: str) -> bool | None:
    place = belief.places.get(room)
    return None if place is None else place.doors.get(direction, False)


def _way(belief: ExpressKnown, direction: str) -> bool | None:
    if direction not in DIRECTIONS:
        return False
    return None if belief.here is None else direction in belief.here.exits


def _door(belief: ExpressKnown, direction: str) -> bool | None:
    if direction not in DIRECTIONS:
        return False
    return None if belief.here is None else direction in belief.here.doors


def _barred(belief: ExpressKnown, direction: str) -> bool | None:
    return None if belief.here is None else belief.here.doors.get(direction, False)


def _seen(belief: ExpressKnown, room: str) -> bool | None:
    return room in belief.places


def _holding(belief: ExpressKnown, thing: str) -> bool | None:
    return None if belief.here is None else thing in belief.carried


def _loose(belief: ExpressKnown, thing: str) -> bool | None:
    if belief.here is None:
        return None
    return True if belief.rooms_of(thing) else (False if thing in belief.carried else None)


def _full(belief: ExpressKnown) -> bool | None:
    return belief.capacity is not None and len(belief.carried) >= belief.capacity


def _open(belief: ExpressKnown, name: str) -> bool | None:
    found = belief.furniture(name)
    if found is not None:
        return found.open
    return False if name in belief.things else None


def _lid(belief: ExpressKnown, name: str) -> bool | None:
    found = belief.furniture(name)
    if found is not None:
        return found.lid
    return False if name in belief.things else None


def _hides(belief: ExpressKnown, name: str, room: str) -> bool | None:
    place = belief.places.get(room)
    found = place.furniture.get(name) if place is not None else None
    return found is not None and found.content is None


def _inside(belief: ExpressKnown, thing: str, container: str) -> bool | None:
    found = belief.furniture(container)
    return found is not None and not found.open and thing in (found.content or ())


def _in(belief: ExpressKnown, thing: str, name: str) -> bool | None:
    every = [place.furniture[name] for place in belief.places.values() if name in place.furniture]
    if any(thing in (each.content or ()) for each in every):
        return True
    known = thing in belief.carried or bool(belief.rooms_of(thing))
    return False if known and every else None


def _is_a(_belief: ExpressKnown, thing: str, sort: str) -> bool | None:
    named, wanted = thing.split(), sort.split()
    words = iter(named)
    alike = all(any(word in (each, f"{each}s") for word in words) for each in wanted)
    return alike and all(word in wanted for word in named if word in CONDITIONS)


def _tidy(belief: ExpressKnown, thing: str) -> bool | None:
    return thing in belief.placed


def _studied(belief: ExpressKnown) -> bool | None:
    return belief.recipe is not None


def _ingredient(belief: ExpressKnown, thing: str) -> bool | None:
    return None if belief.recipe is None else thing in belief.recipe.ingredients


def _calls_for(belief: ExpressKnown, food: str, verb: str) -> bool | None:
    return None if belief.recipe is None else (verb, food) in belief.recipe.directions


def _followed(belief: ExpressKnown, food: str, *, cuts: bool) -> bool | None:
    if belief.recipe is None:
        return None
    wanted = [verb for verb, named in belief.recipe.directions if named == food and (verb in CUTS) is cuts]
    return all(belief.is_done(verb, food) for verb in wanted)


def _cut(belief: ExpressKnown, food: str) -> bool | None:
    return _followed(belief, food, cuts=True)


def _cooked(belief: ExpressKnown, food: str) -> bool | None:
    return _followed(belief, food, cuts=False)


def _ready(belief: ExpressKnown) -> bool | None:
    if belief.recipe is None:
        return None
    done = all(belief.is_done(verb, food) for verb, food in belief.recipe.directions)
    return done and all(food in belief.carried for food in belief.recipe.ingredients)


def _eaten(belief: ExpressKnown, food: str) -> bool | None:
    return None if belief.here is None else food in belief.eaten


def _needed(belief: ExpressKnown, thing: str) -> bool | None:
    if belief.recipe is not None:
        uncut = any(verb in CUTS and not belief.is_done(verb, food) for verb, food in belief.recipe.directions)
        return thing in belief.recipe.ingredients or thing == "meal" or (thing == "knife" and uncut)
    return thing == belief.goal.object


def _charted(belief: ExpressKnown) -> bool | None:
    return belief.chart is not None


def _solved(belief: ExpressKnown) -> bool | None:
    return belief.result is not None


def _answer(belief: ExpressKnown, thing: str) -> bool | None:
    return None if belief.result is None else quantity(thing) == belief.result


def _unsorted(belief: ExpressKnown) -> dict[str, int]:
    """The quantities that are in no box yet."""
    amounts = {name: amount for name in belief.things if (amount := quantity(name)) is not None}
    return {name: amount for name, amount in amounts.items() if not _in(belief, name, belief.goal.destination)}


def _next(belief: ExpressKnown, thing: str) -> bool | None:
    left = _unsorted(belief)
    return thing in left and left[thing] == min(left.values())


def _sorted(belief: ExpressKnown) -> bool | None:
    return belief.room is not None and not _unsorted(belief)


def _instructed(belief: ExpressKnown) -> bool | None:
    return bool(belief.orders)


def _told(belief: ExpressKnown, order: str) -> bool | None:
    return order in belief.orders[:1]


def _ordered(belief: ExpressKnown, thing: str) -> bool | None:
    return any(order.endswith(f" {thing}") for order in belief.orders[:1])


def _finished(_belief: ExpressKnown) -> bool | None:
    return False


PREDICATES: Final[Mapping[str, tuple[int, Callable[..., bool | None]]]] = {
    "at": (1, _at),
    "here": (1, _here),
    "with": (2, _with),
    "leads": (3, _leads),
    "mapped": (2, _mapped),
    "shut": (2, _shut),
    "way": (1, _way),
    "door": (1, _door),
    "barred": (1, _barred),
    "seen": (1, _seen),
    "holding": (1, _holding),
    "loose": (1, _loose),
    "full": (0, _full),
    "open": (1, _open),
    "lid": (1, _lid),
    "hides": (2, _hides),
    "inside": (2, _inside),
    "in": (2, _in),
    "is_a": (2, _is_a),
    "tidy": (1, _tidy),
    "studied": (0, _studied),
    "ingredient": (1, _ingredient),
    "calls_for": (2, _calls_for),
    "cut": (1, _cut),
    "cooked": (1, _cooked),
    "ready": (0, _ready),
    "eaten": (1, _eaten),
    "needed": (1, _needed),
    "charted": (0, _charted),
    "solved": (0, _solved),
    "answer": (1, _answer),
    "next": (1, _next),
    "sorted": (0, _sorted),
    "instructed": (0, _instructed),
    "told": (1, _told),
    "ordered": (1, _ordered),
    "finished": (0, _finished),
}
"""Predicate → how many arguments it has, and what answers it."""
