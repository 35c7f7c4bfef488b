"""The games that ship with the package: split `builtin`, the embedded default and the tests' data.

They are stored as problems only, in `builtin/games.json.gz` beside this folder; the domain and the grammar are added
on loading. The file is what `made_games` gives for the recorded seed. Those of the split
`builtin_large`, in houses with many places, and of `builtin_train`, which the embedded memory was learned on, are made
when they are asked for: the same on every machine.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from rpms.core.errors import InputError
from rpms.worlds.alfworld.engine.texts import ReleaseName
from rpms.worlds.alfworld.games.make import game_data, make_game
from rpms.worlds.alfworld.games.measured import MADE

BUILTIN = "builtin"
"""The name of the split."""
BUILTIN_SEED = 163
BUILTIN_COUNT = 24
TRAIN = "builtin_train"
"""The name of the split that the embedded memory was learned on: other games of the same seed."""
LARGE = "builtin_large"
"""The name of the split with games in which a search is long."""
LARGE_SEED = 611
LARGE_GAMES: Sequence[int] = MADE["large"]
_DIALECT: ReleaseName = "0.3"


def made_games(seed: int, numbers: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Games of a seed by id, as they are stored: goal, problem and a shortest sequence of commands that wins."""
    games = [make_game(seed, number, _DIALECT) for number in numbers]
    return {
        game.id: {"goal": game.goal.text, "problem": game.data["pddl_problem"], "walkthrough": list(game.walkthrough)}
        for game in games
    }


@cache
def _games(split: str) -> dict[str, dict[str, Any]]:
    if split == BUILTIN:
        raw = (files("rpms.worlds.alfworld") / BUILTIN / "games.json.gz").read_bytes()
        stored: dict[str, dict[str, Any]] = json.loads(gzip.decompress(raw))
        return stored
    train = range(BUILTIN_COUNT, 2 * BUILTIN_COUNT)
    return made_games(BUILTIN_SEED, train) if split == TRAIN else made_games(LARGE_SEED, LARGE_GAMES)


def builtin_ids(split: str = BUILTIN) -> tuple[str, ...]:
    """Name the builtin games, sorted."""
    return tuple(sorted(_games(split)))


def _find(name: str) -> dict[str, Any]:
    try:
        return _games(BUILTIN).get(name) or _games(TRAIN if f"_S{BUILTIN_SEED}_" in name else LARGE)[name]
    except KeyError:
        raise InputError(f"no builtin game {name!r}: list them with split {BUILTIN}, {TRAIN} or {LARGE}") from None


def builtin_game(name: str) -> dict[str, Any]:
    """Give what the game file of a builtin game would hold."""
    stored = _find(name)
    return game_data(_DIALECT, stored["goal"], stored["problem"])


def builtin_walkthrough(name: str) -> tuple[str, ...]:
    """Give a shortest sequence of commands that wins a builtin game."""
    return tuple(_find(name)["walkthrough"])
