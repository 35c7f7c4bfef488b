"""The eight games: their parameters, their folds, and their tasks, read from the descriptions.

Facts about the simulator (1.1.0), stated here so that listing tasks needs neither Java nor the package; a test compares
them with the simulator's own answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rpms.core.errors import InputError
from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.core.names import nearest
from rpms.foreign.json_text import whole_number
from rpms.worlds.base import Task

FOLDS: Final = {"train": range(1_000), "dev": range(10_000, 11_000), "test": range(20_000, 21_000)}
"""The seeds of each fold, the same for every game."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that games are made by."""

    default: int
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class GameKind:
    """One of the games, by the simulator's name for it."""

    name: str
    title: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


def _rooms(number: int, most: int, *, least: int = 1, doors: int, limit: int) -> dict[str, Parameter]:
    return {
        "numLocations": Parameter(number, least, most),
        "includeDoors": Parameter(doors, 0, 1),
        "limitInventorySize": Parameter(limit, 0, 1),
    }


_TABLE: Final = (
    GameKind(
        "cookingworld",
        "CookingWorld",
        {
            **_rooms(11, 11, doors=1, limit=1),
            "numIngredients": Parameter(3, 1, 5),
            "numDistractorItems": Parameter(10, 0, 10),
        },
    ),
    GameKind(
        "twc",
        "TextWorld Commonsense",
        {**_rooms(3, 3, doors=0, limit=0), "numItemsToPutAway": Parameter(4, 1, 4)},
    ),
    GameKind(
        "coin",
        "Coin Collector",
        {**_rooms(11, 11, doors=1, limit=1), "numDistractorItems": Parameter(0, 0, 10)},
    ),
    GameKind(
        "mapreader",
        "Map Reader",
        {
            **_rooms(15, 48, least=2, doors=0, limit=0),  # coin and box are never in one room
            "maxDistanceApart": Parameter(4, 1, 8),
            "maxDistractorItemsPerLocation": Parameter(3, 0, 3),
        },
    ),
    GameKind("arithmetic", "Arithmetic"),
    GameKind("sorting", "Sorting"),
    GameKind(
        "simonsays",
        "Simon Says",
        {
            "gameLength": Parameter(5, 1, 1_000),
            "numDistractors": Parameter(3, 0, 5),
            "memorization": Parameter(0, 0, 1),
            "verbose": Parameter(0, 0, 1),
        },
    ),
    GameKind("peckingorder", "Pecking Order"),
)
GAMES: Final = {kind.name: kind for kind in _TABLE}


@dataclass(frozen=True, slots=True)
class GameChoice:
    """Games to play, with their parameters beside the default ones."""

    games: tuple[str, ...]
    parameters: Mapping[str, int]

    def of(self, game: str) -> str:
        """The parameters of one game as the simulator wants them written."""
        known = GAMES[game].parameters
        return ",".join(f"{name}={value}" for name, value in self.parameters.items() if name in known)

    def __str__(self) -> str:
        """The canonical form: equal texts are equal games."""
        return ",".join((*self.games, *(f"{name}={value}" for name, value in self.parameters.items())))


