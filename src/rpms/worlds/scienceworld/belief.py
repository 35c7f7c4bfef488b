"""The belief of Appendix A.2, and the truth of the manual's facts in it. What may have changed
unseen is unknown.

Nothing is in reach but what is in this room, not behind a closed lid, and what is carried.
Furniture, tools and the like stay where they were seen; whatever lives, grows, melts or is made may
be anywhere by now. Progress is the plan's.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Final

from rpms.logic.belief import StateSignature
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import GoalStep
from rpms.worlds.base import keyed, some
from rpms.worlds.scienceworld import affordances as kinds
from rpms.worlds.scienceworld.goal_steps import steps_asked
from rpms.worlds.scienceworld.observations import Thing, state_of
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE, RECIPES, WORDS, to_use
from rpms.worlds.scienceworld.recipes.physics import treated
from rpms.worlds.scienceworld.scene import Ask, Scene
from rpms.worlds.scienceworld.tree import (
    Phrase,
    Seen,
    alike,
    find,
    is_substance,
    is_vague,
    read_phrase,
    walk,
)

ROOMS: Final = (
    *("kitchen", "bathroom", "hallway", "living room", "bedroom"),
    *("workshop", "art studio", "greenhouse", "outside", "foundry"),
)
"""As the instruction names them."""
_SHOWN: Final = 6
"""Things of one sort that a prompt names at most."""
_FIXTURES: Final = kinds.FITTINGS - {"box", "cup", "door", "flower pot"} | {
    *kinds.THINGS["kinds"]["furnished"]
}
"""Furniture, devices, tools, vessels and rooms."""
_ALWAYS: Final = frozenset({"agent", "air", "inventory", "self"})
_UNLISTED: Final = re.compile(r".*\b(?:terminal|anode|cathode|door|drain|sewer)\b.*")
"""Things that are there without being shown."""
_CONTACT: Final = re.compile(r".*\b(?:terminal|anode|cathode)\b.*")
_FLUID: Final = re.compile(r"(?:liquid|gaseous) .*|water|steam|air")


def _is_shut(belief: Scene, match: Seen) -> bool:
    """True if it is behind a closed lid."""
    return any(_is_open(belief, holder) is False for holder in match.holders)


def room_named(words: str) -> str:
    """The room a command names: `the kitchen`, `door to kitchen`."""
    head = words.casefold().strip()
    for lead in ("to ", "through ", "the ", "door to ", "the "):
        head = head.removeprefix(lead)
    return head.removesuffix(" door")


def _agreed(values: Iterable[bool | None]) -> bool | None:
    """Common answer of all; None where they differ, or where there is nobody to give one."""
    known = set(values)
    return known.pop() if len(known) == 1 else None


def _near(belief: Scene, room: str) -> bool | None:
    if kinds.ware(name := room_named(room)):
        return False
    if name == belief.room:
        return True
    doors, known = belief.exits.get(belief.room or "", {}), belief.adjoin(belief.room, name)
    # a listing shows all ways, and the simulator knows each by its words, and some by words that
    # tell no room
    words = " ".join((*doors, belief.room or "", "door doors room location house")).split()
    nowhere = belief.room in belief.looked and doors and set(words).isdisjoint(name.split())
    return False if nowhere and known is None else known


def _shut(belief: Scene, room: str) -> bool | None:
    way = belief.exits.get(belief.room or "", {}).get(room_named(room))
    return None if way is None else not way


# Things in reach


def _here(belief: Scene, words: str) -> bool | None:
    phrase = read_phrase(words)
    if phrase.head in _ALWAYS or phrase.head == belief.room:
        return True
    if phrase.head.startswith("door to ") or phrase.head in belief.exits:
        return belief.adjoin(belief.room, room_named(phrase.head))
    if _UNLISTED.fullmatch(words.casefold()):
        return None
    told = belief.by_name.get(words)
    named = told is not None and told.place in (belief.room, "inventory") and not told.shut_away
    matches = () if named else belief.meant(words)
    if named or matches:
        return (
            None
            if is_vague(phrase.head)
            else not matches or not all(_is_shut(belief, match) for match in matches)
        )
    if belief.room not in belief.looked or " to " in words:
        return None
    return False if _left_behind(belief, phrase.head) else None


def _left_behind(belief: Scene, name: str) -> bool:
    """True if a thing that does not come about by itself must be elsewhere, where it is neither
    seen nor carried.
    """
    kind = kinds.ware(name)
    if any(
        alike(seen.name, name) or kinds.may_be_called(seen.name, kind) for seen in belief.visible()
    ):
        return False
    if kind and kinds.is_fixed(kind):
        return True
    shut = [seen.thing for seen in belief.visible() if seen.thing.contents is None]
    # an open lid that was not looked into, or what was taken along unseen
    hiding = any("open" in it.flags or (not it.raw and kinds.takes_things(it.name)) for it in shut)
    if hiding or any(alike(moved, name) for moved in belief.handled):
        return False
    elsewhere = any(
        alike(seen.name, name) for forest in belief.rooms.values() for seen in walk(forest)
    )
    if kinds.is_a("food", name):
        growing = any("flower pot" in seen.name or "tree" in seen.name for seen in belief.visible())
        return elsewhere and belief.inventory_known and not growing
    sure = elsewhere and not belief.lost and (kinds.is_a("inert", name) or kinds.is_animal(name))
    return sure or bool(kind and belief.inventory_known)


def _with(belief: Scene, room: str, words: str) -> bool | None:
    """True if a thing will be in reach once the agent is in a room: only what is fixed is sure
    not to be.
    """
    name, head = room_named(room), read_phrase(words).head
    if (
        (told := belief.by_name.get(words)) is not None
        and told.place != "inventory"
        and not told.shut_away
    ):
        if told.place == name:
            return True
        if told.place in read_phrase(words).places:
            return False
    if head in belief.exits:
        return True if head == name else belief.adjoin(name, head)
    matches = find(belief.rooms.get(name, ()), Phrase(head), name)
    if head in _ALWAYS or not all(_is_shut(belief, match) for match in matches):
        return True
    return False if name in belief.looked and kinds.ware(head) and kinds.is_fixed(head) else None


# Properties of things


def _things(belief: Scene, words: str) -> list[Thing]:
    """Things that words mean; a thing of just that name where nothing is known of it, or they
    mean anything.
    """
    head = read_phrase(words).head
    return ([] if is_vague(head) else [match.thing for match in belief.meant(words)]) or [
        Thing(head)
    ]


def _serving(use: str) -> Ask:
    def ask(belief: Scene, words: str) -> bool | None:
        if (
            " to " in words
            or _UNLISTED.fullmatch(words.casefold())
            or is_vague(read_phrase(words).head)
        ):
            return None
        return _agreed(kinds.serves(use, thing.name) for thing in _things(belief, words))

    return ask


def _helps(belief: Scene, tool: str, words: str) -> bool | None:
    """True if a tool can be used on a thing, the agent's own room and the like included."""
    if any(is_vague(read_phrase(name).head) for name in (tool, words)) or _UNLISTED.fullmatch(
        words.casefold()
    ):
        return None
    if read_phrase(words).head in belief.exits:
        return False
    every = _things(belief, words)
    return _agreed(
        kinds.helps(thing.name, other.name) for thing in _things(belief, tool) for other in every
    )


