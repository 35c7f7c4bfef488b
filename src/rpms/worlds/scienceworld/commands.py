"""Forgiving harmless form: the same command, as the simulator wants it written. Nothing is ever added to a command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from rpms.worlds.base import Command
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

_WHOLE: Final = {
    "look": "look around",
    "l": "look around",
    "i": "inventory",
    "inv": "inventory",
    "check inventory": "inventory",
    "wait 1": "wait1",
    "wait one": "wait1",
    "wait 10": "wait",
    "task description": "task",
}
"""Commands that are written otherwise as a whole."""

_VERBS: Final = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"^pick-?up ", "pick up "),
        (r"^pick (?!up )(.+) up$", r"pick up \1"),
        (r"^(?:grab|get|take|pick up) (.+) from (.+)$", r"pick up \1 in \2"),
        (r"^(?:grab|get|take) ", "pick up "),
        (r"^place (.+) (?:in|into|inside|on|onto) (.+)$", r"move \1 to \2"),
        (r"^(?:put|move) (?!down )(.+) (?:inside|onto) (.+)$", r"move \1 to \2"),
        (r"^(?:put-down|putdown|set down|drop) ", "put down "),
        (r"^(?:walk|head|travel) to ", "go to "),
        (r"^enter ", "go to "),
        (r"^go (?!to |through |back$)(?:into |in |inside )?", "go to "),
        (r"^(?:turn on|switch on) ", "activate "),
        (r"^(?:turn off|switch off) ", "deactivate "),
        (r"^look inside ", "look in "),
        (r"^(?:inspect|x) ", "examine "),
        (r"^focus (?!on )", "focus on "),
        (r"^pour (.+) onto (.+)$", r"pour \1 into \2"),
    )
)
"""Synonyms of a verb, tried in this order."""
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
    if belief.menu:
        return Command(text, tuple(repairs))
    for changed in _reworded(text, belief):
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
    if text in _WHOLE:
        return [_WHOLE[text]]
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
