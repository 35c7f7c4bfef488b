"""Recorded playthroughs against the native engine: every text, every list of commands, every win."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from rpms.core.errors import FileError, InputError
from rpms.foreign.file_reader import is_there, text_lines
from rpms.foreign.json_text import NotJson, read_jsonl
from rpms.foreign.shown import excerpt
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import load_game
from rpms.worlds.alfworld.games.make import GAME_FILE, GAMES_FOLDER

SHOWN = 5
"""Differences kept as examples; all are counted."""

_LONGEST_GAME = 400
"""Characters of a game's name; official ones have about a hundred."""
_FIELDS: dict[str, Any] = {"action": str | None, "observation": str, "won": bool}
"""Fields of a step; the action is a command, or null for the reset."""
_DIALECTS = {"put": "0.3", "move": "0.4", "0.3": "0.3", "0.4": "0.4"}


class Playthrough(NamedTuple):
    """One recorded game, and where it stands."""

    file: str
    line: int
    game: str
    dialect: str
    steps: tuple[Mapping[str, Any], ...]


class Mismatch(NamedTuple):
    """One thing that the engine did otherwise than the recording."""

    played: Playthrough
    step: int
    """0 is the reset."""
    command: str | None
    field: str
    """`observation`, `admissible`, `won` or `done`."""
    recorded: object
    replayed: object


class EngineReplay(NamedTuple):
    """Result of replaying."""

    games: int
    steps: int
    mismatches: int
    """Steps with any difference."""
    differences: tuple[Mismatch, ...]
    """The first few."""


def verify(transcripts: Iterable[str | Path], data: str | Path | None = None) -> EngineReplay:
    """Replay playthroughs on the games they were recorded from, found under `data` or `$ALFWORLD_DATA`.

    Each line names its game by the official folder, such as `train/TASK/TRIAL`. One folder of games serves recordings
    in both dialects: where a game's file is in the other one, its problem is replayed in this project's texts of the
    recording's dialect. Raises FileError for a damaged transcript or a game that is not there.
    """
    chosen = data or os.environ.get("ALFWORLD_DATA")
    if not chosen:
        raise InputError("the games are not found: give their folder with --data or in $ALFWORLD_DATA")
    if not os.path.isdir(chosen):  # noqa: PTH112  never raises
        raise InputError(f"{chosen}: no such data folder")
    folder = Path(chosen, GAMES_FOLDER) if Path(chosen, GAMES_FOLDER).is_dir() else Path(chosen)
    games = steps = mismatches = 0
    shown: list[Mismatch] = []
    for transcript in transcripts:
        before = games
        for played in read_playthroughs(transcript):
            games += 1
            steps += len(played.steps)
            path = folder / played.game / GAME_FILE
            if len(played.game) > _LONGEST_GAME or not is_there(path):
                wrong = f"was recorded from {excerpt(played.game)}, which is not under {folder}"
                raise FileError(played.file, played.line, wrong)
            found = list(compare(NativeGame(load_game(str(path), played.dialect)), played))
            mismatches += len({each.step for each in found})
            shown += found[: SHOWN - len(shown)]
        if games == before:
            raise FileError(transcript, None, "holds no playthroughs: there is nothing to verify")
    return EngineReplay(games, steps, mismatches, tuple(shown))


def compare(game: NativeGame, played: Playthrough) -> Iterator[Mismatch]:
    """Differences between a game, given the recorded commands, and its record."""
    for number, step in enumerate(played.steps):
        command = step["action"]
        outcome = game.reset() if command is None else game.step(command)
        replayed = {
            "observation": outcome.observation,
            "admissible": list(game.admissible()) if "admissible" in step else None,
            "won": outcome.won,
            "done": outcome.done,
        }
        for field, value in replayed.items():
            if field in step and step[field] != value:
                yield Mismatch(played, number, command, field, step[field], value)


def read_playthroughs(path: str | Path) -> Iterator[Playthrough]:
    """The playthroughs of a `.jsonl` or `.jsonl.xz` file, one a line. Raises FileError at the first bad line."""
    if not is_there(Path(path)):
        raise FileError(path, None, "no such transcript")
    problem = "is no playthrough, or the transcript is damaged"
    for number, (game, dialect, steps) in read_jsonl(path, text_lines(path), _recorded, problem):
        yield Playthrough(str(path), number, game, dialect, tuple(steps))


def _recorded(data: Any) -> tuple[str, str, list[Any]]:
    """Game, dialect and steps of a line."""
    if not isinstance(data, dict) or not isinstance(data.get("game"), str) or not isinstance(data.get("steps"), list):
        raise NotJson("it needs 'game' and 'steps'")
    game = PurePosixPath(data["game"])
    if game.is_absolute() or ".." in game.parts or "\x00" in data["game"]:
        raise NotJson("names a game outside the data folder")
    dialect = _DIALECTS.get(str(data.get("dialect", "put")))
    if dialect is None:
        raise NotJson("names a dialect that is neither put (0.3) nor move (0.4)")
    for index, step in enumerate(data["steps"]):
        for field, kind in _FIELDS.items():
            if not isinstance(step, dict) or not isinstance(step.get(field, ...), kind):
                raise NotJson(f"has no {field!r} in step {index}, or not one of the right kind")
    if not data["steps"]:
        raise NotJson("has no steps: there is nothing to verify")
    return data["game"], dialect, data["steps"]
