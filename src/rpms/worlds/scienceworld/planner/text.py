"""Descriptions as procedures want them: things by their full names, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rpms.worlds.scienceworld import observations
from rpms.worlds.scienceworld.observations import parse_thing, plain_name, room_sight


@dataclass(frozen=True)
class Thing:
    """Something seen, with what is seen in or on it, in the order of names: the world's own order is by chance."""

    name: str
    """In full, with the stage and traits of a plant: `pea plant in the adult stage with a tall height`."""
    contents: tuple[Thing, ...] = ()
    flags: frozenset[str] = frozenset()

    @property
    def closed(self) -> bool:
        return "closed" in self.flags

    def walk(self) -> Iterator[Thing]:
        """This thing, then everything in it."""
        yield self
        for inner in self.contents:
            yield from inner.walk()


@dataclass(frozen=True)
class View:
    """One `look around`."""

    room: str
    things: tuple[Thing, ...]
    doors: Mapping[str, bool] = field(default_factory=dict)

    def walk(self) -> Iterator[Thing]:
        """Everything in the room."""
        for thing in self.things:
            yield from thing.walk()


def _in_full(thing: observations.Thing) -> Thing:
    return Thing(plain_name(thing.raw), _sorted(map(_in_full, thing.contents or ())), thing.flags)


def _sorted(things: Iterable[Thing]) -> tuple[Thing, ...]:
    return tuple(sorted(things, key=lambda thing: [inner.name for inner in thing.walk()]))


@lru_cache(maxsize=4096)
def read_thing(text: str) -> Thing:
    """Read an answer to `look at`; a thing without a name if it is none."""
    thing = parse_thing(text)
    return _in_full(thing) if thing is not None else Thing("")


@lru_cache(maxsize=1024)
def read_view(observation: str) -> View | None:
    """Read a `look around`, wherever in the observation it begins; None if there is none."""
    sight = room_sight(observation)
    if sight is None:
        return None
    things = _sorted(thing for thing in map(_in_full, sight.things) if thing.name not in ("agent", "air"))
    return View(sight.room, things, sight.doors)
