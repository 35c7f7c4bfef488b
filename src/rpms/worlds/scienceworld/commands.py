"""Commands as the simulator wants them written, and its ambiguity menus: reading one, and answering
it.

Harmless form is forgiven; nothing is ever added to a command. A menu is answered where the command
leaves no choice.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rpms.worlds.base import Command
from rpms.worlds.scienceworld.affordances import SYNONYMS
from rpms.worlds.scienceworld.scene import Scene

_LONGEST = 300
"""No command is longer; what a model writes beyond it is cut off."""
_ENDS = re.compile(r"^[\s\"'`*>]+|[\s\"'`*.!;,]+$")
_WORDS = re.compile(r"^\S+|\S\S+")
"""Single letters name things: `inclined plane C`."""
_ARTICLES = re.compile(r"\b(?:the|an?) (?=\S)(?![^()]*\))")
"""Articles, but none within brackets, where they belong to a title: `book (The Foundations of the
Origin of Species)`."""
_LETTER = re.compile(r"\b(?:substance|material|plane|unknown) a\b")
"""Names in which a lone `a` is a letter, not an article."""
_SURFACE = re.compile(r"\binclined plane with an? ")
"""The article within a plane's name belongs to it."""

_VERBS = [(re.compile(pattern), instead) for pattern, instead in SYNONYMS["verbs"].items()]
_DOOR = re.compile(
    r"^(open|close) (?:door (?!to |between |in |on )(?P<after>.+)|(?P<before>.+) door)$"
)


def repair(action: str, belief: Scene) -> Command:
    """Write a command the simulator's way.

    While it waits for a number, the command is left as it is.
    """
    text = " ".join(action.split())[:_LONGEST]
    repairs: list[str] = []
    for form in _FORMS:
        changed = form.change(text)
        if changed != text:
            repairs.append(form.what)
            text = changed
        if belief.menu:
            return Command(text, tuple(repairs))
    for changed in _reworded(text, belief):
        repairs.append(f"`{changed}` for `{text}`")
        text = changed
    return Command(text, tuple(repairs))


class _Form(NamedTuple):
    """A harmless form, and what it is called among the repairs."""

    change: Callable[[str], str]
    what: str


@lru_cache(maxsize=4_096)
def _without_signs(text: str) -> str:
    return _ENDS.sub("", text)


@lru_cache(maxsize=4_096)
def _in_small_letters(text: str) -> str:
    return _WORDS.sub(lambda word: word[0].lower(), text)


@lru_cache(maxsize=4_096)
def _without_articles(text: str) -> str:
    if _LETTER.search(text) or _SURFACE.search(text):
        return text
    return _ARTICLES.sub("", text)


_FORMS = (
    _Form(_without_signs, "signs around the command"),
    _Form(_in_small_letters, "letter case"),
    _Form(_without_articles, "articles"),
)
"""Departures in form and what each is replaced by, in this order; where the simulator waits for a
number, only signs are removed."""


def _reworded(text: str, belief: Scene) -> list[str]:
    """The rewordings of a command, one after the other."""
    if text in SYNONYMS["whole"]:
        return [SYNONYMS["whole"][text]]
    found = list(_with_usual_verb(text))
    if found:
        text = found[-1]
    door = _DOOR.match(text)
    room = (door["after"] or door["before"]) if door else ""
    if door and room in belief.exits.get(belief.room or "", ()):
        found.append(f"{door[1]} door to {room}")
    return found


@lru_cache(maxsize=4_096)
def _with_usual_verb(text: str) -> tuple[str, ...]:
    """The rewordings that put a usual verb in place of another, one after the other."""
    found: list[str] = []
    for pattern, instead in _VERBS:
        changed = pattern.sub(instead, text, count=1)
        if changed != text:
            found.append(changed)
            text = changed
    return tuple(found)


_OPENING = "Ambiguous request:"
_OPTION = re.compile(r"^(\d+):\t(.*)$", re.MULTILINE)
_PLACE = re.compile(r"\s*\(([^()]*)\)")


def menu_options(observation: str) -> tuple[str, ...]:
    """Read a menu's options in order; empty where the observation is no menu."""
    if not observation.startswith(_OPENING):
        return ()
    return tuple(text.strip() for _, text in _OPTION.findall(observation))


def only_reading(options: Sequence[str], command: str) -> int | None:
    """Return the number of the option that the command names, if it names one and no other.

    Options with the same text are one option to a player, who sees nothing else of them: the first
    stands for all. An option is named by its text without the places in brackets, or with the
    innermost few of them.

    >>> only_reading(["open drawer (in counter)", "open drawer (in cupboard)"], "open drawer")
    >>> only_reading(["look at plane (in hall)", "look at plane J (in hall)"], "examine plane")
    0
    """
    distinct = list(dict.fromkeys(options))
    if len(distinct) == 1:
        return 0
    wanted = _plain(command)
    named = [option for option in distinct if wanted in _names(option)]
    return options.index(named[0]) if len(named) == 1 else None


_NUMBER = re.compile(r"(\d{1,6})(?:\s*[:.)].*)?", re.DOTALL)
"""A number that picks an option, with more of the option or without."""


def meant(belief: Scene, action: str | None) -> str:
    """The command in words: a number is the option that it picks."""
    text = " ".join((action or "").split())
    choice = player_choice(belief.menu, text) if belief.menu else None
    if choice is not None:
        text = belief.menu[choice]
    return text.casefold()


def player_choice(options: Sequence[str], command: str) -> int | None:
    """Return the number of the option a player picked from a menu, by number or by its text."""
    text = command.strip()
    if picked := _NUMBER.fullmatch(text):
        number = int(picked[1])
        return number if number < len(options) else None
    exact = {option for option in options if option.casefold() == text.casefold()}
    return options.index(exact.pop()) if len(exact) == 1 else None


def _plain(text: str) -> str:
    plain = " ".join(text.casefold().split())
    for pattern, instead in SYNONYMS["menus"].items():
        plain = re.sub(pattern, instead, plain)
    return re.sub(r"\b(?:the|an?) ", "", plain)


def _names(option: str) -> Iterator[str]:
    """Every way in which words alone name an option: each object with none, one, two … of its
    places.
    """
    pieces = _PLACE.split(option)  # text, places, text, places, …, text
    texts = pieces[::2]
    choices = [_ways_to_place(places) for places in pieces[1::2]]
    for chosen in itertools.product(*choices):
        words = [texts[0]]
        for place, text in zip(chosen, texts[1:], strict=True):
            words += [place, text]
        yield _plain("".join(words))


def _ways_to_place(places: str) -> list[str]:
    """Nothing, the innermost place, the innermost two, …

    >>> _ways_to_place("in counter, in kitchen")
    ['', ' in counter', ' in counter in kitchen']
    """
    ways = [""]
    for place in places.split(", "):
        ways.append(f"{ways[-1]} {place}")
    return ways
