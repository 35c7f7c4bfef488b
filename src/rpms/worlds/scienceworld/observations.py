"""Reader of the simulator's answers. Every text is read in linear time, and any text is allowed.

Things are listed as nested prose: `a counter. On the counter is: a bowl (containing a red apple, an
orange), a drawer.`
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from rpms.worlds.base import ReportedDeed, read_deed, read_table
from rpms.worlds.scienceworld.affordances import THINGS

_DEEPEST = 12
"""Depth to which listings are read; the simulator nests five or six deep."""
_LONGEST_NAME = 120
_MOST_INSIDE = 100
"""Most things read off a carried table."""

_TEXTS = read_table(__package__, "texts.toml")
_FORMS = {name: re.compile(pattern) for name, pattern in _TEXTS["forms"].items()}
_PARTS = re.compile("|".join(_TEXTS["parts"]))
_NAME = re.compile(r"(?:[^,.()\n]|\([A-Z][^)]{0,118}\))*+")
"""A bracket with a title in it, as books have, belongs to a name."""
FLAGS = {"activated": "on", "deactivated": "off"}
"""Words for states that go by another name."""
MATTER = _FORMS["matter"]
LOOSE = _FORMS["loose"]
"""Words by which a move says what it has disconnected on the way."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing as a listing shows it."""

    name: str
    """Without article, state sentences and stage: `metal pot`, `water`, `apple tree`, `adult
    turtle`."""
    contents: "tuple[Thing, ...] | None" = None
    """Things in or on it; None where the text does not say."""
    flags: frozenset[str] = frozenset()
    """States in the text: open, closed, on, off, broken, liquid, `in the adult stage`, `on
    fire`, …"""
    raw: str = field(default="", compare=False)
    """The words that named it."""

    @property
    def restless(self) -> bool:
        """True if it comes and goes by itself, in the inventory even: bees do, and the pollen
        of a carried plant.
        """
        return _FORMS["restless"].fullmatch(self.name) is not None


class RoomSight(NamedTuple):
    """A room as `look around` shows it."""

    room: str
    things: tuple[Thing, ...]
    doors: Mapping[str, bool]
    """The rooms next door, and whether the way there is open."""
    agent_there: bool = False
    """True if the agent is listed: a room can be looked at from another one."""


def plain_name(words: str) -> str:
    """A name without its article and without `substance called`.

    >>> plain_name("a substance called water")
    'water'
    """
    name = words.strip().replace("blank paper", "paper")  # no command knows the longer name
    if article := _FORMS["article"].match(name):
        name = name[article.end() :]
    return name.removeprefix("substance called ").strip()


class _Reader:
    """Reads nested listings, one pass from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def things(self, depth: int = 0) -> tuple[Thing, ...]:
        """Items up to the end of their list, which a bracket or a full stop closes."""
        found = [self._thing(depth)]
        while self._text.startswith(",", self._at):
            self._at += 1
            found.append(self._thing(depth))
        return tuple(filter(None, found))

    def _thing(self, depth: int) -> Thing | None:
        found = _NAME.match(self._text, self._at)
        assert found is not None, "it may be empty"
        self._at = found.end()
        head = found[0].strip()[:_LONGEST_NAME]
        name, flags = _name_and_flags(head)
        described = self._description(depth)
        if not name or name == "nothing":
            return None
        return Thing(name, described.contents, frozenset(flags | described.states), head)

    def _description(self, depth: int) -> "_Description":
        """Read the description after a thing's name."""
        states: set[str] = set()
        contents: tuple[Thing, ...] | None = None
        part = _PARTS.match(self._text, self._at) if depth < _DEEPEST else None
        while part is not None:
            self._at = part.end()
            said = part.groupdict()
            states.update(_states_said(said))
            in_brackets = said["inside"] is not None
            if in_brackets or said["where"] or said["plane"] is not None:
                contents = (*(contents or ()), *self.things(depth + 1))
                self._skip_end(in_brackets=in_brackets)
            part = _PARTS.match(self._text, self._at)
        return _Description(states, contents)

    def _skip_end(self, *, in_brackets: bool) -> None:
        """Go past the sign that ends a list of contents, and the space after a full stop."""
        ended = self._skip(".")
        if in_brackets:
            self._skip(")")
        elif ended:
            self._skip(" ")

    def _skip(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._at)
        if found:
            self._at += len(sign)
        return found


class _Description(NamedTuple):
    """The words after a thing's name."""

    states: set[str]
    contents: tuple[Thing, ...] | None
    """Things that it holds; None if nothing is said of that."""


class _Named(NamedTuple):
    """A thing's name, and the states that the words of a listing name along with it."""

    name: str
    flags: set[str]


def _name_and_flags(head: str) -> _Named:
    name = plain_name(head)
    flags: set[str] = set()
    for form in ("stage", "slide", "title"):
        match = _FORMS[form].search(name)
        if match is not None:
            name = name[: match.start()]
            flags.update(group for group in match.groups() if group)
    matter = MATTER.match(name)
    if matter is not None:
        flags.add("gas" if matter[1] == "gaseous" else matter[1])
    return _Named(name, flags)


