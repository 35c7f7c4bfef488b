"""Reader of the engine's answers, in both dialects and in linear time, and f_UPD of Eq. 1: the
belief after one.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from rpms.logic.facts import kind_of
from rpms.worlds.alfworld import affordances
from rpms.worlds.alfworld.belief import NAMED_BY_GAME, NOWHERE, AlfworldBelief, Sites
from rpms.worlds.base import ReportedDeed, read_deed, read_table

WORDS = read_table(__package__, "words.toml")
NOTHING_HAPPENS = "Nothing happens."
TASK = "Your task is to: "

_ROOM = "You are in the middle of a room. Looking quickly around you, you see "
_FACING = "You are facing the "
_BESIDE = ". Next to it, you see "
_CARRYING = "You are carrying: "
_CARRYING_NOTHING = "You are not carrying anything."

_DEEDS = [(re.compile(pattern, re.DOTALL), verb) for pattern, verb in WORDS["deeds"].items()]
_STATES = {"hot": "hot", "cool": "cool", "cold": "cool", "clean": "clean", "sliced": "sliced"}


class Sight(NamedTuple):
    """One place as it was seen."""

    place: str
    open: bool | None
    """None: it has no door."""
    contents: tuple[str, ...] | None
    """All that is in it; None where a closed door hides it."""


class Arrival(NamedTuple):
    """An arrival at a place."""

    spot: str
    """The game's name for where one stands: in the 0.4 dialect the place's own; empty if it was
    cut off."""
    seen: Sight


def things(listing: str) -> tuple[str, ...]:
    """The names in a list such as `a apple 2, and a egg 1`; none in `nothing`."""
    if listing == "nothing" or not listing:
        return ()
    return tuple(item.removeprefix("and ").removeprefix("a ") for item in listing.split(", "))


def room(observation: str) -> tuple[str, ...] | None:
    """The places that the opening lists; None if the text is not of someone in the middle of a
    room.
    """
    _, found, rest = observation.partition(_ROOM)
    return things(rest.partition("\n")[0].removesuffix(".")) if found else None


def task(observation: str) -> str:
    """The goal in the game's words; empty if the text states none."""
    return observation.partition(TASK)[2].partition("\n")[0].strip()


def sight(text: str) -> Sight | None:
    """Read `On the desk 1, you see …` or `The fridge 1 is closed.`, also after `You open the
    fridge 1.`
    """
    if text.startswith("You open the "):
        text = text.partition(". ")[2]
    if text.startswith("On the "):
        place, found, listing = text.removeprefix("On the ").partition(", you see ")
        return Sight(place, None, things(listing.removesuffix("."))) if found else None
    if text.startswith("The "):
        rest = text.removeprefix("The ")
        place, found, listing = rest.partition(" is open. In it, you see ")
        if found:
            return Sight(place, True, things(listing.removesuffix(".")))
        if rest.endswith(" is closed."):
            return Sight(rest.removesuffix(" is closed."), False, None)
    return None


def arrival(text: str) -> Arrival | None:
    """Read an answer to `go to`."""
    if not text.startswith("You arrive at "):
        return None
    spot, _, rest = text.removeprefix("You arrive at ").partition(". ")
    seen = sight(rest)
    return None if seen is None else Arrival(spot, seen)


def deed(text: str) -> ReportedDeed | None:
    """Read what was done with an object at a place (or, for `slice`, with another object)."""
    return read_deed(_DEEDS, text) if text.startswith("You ") else None


def facing(text: str) -> tuple[str, ...] | None:
    """Read an answer to `look`: all places here."""
    if not text.startswith(_FACING):
        return None
    return things(text.removeprefix(_FACING).partition(_BESIDE)[0])


def carried(text: str) -> tuple[str, ...] | None:
    """Read an answer to `inventory`."""
    if text.startswith(_CARRYING):
        return things(text.removeprefix(_CARRYING).removesuffix("."))
    return () if text.startswith(_CARRYING_NOTHING) else None


class Described(NamedTuple):
    """An object, and the states that a text tells of it."""

    name: str
    states: frozenset[str]


def described(text: str) -> Described | None:
    """Read an answer to `examine` with an object."""
    if not text.startswith("This is a ") or text.startswith("This is a normal "):
        return None
    words = text.removeprefix("This is a ").removesuffix(".").split(" ")
    found = set()
    while words and (words[0] in _STATES or words[0] == "and"):
        word = words.pop(0)
        if word in _STATES:
            found.add(_STATES[word])
    return Described(" ".join(words), frozenset(found))


