"""The belief of Section 3.1 for ALFWorld: facts that the texts have shown, and the truth of the
manual's predicates.

Only the agent changes the world, so what was seen stays so until the agent changes it. Where it is,
is a site, not a place: several places may share one, as far as the text lets one conclude.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain
from typing import Self

from rpms.logic.belief import Belief, StateSignature
from rpms.logic.facts import Atom, Facts, Truth, kind_of
from rpms.logic.goal import Goal
from rpms.worlds.alfworld import affordances
from rpms.worlds.base import asking, some

_HERE_SHOWN = 8
_SPOTTED_SHOWN = 5
_KINDS_SHOWN = 8
"""Things here, things seen elsewhere and kinds of places that a prompt names at most."""
_SWITCHED_ON = "on"
_DEEDS = {
    "heated": "hot",
    "cooled": "cool",
    "cleaned": "clean",
    "sliced": "sliced",
    "lit": _SWITCHED_ON,
}
"""Deeds, and the states that they leave things in."""


NOWHERE = ""
"""The site of someone in the middle of the room: no place is there."""

NAMED_BY_GAME = "="
"""Begins the name of a site that the game itself has named, as in `=loc 17`. Two such names are two
sites."""


@dataclass(frozen=True, slots=True)
class Sites:
    """Known sites of the places.

    Knowledge only grows; what contradicts it is not taken over.
    """

    of: Mapping[str, str] = field(default_factory=dict)
    """Place → site."""
    apart: frozenset[frozenset[str]] = frozenset()
    """Pairs of sites that are known to be two."""
    whole: frozenset[str] = frozenset()
    """Sites all of whose places are known."""

    def site_of(self, place: str) -> str:
        """The site of a place; one that is not known yet may turn out to be that of another
        place too.
        """
        return self.of.get(place) or f"@{place}"

    def same(self, one: str, other: str) -> bool | None:
        """True if two sites are one; None if unknown."""
        if one == other:
            return True
        if one[0] == other[0] == NAMED_BY_GAME or frozenset((one, other)) in self.apart:
            return False
        return False if one in self.whole or other in self.whole else None

    def holds(self, site: str, place: str) -> bool | None:
        """True if a place is at a site; None if unknown."""
        known = self.of.get(place)
        if known is not None:
            return self.same(site, known)
        return False if site in self.whole else None

    def together(self, one: str, other: str) -> bool | None:
        """True if two places share a site; None if unknown."""
        if one == other:
            return True
        site = self.of.get(one)
        if site is not None:
            return self.holds(site, other)
        site = self.of.get(other)
        return None if site is None else self.holds(site, one)

    def put(self, place: str, site: str) -> Self:
        """Take over that a place is at a site; where it is known to be at another, the two are
        one.
        """
        known = self.of.get(place)
        if known is None:
            return replace(self, of={**self.of, place: site})
        if known == site or self.same(known, site) is False:
            return self
        if known[0] == NAMED_BY_GAME:
            return self._renamed(site, known)
        return self._renamed(known, site)

    def _renamed(self, goes: str, stays: str) -> Self:
        """The sites with one name in place of another for the same site."""

        def name(site: str) -> str:
            return stays if site == goes else site

        of = {place: name(site) for place, site in self.of.items()}
        apart = frozenset([frozenset(map(name, pair)) for pair in self.apart])
        whole = frozenset(map(name, self.whole))
        return replace(self, of=of, apart=apart, whole=whole)

    def part(self, one: str, other: str) -> Self:
        """Take over that two sites are two."""
        if self.same(one, other) is not None:
            return self
        return replace(self, apart=self.apart | {frozenset((one, other))})

    def complete(self, site: str, places: Iterable[str]) -> Self:
        """Take over that just these places are at a site."""
        sites = self
        for place in places:
            sites = sites.put(place, site)
        return sites if site in sites.whole else replace(sites, whole=sites.whole | {site})

    def at(self, site: str) -> tuple[str, ...]:
        """The places known to be at a site."""
        return tuple(place for place, known in self.of.items() if known == site)


@dataclass(frozen=True, slots=True)
class Recalled:
    """Facts of the state that a signature was taken in.

    Places of different kinds are taken to be apart.
    """

    state: StateSignature

    def truth(self, atom: Atom, /) -> Truth:
        known: bool | None = None
        match atom.predicate, atom.args:
            case "at", (place,):
                location = self.state.get("location")
                known = _same(location[0], place) if location else None
            case "same_place", (one, other):
                known = _same(one, other)
            case "closed", (place,):
                known = False if place in (self.state.get("open") or ()) else None
            case predicate, things:
                known = self._in_hand(predicate, things)
        return Truth.of(known)

    def _in_hand(self, predicate: str, things: Sequence[str]) -> bool | None:
        """A fact that what was in hand decides; None for any other."""
        held = self.state.get("holding")
        if held is None:
            return None
        match predicate, things:
            case "hand_empty", ():
                return not held
            case "holding", (thing,):
                return thing in held
            case deed, (_,) if deed in _DEEDS and deed != "lit" and not held:
                return False  # a thing taken from here on was not treated before
        return None


@lru_cache(maxsize=16_384)
def _same(one: str, other: str) -> bool | None:
    """True for one place, false for receptacles of two kinds; two of a kind may share a
    location, as may a lamp.
    """
    if one == other:
        return True
    kinds = {kind_of(one), kind_of(other)}
    return False if len(kinds) > 1 and kinds <= affordances.places() else None


@dataclass(frozen=True, slots=True)
class AlfworldBelief(Belief):
    """One moment's belief. Made by `rpms.worlds.alfworld.update.update`."""

    goal: Goal
    places: tuple[str, ...] = ()
    """Every place of the room, in the order of the opening text."""
    location: str | None = None
    site: str | None = None
    """Place of the agent; None if unknown."""
    sites: Sites = field(default_factory=Sites)
    hand: str | None = None
    containers: Mapping[str, bool] = field(default_factory=dict)
    contents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Known content of each place."""
    seen: frozenset[str] = frozenset()
    """Places whose contents are known completely."""
    states: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Known states of objects: hot, cool, clean, sliced, on."""
    outcomes: bool = True
    """False if heated, cooled and cleaned objects are not tracked, as in Section 3.1; then nothing
    is known of that."""
    last_seen: Mapping[str, str] = field(default_factory=dict)
    dialect: str | None = None
    """`0.3` or `0.4`, from the first arrival on; None where none was announced, until a refused
    `put` tells."""
    inert: frozenset[str] = frozenset()
    """Basins that failed to clean something held under them: they clean nothing."""

    @property
    def holding(self) -> tuple[str, ...]:
        return () if self.hand is None else (self.hand,)

    def here(self, place: str) -> bool | None:
        """True if the agent stands at a place; None if unknown."""
        if self.places and place not in self.places:
            return False
        if self.site is None:
            return None
        return self.sites.holds(self.site, place) if self.site else False

    def closed(self, place: str) -> bool | None:
        """True if a closed door bars a place; what has no door is never closed."""
        if place in self.containers:
            return not self.containers[place]
        return False if self.has_door(place) is False else None

    def has_door(self, place: str) -> bool | None:
        if place in self.containers:
            return True
        return False if place in self.seen else affordances.has_door(kind_of(place))

    def contains(self, place: str, thing: str) -> bool | None:
        """True if an object is in a place; None if unknown."""
        if thing in self.contents.get(place, ()):
            return True
        if place in self.seen or (self.places and place not in self.places):
            return False
        return False if self._is_no_place(thing) else None

    def near(self, thing: str) -> bool | None:
        """True if an object is in a place where the agent stands, behind a closed door or not."""
        if self.site is None:
            return None
        return self._in_site(self.site, thing) if self.site else False

    def _in_site(self, site: str, thing: str) -> bool | None:
        there = self.sites.at(site)
        for place in there:
            if thing in self.contents.get(place, ()):
                return True
        return False if site in self.sites.whole and self.seen.issuperset(there) else None

    def together(self, one: str, other: str) -> bool | None:
        """True if two places, or a place and a fixed object, share a site: being at one is
        being at the other.
        """
        places = self.places
        if not places or (one in places and other in places):  # as most are
            return self.sites.together(one, other)
        if self._is_no_place(one) or self._is_no_place(other):
            return False
        return self._beside(one, other) if one in places else None

    def _is_no_place(self, name: str) -> bool:
        """True for a place that is not here: the opening names every place."""
        if not self.places or name in self.places:
            return False
        return kind_of(name) in affordances.places()

    def _beside(self, place: str, thing: str) -> bool | None:
        """True or False for a fixed thing alone: what can be carried may be gone on arrival."""
        if thing.endswith("?"):  # seen nowhere so far, and so in no place that was searched
            return self.contains(place, thing)
        if affordances.has("pickupable", kind_of(thing)) is not False:
            return None
        if thing in self.contents.get(place, ()):
            return True
        site = self.sites.of.get(place)
        return None if site is None else self._in_site(site, thing)

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        things = chain.from_iterable(self.contents.values())
        objects = tuple(dict.fromkeys((*things, *self.holding)))
        return {
            "place": self.places,
            "object": objects,
            "tool": objects,
            "thing": (*self.places, *objects),
        }

    def serving(self, goal: Goal) -> Self:
        return self.but(goal=goal)

    def without_outcomes(self) -> Self:
        switched = {thing: states & {_SWITCHED_ON} for thing, states in self.states.items()}
        return self.but(states=switched, outcomes=False)

    def signature(self) -> StateSignature:
        opened = tuple(sorted(self.opened()))
        location = None if self.location is None else (self.location,)
        return StateSignature.of(holding=self.holding, location=location, open=opened or None)

    def opened(self) -> list[str]:
        """The places that are known to stand open."""
        return [place for place, is_open in self.containers.items() if is_open]

    def recalled(self, state: StateSignature) -> Facts:
        return Recalled(state)

    def lines(self) -> tuple[str, ...]:
        """The lines of the [Current State] block. Only what is known is said."""
        words = {
            "Holding": self._hand_in_words(),
            "Location": self._location_in_words(),
            "Here": self._here_in_words(),
            "Open": _ranges(tuple(self.opened())),
            "Seen": self._goal_things_seen(),
            "Not yet searched": self._left_in_words(),
        }
        return tuple(f"{name}: {text}" for name, text in words.items() if text)

    def _left_in_words(self) -> str:
        """The places not searched yet; empty while none are known."""
        if not self.places:
            return ""
        left = [place for place in self.places if place not in self.seen]
        return _ranges(tuple(left)) or "nothing"

    def _states_of(self, thing: str) -> list[str]:
        return sorted(self.states.get(thing, ()))

    def _hand_in_words(self) -> str:
        if self.hand is None:
            return "nothing"
        states = self._states_of(self.hand)
        return f"{self.hand} ({', '.join(states)})" if states else self.hand

    def _location_in_words(self) -> str:
        if self.site == NOWHERE:
            return "middle of the room"
        if self.location is None:
            return ""
        others = [each for each in self.sites.at(self.site or "") if each != self.location]
        if not others:
            return self.location
        return f"{self.location} (same place: {_ranges(tuple(others))})"

    def _here_in_words(self) -> str:
        """Contents of the place at hand, the goal's kinds first."""
        place = self.location
        if place is None or self.site == NOWHERE:
            return ""
        if self.containers.get(place) is False:
            return f"{place} is closed"
        kinds = {self.goal.object, self.goal.destination}
        inside = sorted(self.contents.get(place, ()), key=lambda thing: kind_of(thing) not in kinds)
        return some(inside, _HERE_SHOWN) or "nothing"

    def _goal_things_seen(self) -> str:
        """Things of the goal's kinds that were seen elsewhere."""
        kinds = {self.goal.object, self.goal.destination}
        seen: list[str] = []
        for home, inside in self.contents.items():
            if home == self.location:
                continue
            for thing in inside:
                if kind_of(thing) in kinds:
                    seen.append(" ".join((*self._states_of(thing), thing, "in", home)))
        return some(seen, _SPOTTED_SHOWN)