def _states_said(said: Mapping[str, str | None]) -> list[str]:
    """The states that one part of a description tells: `open`, `on`, `12 ticks`."""
    states = []
    for part in ("door", "watch", "power", "note"):
        word = said[part]
        if word:
            states.append(FLAGS.get(word, word))
    for unit in ("ticks", "degrees"):
        number = said[unit]
        if number:
            states.append(f"{number} {unit}")
    return states


def parse_thing(text: str) -> Thing | None:
    """Read one described thing, such as a line of `look around` or an answer to `look at`.

    >>> parse_thing("a glass cup (containing a substance called water)").contents[0].name
    'water'
    """
    wiring = _FORMS["wiring"].search(text)
    if wiring is not None:  # connections of a component are known from making them
        text = text[: wiring.start()]
    head, nested, listing = text.partition(" is: \n")
    if not nested:
        return _first_thing(text.strip().replace("\n", " "))
    # `look at` puts what is inside on lines of its own
    thing = _first_thing(f"{head} is: nothing.")
    return thing and replace(thing, contents=_lines(listing))


def _first_thing(text: str) -> Thing | None:
    things = _Reader(text).things()
    return things[0] if things else None


def _lines(listing: str) -> tuple[Thing, ...]:
    """The things of a listing with one on each line; the agent itself is none of them.

    What is on a table that is carried stands on lines of its own after the table's, up to an empty
    one.
    """
    found: list[Thing] = []
    table: Thing | None = None
    on_table: list[Thing] = []
    for line in listing.splitlines():
        if not line.startswith("\t"):
            table = None
            continue
        thing = parse_thing(line)
        if table is None:
            if thing is None or thing.name == "agent":
                continue
            found.append(thing)
            if line.rstrip().endswith(" is:"):
                table = thing
                on_table = []
            continue
        if thing is not None:
            on_table.append(thing)
        found[-1] = replace(table, contents=tuple(on_table[:_MOST_INSIDE]))
        if thing is None:  # `nothing` stands alone
            table = None
    return tuple(found)


def room_sight(observation: str) -> RoomSight | None:
    """Read an answer to `look around`, anywhere in an observation; None if there is none."""
    return _sight(_FORMS["room"].search(observation))


def _sight(opening: re.Match[str] | None) -> RoomSight | None:
    """Read what follows the words that name a place."""
    if opening is None:
        return None
    listing, _, ways = opening.string[opening.end() :].partition("You also see:")
    doors = {room: state == "open" for room, state in _FORMS["door"].findall(ways)}
    return RoomSight(opening[1], _lines(listing), doors, "\tthe agent\n" in listing)


def carried(observation: str) -> tuple[Thing, ...] | None:
    """Read an answer to `inventory`; None if it is something else."""
    return _lines(observation) if observation.startswith("In your inventory, you see:") else None


def inside(observation: str) -> RoomSight | None:
    """Read an answer to `look in`: the place by its name, what is in it, and its doors if it is
    a room.
    """
    return _sight(_FORMS["inside"].match(observation))


_DEEDS = [
    (re.compile(re.sub(r"(?<!P)<(\w+)>", r"(?P<\1>[^\\n]{1,120}?)", pattern)), verb)
    for pattern, verb in _TEXTS["deeds"].items()
]
_REFUSALS = re.compile("|".join(_TEXTS["refusals"]))


def deed(observation: str) -> ReportedDeed | None:
    """Read what was done; None for answers that describe or refuse."""
    text = observation.strip()
    return read_deed(_DEEDS, text) if len(text) <= 2_000 else None


def refused(observation: str) -> bool:
    """True if the simulator says that a command could not be done, or asks which of several was
    meant.
    """
    return _REFUSALS.match(observation) is not None


_LIQUIDS = frozenset(THINGS["liquids"])
_WATER = {"water": "liquid", "ice": "solid", "steam": "gas"}


@lru_cache(maxsize=16_384)
def substance_of(name: str) -> str:
    """The substance by one name in all its states.

    >>> substance_of("gaseous orange juice"), substance_of("ice")
    ('orange juice', 'water')
    """
    bare = MATTER.sub("", name, count=1) if MATTER.match(name) else name
    return "water" if bare in _WATER else bare


def state_of(thing: Thing) -> str | None:
    """Solid, liquid or gas; None where its name does not tell."""
    name = thing.name.casefold()
    for state in ("solid", "liquid", "gas"):
        if state in thing.flags:
            return state
    if name in _WATER:
        return _WATER[name]
    return "liquid" if sounds_liquid(name) else None


def sounds_liquid(name: str) -> bool:
    """True for the name of something that is liquid by nature, by its last word: `apple juice`."""
    return name.casefold().rpartition(" ")[2] in _LIQUIDS
