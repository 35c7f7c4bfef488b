"""The simulator's ambiguity menus: reading one, and answering it where the command leaves no choice."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

_OPENING: Final = "Ambiguous request:"
_OPTION: Final = re.compile(r"^(\d+):\t(.*)$", re.MULTILINE)
_PLACE: Final = re.compile(r"\s*\(([^()]*)\)")
_SYNONYMS: Final = (
    (re.compile(r"^(?:examine|look on) "), "look at "),
    (re.compile(r"^go to "), "go "),
    (re.compile(r"^(?:take|get) "), "pick up "),
    (re.compile(r"^drop "), "put down "),
    (re.compile(r" into "), " in "),
)
"""Players' spellings of what the menu words in one way."""


def menu_options(observation: str) -> tuple[str, ...]:
    """Read a menu's options in order; empty where the observation is no menu."""
    if not observation.startswith(_OPENING):
        return ()
    return tuple(text.strip() for _, text in _OPTION.findall(observation))


def only_reading(options: Sequence[str], command: str) -> int | None:
    """Return the number of the option that the command names, if it names one and no other.

    Options with the same text are one option to a player, who sees nothing else of them: the first stands for all.
    An option is named by its text without the places in brackets, or with the innermost few of them.

    >>> only_reading(["open drawer (in counter, in kitchen)", "open drawer (in cupboard, in kitchen)"], "open drawer")
    >>> only_reading(["look at plane (in hall)", "look at plane J (in hall)"], "examine plane")
    0
    """
    distinct = list(dict.fromkeys(options))
    if len(distinct) == 1:
        return 0
    wanted = _plain(command)
    named = [option for option in distinct if wanted in _names(option)]
    return options.index(named[0]) if len(named) == 1 else None


def player_choice(options: Sequence[str], command: str) -> int | None:
    """Return the number of the option a player picked from a menu, by number or by its text."""
    text = command.strip()
    picked = re.fullmatch(r"(\d{1,6})(?:\s*[:.)].*)?", text, re.DOTALL)
    if picked:
        number = int(picked[1])
        return number if number < len(options) else None
    exact = [number for number, option in enumerate(options) if option.casefold() == text.casefold()]
    if exact and len({options[number] for number in exact}) == 1:
        return exact[0]
    return None


def _plain(text: str) -> str:
    plain = " ".join(text.casefold().split())
    for pattern, instead in _SYNONYMS:
        plain = pattern.sub(instead, plain)
    return re.sub(r"\b(?:the|an?) ", "", plain)


def _names(option: str) -> Iterator[str]:
    """Every way in which words alone name an option: each object with none, one, two … of its places."""
    pieces = _PLACE.split(option)  # text, places, text, places, …, text
    choices: list[list[str]] = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            choices.append([piece])
        else:
            places = piece.split(", ")
            choices.append(["", *(" " + " ".join(places[: count + 1]) for count in range(len(places)))])
    for combination in itertools.product(*choices):
        yield _plain("".join(combination))
