"""The belief as a scene: what the texts have shown, and every known thing by a name that a command
can use for it.

The world changes by itself (water boils, bees fly); the agent's room and inventory change by its
own actions alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Self, TypeVar

from rpms.logic.belief import NO_NUMBERS, Belief, Numbers
from rpms.logic.facts import kind_of, unseen_of
from rpms.logic.goal import Goal
from rpms.logic.trends import Measurement
from rpms.worlds.scienceworld.affordances import THINGS, is_a, is_fixed, ware
from rpms.worlds.scienceworld.observations import Thing, substance_of
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import (
    INVENTORY,
    Phrase,
    Seen,
    alike,
    find,
    read_phrase,
    walk,
)

INSTRUMENTS = ("thermometer", "stopwatch", "lighter", "shovel", "axe")
"""Things that `use` works with, or that measure."""
RUNNING = "ticks on "
"""What the names of readings begin with that count on by themselves: the time since a block was put
on a plane."""
_CHANGING = frozenset((*THINGS["devices"]["heaters"], *THINGS["devices"]["coolers"]))
"""Devices in which the matter in a vessel may soon go by another name."""
_NO_LID = frozenset({"bee hive", "blast furnace", "drain", "oven"})
"""Things that can be open or shut and hide nothing that is looked for."""
_LID_STATES = frozenset({"open", "closed"})
_NO_THINGS = ("agent", "air")
Things = TypeVar("Things")


@dataclass(frozen=True)
class Scene(Belief):
    """Values of one moment's belief, whose things go by names, those carried and here first.

    See `ScienceBelief`.
    """

    goal: Goal
    room: str | None = None
    exits: Mapping[str, Mapping[str, bool | None]] = field(default_factory=dict)
    """Room → the rooms next door → whether the door between is open, None if unknown."""
    inventory: tuple[Thing, ...] = ()
    """Things known to be carried."""
    inventory_known: bool = False
    """True if nothing else is carried, which is known once an inventory was seen."""
    lost: bool = False
    """True if something that was carried may still be so without being known."""
    handled: frozenset[str] = frozenset()
    """Things the agent has moved, switched on or opened: they need not be where, or as, they
    were seen."""
    rooms: Mapping[str, tuple[Thing, ...]] = field(default_factory=dict)
    """Things last seen in each room; all of them only in rooms that are in `looked`."""
    looked: frozenset[str] = frozenset()
    """Rooms whose listing was seen."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """Substance (by its name in any state) or thing → the last temperature measured, in °C."""
    measurements: Mapping[str, tuple[Measurement, ...]] = field(default_factory=dict)
    """Substance or thing → all its temperatures measured, with the time, the device that was at
    work, and the state it was in."""
    state_history: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Substance → the states (solid, liquid, gas) it was seen in, one after the other."""
    focused: tuple[str, ...] = ()
    """Things focused on, in order, by the simulator's names."""
    readings: Mapping[str, str] = field(default_factory=dict)
    """Readings of instruments and papers: `stopwatch` → ticks, `recipe` → its text, an inclined
    plane → the percentage that its block has slid (100 at the bottom)."""
    connections: frozenset[tuple[str, str]] = frozenset()
    """Terminals joined, by the simulator's names: (`anode on battery`, `terminal 1 on black
    wire`)."""
    broken: frozenset[str] = frozenset()
    """Devices that cannot be switched, with their room: `stove in kitchen`."""
    failed: bool = False
    """True if a command was refused since the last one that did something."""
    last_action: str | None = None
    observation: str = ""
    """The last answer."""
    menu: tuple[str, ...] = ()
    """The options that the simulator is waiting for a number for."""
    steps: int = 0
    """Number of commands given."""
    clock: int = 0
    """Ticks of the simulator so far."""
    since: Mapping[str, int] = field(default_factory=dict)
    """Time by that clock of the last sight of a room, a substance or a thing, or of a
    measurement (`heat of water`)."""
    numbers: Numbers = field(default=NO_NUMBERS, compare=False, repr=False)

    def but(self, **changes: object) -> Self:
        """The belief with some fields changed; faster than `replace`, which would ask for every
        field by name, several times a step.
        """
        known = vars(self)
        fields = {name: known[name] for name in self.__dataclass_fields__}
        other = object.__new__(type(self))
        vars(other).update(fields, **changes)  # without what was derived from them
        return other

    def age(self, name: str) -> int:
        """Ticks since something was seen or measured."""
        return self.clock - self.since.get(name, -1_000)

    @property
    def location(self) -> str | None:
        return self.room

    @property
    def holding(self) -> tuple[str, ...]:
        return tuple(thing.name for thing in self.inventory)

    @property
    def here(self) -> tuple[Thing, ...]:
        """Things last seen in this room."""
        return self.rooms.get(self.room or "", ())

    @property
    def containers(self) -> Mapping[str, bool]:
        """Doors and lids here that are known to be open; two of one name are told apart by what
        holds them.
        """
        found: dict[str, bool] = {}
        for seen in self.visible():
            if seen.thing.flags.isdisjoint(_LID_STATES):
                continue
            name = seen.name
            if name in found:
                name = f"{name} in {seen.holder or seen.place}"
            found[name] = "open" in seen.thing.flags
        return found

    @property
    def last_seen(self) -> Mapping[str, str]:
        """Place where each thing was last seen: a room, or `inventory`."""
        found: dict[str, str] = {}
        for room, forest in self.rooms.items():
            for seen in walk(forest, room):
                found[seen.name] = room
        for seen in self.visible():
            found[seen.name] = seen.place
        return found

    @property
    def instruments(self) -> tuple[str, ...]:
        """The instruments carried."""
        return tuple(name for name in self.holding if name in INSTRUMENTS)

    def visible(self) -> tuple[Seen, ...]:
        """Everything known here and in the inventory."""
        return walk(self.here, self.room or "") + walk(self.inventory, INVENTORY)

    @cached_property
    def ends(self) -> frozenset[str]:
        """Terminals that are joined to others, in small letters."""
        ends: set[str] = set()
        for one, other in self.connections:
            ends |= {one.casefold(), other.casefold()}
        return frozenset(ends)

    def was_handled(self, name: str) -> bool:
        """True if the agent has moved, switched on or opened a thing that may go by a name."""
        return any(alike(handled, name) for handled in self.handled)

    def is_running(self, word: str) -> bool:
        """True if a device that a word may mean is on."""
        return any("on" in seen.thing.flags for seen in self.find(word))

    def temperature(self, name: str) -> float | None:
        """The last temperature measured of a substance, in whatever state it was then, or of a
        thing.
        """
        return self.temperatures.get(substance_of(name))

    def adjoin(self, room: str | None, other: str) -> bool | None:
        """True if a door joins two rooms; None if unknown.

        A name that is no room's known so far is unknown.
        """
        if other in self.exits.get(room or "", ()):
            return True
        both_known = room in self.looked and other in self.exits
        return False if both_known and other != room else None

    # Names

    @cached_property
    def aim(self) -> ScienceGoal:
        """The goal; of one that fits no template, nothing is known."""
        return self.goal if isinstance(self.goal, ScienceGoal) else ScienceGoal("")

    @cached_property
    def things(self) -> tuple[Seen, ...]:
        """Everything known: what is carried, then what is here, then the other rooms."""
        forests = {INVENTORY: self.inventory, self.room or "": self.here, **self.rooms}
        found: list[Seen] = []
        for place, forest in forests.items():
            found += [seen for seen in walk(forest, place) if seen.name not in _NO_THINGS]
        return tuple(found)

    @cached_property
    def by_name(self) -> Mapping[str, Seen]:
        """Every thing by a name that tells it from all others, such as `sink in kitchen`; equal
        ones are one.
        """
        called = self._called_so()
        ambiguous = [seen for seen in self.things if called[seen.name] > 1]
        by_content = Counter(self._holding(seen) for seen in ambiguous)
        found: dict[str, Seen] = {}
        for seen in self.things:
            name = seen.name
            if called[name] > 1:
                name = self._full_name(seen, by_content)
            found.setdefault(name, seen)
        return found

    def _full_name(self, seen: Seen, by_content: Mapping[str, int]) -> str:
        """The name of one of several things: by what is in it if that tells it from the others,
        else by its place.
        """
        name = self._holding(seen)
        if name == seen.name or by_content[name] > 1 or seen.holder in _CHANGING:
            return f"{seen.name} in {seen.holder or seen.place}"
        return name

    def _called_so(self) -> Counter[str]:
        """The number of things that the simulator may take each name for. `freezer` would also be
        the ultra low temperature freezer.
        """
        names = Counter(seen.name for seen in self.things)
        every = "\n".join((*names, ""))
        for name in names:
            if is_fixed(name):
                names[name] += every.count(f" {name}\n")
        return names

    def _holding(self, seen: Seen) -> str:
        """A vessel is best told by the matter in it: `cup containing red paint`."""
        if len(seen.inside) != 1 or is_fixed(seen.name):
            return seen.name
        (inner,) = seen.inside
        return seen.name if ware(inner.name) else f"{seen.name} containing {inner.name}"

    def meant(self, words: str) -> Sequence[Seen]:
        """Everything known here and in the inventory that words may mean."""
        return self.mean((words,), lambda _: self._find_here(read_phrase(words)))

    def _find_here(self, phrase: Phrase) -> list[Seen]:
        here = find(self.here, phrase, self.room or "")
        return here + find(self.inventory, phrase, INVENTORY)

    @cached_property
    def _by_kind(self) -> Mapping[str, list[str]]:
        """Names of things by what they are shown as, and by their substance in any state."""
        found: dict[str, list[str]] = {}
        for name, seen in self.by_name.items():
            shown = seen.name.casefold()
            substance = substance_of(seen.name).casefold()
            found.setdefault(shown, []).append(name)
            if substance != shown:
                found.setdefault(substance, []).append(name)
        return found

    def meant_by(self, word: str) -> list[str]:
        """The things that a word may mean: the one with exactly this name; else all of that kind or
        substance; else a carried thing that was taken from the place that the word tells.
        """
        if word.endswith("?"):
            word = kind_of(word)
        if word in self.by_name:
            return [word]
        return self.of_kind(word) or self._taken_from_there(word)

    def _taken_from_there(self, word: str) -> list[str]:
        """Carried things that were called by their place before: `glass cup in table`."""
        phrase = read_phrase(word)
        if not phrase.places:
            return []
        return self.such(lambda seen: seen.carried and seen.name == phrase.head)

    def of_kind(self, word: str) -> list[str]:
        """The things of a name or a substance, in whatever state; else those shown by more
        words: `orange apricot`.
        """
        kind = substance_of(word).casefold()
        found = self._by_kind.get(kind, [])
        return found if found or ware(kind) else self._by_last_words.get(kind, [])

    @cached_property
    def _by_last_words(self) -> Mapping[str, list[str]]:
        """The things by all that their kinds end with: `orange apricot` is found as `apricot`."""
        found: dict[str, list[str]] = {}
        for shown, names in self._by_kind.items():
            while shown := shown.partition(" ")[2]:
                found.setdefault(shown, []).extend(names)
        return found

    def find(self, word: str) -> list[Seen]:
        """Like `meant_by`, the things themselves."""
        return [self.by_name[name] for name in self.meant_by(word)]

    def name_of(self, word: str) -> str:
        """Name of the nearest thing that a word may mean, or of one never seen: `stove ?`."""
        names = self.meant_by(word)
        return names[0] if names else unseen_of(word)

    def mean(self, word: object, names: "Callable[[Scene], Things]") -> Things:
        """Meaning of a word here; found out once."""
        if word not in self._meant:
            self._meant[word] = names(self)
        found: Things = self._meant[word]
        return found

    @cached_property
    def _meant(self) -> dict[object, Any]:
        return {}

    def first(self, word: str) -> Seen | None:
        """The nearest thing that a word may mean."""
        found = self.find(word)
        return found[0] if found else None

    def such(self, test: Callable[[Seen], object]) -> list[str]:
        """The names of the things that pass a test, the nearest first."""
        return [name for name, seen in self.by_name.items() if test(seen)]

    def called_just(self, word: str) -> list[str]:
        """The names of the things that are shown by just this word, the nearest first."""
        alike_or_equal = self._by_kind.get(word.casefold(), [])
        return [name for name in alike_or_equal if self.by_name[name].name == word]

    # Unknown parts of rooms

    @cached_property
    def _lids(self) -> Mapping[str, Mapping[str, Seen]]:
        """Things that can be opened and may hide others, by room and name: nobody has looked into
        them.
        """
        found: dict[str, dict[str, Seen]] = {}
        for name, seen in self.by_name.items():
            if _may_hide(seen):
                found.setdefault(seen.place, {})[name] = seen
        return found

    def veiled(self, room: str) -> bool:
        """True if looking around would show more of a room. The content of an open drawer is not
        shown by that.
        """
        if room not in self.looked:
            return True
        for seen in self._lids.get(room, {}).values():
            if seen.name != "drawer" and "open" in seen.thing.flags:
                return True
        return False

    def hiding(self, room: str) -> list[str]:
        """The closed lids of a room."""
        lids = self._lids.get(room, {})
        return [name for name, seen in lids.items() if "open" not in seen.thing.flags]


