"""Rooms, doors, and things in reach. Answers are True, False, or None where the belief does not
tell.

In reach are things in this room that no closed lid hides, and things that are carried. Furniture,
tools and the like stay where they were seen. Things that live, grow, melt or are made may be
anywhere by now.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from rpms.worlds.scienceworld import affordances as kinds
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.scene import Scene
from rpms.worlds.scienceworld.tree import (
    INVENTORY,
    Phrase,
    Seen,
    alike,
    find,
    is_vague,
    read_phrase,
    walk,
)

ROOMS = (
    *("kitchen", "bathroom", "hallway", "living room", "bedroom"),
    *("workshop", "art studio", "greenhouse", "outside", "foundry"),
)
"""Rooms as the instruction names them."""
_ALWAYS = frozenset({"agent", "air", "inventory", "self"})
_UNLISTED = re.compile(r".*\b(?:terminal|anode|cathode|door|drain|sewer)\b.*")
_WAYS_TO_SAY_ROOM = "door doors room location house"
"""Words by which the simulator knows some way out, and that tell no room."""


@lru_cache(maxsize=16_384)
def room_named(words: str) -> str:
    """The room a command names: `the kitchen`, `door to kitchen`."""
    head = words.casefold().strip()
    for lead in ("to ", "through ", "the ", "door to ", "the "):
        head = head.removeprefix(lead)
    return head.removesuffix(" door")


def is_unlisted(words: str) -> bool:
    """True for things that are there though no listing shows them, such as terminals and drains."""
    return _UNLISTED.fullmatch(words.casefold()) is not None


# Rooms and doors


def near(belief: Scene, room: str) -> bool | None:
    """True if a room is this one or next door."""
    name = room_named(room)
    if kinds.ware(name):
        return False
    if name == belief.room:
        return True
    known = belief.adjoin(belief.room, name)
    return False if known is None and _leads_nowhere(belief, name) else known


def _leads_nowhere(belief: Scene, name: str) -> bool:
    """True if no way that this room's listing shows may go by a name.

    A listing shows all ways, and the simulator knows each by any of its words.
    """
    doors = belief.exits.get(belief.room or "", {})
    if belief.room not in belief.looked or not doors:
        return False
    words = " ".join((*doors, belief.room or "", _WAYS_TO_SAY_ROOM)).split()
    return set(words).isdisjoint(name.split())


def shut(belief: Scene, room: str) -> bool | None:
    """True if the door to a room is closed."""
    is_open = belief.exits.get(belief.room or "", {}).get(room_named(room))
    return None if is_open is None else not is_open


def inside(belief: Scene, room: str) -> bool | None:
    """True if the agent is in a room."""
    return None if belief.room is None else room_named(room) == belief.room


def adjoins(belief: Scene, room: str, other: str) -> bool | None:
    """True if a door joins two rooms."""
    return belief.adjoin(room_named(room), room_named(other))


# Things in reach


def here(belief: Scene, words: str) -> bool | None:
    """True if a thing is in this room or carried, and not behind a closed lid."""
    head = read_phrase(words).head
    if head in _ALWAYS or head == belief.room:
        return True
    if head.startswith("door to ") or head in belief.exits:
        return belief.adjoin(belief.room, room_named(head))
    return None if is_unlisted(words) else _thing_here(belief, words)


def _thing_here(belief: Scene, words: str) -> bool | None:
    """True if a thing that listings show is in reach; None where words may name almost anything."""
    vague = is_vague(read_phrase(words).head)
    if _is_named_here(belief, words):
        return None if vague else True
    matches = belief.meant(words)
    if not matches:
        return _absent(belief, words)
    if _was_left_elsewhere(belief, words, belief.room, matches):
        return False
    return None if vague else _is_any_open(belief, matches)


def _was_left_elsewhere(
    belief: Scene, words: str, room: str | None, matches: Iterable[Seen]
) -> bool:
    """True if words are just the name of a thing that was left in another room, and things in this
    one only go by a shorter name: the cupboard of the kitchen is not the large cupboard.
    """
    named = belief.by_name.get(words)
    if named is None or named.place in (room, INVENTORY):
        return False
    if words == named.name and any(match.name == words for match in matches):
        return False
    return _stays_put(named.name) and not belief.lost


def _is_any_open(belief: Scene, matches: Iterable[Seen]) -> bool:
    """True if one of some things is behind no closed lid."""
    return not all(is_shut_away(belief, match) for match in matches)


def _is_named_here(belief: Scene, words: str) -> bool:
    """True if words are just the name of a thing here that no lid covers."""
    named = belief.by_name.get(words)
    if named is None or named.shut_away:
        return False
    return named.place in (belief.room, INVENTORY)


def _absent(belief: Scene, words: str) -> bool | None:
    """False if a thing that is not seen here cannot be here; None if it may be."""
    if belief.room not in belief.looked or " to " in words:
        return None
    return False if _left_behind(belief, read_phrase(words).head) else None


def _left_behind(belief: Scene, name: str) -> bool:
    """True if a thing that does not come about by itself must be elsewhere, where it is neither
    seen nor carried.
    """
    kind = kinds.ware(name)
    if _may_be_in_sight(belief, name, kind):
        return False
    if kind and kinds.is_fixed(kind):
        return True
    if _may_be_hidden(belief, name):
        return False
    if kinds.is_a("food", name):
        return _food_was_left(belief, name)
    if _stays_put(name) and not belief.lost and _was_seen(belief, name):
        return True
    return bool(kind and belief.inventory_known)


def _food_was_left(belief: Scene, name: str) -> bool:
    """True if food that was seen is neither carried nor grows here."""
    known = belief.inventory_known and not _grows_here(belief)
    return known and _was_seen(belief, name)


def _stays_put(name: str) -> bool:
    """True if a thing comes into no other room by itself."""
    return kinds.is_a("inert", name) or kinds.is_animal(name)


def _was_seen(belief: Scene, name: str) -> bool:
    """True if a thing of that name was seen in some room."""
    for forest in belief.rooms.values():
        if any(alike(seen.name, name) for seen in walk(forest)):
            return True
    return False


def _may_be_in_sight(belief: Scene, name: str, kind: str) -> bool:
    """True if something here is called so, or may be."""
    for seen in belief.visible():
        if alike(seen.name, name) or kinds.may_be_called(seen.name, kind):
            return True
    return False


def _may_be_hidden(belief: Scene, name: str) -> bool:
    """True if a thing may be in something that was not looked into, or was taken along unseen."""
    if belief.was_handled(name):
        return True
    return any(_may_hold_more(seen.thing) for seen in belief.visible())


def _may_hold_more(thing: Thing) -> bool:
    """True if nobody has looked into a thing that takes others: an open one, or one that no
    listing has described.
    """
    if thing.contents is not None:
        return False
    return "open" in thing.flags or (not thing.raw and bool(kinds.takes_things(thing.name)))


def _grows_here(belief: Scene) -> bool:
    return any("flower pot" in seen.name or "tree" in seen.name for seen in belief.visible())


def with_(belief: Scene, room: str, words: str) -> bool | None:
    """True if a thing will be in reach once the agent is in a room. Only a thing that is fixed is
    sure not to be.
    """
    name = room_named(room)
    phrase = read_phrase(words)
    head = phrase.head
    place = _open_place(belief, words)
    if place == name:
        return True
    if place in phrase.places:
        return False
    if head in belief.exits:
        return True if head == name else belief.adjoin(name, head)
    if head in _ALWAYS:
        return True
    return _is_kept_in(belief, name, words)


def _is_kept_in(belief: Scene, room: str, words: str) -> bool | None:
    """True if something that words may mean is in a room, and behind no closed lid."""
    head = read_phrase(words).head
    matches = find(belief.rooms.get(room, ()), Phrase(head), room)
    if matches and _was_left_elsewhere(belief, words, room, matches):
        return False
    if _is_any_open(belief, matches):
        return True
    return False if room in belief.looked and _is_fitting(head) else None


def _is_fitting(name: str) -> bool:
    """True if a thing is furniture or a device that stays where it is."""
    return bool(kinds.ware(name)) and kinds.is_fixed(name)


def _open_place(belief: Scene, words: str) -> str | None:
    """The room of the thing that goes by these very words, unless a lid covers it."""
    named = belief.by_name.get(words)
    if named is None or named.place == INVENTORY or named.shut_away:
        return None
    return named.place


# Lids


def is_shut_away(belief: Scene, match: Seen) -> bool:
    """True if it is behind a closed lid."""
    return any(is_open(belief, holder) is False for holder in match.holders)


def is_open(belief: Scene, thing: Thing) -> bool | None:
    """True if the lid of a thing is open; None if it has no lid, or that is not known."""
    if "open" in thing.flags:
        return True
    if "closed" in thing.flags:
        return False
    if kinds.is_a("hiding", thing.name) and not belief.was_handled(thing.name):
        return False
    return None