_Value = TypeVar("_Value")
_GIVEN = {"heat": "hot", "cool": "cool", "clean": "clean", "slice": "sliced", "use": "on"}
"""Verb → the state it gives."""
_ENDED = {"heat": "cool", "cool": "hot"}


def update(belief: AlfworldBelief, action: str | None, observation: str) -> AlfworldBelief:
    """Take over what an observation shows.

    Text that says nothing known leaves the belief as it is.
    """
    text = observation.strip()
    command = None if action is None else action.strip()
    if text == NOTHING_HAPPENS:
        return belief if command is None else _refused(belief, command)
    seen = sight(text)
    if seen is not None and command == f"go to {seen.place}":
        # many loops cut `You arrive at loc 7.` off an answer
        return _arrive(belief, Arrival("", seen))
    for form in _FORMS:
        found = form.read(text)
        if found is not None:
            return form.take_over(belief, found)
    return _opened(belief, text) if command is None else belief


def _opened(belief: AlfworldBelief, text: str) -> AlfworldBelief:
    """Take over an opening, which has the answer to `look` on a line of its own."""
    for line in text.split("\n"):
        places = facing(line)
        if places is not None:
            return _face(belief, places)
    return belief


def _with(mapping: Mapping[str, _Value], key: str, value: _Value) -> Mapping[str, _Value]:
    return mapping if mapping.get(key) == value else {**mapping, key: value}


def _arrive(belief: AlfworldBelief, arrived: Arrival) -> AlfworldBelief:
    seen = arrived.seen
    place = seen.place
    dialect = belief.dialect
    site = belief.sites.site_of(place)
    if arrived.spot == place:
        dialect = "0.4"
    elif arrived.spot:
        dialect = "0.3"
        site = f"{NAMED_BY_GAME}{arrived.spot}"
    sites = belief.sites.put(place, site)
    site = sites.of[place]
    if belief.site:
        sites = sites.part(belief.site, site)
    return _see(belief, seen, location=place, site=site, sites=sites, dialect=dialect)


def _see(belief: AlfworldBelief, seen: Sight, **changes: object) -> AlfworldBelief:
    """Take over how a place looks, together with other changes."""
    place = seen.place
    if seen.open is not None and belief.containers.get(place) is not seen.open:
        changes["containers"] = {**belief.containers, place: seen.open}
    known = belief.contents.get(place) if place in belief.seen else None
    if seen.contents is not None and seen.contents != known:
        changes["contents"] = {**belief.contents, place: seen.contents}
        changes["seen"] = belief.seen | {place}
    if seen.contents:
        changes["last_seen"] = {**belief.last_seen, **dict.fromkeys(seen.contents, place)}
    return belief.but(**changes) if changes else belief


def _stand(belief: AlfworldBelief, place: str) -> AlfworldBelief:
    """Take over that a place is here, since something was done at it."""
    if not belief.site:
        site = belief.sites.site_of(place)
        return belief.but(
            site=site, sites=belief.sites.put(place, site), location=belief.location or place
        )
    if belief.sites.of.get(place) == belief.site:
        return belief
    return _resite(belief, place, belief.sites.put(place, belief.site))


def _resite(belief: AlfworldBelief, place: str, sites: Sites) -> AlfworldBelief:
    """Keep the name of the current site in step with joined sites."""
    return belief.but(sites=sites, site=sites.of.get(belief.location or place, belief.site))


def _face(belief: AlfworldBelief, places: tuple[str, ...]) -> AlfworldBelief:
    if not places:
        return belief
    belief = _stand(belief, places[0])
    assert belief.site
    return _resite(belief, places[0], belief.sites.complete(belief.site, places))


def _do(belief: AlfworldBelief, done: ReportedDeed) -> AlfworldBelief:
    thing = done.object
    place = done.place
    match done.verb:
        case "take":
            return _taken(_stand(belief, place), thing, place)
        case "put":
            return _put(_stand(belief, place), thing, place)
        case "close":
            return _stand(belief, thing).but(containers=_with(belief.containers, thing, False))
        case verb:
            belief = _change(belief, thing, frozenset({_GIVEN[verb]}), _ENDED.get(verb, ""))
            return belief if verb in ("slice", "use") else _stand(belief, place).but(hand=thing)


