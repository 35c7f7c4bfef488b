"""The things that a command names, and where the belief has them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rpms.worlds.scienceworld.affordances import SYNONYMS
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.tree import INVENTORY, Forest, Phrase, Seen, find, put, read_phrase

_VERB = re.compile(
    r"(?:pick up|put down|look (?:at|in|on)|focus on|turn (?:on|off)|go(?: to)?|\S{1,20})"
    r" (?P<rest>.{1,400})"
)
_JOINTS: Mapping[str, Sequence[str]] = {
    verb: [f" {word} " for word in words] for verb, words in SYNONYMS["joints"].items()
}
"""Verb → words that stand between the two things it names."""
_OF_PLACES = (" on ", " in ")
"""Joints that may also be part of a thing's name: the last one counts."""


class Named(NamedTuple):
    """Things that a command names, in order."""

    text: str
    one: Phrase
    two: Phrase


def read_command(text: str) -> Named:
    """Take a command apart: the one or two things it names, whatever its verb."""
    match = _VERB.fullmatch(text)
    rest = match["rest"] if match else ""
    for joint in _joints_of(text):
        parts = rest.rpartition(joint) if joint in _OF_PLACES else rest.partition(joint)
        one, found, two = parts
        if found:
            return Named(text, read_phrase(one), read_phrase(two))
    return Named(text, read_phrase(rest), Phrase(""))


def _joints_of(text: str) -> Sequence[str]:
    if text.startswith("put down "):
        return ()
    return _JOINTS.get(text.partition(" ")[0], ())


def find_spot(
    belief: ScienceBelief, phrase: Phrase, name: str = "", *, carried_first: bool = True
) -> Seen | None:
    """The thing that a command means, by its words and by the simulator's name for it.

    Where words alone would fit both a thing carried and one in the room, the simulator asks which;
    so the first found is as good as any.
    """
    phrases = [phrase]
    if name:
        phrases.append(Phrase(name.casefold(), (), phrase.places))
    for words in phrases:
        for carried in (carried_first, not carried_first):
            found = _find_in(belief, words, name, carried=carried) if words.head else []
            if found:
                exact = [seen for seen in found if seen.name.casefold() == name.casefold()]
                return (exact or found)[0]
    return None


def _find_in(belief: ScienceBelief, words: Phrase, name: str, *, carried: bool) -> list[Seen]:
    if carried:
        return find(belief.inventory, words, INVENTORY, name)
    return find(belief.here, words, belief.room or "", name)


# The belief with other things in a spot


def replaced(belief: ScienceBelief, spot: Seen, thing: Thing | None) -> ScienceBelief:
    """The belief with the thing in a spot replaced, or removed."""
    if spot.carried:
        return belief.but(inventory=put(belief.inventory, spot.path, thing))
    return _with_here(belief, put(belief.here, spot.path, thing))


def filled(belief: ScienceBelief, spot: Seen, added: Forest) -> ScienceBelief:
    """The belief with more in a vessel; it may hold anything if neither the old content nor the
    new is known.
    """
    contents = (*spot.inside, *added)
    return replaced(belief, spot, replace(spot.thing, contents=contents or None))


def with_unlisted(belief: ScienceBelief, *things: Thing) -> ScienceBelief:
    """Note things in this room that no listing has shown, but an answer was about."""
    return _with_here(belief, (*belief.here, *things))


def _with_here(belief: ScienceBelief, things: Forest) -> ScienceBelief:
    return belief.but(rooms={**belief.rooms, belief.room or "": things})


class Taken(NamedTuple):
    """A thing, and the belief without it."""

    belief: ScienceBelief
    thing: Thing


def take(belief: ScienceBelief, phrase: Phrase, name: str, *, carried_first: bool) -> Taken:
    """Take a thing from where it is, if that is known."""
    spot = find_spot(belief, phrase, name, carried_first=carried_first)
    if spot is None:
        return Taken(belief, Thing(name))
    return Taken(replaced(belief, spot, None), spot.thing)
