"""Things within things, and finding the one that a command means."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from rpms.worlds.scienceworld.affordances import THINGS, is_a
from rpms.worlds.scienceworld.observations import Thing, plain_name

Forest = tuple[Thing, ...]
INVENTORY = "inventory"

_PLACES = re.compile(r" ?\(in ([^()\n]{1,300})\)")
_JOINT = re.compile(r" (?:in|on|inside|from) ")
_NUMBER = re.compile(r" \d+$")
_AGE = re.compile(r"^(?:hatchling|juvenile|adult|baby|dead|old|wilting) | (?:egg|pupa)$")
_SPECIES = [frozenset(names) for names in THINGS["species"]]
_ANY = frozenset(
    {"living thing", "organism", "animal", "plant", "tree", "thing", "object", "it", "them"}
)
"""Words that may name almost anything."""


class Phrase(NamedTuple):
    """Name of a thing in a command: `cup containing red paint in art studio`."""

    head: str
    containing: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """The places that it names, the nearest first."""


@lru_cache(maxsize=16_384)
def read_phrase(words: str) -> Phrase:
    """Take a name apart.

    >>> read_phrase("flower pot 3 containing soil in inventory").places
    ('inventory',)
    """
    text = _PLACES.sub(lambda match: " in " + match[1].replace(", in ", " in "), words.casefold())
    head, *places = map(plain_name, _JOINT.split(text))
    if INVENTORY in places:
        # a menu goes on to say that it is the agent's, and where the agent is
        end = places.index(INVENTORY) + 1
        places = places[:end]
    name, _, within = head.partition(" containing ")
    containing = map(plain_name, within.split(" and ")) if within else ()
    return Phrase(name, tuple(containing), tuple(places))


def head_of(word: str) -> str:
    """Name of a thing without its place, seen or not."""
    return read_phrase(word.removesuffix(" ?")).head


@lru_cache(maxsize=65_536)
def alike(shown: str, said: str) -> bool:
    """True if a thing shown by one name may be called by another: `red apple` is `apple`, `adult
    bee` is `bee 2`.

    >>> alike("wood cup", "cup"), alike("wood cup", "wood")
    (True, False)
    """
    one = shown.casefold()
    other = said.casefold()
    if _is_longer_name(one, other) or _is_longer_name(other, one):
        return True
    one = _AGE.sub("", one)
    other = _AGE.sub("", other)
    if one == other:  # `turtle` for `turtle egg`
        return True
    return _are_one_species(one, other) or _is_one_of(one, other)


def _is_longer_name(name: str, short: str) -> bool:
    """True if a name says a shorter one more fully: `red apple` for `apple`."""
    return _ends_with(name, short) or _begins_with(name, short)


def _ends_with(name: str, short: str) -> bool:
    return name == short or name.endswith(f" {short}")


def _begins_with(name: str, short: str) -> bool:
    """True if a longer name begins as a shorter one: `unknown substance B`, `drawing of a
    boat`, `plane with a …`.
    """
    if not name.startswith(f"{short} "):
        return False
    rest = name.removeprefix(short)
    is_one_letter = len(rest) == len(" B")
    return is_one_letter or rest.startswith((" of ", " with "))


def _are_one_species(one: str, other: str) -> bool:
    """True if two different last words name one species: a toad is shown as a frog."""
    last = {one.rpartition(" ")[2], other.rpartition(" ")[2]}
    return len(last) == 2 and any(last <= species for species in _SPECIES)


def _is_one_of(one: str, other: str) -> bool:
    """True if exactly one of two names has a number, and they are alike without it: `bee 2` is a
    bee, but not `bee 3`.
    """
    bare_one = _NUMBER.sub("", one)
    bare_other = _NUMBER.sub("", other)
    if (bare_one != one) == (bare_other != other):
        return False
    return _ends_with(bare_one, bare_other) or _ends_with(bare_other, bare_one)


def is_vague(head: str) -> bool:
    """True if words may name almost anything, or any matter."""
    return head in _ANY or head == "substance" or head.endswith(" substance")


def _fits(thing: Thing, phrase: Phrase) -> bool:
    """True if a thing is called as a phrase says, and contains what it says."""
    if not _fits_head(thing, phrase.head):
        return False
    if phrase.containing == ("nothing",):
        return not thing.contents
    return all(_contains(thing, name) for name in phrase.containing)


def _contains(thing: Thing, name: str) -> bool:
    """True if something in a thing may be called by a name."""
    return any(alike(inner.name, name) for inner in thing.contents or ())


def _fits_head(thing: Thing, head: str) -> bool:
    if head in _ANY or alike(thing.name, head):
        return True
    return is_vague(head) and is_substance(thing)


def is_substance(thing: Thing) -> bool:
    """True if a listing showed it as matter rather than as an object."""
    return "substance called" in thing.raw or not thing.flags.isdisjoint({"solid", "liquid", "gas"})


class Seen(NamedTuple):
    """A thing in its place."""

    name: str
    """The thing's: asked for hundreds of times a step."""
    thing: Thing
    holders: Forest
    """Things that hold it, the nearest first."""
    place: str
    """The thing's room, or `inventory`."""
    path: tuple[int, ...]
    """The way to it from there."""

    @property
    def carried(self) -> bool:
        return self.place == INVENTORY

    @property
    def holder(self) -> str:
        """Name of the thing that holds it directly; empty if it lies in the room itself or in the
        inventory.
        """
        return self.holders[0].name if self.holders else ""

    @property
    def inside(self) -> Forest:
        """Things known to be in it."""
        return self.thing.contents or ()

    @property
    def shut_away(self) -> bool:
        """True if it is behind a closed lid."""
        return any(_is_shut(holder) for holder in self.holders)


