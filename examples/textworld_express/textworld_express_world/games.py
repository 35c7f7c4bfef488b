"""The eight games of `games.toml`: their parameters, their folds, and their tasks, read from
the descriptions.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rpms.foreign.json_text import whole_number
from rpms.logic.errors import InputError, nearest
from rpms.logic.facts import grouped
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.base import Task, read_table

FOLDS: Final = {"train": range(1_000), "dev": range(10_000, 11_000), "test": range(20_000, 21_000)}
"""The seeds of each fold, the same for every game."""


class Parameter(NamedTuple):
    """A number that games are made by."""

    default: int
    least: int
    most: int


_TABLE: Final = read_table(__package__, "games.toml")
GAMES: Final[Mapping[str, Mapping[str, Parameter]]] = {
    name: {
        parameter: Parameter(*numbers) for parameter, numbers in game.get("parameters", {}).items()
    }
    for name, game in _TABLE.items()
}
"""The games by the simulator's names, with the parameters of each."""


class GameChoice(NamedTuple):
    """Games to play, with their parameters beside the default ones."""

    games: tuple[str, ...]
    parameters: Mapping[str, int]

    def of(self, game: str) -> str:
        """The parameters of one game as the simulator wants them written."""
        return ",".join(
            f"{name}={value}" for name, value in self.parameters.items() if name in GAMES[game]
        )


def parse_choice(text: str) -> GameChoice:
    """Read names of games and `parameter=value`, with commas between; all games where none is
    named.

    >>> parse_choice("coin, numLocations=5").of("coin")
    'numLocations=5'
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    names = [game_named(part) for part in parts if "=" not in part]
    games = tuple(game for game in GAMES if game in names) or tuple(GAMES)
    known = grouped(item for game in games for item in GAMES[game].items())
    values: dict[str, int] = {}
    for part in parts:
        if "=" not in part:
            continue
        name, _, value = map(str.strip, part.partition("="))
        if name not in known:
            wrong = f"{' or '.join(games)}: no parameter" if names else "no game has a parameter"
            raise InputError(f"{wrong} {name!r}: {nearest(name, known)}")
        number = _read_number(name, value, known[name])
        if values.setdefault(name, number) != number:
            raise InputError(
                f"{name} is given twice, as {values[name]} and as {number}: give it once"
            )
    unusual = {
        name: number
        for name, number in sorted(values.items())
        if any(number != each.default for each in known[name])
    }
    return GameChoice(games, unusual)


def _read_number(name: str, value: str, given_to: Sequence[Parameter]) -> int:
    """A parameter's value, within the limits that it has in every game it is given to."""
    least = max(each.least for each in given_to)
    most = min(each.most for each in given_to)
    number = whole_number(value, most)
    if number is None or number < least:
        every = ", which each of these games can have" if len(given_to) > 1 else ""
        raise InputError(f"{name}={value}: write a number from {least} to {most}{every}")
    return number


def game_named(name: str) -> str:
    """Look a game up, with a suggestion where there is none."""
    if name not in GAMES:
        raise InputError(f"TextWorldExpress has no game {name!r}: {nearest(name, GAMES)}")
    return name


def task_at(name: str, number: int) -> Task:
    """Return the task that a game and a seed make."""
    game = game_named(name)
    for fold, seeds in FOLDS.items():
        if number in seeds:
            return Task(
                id=f"{game}/{number}",
                split=fold,
                type=game,
                source={"game": game, "seed": str(number)},
            )
    folds = ", ".join(
        f"{seeds.start} to {seeds.stop - 1} ({fold})" for fold, seeds in FOLDS.items()
    )
    raise InputError(f"{name} has no seed {number}: they are {folds}")


def list_tasks(fold: str, games: Iterable[str]) -> list[Task]:
    """List the tasks of a fold, game by game."""
    if fold not in FOLDS:
        raise InputError(
            f"TextWorldExpress has no split {fold!r}: the splits are {', '.join(FOLDS)}"
        )
    return [task_at(game, seed) for game in games for seed in FOLDS[fold]]


@dataclass(frozen=True)
class ExpressGoal(Goal):
    """A goal, and where its text says that things are."""

    found: tuple[tuple[str, str], ...] = field(default=())
    """Things and their rooms."""
    given: tuple[str, ...] = field(default=())
    """Things carried from the start."""


def parse_goal(opening: str) -> Goal:
    """Read the goal out of the first text; type `unknown` where it is none of the eight."""
    for name, game in _TABLE.items():
        match = re.match(game["says"], opening)
        if match is None:
            continue
        said = game | match.groupdict()
        thing = said.get("object", "")
        destination = said.get("destination", "")
        found = ((thing, said["room"]), (destination, said["other"])) if "room" in said else ()
        given = ("map",) if "A map is provided" in match[0] else ()
        return ExpressGoal(name, thing, "", destination, match[0].strip(), found, given)
    return Goal(UNKNOWN_GOAL, text=opening)
