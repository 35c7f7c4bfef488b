"""The games that ship with the package: split `builtin`, the embedded default and the tests' data.

They are stored as problems only, in `builtin/games.json.gz` beside this folder; the domain and the grammar are added
on loading. The file is what `make_game` gave for the recorded seed; `write_builtin` writes it anew.
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
from rpms.worlds.alfworld.games.make import GAME_FILE, make_game

BUILTIN = "builtin"
"""The name of the split."""
BUILTIN_SEED = 163
BUILTIN_COUNT = 24
_FILE = "games.json.gz"
_DIALECT: Dialect = "0.3"


@cache
def _stored() -> dict[str, dict[str, Any]]:
    raw = (files("rpms.worlds.alfworld") / BUILTIN / _FILE).read_bytes()
    stored: dict[str, dict[str, Any]] = json.loads(gzip.decompress(raw))
    return stored


def builtin_ids() -> tuple[str, ...]:
    """Name the builtin games, sorted."""
    return tuple(sorted(_stored()))


def _find(name: str) -> dict[str, Any]:
    try:
        return _stored()[name]
    except KeyError:
        raise InputError(f"no builtin game {name!r}: list them with split builtin") from None


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
    games = (make_game(BUILTIN_SEED, index, _DIALECT) for index in range(BUILTIN_COUNT))
    return {
        game.id: {
            "goal": game.goal.text,
            "problem": game.data["pddl_problem"],
            "walkthrough": list(game.walkthrough),
        }
        for game in games
    }


def write_builtin(folder: Path) -> Path:
    """Write the stored form of the builtin games into a folder, for a release that changes the generator."""
    path = folder / _FILE
    path.write_bytes(gzip.compress(json.dumps(generated_builtin()).encode(), mtime=0))
    return path