def _slices(_belief: AlfworldBelief, tool: str, thing: str) -> bool | None:
    if kind_of(tool) not in affordances.KNIVES:
        return False if kind_of(tool) in affordances.objects() else None
    return affordances.has("sliceable", kind_of(thing))


def _placed(belief: AlfworldBelief, thing: str, place: str) -> bool:
    """True if it is in the place of the destination's kind that has most of the goal's objects,
    and is one of them.
    """
    goal = belief.goal
    best = ""
    placed: list[str] = []
    for home, inside in belief.contents.items():
        if kind_of(home) != goal.destination:
            continue
        wanted = [each for each in inside if kind_of(each) == goal.object]
        if not best or len(wanted) > len(placed):
            best = home
            placed = wanted
    return best == place and thing in placed


def _at(belief: AlfworldBelief, thing: str) -> bool | None:
    """True if the agent is at a place, or at the place of a thing."""
    if belief.places and thing not in belief.places:
        return belief.near(thing)
    return belief.here(thing)


def _exists(belief: AlfworldBelief, place: str) -> bool | None:
    return place in belief.places if belief.places else None


def _helpful(belief: AlfworldBelief) -> bool | None:
    """True if the game knows the command `help`."""
    return None if belief.dialect is None else belief.dialect != "0.3"


