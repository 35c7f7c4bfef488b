"""Constants of a game, as numbers: things are indices in the order of their ids, sets of them are bit masks.

The order of ids is also the order in which the real engine lists things, so a mask read from its lowest bit is a list.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.worlds.alfworld.engine.dialect import Dialect
from rpms.worlds.alfworld.engine.pddl import Damage, Problem, quoted


class State(NamedTuple):
    """One moment of a game: immutable, hashable; things are indices of the `Layout`, sets are bit masks."""

    location: int
    held: int
    """The object in hand, -1 for none."""
    opened: int
    contents: tuple[int, ...]
    """The objects in each receptacle; an object may be in several."""
    around: tuple[int, ...]
    """The objects said to be at each location: what `slice` reaches, which is not always what lies there."""
    removed: tuple[int, ...]
    """The objects taken out of each receptacle and not put back: what `look` may list "next to it"."""
    hot: int
    cool: int
    clean: int
    sliced: int
    toggled: int
    lit: int
    checked: frozenset[str]
    """Ids of what was looked at; kept only where the goal asks for it."""


_TREATING = {"microwavetype": "heat", "fridgetype": "cool", "sinkbasintype": "clean"}
_ESCAPES = ("_bar_", "_minus_", "_plus_", "_dot_", "_comma_")


def bits(mask: int) -> Iterator[int]:
    """The indices in a mask, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def names_of(ids: Iterable[str]) -> dict[str, str]:
    """The engine's names of ids: the part before `_bar_`, or the id and a space, and a number, highest first."""
    names = {thing: f"{thing} " for thing in sorted(ids)}
    numbered = [thing for thing in names if "_bar_" in thing]
    stems = [thing.partition("_bar_")[0] + ("basin" if "basin" in thing else "") for thing in numbered]
    counts = Counter(stems)
    for thing, stem in zip(numbered, stems, strict=True):
        if any(escape in stem for escape in _ESCAPES):
            raise Damage(f"has an object name {quoted(thing)} that no ALFWorld game can have")
        names[thing] = f"{stem} {counts[stem]}"
        counts[stem] -= 1
    return names


@dataclass(frozen=True)
class GameLayout:
    """The unchanging part of a game."""

    agent: str
    locations: Mapping[str, int]
    receptacles: Mapping[str, int]
    objects: Mapping[str, int]
    location_names: tuple[str, ...]
    receptacle_names: tuple[str, ...]
    object_names: tuple[str, ...]
    place: tuple[int, ...]
    """The location of each receptacle, -1 for none."""
    here: tuple[tuple[int, ...], ...]
    """The receptacles at each location."""
    openable: int
    accepts: tuple[int, ...]
    """The objects that may be put into each receptacle."""
    inside: tuple[int, ...]
    """The objects that examining an object lists: those that were inside it at the start."""
    vessels: int
    pickupable: int
    toggleable: int
    sliceable: int
    knives: int
    treatable: Mapping[str, int]
    """For `heat`, `cool` and `clean`, the objects it works on."""
    treating: tuple[frozenset[str], ...]
    """Those of the three that each receptacle does."""

    @cached_property
    def receptacle_called(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.receptacle_names)}

    @cached_property
    def object_called(self) -> Mapping[str, int]:
        return {name: index for index, name in enumerate(self.object_names)}


def lay_out(problem: Problem, dialect: Dialect) -> tuple[GameLayout, State]:
    """Turn a problem into its unchanging part and its first state."""
    facts = problem.facts
    mentioned = {word for rows in facts.values() for row in rows for word in row}
    names = names_of(mentioned)
    of_type: dict[str, dict[str, int]] = {kind: {} for kind in ("agent", "location", "receptacle", "object")}
    for thing in sorted(mentioned):
        if (index := of_type.get(problem.things[thing])) is not None:
            index[thing] = len(index)
    locations, receptacles, objects = of_type["location"], of_type["receptacle"], of_type["object"]
    if len(of_type["agent"]) != 1 or len(facts["atlocation"]) != 1:
        raise Damage("does not place exactly one agent at exactly one location")

    def mask(predicate: str, index: Mapping[str, int]) -> int:
        return sum(1 << index[row[0]] for row in facts[predicate])

    def masks(predicate: str) -> Mapping[str, int]:
        """For each thing, the objects that stand in a relation to it."""
        found: defaultdict[str, int] = defaultdict(int)
        for thing, other in facts[predicate]:
            found[other] |= 1 << objects[thing]
        return found

    place = _places(problem, receptacles, locations)
    of_kind, inside, holdable = masks("objecttype"), masks("inreceptacleobject"), defaultdict[str, int](int)
    accepts, treating = [0] * len(receptacles), [frozenset[str]()] * len(receptacles)
    for holder, kind in facts["cancontain"]:
        holdable[holder] |= of_kind[kind]
    verbs = _TREATING | ({"sinktype": "clean"} if dialect.any_sink else {})
    for receptacle, kind in facts["receptacletype"]:
        accepts[receptacles[receptacle]] |= holdable[kind]
        treating[receptacles[receptacle]] |= {verbs[kind]} if kind in verbs else set()
    layout = GameLayout(
        agent=next(iter(of_type["agent"])),
        locations=locations,
        receptacles=receptacles,
        objects=objects,
        location_names=tuple(names[thing] for thing in locations),
        receptacle_names=tuple(names[thing] for thing in receptacles),
        object_names=tuple(names[thing] for thing in objects),
        place=place,
        here=tuple(tuple(index for index, at in enumerate(place) if at == here) for here in range(len(locations))),
        openable=mask("openable", receptacles),
        accepts=tuple(accepts),
        inside=tuple(inside[thing] & ~(1 << index) for thing, index in objects.items()),
        vessels=mask("isreceptacleobject", objects),
        pickupable=mask("pickupable", objects),
        toggleable=mask("toggleable", objects),
        sliceable=mask("sliceable", objects),
        knives=of_kind["knifetype"] | of_kind["butterknifetype"],
        treatable={verb: mask(f"{verb}able", objects) for verb in ("heat", "cool", "clean")},
        treating=tuple(treating),
    )
    ((_, start),) = facts["atlocation"]
    state = State(
        location=locations[start],
        held=_held(problem, objects),
        opened=mask("opened", receptacles),
        contents=tuple(map(masks("inreceptacle").__getitem__, receptacles)),
        around=tuple(map(masks("objectatlocation").__getitem__, locations)),
        removed=(0,) * len(receptacles),
        hot=mask("ishot", objects),
        cool=mask("iscool", objects),
        clean=mask("isclean", objects),
        sliced=mask("issliced", objects),
        toggled=mask("istoggled", objects),
        lit=mask("ison", objects),
        checked=frozenset(row[0] for row in facts["checked"]),
    )
    return layout, state


def _places(problem: Problem, receptacles: Mapping[str, int], locations: Mapping[str, int]) -> tuple[int, ...]:
    place = [-1] * len(receptacles)
    for receptacle, location in sorted(problem.facts["receptacleatlocation"]):
        if place[receptacles[receptacle]] >= 0:
            raise Damage(f"places receptacle {quoted(receptacle)} at two locations")
        place[receptacles[receptacle]] = locations[location]
    return tuple(place)


def _held(problem: Problem, objects: Mapping[str, int]) -> int:
    held = [objects[thing] for _, thing in problem.facts["holds"]]
    if len(held) > 1 or len(held) != len(problem.facts["holdsany"]):
        raise Damage("does not say of the agent's hands either that they are empty or what one thing they hold")
    return held[0] if held else -1
