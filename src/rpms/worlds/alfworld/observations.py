"""Reader of the engine's answers, in both dialects. Any text is read in linear time."""

import re
from dataclasses import dataclass

from rpms.worlds.base import ToldDeed, read_deed, read_table

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


@dataclass(frozen=True, slots=True)
class Sight:
    """One place as it was seen."""

    place: str
    open: bool | None
    """None: it has no door."""
    contents: tuple[str, ...] | None
    """All that is in it; None where a closed door hides it."""


def things(listing: str) -> tuple[str, ...]:
    """The names in a list such as `a apple 2, and a egg 1`; none in `nothing`."""
    if listing == "nothing" or not listing:
        return ()
    return tuple(item.removeprefix("and ").removeprefix("a ") for item in listing.split(", "))


def room(observation: str) -> tuple[str, ...] | None:
    """The places that the opening lists; None if the text is not of someone in the middle of a room."""
    _, found, rest = observation.partition(_ROOM)
    return things(rest.partition("\n")[0].removesuffix(".")) if found else None


def task(observation: str) -> str:
    """The goal in the game's words; empty if the text states none."""
    return observation.partition(TASK)[2].partition("\n")[0].strip()


def sight(text: str) -> Sight | None:
    """Read `On the desk 1, you see …` or `The fridge 1 is closed.`, also after `You open the fridge 1.`"""
    if text.startswith("You open the "):
        text = text[13:].partition(". ")[2]
    if text.startswith("On the "):
        place, found, listing = text[7:].partition(", you see ")
        return Sight(place, None, things(listing.removesuffix("."))) if found else None
    if text.startswith("The "):
        place, found, listing = text[4:].partition(" is open. In it, you see ")
        if found:
            return Sight(place, True, things(listing.removesuffix(".")))
        if text.endswith(" is closed."):
            return Sight(text[4:-11], False, None)
    return None


def arrival(text: str) -> tuple[str, Sight] | None:
    """Read an answer to `go to`: the name of the spot, in the 0.4 dialect the place's own, and what is seen."""
    if not text.startswith("You arrive at "):
        return None
    where, _, rest = text[14:].partition(". ")
    seen = sight(rest)
    return (where, seen) if seen is not None else None


def deed(text: str) -> ToldDeed | None:
    """Read what was done with an object at a place (or, for `slice`, with another object)."""
    return read_deed(_DEEDS, text) if text.startswith("You ") else None


def facing(text: str) -> tuple[str, ...] | None:
    """Read an answer to `look`: all places here."""
    return things(text[len(_FACING) :].partition(_BESIDE)[0]) if text.startswith(_FACING) else None


def carried(text: str) -> tuple[str, ...] | None:
    """Read an answer to `inventory`."""
    if text.startswith(_CARRYING):
        return things(text[len(_CARRYING) :].removesuffix("."))
    return () if text.startswith(_CARRYING_NOTHING) else None


def described(text: str) -> tuple[str, frozenset[str]] | None:
    """Read an answer to `examine` with an object: its name and the states the text tells."""
    if not text.startswith("This is a ") or text.startswith("This is a normal "):
        return None
    words = text[10:].removesuffix(".").split(" ")
    found = set()
    while words and (words[0] in _STATES or words[0] == "and"):
        found.add(_STATES.get(words.pop(0), ""))
    return " ".join(words), frozenset(found - {""})
