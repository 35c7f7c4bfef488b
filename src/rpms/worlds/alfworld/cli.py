"""The commands that this world brings: `rpms games` makes game files, `rpms verify` replays
recorded games.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NamedTuple

import typer

from rpms.foreign.file_reader import is_there, text_lines
from rpms.foreign.json_text import NotJson, read_jsonl
from rpms.foreign.shown import excerpt, lines
from rpms.logic.errors import FileError, InputError
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import load_game
from rpms.worlds.alfworld.games.make import GAME_FILE, GAMES_FOLDER, make_games
from rpms.worlds.alfworld.goals import TASK_TYPES

games = typer.Typer(
    help="Make ALFWorld games, so that you need not download any.", no_args_is_help=True
)
_PANEL = "Rules, memory and worlds"
"""Panel of `rpms --help` that lists them."""


def register(app: typer.Typer) -> None:
    """Add the commands to `rpms`; the entry point `rpms.commands` names this function."""
    app.add_typer(games, name="games", rich_help_panel=_PANEL)
    app.command("verify", rich_help_panel=_PANEL)(verify)


@games.command("make")
def make(
    out: Annotated[Path, typer.Option(help="The new folder to write; pass it to --data later.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same games.")] = 0,
    count: Annotated[int, typer.Option(help="How many games to make.")] = 60,
    dialect: Annotated[
        str, typer.Option(help="Which commands: 0.3 (put … in/on) or 0.4 (move … to).")
    ] = "0.3",
    type: Annotated[  # noqa: A002  the option's name
        list[str] | None,
        typer.Option(
            help=f"Only this type; may be repeated. One of {', '.join(TASK_TYPES)}.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="The split these games become.")] = "train",
) -> None:
    """Generate ALFWorld games in the official format; each is solved once before it is written."""
    made = make_games(
        seed,
        count,
        out,
        dialect=dialect,  # type: ignore[arg-type]  # checked there
        types=tuple(type or TASK_TYPES),
        split=split,
    )
    for name, number in sorted(Counter(name.partition("-")[0] for name in made).items()):
        _say(f"{name:34} {number:5}")
    _say(
        f"{len(made)} games in {out.absolute()}, each solved in"
        f" {sum(made.values()) / len(made):.1f} steps on average"
    )
    _say(
        f"play them with: rpms run alfworld --split {split} --data {out} --model planner --out RUN"
    )


def verify(
    world: Annotated[str, typer.Argument(help="Only alfworld has an engine to verify.")],
    transcripts: Annotated[list[Path], typer.Argument(help="Recorded games, .jsonl or .jsonl.xz.")],
    data: Annotated[
        Path | None, typer.Option(help="The folder of game files; by default $ALFWORLD_DATA.")
    ] = None,
) -> None:
    """Replay games recorded with ALFWorld's own engine on the native one; exit code 1 if
    anything differs.
    """
    if world != "alfworld":
        raise InputError(f"only alfworld has an engine to verify, not {world!r}")
    result = verify_transcripts(transcripts, data)
    for found in result.differences:
        played = found.played
        _say(
            f"{played.file}:{played.line}: {played.game} step {found.step}, {found.command!r}:"
            f" {found.field} differs"
        )
        _say(f"  recorded: {found.recorded!r}\n  replayed: {found.replayed!r}")
    _say(f"{result.games} games, {result.steps:,} steps, {result.mismatches} mismatches")
    if result.mismatches:
        raise typer.Exit(1)


def _say(text: str) -> None:
    """Print lines, without what could command a terminal."""
    typer.echo(lines(text))


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


def verify_transcripts(
    transcripts: Iterable[str | Path], data: str | Path | None = None
) -> EngineReplay:
    """Replay playthroughs on the games they were recorded from, found under `data` or
    `$ALFWORLD_DATA`.

    Each line names its game by the official folder, such as `train/TASK/TRIAL`. One folder of games
    serves recordings in both dialects: where a game's file is in the other one, its problem is
    replayed in this project's texts of the recording's dialect. Raises FileError for a damaged
    transcript or a game that is not there.
    """
    folder = _games_folder(data or os.environ.get("ALFWORLD_DATA"))
    games = 0
    steps = 0
    mismatches = 0
    shown: list[Mismatch] = []
    for transcript in transcripts:
        before = games
        for played in read_playthroughs(transcript):
            games += 1
            steps += len(played.steps)
            found = list(compare(_game_of(played, folder), played))
            mismatches += len({each.step for each in found})
            shown += found[: SHOWN - len(shown)]
        if games == before:
            raise FileError(transcript, None, "holds no playthroughs: there is nothing to verify")
    return EngineReplay(games, steps, mismatches, tuple(shown))


def _games_folder(data: str | Path | None) -> Path:
    """The folder that games are named from, in the one that a person gave."""
    if not data:
        raise InputError(
            "the games are not found: give their folder with --data or in $ALFWORLD_DATA"
        )
    if not os.path.isdir(data):  # noqa: PTH112  never raises
        raise InputError(f"{data}: no such data folder")
    inner = Path(data, GAMES_FOLDER)
    return inner if inner.is_dir() else Path(data)


def _game_of(played: Playthrough, folder: Path) -> NativeGame:
    """The game that a playthrough was recorded from, in the recording's dialect."""
    path = folder / played.game / GAME_FILE
    if len(played.game) > _LONGEST_GAME or not is_there(path):
        wrong = f"was recorded from {excerpt(played.game)}, which is not under {folder}"
        raise FileError(played.file, played.line, wrong)
    return NativeGame(load_game(str(path), played.dialect))


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
    """The playthroughs of a `.jsonl` or `.jsonl.xz` file, one a line.

    Raises FileError at the first bad line.
    """
    if not is_there(Path(path)):
        raise FileError(path, None, "no such transcript")
    problem = "is no playthrough, or the transcript is damaged"
    for number, (game, dialect, steps) in read_jsonl(path, text_lines(path), _recorded, problem):
        yield Playthrough(str(path), number, game, dialect, tuple(steps))


def _recorded(data: Any) -> tuple[str, str, list[Any]]:
    """Game, dialect and steps of a line."""
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("game"), str)
        or not isinstance(data.get("steps"), list)
    ):
        raise NotJson("it needs 'game' and 'steps'")
    game = PurePosixPath(data["game"])
    if game.is_absolute() or ".." in game.parts or "\x00" in data["game"]:
        raise NotJson("names a game outside the data folder")
    if (dialect := _DIALECTS.get(str(data.get("dialect", "put")))) is None:
        raise NotJson("names a dialect that is neither put (0.3) nor move (0.4)")
    for index, step in enumerate(data["steps"]):
        _check_step(step, index)
    if not data["steps"]:
        raise NotJson("has no steps: there is nothing to verify")
    return data["game"], dialect, data["steps"]


def _check_step(step: object, index: int) -> None:
    for field, kind in _FIELDS.items():
        if not isinstance(step, dict) or not isinstance(step.get(field, ...), kind):
            raise NotJson(f"has no {field!r} in step {index}, or not one of the right kind")
