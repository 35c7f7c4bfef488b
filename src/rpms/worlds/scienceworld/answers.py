"""What a belief says of the facts that the manual names. What may have changed unseen is unknown.

Nothing is in reach but what is in this room, not behind a closed lid, and what is carried. Furniture, tools and the
like stay where they were seen; whatever lives, grows, melts or is made may be anywhere by now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from rpms.worlds.scienceworld.affordances import (
    is_animal,
    is_fixed,
    is_vessel,
    may_be_called,
    serves,
    takes_things,
    ware,
)
from rpms.worlds.scienceworld.focus import is_decoy
from rpms.worlds.scienceworld.matter import state_of
from rpms.worlds.scienceworld.observations import Thing
from rpms.worlds.scienceworld.tree import Forest, Phrase, alike, at, find, is_substance, is_vague, read_phrase, walk

if TYPE_CHECKING:
    from rpms.worlds.scienceworld.belief import ScienceBelief

_ALWAYS: Final = frozenset({"agent", "air", "inventory", "self"})
_UNLISTED: Final = re.compile(r".*\b(?:terminal|anode|cathode|door|drain|sewer)\b.*")
"""What is there without being shown."""
_FLUID: Final = re.compile(r"(?:liquid|gaseous) .*|water|steam|air")


class Found(NamedTuple):
    """A thing that words may mean, and where it is."""

    thing: Thing
    holders: tuple[str, ...]
    shut: bool
    """Whether it is behind a closed lid."""


def found(forest: Forest, phrase: Phrase, root: str) -> list[Found]:
    """Everything in a forest that words may mean."""
    every = []
    for path in find(forest, phrase, root):
        above = [at(forest, path[:depth]) for depth in range(1, len(path))]
        shut = any("closed" in holder.flags for holder in above)
        every.append(Found(at(forest, path), tuple(holder.name for holder in reversed(above)), shut))
    return every


def meant(belief: ScienceBelief, words: str) -> list[Found]:
    """Everything known here and in the inventory that words may mean."""
    phrase = read_phrase(words)
    return [*found(belief.here, phrase, belief.room or ""), *found(belief.inventory, phrase, "inventory")]


def room_named(words: str) -> str:
    """The room a command names: `the kitchen`, `door to kitchen`."""
    head = words.casefold().strip()
    for lead in ("to ", "through ", "the ", "door to ", "the "):
        head = head.removeprefix(lead)
    return head.removesuffix(" door")


def _agreed(values: Iterable[bool | None]) -> bool | None:
    """What all say; None where they differ, or where there is nobody to say it."""
    known = set(values)
    return known.pop() if len(known) == 1 else None


# Rooms and doors


def _near(belief: ScienceBelief, room: str) -> bool | None:
    name = room_named(room)
    if ware(name):
        return False
    return True if name == belief.room else belief.next_door(name)


def _shut(belief: ScienceBelief, room: str) -> bool | None:
    is_open = belief.way_open(room_named(room))
    return None if is_open is None else not is_open


# What is in reach


def _here(belief: ScienceBelief, words: str) -> bool | None:
    phrase = read_phrase(words)
    if phrase.head in _ALWAYS or phrase.head == belief.room:
        return True
    if phrase.head.startswith("door to ") or phrase.head in belief.exits:
        return belief.next_door(room_named(phrase.head))
    if _UNLISTED.fullmatch(words.casefold()):
        return None
    matches = meant(belief, words)
    if matches:
        return None if is_vague(phrase.head) or all(match.shut for match in matches) else True
    if belief.room not in belief.looked or " to " in words:
        return None
    return False if _left_behind(belief, phrase.head) else None


def _left_behind(belief: ScienceBelief, name: str) -> bool:
    """Whether a thing that does not come about by itself must be elsewhere, where it is neither seen nor carried."""
    kind = ware(name)
    if any(alike(thing.name, name) or may_be_called(thing.name, kind) for thing, _ in belief.visible()):
        return False
    if kind and is_fixed(kind):
        return True
    if any(alike(moved, name) for moved in belief.handled):
        return False
    elsewhere = any(alike(thing.name, name) for forest in belief.rooms.values() for _, thing, _ in walk(forest))
    unseen = any(thing.contents is None and "open" in thing.flags for thing, _ in belief.visible())
    sure = elsewhere and not belief.lost and bool(kind or is_animal(name))
    return not unseen and (sure or bool(kind and belief.inventory_known))


def _with(belief: ScienceBelief, room: str, words: str) -> bool | None:
    """Whether a thing will be in reach once the agent is in a room: only what is fixed is sure not to be."""
    name, head = room_named(room), read_phrase(words).head
    if head in belief.exits:
        return True if head == name else belief.adjoin(name, head)
    if head in _ALWAYS or any(not match.shut for match in found(belief.rooms.get(name, ()), Phrase(head), name)):
        return True
    return False if name in belief.looked and ware(head) and is_fixed(head) else None


def _within(belief: ScienceBelief, words: str, place: str) -> bool | None:
    matches, target = meant(belief, words), read_phrase(place).head
    if any(alike(holder, target) for match in matches for holder in match.holders):
        return True
    if target in (belief.room, "inventory"):
        return belief.carries(words) if target == "inventory" else None
    return False if matches and all(ware(match.thing.name) for match in matches) else None


# What things are like


def _things(belief: ScienceBelief, words: str) -> list[Thing]:
    """What words mean; where nothing is known of it, or they mean anything, a thing of just that name."""
    head = read_phrase(words).head
    return ([] if is_vague(head) else [match.thing for match in meant(belief, words)]) or [Thing(head)]


def _serves(use: str) -> Callable[[ScienceBelief, str], bool | None]:
    def ask(belief: ScienceBelief, words: str) -> bool | None:
        if " to " in words or _UNLISTED.fullmatch(words.casefold()):
            return None
        return _agreed(
            serves(use, thing.name) if use == "food" or not is_substance(thing) else False
            for thing in _things(belief, words)
        )

    return ask


_switched = _serves("switch")


def _portable(belief: ScienceBelief, words: str) -> bool | None:
    """Not what is fixed, and no fluid: where the name tells, as what has frozen since goes by another one."""
    head = read_phrase(words).head
    if _UNLISTED.fullmatch(head):
        return None
    things = _things(belief, words)
    if head in belief.exits or _FLUID.fullmatch(head) or all(is_fixed(thing.name) for thing in things):
        return False
    return None if any(state_of(thing) in ("liquid", "gas") for thing in things) else True


def _flagged(thing: Thing, yes: str, no: str) -> bool | None:
    return None if thing.flags.isdisjoint({yes, no}) else yes in thing.flags


def _open(belief: ScienceBelief, words: str) -> bool | None:
    def ask(thing: Thing) -> bool | None:
        known = _flagged(thing, "open", "closed")
        return takes_things(thing.name) if known is None else known

    return _agreed(map(ask, _things(belief, words)))


def _running(belief: ScienceBelief, words: str) -> bool | None:
    return _agreed(_flagged(thing, "on", "off") for thing in _things(belief, words))


def _works(belief: ScienceBelief, words: str) -> bool | None:
    name = read_phrase(words).head
    if f"{name} in {belief.room}" in belief.broken or f"{words.casefold()} in {belief.room}" in belief.broken:
        return False
    broken = all("broken" in thing.flags for thing in _things(belief, words))
    return False if broken or _switched(belief, words) is False else None


def _empty(belief: ScienceBelief, words: str) -> bool | None:
    """Which of several vessels of one name was filled is not always said: then it is unknown of all of them."""
    phrase = read_phrase(words)
    things = _things(belief, phrase.head)
    if all(takes_things(thing.name) is False for thing in things):
        return True
    known = len(things) == 1 and not phrase.containing and is_vessel(things[0].name)
    return not things[0].contents if known and things[0].contents is not None else None


def _focused(belief: ScienceBelief, words: str) -> bool | None:
    return any(alike(name, read_phrase(words).head) for name in belief.focused) or None


def _wired(belief: ScienceBelief, words: str) -> bool | None:
    """Whether something is joined to a thing, or to one of its terminals; by another name it may be."""
    name = read_phrase(words)
    ends = [end.casefold() for pair in belief.connections for end in pair]
    return any(f"{end} ".startswith(f"{name.head} ") or end.endswith(f" on {name.head}") for end in ends) or None


ANSWERS: Final[Mapping[str, tuple[int, Callable[..., bool | None]]]] = {
    "near": (1, _near),
    "adjoins": (2, lambda belief, room, other: belief.adjoin(room_named(room), room_named(other))),
    "shut": (1, _shut),
    "here": (1, _here),
    "with": (2, _with),
    "within": (2, _within),
    "carried": (1, lambda belief, words: belief.carries(words) or None),
    "portable": (1, _portable),
    "open": (1, _open),
    "running": (1, _running),
    "works": (1, _works),
    "lid": (1, _serves("lid")),
    "tool": (1, _serves("tool")),
    "paper": (1, _serves("paper")),
    "food": (1, _serves("food")),
    "flushed": (1, _serves("flushed")),
    "empty": (1, _empty),
    "focused": (1, _focused),
    "wired": (1, _wired),
    "read": (1, lambda belief, words: read_phrase(words).head in belief.readings or None),
    "looked": (0, lambda belief: belief.room in belief.looked),
    "listed": (0, lambda belief: belief.inventory_known),
    "asked": (0, lambda belief: bool(belief.menu) or None),
    "decoy": (1, lambda belief, words: is_decoy(belief.goal, words)),
}
"""Predicate → number of arguments, and who answers."""
