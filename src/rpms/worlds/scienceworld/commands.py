"""Forgiving harmless form: the same command, as the simulator wants it written. Nothing is ever added to a command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rpms.worlds.base import Command, read_table
from rpms.worlds.scienceworld.known import ScienceKnown

_LONGEST: Final = 300
"""No command is longer; what a model writes beyond it is cut off."""
_ENDS: Final = re.compile(r"^[\s\"'`*>]+|[\s\"'`*.!;,]+$")
_ARTICLES: Final = re.compile(r"\b(?:the|an?) (?=\S)(?![^()]*\))")
"""Those within brackets belong to a title: `book (The Foundations of the Origin of Species)`."""
_LETTER: Final = re.compile(r"\b(?:substance|material|plane|unknown) a\b")
"""Names in which a lone `a` is a letter, not an article."""
_SURFACE: Final = re.compile(r"\binclined plane with an? ")
"""The article within a plane's name belongs to it."""

_SYNONYMS: Final = read_table(__package__, "synonyms.toml")
_VERBS: Final = [(re.compile(pattern), instead) for pattern, instead in _SYNONYMS["verbs"].items()]
_DOOR: Final = re.compile(r"^(open|close) (?:door (?!to |between |in |on )(?P<after>.+)|(?P<before>.+) door)$")


def repair(action: str, belief: ScienceKnown) -> Command:
    """Write a command the simulator's way. While it waits for a number, the command is left as it is."""
    text = " ".join(action.split())[:_LONGEST]
    repairs: list[str] = []
    for change, what in _FORMS[:1] if belief.menu else _FORMS:
        changed = change(text)
        if changed != text:
            repairs.append(what)
            text = changed
    for changed in () if belief.menu else _reworded(text, belief):
        repairs.append(f"`{changed}` for `{text}`")
        text = changed
    return Command(text, tuple(repairs))


def _lower(text: str) -> str:
    """Lower case, but for single capital letters, which name things: `inclined plane C`."""
    words = text.split(" ")
    return " ".join(
        word if len(word) == 1 and word.isupper() and place else word.lower() for place, word in enumerate(words)
    )


_FORMS: Final[tuple[tuple[Callable[[str], str], str], ...]] = (
    (lambda text: _ENDS.sub("", text), "signs around the command"),
    (_lower, "letter case"),
    (lambda text: text if _LETTER.search(text) or _SURFACE.search(text) else _ARTICLES.sub("", text), "articles"),
)


def _reworded(text: str, belief: ScienceKnown) -> list[str]:
    """The rewordings of a command, one after the other."""
    if text in _SYNONYMS["whole"]:
        return [_SYNONYMS["whole"][text]]
    found = []
    for pattern, instead in _VERBS:
        changed = pattern.sub(instead, text, count=1)
        if changed != text:
            found.append(changed)
            text = changed
    door = _DOOR.match(text)
    room = (door["after"] or door["before"]) if door else ""
    if door and room in belief.exits.get(belief.room or "", ()):
        found.append(f"{door[1]} door to {room}")
    return found
