"""Properties of furniture, devices, tools, vessels and papers, known by their names alone
(`things.toml`).
"""

import re
from functools import lru_cache

from rpms.worlds.base import read_table

THINGS = read_table(__package__, "things.toml")
SYNONYMS = read_table(__package__, "synonyms.toml")
_ARE = {name: frozenset(kinds) for name, kinds in THINGS["kinds"].items()}
FITTINGS = _ARE["fixed"] | _ARE["lid"] | _ARE["lidless"] | _ARE["tool"]
"""Furniture, devices, vessels and tools."""
_WARES = (
    _ARE["lid"] | _ARE["lidless"] | _ARE["solid"] | _ARE["tool"] | _ARE["paper"] | _ARE["wired"]
)
_KNOWN = _WARES | _ARE["food"] | _ARE["flowing"] | _ARE["stuff"] | {"paint"}
_INERT = _KNOWN - _ARE["flowing"]
_BREAKABLE = _ARE["switch"] | _ARE["wired"] | _ARE["tool"]
"""Things that an axe has an effect on."""
_ANIMAL = re.compile(THINGS["animal"])
_MATTER = re.compile(THINGS["matter"])
_TAIL = re.compile(r" (?:\d+|\(.*\)|of .*)$")


def ware(name: str) -> str:
    """The kind of a thing by its last words; empty if it is none of those known here.

    >>> ware("ultra low temperature freezer"), ware("book (Beowulf)"), ware("apple tree")
    ('freezer', 'book', '')
    """
    return _tail(name, _WARES)


@lru_cache(maxsize=16_384)
def _tail(name: str, kinds: frozenset[str]) -> str:
    words = _TAIL.sub("", name.casefold())
    while words and words not in kinds:
        words = words.partition(" ")[2]
    return words


def _kind(name: str) -> str:
    """A ware, food, stuff, `paint` or `animal`; empty if nothing is known of it."""
    return _tail(name, _KNOWN) or ("animal" if is_animal(name) else "")


def serves(use: str, name: str) -> bool | None:
    """True if a thing has a lid or a switch, or is a paper, food, or flushed; None if unknown.

    >>> serves("food", "stove"), serves("food", "pea seed"), serves("lid", "pea seed")
    (False, None, False)
    """
    kind = _kind(name)
    if kind:
        return kind in _ARE[use]
    return False if use != "food" and _MATTER.fullmatch(name.casefold()) else None


@lru_cache(maxsize=16_384)
def is_a(kind: str, name: str) -> bool:
    """True if a thing is known to be of a kind: food, wired, hiding, or of those that come into no
    room by themselves.

    >>> is_a("food", "red apple"), is_a("hiding", "drawer"), is_a("inert", "water")
    (True, True, False)
    """
    return _kind(name) in (_INERT if kind == "inert" else _ARE[kind])


def helps(tool: str, name: str) -> bool | None:
    """True if a tool has an effect on a thing; None if unknown.

    The simulator knows four tools, and its shovel digs in the ground alone.

    >>> helps("shovel", "ground"), helps("shovel", "soil"), helps("axe", "tree")
    (True, False, None)
    >>> helps("stove", "ground"), helps("gizmo", "ground")
    (False, None)
    """
    kind = _kind(name)
    match ware(tool):
        case "shovel":
            return kind == "ground"
        case "axe":
            return kind in _BREAKABLE if kind else None
        case "thermometer" | "lighter":
            return False if (kind or name) in _ARE["without_heat"] else None
        case _:
            return False if _kind(tool) else None


_ALSO = {"drawer": "wood table", "seed jar": "ceramic cup"}


def may_be_called(shown: str, kind: str) -> bool:
    """True if a thing shown by a name that tells otherwise may go by a ware's: every book is a
    book.
    """
    return ware(shown) == kind in _ARE["paper"] or ware(_ALSO.get(shown, "")) == kind


def is_animal(name: str) -> bool:
    """True if a name is an animal's at some age: it lives on where it is, and grows.

    Bees do not stay.
    """
    return _ANIMAL.fullmatch(name) is not None and not name.endswith("bee")


@lru_cache(maxsize=16_384)
def is_fixed(name: str) -> bool:
    """True if it stays where it is."""
    return (ware(name) or name) in _ARE["fixed"]


@lru_cache(maxsize=16_384)
def takes_things(name: str) -> bool | None:
    """True if things can be put into it as it is; None where a lid decides, or where nothing is
    known.
    """
    kind = _kind(name)
    if kind in _ARE["lidless"]:
        return True
    return None if kind in _ARE["lid"] or not kind else False
