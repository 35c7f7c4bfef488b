"""The belief of all eight games: what is known, as the core asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

from rpms.core.belief import Belief
from rpms.worlds.textworld_express.known import ExpressKnown
from rpms.worlds.textworld_express.observations import DIRECTIONS, quantity
from rpms.worlds.textworld_express.predicates import PREDICATES


@dataclass(frozen=True)
class ExpressBelief(ExpressKnown, Belief):
    """Knowledge from the texts alone."""

    answers = PREDICATES

    @property
    def location(self) -> str | None:
        return self.room

    @property
    def holding(self) -> tuple[str, ...]:
        return self.carried

    @property
    def containers(self) -> Mapping[str, bool]:
        lids = ((name, each) for place in self.ordered for name, each in place.furniture.items() if each.lid)
        return {name: each.open for name, each in lids}

    @property
    def last_seen(self) -> Mapping[str, str]:
        return {thing: place.holder_of(thing) or room for room, place in self.places.items() for thing in place.visible}

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        rooms = self.rooms
        things = self.things
        furniture = tuple(dict.fromkeys(name for place in self.ordered for name in place.furniture))
        return {
            "room": rooms,
            "other": rooms,
            "direction": DIRECTIONS,
            "object": things,
            "food": things,
            "place": furniture,
            "container": tuple(self.containers),
            "thing": tuple(dict.fromkeys((*things, *furniture))),
            "text": things,
            "manner": tuple(dict.fromkeys(verb for verb, _ in self.recipe.directions)) if self.recipe else (),
            "order": self.orders[:1],
            "sort": tuple(
                dict.fromkeys(sort for thing in things if thing not in self.placed for sort in _sorts(thing))
            ),
        }

    def called(self, word: str) -> Sequence[str]:
        """Meaning of a word of a goal or procedure: a list of the belief's, or whatever has that name."""
        match word:
            case "rooms":
                return self.rooms
            case "things":
                return self.things
            case "ingredients":
                return self.recipe.ingredients if self.recipe else ()
            case "answer":
                return [name for name in self.things if self.result is not None and quantity(name) == self.result]
        return super().called(word)

    @property
    def moment(self) -> str:
        return (
            f"{self.room}|{self.carried}|{sorted(self.places)}|{self.orders}|{len(self.placed)}|{sorted(self.states)}"
        )

    def lines(self) -> tuple[str, ...]:
        here = self.here
        found = [f"Room: {self.room or 'unknown'}", f"Carrying: {', '.join(self.carried) or 'nothing'}"]
        if here is not None and here.exits:
            ways = (
                f"{direction} {'a closed door' if here.doors.get(direction) else there or 'an unknown room'}"
                for direction, there in here.exits.items()
            )
            found.append(f"Ways: {', '.join(ways)}")
        unseen = [room for room in self.rooms if room not in self.places]
        if self.chart is None and unseen:
            found.append(f"Rooms not seen yet: {', '.join(unseen)}")
        if self.recipe is not None:
            todo = [f"{verb} {food}" for verb, food in self.recipe.directions if not self.is_done(verb, food)]
            missing = [food for food in self.recipe.ingredients if food not in self.carried]
            found.append(
                f"Recipe: still to get: {', '.join(missing) or 'nothing'}; still to do: {', '.join(todo) or '-'}"
            )
        if self.result is not None:
            found.append(f"The answer of the math problem is {self.result}")
        if self.orders:
            found.append(f"To be done next: {self.orders[0]}")
        return tuple(found)


_LONGEST_NAME = 6
"""Words of a name that are tried as the name of a sort; no thing has a longer one."""


@lru_cache(maxsize=4_096)
def _sorts(thing: str) -> tuple[str, ...]:
    """The sorts that a name may be of, each some of its words in their order, the last also as one of many."""
    words = thing.split()[-_LONGEST_NAME:]
    words += [words[-1].removesuffix("s")] if words and words[-1].endswith("s") else []
    return tuple(" ".join(some) for size in range(len(words), 0, -1) for some in combinations(words, size))