def parse_choice(text: str) -> GameChoice:
    """Read names of games and `parameter=value`, with commas between; all games where none is named.

    >>> parse_choice("coin, numLocations=5").of("coin")
    'numLocations=5'
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    names = [game_named(part).name for part in parts if "=" not in part]
    games = tuple(game for game in GAMES if game in names) or tuple(GAMES)
    known: dict[str, list[Parameter]] = {}
    for game in games:
        for name, parameter in GAMES[game].parameters.items():
            known.setdefault(name, []).append(parameter)
    values: dict[str, int] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            continue
        if name not in known:
            wrong = f"{' or '.join(games)}: no parameter" if names else "no game has a parameter"
            raise InputError(f"{wrong} {name!r}: {nearest(name, known)}")
        given_to = known[name]
        least, most = max(each.least for each in given_to), min(each.most for each in given_to)
        number = whole_number(value, most)
        if number is None or number < least:
            every = ", which each of these games can have" if len(given_to) > 1 else ""
            raise InputError(f"{name}={value}: write a number from {least} to {most}{every}")
        if values.setdefault(name, number) != number:
            raise InputError(f"{name} is given twice, as {values[name]} and as {number}: give it once")
    others = {name: value for name, value in values.items() if any(value != each.default for each in known[name])}
    return GameChoice(games, dict(sorted(others.items())))


def game_named(name: str) -> GameKind:
    """Look a game up, with a suggestion where there is none."""
    if name not in GAMES:
        raise InputError(f"TextWorldExpress has no game {name!r}: {nearest(name, GAMES)}")
    return GAMES[name]


def task_at(name: str, seed: int) -> Task:
    """Return the task that a game and a seed make."""
    game = game_named(name)
    for fold, seeds in FOLDS.items():
        if seed in seeds:
            source = {"game": game.name, "seed": str(seed)}
            return Task(id=f"{game.name}/{seed}", split=fold, type=game.name, source=source)
    folds = ", ".join(f"{seeds.start} to {seeds.stop - 1} ({fold})" for fold, seeds in FOLDS.items())
    raise InputError(f"{name} has no seed {seed}: they are {folds}")


def list_tasks(fold: str, games: Iterable[str]) -> list[Task]:
    """List the tasks of a fold, game by game."""
    if fold not in FOLDS:
        raise InputError(f"TextWorldExpress has no split {fold!r}: the splits are {', '.join(FOLDS)}")
    return [task_at(game, seed) for game in games for seed in FOLDS[fold]]


@dataclass(frozen=True)
class ExpressGoal(Goal):
    """A goal, and where its text says that things are."""

    found: tuple[tuple[str, str], ...] = field(default=())
    """Things and their rooms."""
    given: tuple[str, ...] = field(default=())
    """Things carried from the start."""


_TEMPLATES: Final = (
    ("cookingworld", "meal", "", re.compile(r"You are hungry! Let's cook a delicious meal\.[^\n]{0,200}")),
    (
        "twc",
        "things",
        "",
        re.compile(r"Your task is to pick up objects, then place them in their usual locations[^\n]{0,200}"),
    ),
    ("coin", "coin", "", re.compile(r"Your task is to search the environment and find the coin\.[^\n]{0,200}")),
    ("arithmetic", "answer", "box", re.compile(r"Your first task is to solve the math problem\.[^\n]{0,200}")),
    ("sorting", "quantities", "box", re.compile(r"Your task is to sort objects by quantity\.[^\n]{0,300}")),
    ("simonsays", "order", "", re.compile(r"Your task is to do exactly what Simon says\.")),
    ("peckingorder", "order", "", re.compile(r"Your task is to read and follow the instructions book[^\n]{0,200}")),
)
"""Game, object, destination, and how its description begins."""
_MAP: Final = re.compile(
    r"Your task is to take the (\w[\w ]{0,60}) that is located in the (\w[\w ]{0,60}), and put it into the (\w+) "
    r"found in the (\w[\w ]{0,60})\.[^\n]{0,200}"
)


def parse_goal(opening: str) -> Goal:
    """Read the goal out of the first text; type `unknown` where it is none of the eight."""
    for game, thing, destination, pattern in _TEMPLATES:
        if (match := pattern.match(opening)) is not None:
            return ExpressGoal(game, thing, destination=destination, text=match[0].strip())
    if (match := _MAP.match(opening)) is not None:
        found = ((match[1], match[2]), (match[3], match[4]))
        given = ("map",) if "A map is provided" in match[0] else ()
        text = match[0].strip()
        return ExpressGoal("mapreader", match[1], destination=match[3], text=text, found=found, given=given)
    return Goal(UNKNOWN_GOAL, text=opening)