def _may_hide(seen: Seen) -> bool:
    """True if a thing has a lid, and nobody knows what is under it."""
    if seen.thing.contents is not None or seen.name in _NO_LID:
        return False
    lidded = not seen.thing.flags.isdisjoint(_LID_STATES) or is_a("hiding", seen.name)
    return lidded and not seen.shut_away


Ask = Callable[..., bool | None]
"""A predicate: the scene and its arguments, and whether it holds."""
Names = Callable[[Scene], Sequence[str]]
"""The things that a word or a role stands for."""


def once(find: Callable[[Scene], Things]) -> Callable[[Scene], Things]:
    """Find things out once for each scene."""

    @wraps(find)
    def found(scene: Scene) -> Things:
        return scene.mean(find.__name__, find)

    return found


Note = Callable[[Scene, Scene, str], Iterable[tuple[str, str]]]
"""Notes that no text says and commands tell: given the belief before and after a command."""


@dataclass(frozen=True)
class Recipe:
    """Knowledge of some tasks beyond the manual."""

    predicates: Mapping[str, Ask] = field(default_factory=dict)
    words: Mapping[str, Names] = field(default_factory=dict)
    """Words of goals and procedures that are no thing's name."""
    roles: Mapping[str, Names] = field(default_factory=dict)
    """Things that parameters of commands may stand for."""
    tasks: tuple[str, ...] = ()
    """Beginnings of the names of the tasks that its roles are for."""
    notes: Note | None = None
    """Note to keep of a command and its answer."""
