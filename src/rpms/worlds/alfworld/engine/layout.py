"""Constants of a game, as numbers: things are indices in the order of their ids, sets of them are
bit masks.

The order of ids is also the order in which the real engine lists things, so a mask read from its
lowest bit is a list.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rpms.worlds.alfworld.engine.dialect import Dialect
from rpms.worlds.alfworld.engine.pddl import Damage, Problem, quoted

Rows = frozenset[tuple[str, ...]]
"""Arguments for which a predicate holds."""


class State(NamedTuple):
    """One moment of a game: immutable, hashable; things are indices of the `Layout`, sets are
    bit masks.
    """

    location: int
    held: int
    """The object in hand, -1 for none."""
    opened: int
    contents: tuple[int, ...]
    """The objects in each receptacle; an object may be in several."""
    around: tuple[int, ...]
    """The objects that facts put at each location, which `slice` reaches; not always those that lie
    there."""
    removed: tuple[int, ...]
    """The objects taken out of each receptacle and not put back: what `look` may list "next to
    it"."""
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


def names_of(ids: Iterable[str]) -> dict[str, str]:
    """The engine's names of ids: the part before `_bar_`, or the id and a space, and a number,
    highest first.
    """
    names = {thing: f"{thing} " for thing in sorted(ids)}
    stems = {thing: _stem(thing) for thing in names if "_bar_" in thing}
    left = Counter(stems.values())
    for thing, stem in stems.items():
        names[thing] = f"{stem} {left[stem]}"
        left[stem] -= 1
    return names


def _stem(thing: str) -> str:
    """The word of a name: `sinkbasin` for `sink_bar_…_bar_sinkbasin`."""
    stem = thing.partition("_bar_")[0]
    if any(escape in stem for escape in _ESCAPES):
        raise Damage(f"has an object name {quoted(thing)} that no ALFWorld game can have")
    return f"{stem}basin" if "basin" in thing else stem


class GameLayout:
    """The unchanging part of a game."""

    def __init__(self, problem: Problem, dialect: Dialect) -> None:
        facts = problem.facts
        self._number(problem)
        self.place = self._places(facts["receptacleatlocation"])
        """The location of each receptacle, -1 for none."""
        self.here = self._receptacles_by_location()
        """The receptacles at each location."""
        of_kind = _masks(facts["objecttype"], self.objects)
        self.accepts = self._accepted(facts, of_kind)
        """The objects that may be put into each receptacle."""
        self.treating = self._treatments(facts["receptacletype"], dialect)
        """The ones of `heat`, `cool` and `clean` that each receptacle does."""
        self.treatable: dict[str, int] = {}
        for verb in ("heat", "cool", "clean"):
            self.treatable[verb] = _mask(facts[f"{verb}able"], self.objects)
        """The objects that each of these works on."""
        inside = _masks(facts["inreceptacleobject"], self.objects)
        self.inside = tuple(inside[thing] & ~(1 << index) for thing, index in self.objects.items())
        """The objects that examining an object lists: those that were inside it at the start."""
        self.openable = _mask(facts["openable"], self.receptacles)
        self.vessels = _mask(facts["isreceptacleobject"], self.objects)
        self.pickupable = _mask(facts["pickupable"], self.objects)
        self.toggleable = _mask(facts["toggleable"], self.objects)
        self.sliceable = _mask(facts["sliceable"], self.objects)
        self.knives = of_kind["knifetype"] | of_kind["butterknifetype"]

    def _number(self, problem: Problem) -> None:
        """Number the agent, locations, receptacles and objects, each in the order of its ids."""
        mentioned = _mentioned(problem)
        agents: dict[str, int] = {}
        self.locations: dict[str, int] = {}
        self.receptacles: dict[str, int] = {}
        self.objects: dict[str, int] = {}
        of_type = {
            "agent": agents,
            "location": self.locations,
            "receptacle": self.receptacles,
            "object": self.objects,
        }
        names = names_of(mentioned)
        for thing in sorted(mentioned):
            index = of_type.get(problem.things[thing])
            if index is not None:
                index[thing] = len(index)
        if len(agents) != 1 or len(problem.facts["atlocation"]) != 1:
            raise Damage("does not place exactly one agent at exactly one location")
        (self.agent,) = agents
        self.location_names = tuple([names[thing] for thing in self.locations])
        self.receptacle_names = tuple([names[thing] for thing in self.receptacles])
        self.object_names = tuple([names[thing] for thing in self.objects])
        self.receptacle_called = _numbers(self.receptacle_names)
        self.object_called = _numbers(self.object_names)

    def _places(self, rows: Rows) -> tuple[int, ...]:
        place = [-1] * len(self.receptacles)
        for receptacle, location in sorted(rows):
            index = self.receptacles[receptacle]
            if place[index] >= 0:
                raise Damage(f"places receptacle {quoted(receptacle)} at two locations")
            place[index] = self.locations[location]
        return tuple(place)

    def _receptacles_by_location(self) -> tuple[tuple[int, ...], ...]:
        here: list[list[int]] = [[] for _ in self.locations]
        for receptacle, location in enumerate(self.place):
            if location >= 0:
                here[location].append(receptacle)
        return tuple(map(tuple, here))

    def _accepted(self, facts: Mapping[str, Rows], of_kind: Mapping[str, int]) -> tuple[int, ...]:
        holdable = defaultdict[str, int](int)
        for holder, kind in facts["cancontain"]:
            holdable[holder] |= of_kind[kind]
        accepts = [0] * len(self.receptacles)
        for receptacle, kind in facts["receptacletype"]:
            accepts[self.receptacles[receptacle]] |= holdable[kind]
        return tuple(accepts)

    def _treatments(self, rows: Rows, dialect: Dialect) -> tuple[frozenset[str], ...]:
        verbs = _TREATING | ({"sinktype": "clean"} if dialect.any_sink else {})
        treating = [frozenset[str]()] * len(self.receptacles)
        for receptacle, kind in rows:
            if kind in verbs:
                treating[self.receptacles[receptacle]] |= {verbs[kind]}
        return tuple(treating)