def _treats(verb: str) -> Callable[[AlfworldBelief, str, str], bool | None]:
    return lambda _belief, place, thing: affordances.treats(verb, kind_of(place), kind_of(thing))


def _cleans(belief: AlfworldBelief, place: str, thing: str) -> bool | None:
    known = affordances.treats("clean", kind_of(place), kind_of(thing))
    return False if known is None and place in belief.inert else known


def _movable(_belief: AlfworldBelief, thing: str) -> bool | None:
    kind = kind_of(thing)
    known = affordances.has("pickupable", kind)
    return False if known is None and kind in affordances.places() else known


def _is(state: str) -> Callable[[AlfworldBelief, str], bool | None]:
    """True if a thing is in a state; None for outcomes that are not tracked."""

    def ask(belief: AlfworldBelief, thing: str) -> bool | None:
        if state != _SWITCHED_ON and not belief.outcomes:
            return None
        return state in belief.states.get(thing, ())

    return ask


AlfworldBelief.answers = asking(
    *(_movable, _cleans, _slices, _placed, _at, _exists, _helpful),
    same_place=AlfworldBelief.together,
    holding=lambda belief, thing: thing == belief.hand,
    hand_empty=lambda belief: belief.hand is None,
    closed=AlfworldBelief.closed,
    door=AlfworldBelief.has_door,
    **{"in": lambda belief, thing, place: belief.contains(place, thing)},
    lamp=lambda _belief, thing: affordances.has("toggleable", kind_of(thing)),
    fits=lambda _belief, thing, place: affordances.fits(kind_of(thing), kind_of(place)),
    heats=_treats("heat"),
    cools=_treats("cool"),
    **{deed: _is(state) for deed, state in _DEEDS.items()},
)
"""Deeds (`heated`, …) are false until done or seen."""


@lru_cache(maxsize=4_096)
def _ranges(places: tuple[str, ...]) -> str:
    """Places by kind, with numbers in a row written as one: `cabinet 1-6, fridge 1`."""
    numbers: dict[str, list[int]] = {}
    for place in places:
        end = place.rpartition(" ")[2]
        number = int(end) if end.isdecimal() and len(end) < 5 else 0
        numbers.setdefault(kind_of(place), []).append(number)
    pieces = [f"{kind} {', '.join(_in_rows(sorted(found)))}" for kind, found in numbers.items()]
    return some(pieces, _KINDS_SHOWN)


def _in_rows(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers in order, those in a row as `1-6`."""
    rows: list[range] = []
    for number in numbers:
        if rows and number == rows[-1].stop:
            rows[-1] = range(rows[-1].start, number + 1)
        else:
            rows.append(range(number, number + 1))
    for row in rows:
        first = row[0]
        last = row[-1]
        yield str(first) if first == last else f"{first}-{last}"
