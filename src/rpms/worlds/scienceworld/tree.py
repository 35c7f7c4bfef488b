"""Things within things, and finding the one that a command means."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from rpms.worlds.scienceworld.affordances import THINGS, is_a
from rpms.worlds.scienceworld.observations import Thing, plain_name

Forest = tuple[Thing, ...]
INVENTORY: Final = "inventory"

_PLACES: Final = re.compile(r" ?\(in ([^()\n]{1,300})\)")
_JOINT: Final = re.compile(r" (?:in|on|inside|from) ")
_NUMBER: Final = re.compile(r" \d+$")
_AGE: Final = re.compile(r"^(?:hatchling|juvenile|adult|baby|dead|old|wilting) | (?:egg|pupa)$")
_SPECIES: Final = [frozenset(names) for names in THINGS["species"]]
_ANY: Final = frozenset(
    {"living thing", "organism", "animal", "plant", "tree", "thing", "object", "it", "them"}
)
"""Words that may name almost anything."""


class Phrase(NamedTuple):
    """Name of a thing in a command: `cup containing red paint in art studio`."""

    head: str
    containing: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """Its places, the nearest first."""


@lru_cache(maxsize=16_384)
def read_phrase(words: str) -> Phrase:
    """Take a name apart.

    >>> read_phrase("flower pot 3 containing soil in inventory").places
    ('inventory',)
    """
    text = _PLACES.sub(lambda match: " in " + match[1].replace(", in ", " in "), words.casefold())
    head, *places = (plain_name(piece) for piece in _JOINT.split(text))
    if (
        "inventory" in places
    ):  # a menu goes on to say that it is the agent's, and where the agent is
        places = places[: places.index("inventory") + 1]
    name, _, within = head.partition(" containing ")
    return Phrase(
        name,
        tuple(plain_name(piece) for piece in within.split(" and ")) if within else (),
        tuple(places),
    )


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
    one, other = shown.casefold(), said.casefold()
    if any(_ends(*pair) or _begins(*pair) for pair in ((one, other), (other, one))):
        return True
    young, old = _AGE.sub("", one), _AGE.sub("", other)
    if young == old:  # `turtle` for `turtle egg`
        return True
    last = {young.rpartition(" ")[2], old.rpartition(" ")[2]}
    if len(last) == 2 and any(last <= kind for kind in _SPECIES):
        return True
    bare = _NUMBER.sub("", young), _NUMBER.sub("", old)
    numbered = sum(short != long for short, long in zip(bare, (young, old), strict=True))
    return numbered == 1 and (_ends(*bare) or _ends(bare[1], bare[0]))


def _ends(one: str, other: str) -> bool:
    return one == other or one.endswith(f" {other}")


def _begins(one: str, other: str) -> bool:
    """True if a longer name begins as a shorter one: `unknown substance B`, `drawing of a
    boat`, `plane with a …`.
    """
    rest = one[len(other) :] if one.startswith(f"{other} ") else ""
    return rest.startswith((" of ", " with ")) or len(rest) == 2


def is_vague(head: str) -> bool:
    """True if words may name almost anything, or any matter."""
    return head in _ANY or head == "substance" or head.endswith(" substance")


def _fits(thing: Thing, phrase: Phrase) -> bool:
    head = phrase.head
    named = head in _ANY or alike(thing.name, head) or (is_vague(head) and is_substance(thing))
    if phrase.containing == ("nothing",):
        return named and not thing.contents
    return named and all(
        any(alike(inner.name, name) for inner in thing.contents or ()) for name in phrase.containing
    )


def is_substance(thing: Thing) -> bool:
    """True if a listing showed it as matter rather than as an object."""
    return "substance called" in thing.raw or not thing.flags.isdisjoint({"solid", "liquid", "gas"})


class Seen(NamedTuple):
    """A thing in its place."""

    thing: Thing
    holders: Forest
    """Things that hold it, the nearest first."""
    place: str
    """Its room, or `inventory`."""
    path: tuple[int, ...]
    """The way to it from there."""

    @property
    def name(self) -> str:
        return self.thing.name

    @property
    def carried(self) -> bool:
        return self.place == INVENTORY

    @property
    def holder(self) -> str:
        """Its direct holder; empty where it lies in the room itself or in the inventory."""
        return self.holders[0].name if self.holders else ""

    @property
    def inside(self) -> Forest:
        """Its known content."""
        return self.thing.contents or ()

    @property
    def shut_away(self) -> bool:
        """True if it is behind a closed lid."""
        return any(
            "closed" in holder.flags or (is_a("hiding", holder.name) and "open" not in holder.flags)
            for holder in self.holders
        )


_WALKED: Final[dict[tuple[int, str], tuple[Forest, tuple[Seen, ...]]]] = {}
_WALKS_KEPT: Final = 1_024


def walk(forest: Forest, place: str = "") -> tuple[Seen, ...]:
    """Every thing in a room or in the inventory.

    Kept, since most rooms stay as they are from step to step.
    """
    of, found = _WALKED.get((id(forest), place), ((), ()))
    if of is not forest:
        if len(_WALKED) >= _WALKS_KEPT:
            _WALKED.clear()
        _WALKED[id(forest), place] = forest, (found := tuple(_walk(forest, place)))
    return found


def _walk(forest: Forest, place: str, above: Forest = (), path: tuple[int, ...] = ()) -> list[Seen]:
    found: list[Seen] = []
    for number, thing in enumerate(forest):
        here = (*path, number)
        found.append(Seen(thing, above, place, here))
        if thing.contents:
            found += _walk(thing.contents, place, (thing, *above), here)
    return found


def find(forest: Forest, phrase: Phrase, place: str, name: str = "") -> list[Seen]:
    """Like `walk`, every thing that a phrase may mean; things directly in the named place come
    first.
    """
    direct: list[Seen] = []
    further: list[Seen] = []
    for seen in walk(forest, place):
        if (name and not alike(seen.name, name)) or not _fits(seen.thing, phrase):
            continue
        holders = (*(holder.name for holder in seen.holders), place)
        rest = iter(holders)
        if all(any(alike(holder, named) for holder in rest) for named in phrase.places):
            near = not phrase.places or alike(holders[0], phrase.places[0])
            (direct if near else further).append(seen)
    return direct + further


def put(forest: Forest, path: tuple[int, ...], thing: Thing | None) -> Forest:
    """The forest with another thing, or none, in a place."""
    place = path[0]
    if len(path) > 1:
        old = forest[place]
        thing = replace(old, contents=put(old.contents or (), path[1:], thing))
    return (*forest[:place], *(() if thing is None else (thing,)), *forest[place + 1 :])


def merge(seen: Forest, known: Forest) -> Forest:
    """Things seen now, with what a listing leaves out and was known before: the insides of what
    is shown shut.
    """
    left = list(known)
    merged = list(seen)
    for at, thing in enumerate(seen):
        if (before := next((old for old in left if old.name == thing.name), None)) is not None:
            left.remove(before)
            lids = (
                before.flags & {"open", "closed"}
                if thing.flags.isdisjoint({"open", "closed"})
                else frozenset[str]()
            )
            if thing.contents is not None:
                inside: Forest | None = merge(thing.contents, before.contents or ())
            else:  # things that grow on plants always show
                inside = () if thing.name.endswith((" tree", " plant")) else before.contents
            merged[at] = replace(thing, contents=inside, flags=thing.flags | lids)
    return tuple(merged)