def _joinable(belief: Scene, one: str, other: str) -> bool | None:
    """True if two ends can be joined: not a thing to itself, and no component but by a contact
    that is free.
    """

    def unfit(end: Phrase) -> bool:
        if _CONTACT.fullmatch(end.head):
            name = f"{end.head} on {''.join(end.places[:1])}"
            return kinds.is_a("wired", name) and name in belief.ends
        return not is_vague(end.head) and all(
            kinds.is_a("wired", thing.name) for thing in _things(belief, end.head)
        )

    itself = one.casefold() == other.casefold() and len(belief.meant(one)) == 1
    return False if itself or any(unfit(read_phrase(end)) for end in (one, other)) else None


def _portable(belief: Scene, words: str) -> bool | None:
    """Not what is fixed, and no fluid: where the name tells, as what has frozen since goes by
    another one.
    """
    if _UNLISTED.fullmatch(head := read_phrase(words).head):
        return None
    things = _things(belief, words)
    if (
        head in belief.exits
        or _FLUID.fullmatch(head)
        or all(kinds.is_fixed(thing.name) for thing in things)
    ):
        return False
    if not any(map(_flows, things)):
        return True
    return (
        False
        if all(_flows(match.thing) and not _touched(belief, match) for match in belief.meant(words))
        else None
    )


def _flows(thing: Thing) -> bool:
    return state_of(thing) in ("liquid", "gas") or thing.name.endswith(" paint")


def _touched(belief: Scene, match: Seen) -> bool:
    """True if the agent has moved a thing, or what holds it: then it may have frozen, melted or
    been filled since.
    """
    names = [match.name, *(holder.name for holder in match.holders)]
    return (
        any(alike(name, moved) for name in names for moved in belief.handled)
        or "freezer" in names[1:]
    )


def _flagged(thing: Thing, yes: str, no: str) -> bool | None:
    return None if thing.flags.isdisjoint({yes, no}) else yes in thing.flags


def _open(belief: Scene, words: str) -> bool | None:
    lids = [(thing, _is_open(belief, thing)) for thing in _things(belief, words)]
    return _agreed(
        kinds.takes_things(thing.name) if known is None else known for thing, known in lids
    )


