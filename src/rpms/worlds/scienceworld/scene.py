"""The belief as a scene: every thing that is known, by a name that a command can use for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rpms.core.facts import kind_of
from rpms.worlds.scienceworld.affordances import SYNONYMS, is_fixed, starts_closed, ware
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown, SomeBelief
from rpms.worlds.scienceworld.observations import Thing, substance_of
from rpms.worlds.scienceworld.tree import Forest, Path, Phrase, at, find, put, read_phrase, walk

INVENTORY: Final = "inventory"
_NO_GOAL: Final = ScienceGoal("")
_NO_LID: Final = frozenset({"bee hive", "blast furnace", "drain", "oven"})
"""Things that can be open or shut and hide nothing that is looked for."""


class Seen(NamedTuple):
    """A thing, what holds it (the nearest first), and its room or `inventory`."""

    thing: Thing
    holders: tuple[Thing, ...]
    place: str

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
    def inside(self) -> tuple[Thing, ...]:
        """Its known content."""
        return self.thing.contents or ()

    @property
    def shut_away(self) -> bool:
        """True if it is behind a closed lid."""
        return any(
            "closed" in holder.flags or (starts_closed(holder.name) and "open" not in holder.flags)
            for holder in self.holders
        )


def _seen(forest: Forest, place: str) -> list[Seen]:
    return [Seen(thing, above, place) for _, thing, above in walk(forest) if thing.name not in ("agent", "air")]


class Scene:
    """Things that one belief knows, carried and here first."""

    def __init__(self, belief: ScienceKnown) -> None:
        self.belief = belief
        self.room = belief.room or ""
        self.goal = belief.goal if isinstance(belief.goal, ScienceGoal) else _NO_GOAL
        """Of a goal that fits no template, nothing is known."""
        self._meanings: dict[str, Sequence[str]] = {}

    @cached_property
    def things(self) -> tuple[Seen, ...]:
        rooms = {self.room: self.belief.here, **self.belief.rooms}
        everywhere = [seen for room, forest in rooms.items() for seen in _seen(forest, room)]
        return (*_seen(self.belief.inventory, INVENTORY), *everywhere)

    @cached_property
    def by_name(self) -> Mapping[str, Seen]:
        """Every thing by a name that tells it from all others, such as `sink in kitchen`; equal ones are one."""
        names = Counter(seen.name for seen in self.things)
        for name in filter(is_fixed, names):  # `freezer` would also be the ultra low temperature freezer
            tail = f" {name}"
            names[name] += sum([other.endswith(tail) for other in names])
        mixed = Counter(self._holding(seen) for seen in self.things if names[seen.name] > 1)
        found: dict[str, Seen] = {}
        for seen in self.things:
            name = seen.name
            if names[name] > 1:
                name = self._holding(seen)
                if name == seen.name or mixed[name] > 1:
                    name = f"{seen.name} in {seen.holder or seen.place}"
            found.setdefault(name, seen)
        return found

    def _holding(self, seen: Seen) -> str:
        """A vessel is best told by the matter in it: `cup containing red paint`."""
        holds = len(seen.inside) == 1 and not is_fixed(seen.name) and not ware(seen.inside[0].name)
        return f"{seen.name} containing {seen.inside[0].name}" if holds else seen.name

    @cached_property
    def _by_kind(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, seen in self.by_name.items():
            for kind in {seen.name.casefold(), substance_of(seen.name).casefold()}:
                found.setdefault(kind, []).append(name)
        return found

    def names(self, word: str) -> list[str]:
        """The things that a word may mean: by its own name, else all of that name or substance."""
        word = kind_of(word) if word.endswith("?") else word
        return [word] if word in self.by_name else self.of_kind(word)

    def of_kind(self, word: str) -> list[str]:
        """The things of a name or a substance, in whatever state; else those shown by more words: `orange apricot`."""
        kind = substance_of(word).casefold()
        found = self._by_kind.get(kind, [])
        if found or ware(kind):
            return found
        return [name for shown, names in self._by_kind.items() if shown.endswith(f" {kind}") for name in names]

    def is_broken(self, name: str) -> bool:
        """True if a thing was found broken, wherever the agent is now."""
        seen = self.by_name.get(name)
        return seen is not None and f"{seen.name} in {seen.place}" in self.belief.broken

    def find(self, word: str) -> list[Seen]:
        """Like `names`, the things themselves."""
        return [self.by_name[name] for name in self.names(word)]

    def called(self, word: str) -> str:
        """Name of the nearest thing that a word may mean, or of one never seen: `stove ?`."""
        return next(iter(self.names(word)), f"{word} ?")

    def mean(self, word: str, names: Callable[[Scene], Sequence[str]]) -> Sequence[str]:
        """Meaning of a word here; found out once."""
        if word not in self._meanings:
            self._meanings[word] = names(self)
        return self._meanings[word]

    def first(self, word: str) -> Seen | None:
        """The nearest thing that a word may mean."""
        return next(iter(self.find(word)), None)

    def such(self, test: Callable[[Seen], object]) -> list[str]:
        """The names of the things of which something is so, the nearest first."""
        return [name for name, seen in self.by_name.items() if test(seen)]

    def named(self, *names: str) -> list[str]:
        """The things of some names, wherever they are."""
        return self.such(lambda seen: seen.name in names)

    # What is not known of rooms

    @cached_property
    def _lids(self) -> Mapping[str, list[tuple[str, Seen]]]:
        """Things in each room that can be opened and may hide others: nobody has looked into them."""
        found: dict[str, list[tuple[str, Seen]]] = {}
        for name, seen in self.by_name.items():
            lidded = not seen.thing.flags.isdisjoint({"open", "closed"}) or starts_closed(seen.name)
            if lidded and seen.thing.contents is None and seen.name not in _NO_LID and not seen.shut_away:
                found.setdefault(seen.place, []).append((name, seen))
        return found

    def veiled(self, room: str) -> bool:
        """True if looking around would show more of a room."""
        lids = [seen for _, seen in self._lids.get(room, ()) if seen.name != "drawer"]
        return room not in self.belief.looked or any("open" in seen.thing.flags for seen in lids)

    def hiding(self, room: str) -> list[str]:
        """The closed lids of a room."""
        return [name for name, seen in self._lids.get(room, ()) if "open" not in seen.thing.flags]


_NUMBER: Final = re.compile(r"(\d{1,6})(?:\s*[:.)].{0,400})?")
_VERB: Final = re.compile(
    r"(?:pick up|put down|look (?:at|in|on)|focus on|turn (?:on|off)|go(?: to)?|\S{1,20}) (?P<rest>.{1,400})"
)
_JOINTS: Final = {verb: [f" {word} " for word in words] for verb, words in SYNONYMS["joints"].items()}


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
