"""Room and container descriptions read as trees of things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

_ROOM: Final = re.compile(r"^This (?:room|outside location) is called the ([\w ]+)\.", re.MULTILINE)
_DOOR: Final = re.compile(r"^\tA door to the ([\w ]+) \(that is (open|closed)\)", re.MULTILINE)
_FLAG: Final = re.compile(
    r",? (?:which is|currently reading) ((?:turned |a temperature of )?-?\w+(?: degrees celsius)?)"
)
_ON_PLANT: Final = re.compile(r"\. On the [\w ]+? you see: ((?:[^().]|\([^()]*\))*)\. ?")
_BRACKET: Final = re.compile(r"\((?!containing)([^()]*)\)")
_INSIDE: Final = re.compile(r"\. (?:In|On) the [\w ]+? is: (.*)$", re.DOTALL)
_DOORED: Final = re.compile(r"\. The [\w ]+? door is (open|closed)\b")
_ARTICLE: Final = re.compile(r"^(?:[Aa]n?|the|some) ")
_CALLED: Final = re.compile(r"^(?:a )?substance called ")


@dataclass(frozen=True)
class Thing:
    """Something seen, by the name a command may use, with what is seen in or on it."""

    name: str
    raw: str
    contents: tuple[Thing, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        return "closed" in self.flags

    def walk(self) -> Iterator[Thing]:
        """This thing, then everything in it."""
        yield self
        for inner in self.contents:
            yield from inner.walk()

    def holds(self, name: str) -> bool:
        return any(thing.name == name for inner in self.contents for thing in inner.walk())


@dataclass(frozen=True)
class View:
    """One `look around`."""

    room: str
    things: tuple[Thing, ...]
    doors: dict[str, bool] = field(default_factory=dict)

    def walk(self) -> Iterator[Thing]:
        for thing in self.things:
            yield from thing.walk()


def _split(text: str) -> list[str]:
    """Split a list at the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip() and part.strip() not in (".", "nothing", "nothing.")]


@lru_cache(maxsize=4096)
def read_thing(text: str) -> Thing:
    """Read one entry of a list, such as `a cup (containing water)` or `a fridge. The fridge door is closed.`."""
    raw = text.strip()
    flags: list[str] = []
    body = _ON_PLANT.sub(lambda match: f" (containing {match[1]}) ", raw)
    flags += _FLAG.findall(body)
    body = _FLAG.sub("", body)
    inner = ""
    match = _INSIDE.search(body)
    if match:
        inner, body = match[1].strip().removesuffix("."), body[: match.start()]
    match = _DOORED.search(body)
    if match:
        flags.append(match[1])
        body = body[: match.start()]
    place = body.find("(containing ")
    if place >= 0:
        end = _closing(body, place)
        inner = body[place + len("(containing ") : end] + (", " + inner if inner else "")
        body = body[:place] + body[end + 1 :]
    if not body.strip().startswith("A book ("):
        flags += _BRACKET.findall(body)
        body = _BRACKET.sub("", body)
    name = _CALLED.sub("", _ARTICLE.sub("", body.strip().rstrip(". ")).strip())
    return Thing(" ".join(name.split()), raw, tuple(map(read_thing, _split(inner))), tuple(flags))


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


@lru_cache(maxsize=1024)
def read_view(observation: str) -> View | None:
    """Read a `look around`, wherever in the observation it begins; None if there is none."""
    match = _ROOM.search(observation)
    if match is None:
        return None
    listing, _, doors = observation[match.end() :].partition("You also see:")
    entries = [line[1:] for line in listing.splitlines() if line.startswith("\t")]
    things = tuple(
        read_thing(entry) for entry in entries if entry.strip() not in ("the agent", "a substance called air")
    )
    return View(match[1], things, {name: state == "open" for name, state in _DOOR.findall(doors)})


@lru_cache(maxsize=1024)
def read_inventory(observation: str) -> tuple[Thing, ...]:
    """Read the answer to `inventory`."""
    return tuple(read_thing(line[1:]) for line in observation.splitlines() if line.startswith("\t"))