def _is_open(belief: Scene, thing: Thing) -> bool | None:
    """True if a lid is open; None where there is none."""
    known = _flagged(thing, "open", "closed")
    closed = known is None and kinds.is_a("hiding", thing.name)
    return (
        False if closed and not any(alike(thing.name, name) for name in belief.handled) else known
    )


def _works(belief: Scene, words: str) -> bool | None:
    """A device that was found broken stays so, from wherever it is asked about."""
    there = [
        f"{each.name} in {each.place}" for each in (belief.by_name.get(words),) if each is not None
    ]
    names = [f"{name} in {belief.room}" for name in (read_phrase(words).head, words.casefold())]
    if not belief.broken.isdisjoint((*there, *names)):
        return False
    broken = all("broken" in thing.flags for thing in _things(belief, words))
    return False if broken or _serving("switch")(belief, words) is False else None


def _pourable(belief: Scene, words: str) -> bool | None:
    """Content of a vessel, or the vessel: nothing closed or built in, or that stands by itself
    and holds nothing.
    """

    def ask(match: Seen) -> bool | None:
        name = (
            match.thing.name
        )  # a built-in thing that is open may do: opening is what may help with all others
        if (
            kinds.is_fixed(name)
            and not is_substance(match.thing)
            and "open" not in match.thing.flags
        ):
            return False
        loose = not match.carried and (not match.holders or kinds.is_fixed(match.holder))
        solid = loose and kinds.takes_things(name) is False
        return False if solid or _is_open(belief, match.thing) is False else None

    return None if is_vague(read_phrase(words).head) else _agreed(map(ask, belief.meant(words)))


def _holds(belief: Scene, words: str) -> Seen | None:
    """The one thing that words mean, if what is in it is known and is not of the agent's doing."""
    phrase, matches = read_phrase(words), belief.meant(read_phrase(words).head)
    if len(matches) != 1 or phrase.containing or "on" in matches[0].thing.flags:
        return None
    inside = matches[0].thing.contents
    moved = inside is None or any(
        alike(thing.name, name) for thing in inside for name in belief.handled
    )
    return None if moved or not kinds.ware(matches[0].thing.name) else matches[0]


def _several(belief: Scene, words: str) -> bool | None:
    """True if there is something to mix: not in what holds nothing, nor among wares, nor with a
    single substance.
    """
    if _solid(belief, words):
        return False
    known = _holds(belief, words)
    stuff = (
        [thing.name for thing in known.thing.contents or () if not kinds.ware(thing.name)]
        if known
        else []
    )
    if known is None or len(stuff) > 1:
        return None
    pure = not stuff or (
        not _touched(belief, known) and (kinds.is_a("inert", stuff[0]) or stuff[0] == "water")
    )
    return False if pure else None


def _wet(belief: Scene, words: str) -> bool | None:
    """True if there is a liquid in something.

    What the agent has moved or switched on may have been filled since.
    """
    if _solid(belief, words):
        return False
    known = _holds(belief, words)
    if (
        known is None or _touched(belief, known) or known.thing.name == "fountain"
    ):  # it fills by itself
        return None
    inside = known.thing.contents or ()
    dry = all(
        (kinds.ware(thing.name) or kinds.is_a("food", thing.name)) and not _flows(thing)
        for thing in inside
    )
    return False if dry else None


def _solid(belief: Scene, words: str) -> bool:
    """True if nothing can be in a thing."""
    solid = all(kinds.takes_things(thing.name) is False for thing in _things(belief, words))
    return solid and not is_vague(read_phrase(words).head)


def _wired(belief: Scene, words: str) -> bool | None:
    """True if something is joined to a thing, or to one of its terminals; by another name it
    may be.
    """
    name = read_phrase(words).head
    return (
        any(f"{end} ".startswith(f"{name} ") or end.endswith(f" on {name}") for end in belief.ends)
        or None
    )


def _decoy(belief: Scene, words: str) -> bool:
    """True if what a command names is furniture, a device or a vessel that the goal's text does
    not name.
    """
    name = read_phrase(words).head
    if (
        name not in _FIXTURES or belief.goal.object == "find-non-living-thing"
    ):  # the one task in which a chair will do
        return False
    return not re.search(rf"\b{name}s?\b", belief.goal.text.casefold())


PREDICATES: Final[dict[str, Ask]] = {
    **keyed(_here, _with, _works, _near, _shut, _portable, _open),
    **keyed(_helps, _joinable, _pourable, _several, _wet, _wired, _decoy),
    "inside": lambda belief, room: None if belief.room is None else room_named(room) == belief.room,
    "adjoins": lambda belief, room, other: belief.adjoin(room_named(room), room_named(other)),
    "running": lambda belief, words: _agreed(
        _flagged(thing, "on", "off") for thing in _things(belief, words)
    ),
    **{use: _serving(use) for use in ("lid", "paper", "food", "flushed")},
    "read": lambda belief, words: read_phrase(words).head in belief.readings or None,
    "looked": lambda belief: belief.room in belief.looked,
    "listed": lambda belief: belief.inventory_known,
    "asked": lambda belief: bool(belief.menu) or None,
}
"""Predicate → who answers."""