def _mentioned(problem: Problem) -> set[str]:
    """Every id that a fact names."""
    found: set[str] = set()
    for rows in problem.facts.values():
        for row in rows:
            found.update(row)
    return found


def _numbers(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _mask(rows: Rows, index: Mapping[str, int]) -> int:
    """The things that rows of one name each are about."""
    return sum(1 << index[thing] for (thing,) in rows)


def _masks(rows: Rows, objects: Mapping[str, int]) -> Mapping[str, int]:
    """For each thing, the objects that stand in a relation to it."""
    found: defaultdict[str, int] = defaultdict(int)
    for thing, other in rows:
        found[other] |= 1 << objects[thing]
    return found


def first_state(layout: GameLayout, facts: Mapping[str, Rows]) -> State:
    """The state that a game begins in."""
    objects = layout.objects
    receptacles = layout.receptacles
    contents = _masks(facts["inreceptacle"], objects)
    around = _masks(facts["objectatlocation"], objects)
    in_hand = [objects[thing] for _, thing in facts["holds"]]
    if len(in_hand) > 1 or len(in_hand) != len(facts["holdsany"]):
        raise Damage(
            "does not say of the agent's hands either that they are empty or what one thing they"
            " hold"
        )
    ((_, location),) = facts["atlocation"]
    return State(
        location=layout.locations[location],
        held=in_hand[0] if in_hand else -1,
        opened=_mask(facts["opened"], receptacles),
        contents=tuple(contents[receptacle] for receptacle in receptacles),
        around=tuple(around[location] for location in layout.locations),
        removed=(0,) * len(receptacles),
        hot=_mask(facts["ishot"], objects),
        cool=_mask(facts["iscool"], objects),
        clean=_mask(facts["isclean"], objects),
        sliced=_mask(facts["issliced"], objects),
        toggled=_mask(facts["istoggled"], objects),
        lit=_mask(facts["ison"], objects),
        checked=frozenset(thing for (thing,) in facts["checked"]),
    )
