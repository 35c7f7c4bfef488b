"""The belief as a scene: every thing that is known, by a name that a command can use for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Final, TypeVar

from rpms.core.facts import kind_of
from rpms.worlds.scienceworld.affordances import is_fixed, starts_closed, ware
from rpms.worlds.scienceworld.known import ScienceKnown
from rpms.worlds.scienceworld.observations import substance_of
from rpms.worlds.scienceworld.tasks import ScienceGoal
from rpms.worlds.scienceworld.tree import INVENTORY, Seen, find, read_phrase, walk

_NO_GOAL: Final = ScienceGoal("")
_NO_LID: Final = frozenset({"bee hive", "blast furnace", "drain", "oven"})
"""Things that can be open or shut and hide nothing that is looked for."""
Things = TypeVar("Things", bound=Sequence[str])


@dataclass(frozen=True)
class Scene(ScienceKnown):
    """A belief whose things go by names, those carried and here first."""

    @cached_property
    def aim(self) -> ScienceGoal:
        """The goal; of one that fits no template, nothing is known."""
        return self.goal if isinstance(self.goal, ScienceGoal) else _NO_GOAL

    @cached_property
    def things(self) -> tuple[Seen, ...]:
        forests = {INVENTORY: self.inventory, self.room or "": self.here, **self.rooms}
        everything = (seen for place, forest in forests.items() for seen in walk(forest, place))
        return tuple(seen for seen in everything if seen.name not in ("agent", "air"))

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

    def meant(self, words: str) -> Sequence[Seen]:
        """Everything known here and in the inventory that words may mean."""
        if words not in self._meanings:
            phrase = read_phrase(words)
            carried = find(self.inventory, phrase, INVENTORY)
            self._meanings[words] = find(self.here, phrase, self.room or "") + carried
        return self._meanings[words]

    @cached_property
    def _meanings(self) -> dict[str, Sequence[Seen]]:
        return {}

    @cached_property
    def _by_kind(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, seen in self.by_name.items():
            for kind in {seen.name.casefold(), substance_of(seen.name).casefold()}:
                found.setdefault(kind, []).append(name)
        return found

    def meant_by(self, word: str) -> list[str]:
        """The things that a word may mean: by its own name, else all of that name or substance."""
        word = kind_of(word) if word.endswith("?") else word
        return [word] if word in self.by_name else self.of_kind(word)

    def of_kind(self, word: str) -> list[str]:
        """The things of a name or a substance, in whatever state; else those shown by more words: `orange apricot`."""
        kind = substance_of(word).casefold()
        found = self._by_kind.get(kind, [])
        if found or ware(kind):
            return found
        return self._by_last_words.get(kind, [])

    @cached_property
    def _by_last_words(self) -> Mapping[str, list[str]]:
        """The things by all that their kinds end with: `orange apricot` is found as `apricot`."""
        found: dict[str, list[str]] = {}
        for shown, names in self._by_kind.items():
            while shown := shown.partition(" ")[2]:
                found.setdefault(shown, []).extend(names)
        return found

    def is_broken(self, name: str) -> bool:
        """True if a thing was found broken, wherever the agent is now."""
        seen = self.by_name.get(name)
        return seen is not None and f"{seen.name} in {seen.place}" in self.broken

    def find(self, word: str) -> list[Seen]:
        """Like `meant_by`, the things themselves."""
        return [self.by_name[name] for name in self.meant_by(word)]

    def name_of(self, word: str) -> str:
        """Name of the nearest thing that a word may mean, or of one never seen: `stove ?`."""
        return next(iter(self.meant_by(word)), f"{word} ?")

    def mean(self, word: str, names: Callable[[Scene], Things]) -> Things:
        """Meaning of a word here; found out once."""
        if word not in self._meant:
            self._meant[word] = names(self)
        found: Things = self._meant[word]
        return found

    @cached_property
    def _meant(self) -> dict[str, Any]:
        return {}

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
        return room not in self.looked or any("open" in seen.thing.flags for seen in lids)

    def hiding(self, room: str) -> list[str]:
        """The closed lids of a room."""
        return [name for name, seen in self._lids.get(room, ()) if "open" not in seen.thing.flags]


Ask = Callable[..., bool | None]
"""A predicate: the scene and its arguments, and whether it holds."""
Names = Callable[[Scene], Sequence[str]]
"""The things that a word or a role stands for."""


def once(find: Callable[[Scene], Things]) -> Callable[[Scene], Things]:
    """Find things out once for each scene."""
    return wraps(find)(lambda scene: scene.mean(find.__name__, find))


Note = Callable[[ScienceKnown, Scene, str], Iterable[tuple[str, str]]]
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
