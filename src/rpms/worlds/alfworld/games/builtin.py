"""The games that ship with the package: split `builtin`, the embedded default and the tests' data.

They are stored as problems only, in `builtin/games.json.gz` beside this folder; the domain and the grammar are added
on loading. The file is what `make_game` gave for the recorded seed; `write_builtin` writes it anew. Those of the split
`builtin_large`, in houses with many places, and of `builtin_train`, which the embedded memory was learned on, are made
when they are asked for: the same on every machine.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.worlds.alfworld.engine import GameFile
from rpms.worlds.alfworld.games.domain import Dialect, domain
from rpms.worlds.alfworld.games.grammar import grammar
from rpms.worlds.alfworld.games.make import GAME_FILE, MadeGame, make_game

BUILTIN = "builtin"
"""The name of the split."""
BUILTIN_SEED = 163
BUILTIN_COUNT = 24
TRAIN = "builtin_train"
"""The name of the split that the embedded memory was learned on: other games of the same seed."""
LARGE = "builtin_large"
"""The name of the split with games in which a search is long."""
LARGE_SEED = 611
LARGE_PLACES = 28
LARGE_GAMES = (
    3, 4, 5, 8, 9, 10, 16, 20, 21, 26, 27, 28, 32, 33, 34, 39, 40, 44, 45, 50, 51, 52, 57, 58, 60, 62, 63, 70,
    74, 76, 80, 85, 92, 119, 162, 167, 174, 209, 215, 216, 245, 251, 257, 269, 275, 312, 330, 361,
)  # fmt: skip
"""The first 48 numbers of that seed, at most ten of a type, whose houses have so many places or more."""
_FILE = "games.json.gz"
_DIALECT: Dialect = "0.3"


@cache
def _stored() -> dict[str, dict[str, Any]]:
    raw = (files("rpms.worlds.alfworld") / BUILTIN / _FILE).read_bytes()
    stored: dict[str, dict[str, Any]] = json.loads(gzip.decompress(raw))
    return stored


def builtin_ids(split: str = BUILTIN) -> tuple[str, ...]:
    """Name the builtin games, sorted."""
    return tuple(sorted({BUILTIN: _stored, TRAIN: _train, LARGE: _large}[split]()))


@cache
def _train() -> dict[str, dict[str, Any]]:
    numbers = range(BUILTIN_COUNT, 2 * BUILTIN_COUNT)
    return dict(_as_stored(make_game(BUILTIN_SEED, number, _DIALECT)) for number in numbers)


@cache
def _large() -> dict[str, dict[str, Any]]:
    return dict(_as_stored(make_game(LARGE_SEED, number, _DIALECT)) for number in LARGE_GAMES)


def _find(name: str) -> dict[str, Any]:
    try:
        return _stored().get(name) or (_train() if f"_S{BUILTIN_SEED}_" in name else _large())[name]
    except KeyError:
        raise InputError(f"no builtin game {name!r}: list them with split {BUILTIN}, {TRAIN} or {LARGE}") from None


def builtin_game(name: str) -> dict[str, Any]:
    """Give what the game file of a builtin game would hold."""
    stored = _find(name)
    return {
        "pddl_domain": domain(_DIALECT),
        "grammar": grammar(_DIALECT, stored["goal"]),
        "pddl_problem": stored["problem"],
        "solvable": True,
    }


def load_builtin(name: str) -> GameFile:
    """Open a builtin game for the native engine."""
    return GameFile.from_data(builtin_game(name), f"{BUILTIN}/{name}")


def save_builtin(name: str, folder: Path) -> Path:
    """Write a builtin game's file under a folder, for an engine that wants a path; gives that path."""
    path = folder / name / GAME_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(builtin_game(name)), encoding="utf-8", newline="\n")
    return path


def builtin_walkthrough(name: str) -> tuple[str, ...]:
    """Give a shortest sequence of commands that wins a builtin game."""
    return tuple(_find(name)["walkthrough"])


def generated_builtin() -> dict[str, dict[str, Any]]:
    """Make the builtin games from their seed, as they are stored."""
    return dict(_as_stored(make_game(BUILTIN_SEED, index, _DIALECT)) for index in range(BUILTIN_COUNT))


def _as_stored(game: MadeGame) -> tuple[str, dict[str, Any]]:
    """A game's id, and what of it is kept."""
    problem, walkthrough = game.data["pddl_problem"], list(game.walkthrough)
    return game.id, {"goal": game.goal.text, "problem": problem, "walkthrough": walkthrough}


def write_builtin(folder: Path) -> Path:
    """Write the stored form of the builtin games into a folder, for a release that changes the generator."""
    path = folder / _FILE
    path.write_bytes(gzip.compress(json.dumps(generated_builtin()).encode(), mtime=0))
    return path