def _is_shut(holder: Thing) -> bool:
    if "closed" in holder.flags:
        return True
    return is_a("hiding", holder.name) and "open" not in holder.flags


class _Walk(NamedTuple):
    forest: Forest
    """Held, so that no other forest gets its identity while the walk is kept."""
    found: tuple[Seen, ...]


_WALKED: dict[tuple[int, str], _Walk] = {}
"""Walks that were made, by the identity of the forest and its place."""
_WALKS_KEPT = 1_024


def walk(forest: Forest, place: str = "") -> tuple[Seen, ...]:
    """Every thing in a room or in the inventory.

    Kept, since most rooms stay as they are from step to step.
    """
    key = (id(forest), place)
    kept = _WALKED.get(key)
    if kept is not None and kept.forest is forest:
        return kept.found
    if len(_WALKED) >= _WALKS_KEPT:
        _WALKED.clear()
    found = tuple(_walk(forest, place))
    _WALKED[key] = _Walk(forest, found)
    return found


def _walk(forest: Forest, place: str, above: Forest = (), path: tuple[int, ...] = ()) -> list[Seen]:
    found: list[Seen] = []
    for number, thing in enumerate(forest):
        here = (*path, number)
        found.append(Seen(thing.name, thing, above, place, here))
        if thing.contents:
            found += _walk(thing.contents, place, (thing, *above), here)
    return found


def find(forest: Forest, phrase: Phrase, place: str, name: str = "") -> list[Seen]:
    """Every thing that a phrase may mean, those directly in the named place first. Where a name is
    given, it must also be one that the simulator may call the thing by.
    """
    direct: list[Seen] = []
    further: list[Seen] = []
    for seen in walk(forest, place):
        if name and not alike(seen.name, name):
            continue
        if not _fits(seen.thing, phrase):
            continue
        holders = [holder.name for holder in seen.holders]
        holders.append(place)
        if not _are_in_order(phrase.places, holders):
            continue
        if not phrase.places or alike(holders[0], phrase.places[0]):
            direct.append(seen)
        else:
            further.append(seen)
    return direct + further


def _are_in_order(places: tuple[str, ...], holders: list[str]) -> bool:
    """True if the named places are among the holders of a thing, the nearest first; holders in
    between may be left out.
    """
    missing = list(places)
    for holder in holders:
        if missing and alike(holder, missing[0]):
            missing.pop(0)
    return not missing


def put(forest: Forest, path: tuple[int, ...], thing: Thing | None) -> Forest:
    """The forest with the thing in a place replaced, or removed."""
    place = path[0]
    if len(path) > 1:
        old = forest[place]
        thing = replace(old, contents=put(old.contents or (), path[1:], thing))
    added = () if thing is None else (thing,)
    return forest[:place] + added + forest[place + 1 :]


def merge(seen: Forest, earlier: Forest) -> Forest:
    """Things that are seen now, with what was seen before and this listing does not show: the
    insides of closed things.
    """
    left = list(earlier)
    merged: list[Thing] = []
    for thing in seen:
        before = next((old for old in left if old.name == thing.name), None)
        if before is None:
            merged.append(thing)
        else:
            left.remove(before)
            merged.append(_merge_thing(thing, before))
    return tuple(merged)


_LID_STATES = frozenset({"open", "closed"})


def _merge_thing(thing: Thing, before: Thing) -> Thing:
    """A thing that is seen now, with what was known of it before and is not shown now."""
    flags = thing.flags
    if flags.isdisjoint(_LID_STATES):
        flags |= before.flags & _LID_STATES
    inside: Forest | None
    if thing.contents is not None:
        inside = merge(thing.contents, before.contents or ())
    elif thing.name.endswith((" tree", " plant")):
        inside = ()  # things that grow on plants always show
    else:
        inside = before.contents
    return replace(thing, contents=inside, flags=flags)