_WATCHING: Final = re.compile(r"(?:wait|look|examine|use thermometer|pour|move jug)")
"""The commands that let the world work."""
_ARITY: Final = {
    name: len(signature(ask).parameters) - 1 for name, ask in (PREDICATES | RECIPES).items()
}


@dataclass(frozen=True)
class ScienceBelief(Scene):
    """One moment's belief. Made by `rpms.worlds.scienceworld.update.update`."""

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Known things, by the roles they may have in a command.

        What was never seen may have any.
        """
        mine = [
            recipe
            for recipe in EVERY_RECIPE
            if not recipe.tasks or self.aim.task.startswith(recipe.tasks)
        ]
        found = {role: names(self) for recipe in mine for role, names in recipe.roles.items()}
        unseen = [name for names in found.values() for name in names if name.endswith("?")]
        return found | {role: [*found[role], *unseen] for role in ("object", "place")}

    def called(self, word: str) -> Sequence[str]:
        """Known things that a goal or a procedure may mean by a word."""
        return self.mean(
            word, WORDS.get(word, lambda scene: to_use(scene, word, scene.of_kind(word)))
        )

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.value(atom.predicate, atom.args))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        key, known = (predicate, args), self._meant
        if key not in known:
            said = self._answer(predicate, args)
            known[key] = said if said is None else bool(said)
        found: bool | None = known[key]
        return found

    def _answer(self, predicate: str, names: tuple[str, ...]) -> bool | None:
        if len(names) != _ARITY.get(predicate):
            return None
        if predicate in RECIPES:
            return RECIPES[predicate](self, *names)
        args = [name.removesuffix(" ?") for name in names]  # a thing never seen goes by its kind
        if (
            predicate in ("here", "portable", "with") and args[-1] != names[-1]
        ):  # and is in no room that was searched
            searched = predicate == "with" and not self.veiled(args[0]) and not self.hiding(args[0])
            return False if searched or predicate == "here" else None
        return PREDICATES[predicate](self, *args)

    def signature(self) -> StateSignature:
        """σ(b): `room=kitchen|inventory=empty`, and the instruments carried if there are any."""
        return StateSignature.of(
            room=None if self.room is None else (self.room,),
            inventory=tuple(sorted(self.holding)),
            instrument=self.instruments or None,
        )

    @property
    def fingerprint(self) -> str:
        """All that is known of the world, as a number: where it is the same, nothing has changed or
        was found out.

        Where the world is at work too, watching it is never the same. Numbers are compared within
        one episode alone, and mean nothing outside the process that made them.
        """
        if not self.failed and _WATCHING.match(self.last_action or ""):
            running = any(
                "on" in seen.thing.flags for seen in self.things if seen.place == (self.room or "")
            )
            target = (
                self.aim.target
            )  # heated or cooled; what grows, slides or conducts changes everywhere
            if running or self.aim.type in ("F4", "F5") or (target and treated(self, target)):
                return str(self.steps)
        exits = frozenset((room, frozenset(ways.items())) for room, ways in self.exits.items())
        known = (self.rooms, self.temperatures, self.readings)
        told = (self.inventory, self.connections, self.broken, self.focused, self.menu)
        return str(hash((exits, *(frozenset(facts.items()) for facts in known), *told)))

    def asked(self) -> tuple[GoalStep, ...]:
        return steps_asked(self)

    def lines(self) -> tuple[str, ...]:
        """The lines of the [Current State] block; the first is the paper's.

        Only what is known is said.
        """
        carrying = ", ".join(self.holding) or (
            "nothing" if self.inventory_known else "nothing known"
        )
        task, rooms = self.goal.text.casefold(), self.rooms.items()
        elsewhere = (
            (room, seen.name)
            for room, things in rooms
            if room != self.room
            for seen in walk(things)
        )
        said = {
            "Seen": some(
                [*dict.fromkeys(f"{name} in {room}" for room, name in elsewhere if name in task)],
                _SHOWN,
            ),
            "States": some(
                [f"{name} is {state}" for name, (*_, state) in self.state_history.items()], _SHOWN
            ),
            "Measured": some(
                [f"{name} {degrees:g} °C" for name, degrees in self.temperatures.items()], _SHOWN
            ),
            "Focused on": ", ".join(self.focused),
            "Not yet searched": ", ".join(room for room in ROOMS if room not in self.looked)
            if self.looked
            else "",
        }
        first = f"Room: {self.room or 'unknown'}  Carrying: {carrying}"
        return (first, *(f"{name}: {text}" for name, text in said.items() if text))
