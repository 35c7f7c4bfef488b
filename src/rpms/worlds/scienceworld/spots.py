"""Things that a command names, and their places in a belief."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.known import ScienceKnown, SomeBelief
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.tree import Forest, Path, Phrase, at, find, put, read_phrase

_NUMBER: Final = re.compile(r"(\d{1,6})(?:\s*[:.)].{0,400})?")
_VERB: Final = re.compile(
    r"(?:pick up|put down|look (?:at|in|on)|focus on|turn (?:on|off)|go(?: to)?|\S{1,20}) (?P<rest>.{1,400})"
)
_JOINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "move": (" to ", " into "),
    "connect": (" to ",),
    "put": (" into ", " to ", " in ", " on "),
    "take": (" from ",),
    "pour": (" into ", " in "),
    "dunk": (" into ", " in "),
    "use": (" on ",),
}
"""Verb → the words between its two objects, the surest first."""


class Spot(NamedTuple):
    """Place of a thing: carried or in the room, and the way to it from there."""

    carried: bool
    path: Path


@dataclass(frozen=True, slots=True)
class Named:
    """Things that a command names, in order."""

    text: str
    one: Phrase
    two: Phrase


def meant(belief: ScienceKnown, action: str | None) -> str:
    """The command in words: a number is the option that it picks."""
    text = " ".join((action or "").split())
    number = _NUMBER.fullmatch(text)
    if number and belief.menu:
        choice = int(number[1])
        return belief.menu[choice].casefold() if choice < len(belief.menu) else ""
    return text.casefold()


def named(text: str) -> Named:
    """Take a command apart: the one or two things it names, whatever its verb."""
    match = _VERB.fullmatch(text)
    rest = match["rest"] if match else ""
    for joint in () if text.startswith("put down ") else _JOINTS.get(text.partition(" ")[0], ()):
        one, found, two = rest.rpartition(joint) if joint in (" on ", " in ") else rest.partition(joint)
        if found:
            return Named(text, read_phrase(one), read_phrase(two))
    return Named(text, read_phrase(rest), Phrase(""))


def forest_of(belief: ScienceKnown, carried: bool) -> Forest:
    """The inventory, or what is in the room."""
    return belief.inventory if carried else belief.here


def thing_at(belief: ScienceKnown, spot: Spot) -> Thing:
    """The thing in a spot."""
    return at(forest_of(belief, spot.carried), spot.path)


def with_thing(belief: SomeBelief, spot: Spot, thing: Thing | None) -> SomeBelief:
    """The belief with another thing, or none, in a spot."""
    changed = put(forest_of(belief, spot.carried), spot.path, thing)
    if spot.carried:
        return belief.but(inventory=changed)
    return belief.but(rooms={**belief.rooms, belief.room or "": changed})


def find_spot(belief: ScienceKnown, phrase: Phrase, name: str = "", *, carried_first: bool = True) -> Spot | None:
    """The thing that a command means, by its words and by the simulator's name for it.

    Where words alone would fit both a thing carried and one in the room, the simulator asks which; so the first found
    is as good as any.
    """
    for words in (phrase, Phrase(name.casefold(), (), phrase.places)) if name else (phrase,):
        if not words.head:
            continue
        for carried in (carried_first, not carried_first):
            root = "inventory" if carried else belief.room or ""
            found = find(forest_of(belief, carried), words, root, name)
            exact = [path for path, thing, _ in found if thing.name.casefold() == name.casefold()]
            if found:
                return Spot(carried, exact[0] if exact else found[0][0])
    return None


def take(belief: SomeBelief, command: Named, name: str, *, carried_first: bool) -> tuple[SomeBelief, Thing]:
    """Take a thing from where it is, if that is known."""
    spot = find_spot(belief, command.one, name, carried_first=carried_first)
    if spot is None:
        return belief, Thing(name)
    thing = thing_at(belief, spot)
    return with_thing(belief, spot, None), thing


def doubted(belief: SomeBelief, spot: Spot) -> SomeBelief:
    """The belief after a thing was put on a carried holder: it may fall beside it; on the ground, it does."""
    holder = thing_at(belief, spot)
    doubtful = spot.carried and (holder.contents is None or holder.name == "ground")
    return belief.but(inventory_known=False, lost=True) if doubtful else belief
