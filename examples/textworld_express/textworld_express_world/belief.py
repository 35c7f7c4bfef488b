"""The belief of all eight games: what was seen, told and read, and the truth of the manual's
predicates in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations

from rpms.logic.belief import Belief
from rpms.logic.facts import grouped
from rpms.logic.goal import Goal
from rpms.worlds.base import asking
from textworld_express_world import observations as said
from textworld_express_world.games import ExpressGoal


@dataclass(frozen=True)
class ExpressBelief(Belief):
    """Knowledge from the texts alone, whichever of the eight games it is."""

    goal: Goal
    location: str | None = None
    places: Mapping[str, said.Place] = field(default_factory=dict)
    """The rooms that were seen, as they were when left."""
    holding: tuple[str, ...] = ()
    capacity: int | None = None
    """Most things that can be carried, if that is known."""
    states: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Preparation of food so far: `{"carrot": {"sliced", "fried"}}`."""
    placed: tuple[str, ...] = ()
    """Things the player has put somewhere, and not taken since, in order."""
    recipe: said.CookbookRecipe | None = None
    chart: Mapping[str, frozenset[str]] | None = None
    """The map: which rooms it connects."""
    result: int | None = None
    """The answer to the math problem, once it was read."""
    orders: tuple[str, ...] = ()
    """The commands that are to be given next."""
    eaten: tuple[str, ...] = ()

    @property
    def here(self) -> said.Place | None:
        return self.places.get(self.location) if self.location is not None else None

    @cached_property
    def in_reach(self) -> frozenset[str]:
        return frozenset(self.here.visible) if self.here is not None else frozenset()

    @cached_property
    def ordered(self) -> tuple[said.Place, ...]:
        """The rooms that were seen, the present one first: of two trash cans, the one at hand
        is meant.
        """
        return tuple(sorted(self.places.values(), key=lambda place: place is not self.here))

    @cached_property
    def rooms(self) -> tuple[str, ...]:
        """All rooms that were seen or told of, and one behind each door that was never open."""
        told = [
            *self.places,
            *(there for place in self.places.values() for there in place.exits.values() if there),
        ]
        told += [room for _, room in self.told] + [*(self.chart or ())]
        for room, place in self.places.items():
            told += [behind(room, way) for way, there in place.exits.items() if there is None]
        return tuple(dict.fromkeys(told))

    @cached_property
    def things(self) -> tuple[str, ...]:
        """All that was seen, or told of, and is no furniture that holds things."""
        seen = (thing for place in self.ordered for thing in place.things)
        told = [thing for thing, _ in self.told]
        wanted = (*self.recipe.ingredients, "meal") if self.recipe else ()
        furniture = {name for place in self.ordered for name in place.furniture}
        return tuple(
            dict.fromkeys(
                name for name in (*self.holding, *seen, *told, *wanted) if name not in furniture
            )
        )

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        return self.goal.found if isinstance(self.goal, ExpressGoal) else ()

    def rooms_of(self, thing: str) -> list[str]:
        """Place where something was seen, or is said to be."""
        seen = self._seen_in.get(thing, [])
        if not seen and thing not in self.holding and thing not in self.placed:
            return [room for told, room in self.told if told == thing and room not in self.places]
        return seen

    @cached_property
    def _seen_in(self) -> Mapping[str, list[str]]:
        """By name, the rooms in which something was seen, in the open or in what is shut now."""
        rooms = self.places.items()
        return grouped(
            (name, room) for room, place in rooms for name in {*place.visible, *place.things}
        )

    @cached_property
    def furniture(self) -> Mapping[str, said.Furniture]:
        """Pieces of furniture by name, the one at hand if there are several."""
        return {
            name: each for place in reversed(self.ordered) for name, each in place.furniture.items()
        }

    @cached_property
    def to_do(self) -> list[tuple[str, str]]:
        """Directions of the recipe that were not followed yet: verb and food."""
        steps = self.recipe.directions if self.recipe else ()
        return [
            (verb, food)
            for verb, food in steps
            if said.DONE.get(verb, verb) not in self.states.get(food, ())
        ]

    @cached_property
    def to_get(self) -> list[str]:
        """Ingredients of the recipe that are not carried."""
        return (
            [food for food in self.recipe.ingredients if food not in self.holding]
            if self.recipe
            else []
        )

    @property
    def containers(self) -> Mapping[str, bool]:
        lids = (
            (name, each)
            for place in self.ordered
            for name, each in place.furniture.items()
            if each.lid
        )
        return {name: each.open for name, each in lids}

    @cached_property
    def last_seen(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for room, place in self.places.items():
            for thing in place.visible:
                found[thing] = place.holders.get(thing, room)
        return found

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        things = self.things
        furniture = tuple(dict.fromkeys(name for place in self.ordered for name in place.furniture))
        sorts = dict.fromkeys(
            sort for thing in things if thing not in self.placed for sort in _sorts(thing)
        )
        return {
            **dict.fromkeys(("room", "other"), self.rooms),
            "direction": said.DIRECTIONS,
            **dict.fromkeys(("object", "food"), things),
            "place": furniture,
            "container": tuple(self.containers),
            "thing": tuple(dict.fromkeys((*things, *furniture))),
            "text": things,
            "manner": tuple(dict.fromkeys(verb for verb, _ in self.recipe.directions))
            if self.recipe
            else (),
            "order": self.orders[:1],
            "sort": tuple(sorts),
        }

    def called(self, word: str) -> Sequence[str]:
        """Meaning of a word of a goal or procedure: a list of the belief's, or whatever has
        that name.
        """
        if word in ("rooms", "things"):
            return self.rooms if word == "rooms" else self.things
        if word == "ingredients":
            return self.recipe.ingredients if self.recipe else ()
        if word == "answer":
            return [
                name
                for name in self.things
                if self.result is not None and said.quantity(name) == self.result
            ]
        return super().called(word)

    @property
    def fingerprint(self) -> str:
        places, states = sorted(self.places), sorted(self.states)
        lying = sorted(self.last_seen.items())
        return (
            f"{self.location}|{self.holding}|{places}|{self.orders}|{lying}|{self.placed}|{states}"
        )

    def lines(self) -> tuple[str, ...]:
        told = {
            "Room: ": self.location or "unknown",
            "Carrying: ": ", ".join(self.holding) or "nothing",
            "Ways: ": ", ".join(self._ways_told()),
            "Rooms not seen yet: ": ", ".join(self._rooms_unseen()),
            "Recipe: ": self._recipe_told(),
            "The answer of the math problem is ": "" if self.result is None else str(self.result),
            "To be done next: ": self.orders[0] if self.orders else "",
        }
        return tuple(f"{name}{text}" for name, text in told.items() if text)

    def _ways_told(self) -> Iterator[str]:
        """The ways from here, each with what is behind it as far as that is known."""
        if self.here is None:
            return
        for way, there in self.here.exits.items():
            behind = "a closed door" if self.here.doors.get(way) else there or "an unknown room"
            yield f"{way} {behind}"

    def _rooms_unseen(self) -> list[str]:
        """Rooms that were only heard of; with a map, all are known."""
        if self.chart is not None:
            return []
        return [room for room in self.rooms if room not in self.places]

    def _recipe_told(self) -> str:
        """What a recipe that was read still wants; empty if none was."""
        if self.recipe is None:
            return ""
        todo = ", ".join(f"{verb} {food}" for verb, food in self.to_do)
        return f"still to get: {', '.join(self.to_get) or 'nothing'}; still to do: {todo or '-'}"


def behind(room: str, direction: str) -> str:
    """The name of a room that nobody has seen, behind a closed door."""
    return f"room {direction} of {room}"


_LONGEST_NAME = 6
"""Words of a name that are tried as the name of a sort; no thing has a longer one."""


@lru_cache(maxsize=4_096)
def _sorts(thing: str) -> tuple[str, ...]:
    """The sorts that a name may be of, each some of its words in their order, the last also as
    one of many.
    """
    words = thing.split()[-_LONGEST_NAME:]
    words += [words[-1].removesuffix("s")] if words and words[-1].endswith("s") else []
    return tuple(
        " ".join(some) for size in range(len(words), 0, -1) for some in combinations(words, size)
    )


def _here(belief: ExpressBelief, thing: str) -> bool | None:
    if belief.here is None or belief.location is None:
        return None
    if thing in belief.holding or thing in belief.in_reach or thing == belief.location:
        return True
    unknown = not belief.rooms_of(thing) and _unopened(belief, belief.location)
    return None if unknown and thing not in belief.rooms else False


def _unopened(belief: ExpressBelief, room: str) -> list[str]:
    """Furniture of a room that nobody has looked into."""
    furniture = belief.places[room].furniture if room in belief.places else {}
    return [name for name, each in furniture.items() if each.content is None]


def _with(belief: ExpressBelief, room: str, thing: str) -> bool | None:
    if room not in belief.rooms:
        return False
    if thing in belief.holding:
        return room == belief.location
    known = belief.rooms_of(thing)
    if room in known:
        return True
    if room in belief.places:
        return None if not known and _unopened(belief, room) else False
    return None if thing in belief.furniture or not known else False


def _leads(belief: ExpressBelief, room: str, direction: str, other: str) -> bool | None:
    if (place := belief.places.get(room)) is None:
        return None if room in belief.rooms else False
    if direction not in place.exits:
        return False
    there = place.exits[direction]
    if other == (there or behind(room, direction)):
        return True
    return None if there is None and _charted_only(belief, room, other) else False


def _charted_only(belief: ExpressBelief, room: str, other: str) -> bool:
    """True if a map connects two rooms, and no way between them was seen."""
    seen = belief.places[room].exits.values() if room in belief.places else ()
    return belief.chart is not None and other in belief.chart.get(room, ()) and other not in seen


def _mapped(belief: ExpressBelief, room: str, other: str) -> bool | None:
    exits = belief.places[room].exits.items() if room in belief.places else ()
    for way, there in exits:
        if other == (there or behind(room, way)):
            return True
    return _charted_only(belief, room, other)


def _leads_out(belief: ExpressBelief, direction: str, ways: str) -> bool | None:
    """True if there is a way, or a door, in a direction from here."""
    if direction not in said.DIRECTIONS:
        return False
    return None if belief.here is None else direction in getattr(belief.here, ways)


def _loose(belief: ExpressBelief, thing: str) -> bool | None:
    if belief.here is None:
        return None
    return True if belief.rooms_of(thing) else (False if thing in belief.holding else None)


def _furnished(belief: ExpressBelief, name: str, how: str) -> bool | None:
    """True if a piece of furniture is open, or has a lid; no other thing is or has."""
    if (found := belief.furniture.get(name)) is not None:
        return bool(getattr(found, how))
    return False if name in belief.things else None


def _inside(belief: ExpressBelief, thing: str, container: str) -> bool | None:
    found = belief.furniture.get(container)
    return found is not None and not found.open and thing in (found.content or ())


def _in(belief: ExpressBelief, thing: str, name: str) -> bool | None:
    every = [place.furniture[name] for place in belief.places.values() if name in place.furniture]
    if any(thing in (each.content or ()) for each in every):
        return True
    known = thing in belief.holding or bool(belief.rooms_of(thing))
    return False if known and every else None


@lru_cache(maxsize=16_384)
def _is_a(thing: str, sort: str) -> bool:
    named, wanted = thing.split(), sort.split()
    words = iter(named)
    alike = all(any(word in (each, f"{each}s") for word in words) for each in wanted)
    return alike and all(word in wanted for word in named if word in said.CONDITIONS)


def _followed(belief: ExpressBelief, food: str, *, cuts: bool) -> bool | None:
    left = any(named == food and (verb in said.CUTS) is cuts for verb, named in belief.to_do)
    return None if belief.recipe is None else not left


def _needed(belief: ExpressBelief, thing: str) -> bool | None:
    if belief.recipe is None:
        return thing == belief.goal.object
    uncut = any(verb in said.CUTS for verb, _ in belief.to_do)
    return thing in belief.recipe.ingredients or thing == "meal" or (thing == "knife" and uncut)


def _unsorted(belief: ExpressBelief) -> dict[str, int]:
    """The quantities that are in no box yet."""
    amounts = {
        name: amount for name in belief.things if (amount := said.quantity(name)) is not None
    }
    return {
        name: amount
        for name, amount in amounts.items()
        if not _in(belief, name, belief.goal.destination)
    }


ExpressBelief.answers = asking(
    *(_here, _with, _leads, _mapped, _loose, _inside, _in, _needed),
    at=lambda belief, room: None if belief.location is None else room == belief.location,
    shut=lambda belief, room, way: (
        belief.places[room].doors.get(way, False) if room in belief.places else None
    ),
    way=lambda belief, direction: _leads_out(belief, direction, "exits"),
    door=lambda belief, direction: _leads_out(belief, direction, "doors"),
    barred=lambda belief, direction: (
        None if belief.here is None else belief.here.doors.get(direction, False)
    ),
    seen=lambda belief, room: room in belief.places,
    holding=lambda belief, thing: None if belief.here is None else thing in belief.holding,
    full=lambda belief: belief.capacity is not None and len(belief.holding) >= belief.capacity,
    open=lambda belief, name: _furnished(belief, name, "open"),
    lid=lambda belief, name: _furnished(belief, name, "lid"),
    hides=lambda belief, name, room: name in _unopened(belief, room),
    is_a=lambda _belief, thing, sort: _is_a(thing, sort),
    tidy=lambda belief, thing: thing in belief.placed,
    settled=lambda _belief: False,
    studied=lambda belief: belief.recipe is not None,
    ingredient=lambda belief, thing: (
        None if belief.recipe is None else thing in belief.recipe.ingredients
    ),
    calls_for=lambda belief, food, verb: (
        None if belief.recipe is None else (verb, food) in belief.recipe.directions
    ),
    cut=lambda belief, food: _followed(belief, food, cuts=True),
    cooked=lambda belief, food: _followed(belief, food, cuts=False),
    ready=lambda belief: None if belief.recipe is None else not belief.to_do and not belief.to_get,
    eaten=lambda belief, food: None if belief.here is None else food in belief.eaten,
    charted=lambda belief: belief.chart is not None,
    solved=lambda belief: belief.result is not None,
    answer=lambda belief, thing: (
        None if belief.result is None else said.quantity(thing) == belief.result
    ),
    next=lambda belief, thing: (
        (left := _unsorted(belief)).get(thing) == min(left.values(), default=0)
    ),
    sorted=lambda belief: belief.location is not None and not _unsorted(belief),
    instructed=lambda belief: bool(belief.orders),
    told=lambda belief, order: order in belief.orders[:1],
    ordered=lambda belief, thing: any(order.endswith(f" {thing}") for order in belief.orders[:1]),
    finished=lambda _belief: False,
)