def _taken(belief: AlfworldBelief, thing: str, place: str) -> AlfworldBelief:
    things = belief.contents.get(place, ())
    contents = _with(belief.contents, place, tuple(each for each in things if each != thing))
    last_seen = dict(belief.last_seen)
    last_seen.pop(thing, None)
    return belief.but(hand=thing, contents=contents, last_seen=last_seen)


def _put(belief: AlfworldBelief, thing: str, place: str) -> AlfworldBelief:
    inside = belief.contents.get(place, ())
    if thing not in inside:
        inside = (*inside, thing)
    contents = _with(belief.contents, place, inside)
    return belief.but(hand=None, contents=contents, last_seen=_with(belief.last_seen, thing, place))


def _change(
    belief: AlfworldBelief, thing: str, gained: frozenset[str], lost: str = ""
) -> AlfworldBelief:
    states = belief.states.get(thing, frozenset()) - {lost} | gained
    return belief.but(states=_with(belief.states, thing, states))


def _refused(belief: AlfworldBelief, action: str) -> AlfworldBelief:
    """Draw what can be concluded from a command that did nothing."""
    belief = _refused_put(belief, action)
    basin = action.removeprefix(f"clean {belief.hand} with ")
    if basin != action and belief.here(basin):
        belief = belief.but(inert=belief.inert | {basin})
    if not belief.site:
        return belief
    verb, _, place = action.partition(" ")
    if verb == "go" and place.startswith("to "):
        there = place.removeprefix("to ")
        return _stand(belief, there) if there in belief.places else belief
    return _refused_at_place(belief, verb, place) if place in belief.places else belief


def _refused_put(belief: AlfworldBelief, action: str) -> AlfworldBelief:
    """Conclude the dialect: if all that `put` needs holds and it is refused, the word is `move`."""
    put = f"put {belief.hand} in/on "
    if belief.dialect is not None or belief.hand is None or not action.startswith(put):
        return belief
    place = action.removeprefix(put)
    fits = affordances.fits(kind_of(belief.hand), kind_of(place))
    if fits and belief.here(place) and belief.closed(place) is False:
        return belief.but(dialect="0.4")
    return belief


def _refused_at_place(belief: AlfworldBelief, verb: str, place: str) -> AlfworldBelief:
    """Conclude from a refusal to open, close or examine a place: that it is elsewhere, or that it
    is open already.
    """
    is_open = belief.containers.get(place)
    here = belief.here(place)
    if here is None and _would_work(verb, is_open):  # then the place is elsewhere
        assert belief.site
        site = belief.sites.site_of(place)
        return belief.but(sites=belief.sites.put(place, site).part(belief.site, site))
    if verb == "open" and here and is_open is None and belief.has_door(place):
        return belief.but(containers=_with(belief.containers, place, True))
    return belief


def _would_work(verb: str, is_open: bool | None) -> bool:
    """True if a verb is known to work on a place that is here, given what is known of its lid."""
    match verb:
        case "examine":
            return True
        case "open":
            return is_open is False
        case "close":
            return is_open is True
    return False


def _see_here(belief: AlfworldBelief, seen: Sight) -> AlfworldBelief:
    return _see(_stand(belief, seen.place), seen)


def _carry(belief: AlfworldBelief, carried: tuple[str, ...]) -> AlfworldBelief:
    return belief.but(hand=carried[0] if carried else None)


def _describe(belief: AlfworldBelief, look: Described) -> AlfworldBelief:
    return _change(belief, look.name, look.states)


def _enter(belief: AlfworldBelief, places: tuple[str, ...]) -> AlfworldBelief:
    return belief.but(places=belief.places or places, site=NOWHERE)


class _Form(NamedTuple):
    """A form of answer."""

    read: Callable[[str], Any]
    """Reads a text of this form; None for any other text."""
    take_over: Callable[[AlfworldBelief, Any], AlfworldBelief]
    """The belief after it."""


_FORMS = (
    _Form(arrival, _arrive),
    _Form(deed, _do),
    _Form(sight, _see_here),
    _Form(facing, _face),
    _Form(carried, _carry),
    _Form(described, _describe),
    _Form(room, _enter),
)
