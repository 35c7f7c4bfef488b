"""The commands that this world brings: `rpms games` and `rpms verify`, for its game files."""

from pathlib import Path
from typing import Annotated

import typer

from rpms.core.errors import InputError
from rpms.foreign.shown import lines
from rpms.worlds.alfworld.games.goal_kinds import TASK_TYPES
from rpms.worlds.alfworld.games.make import make_games
from rpms.worlds.alfworld.verify import verify as verify_transcripts

games = typer.Typer(help="Make ALFWorld games, so that you need not download any.", no_args_is_help=True)
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
    dialect: Annotated[str, typer.Option(help="Which commands: 0.3 (put … in/on) or 0.4 (move … to).")] = "0.3",
    type: Annotated[  # noqa: A002  the option's name
        list[str] | None,
        typer.Option(help=f"Only this type; may be repeated. One of {', '.join(TASK_TYPES)}.", show_default=False),
    ] = None,
    split: Annotated[str, typer.Option(help="The split these games become.")] = "train",
) -> None:
    """Generate ALFWorld games in the official format; each is solved once before it is written."""
    made = make_games(seed, count, out, dialect=dialect, types=tuple(type or TASK_TYPES), split=split)  # type: ignore[arg-type]  # checked there
    for name, number in made.by_type.items():
        _say(f"{name:34} {number:5}")
    _say(f"{len(made.ids)} games in {made.folder}, each solved in {made.steps:.1f} steps on average")
    _say(f"play them with: rpms run alfworld --split {made.split} --data {out} --model planner --out RUN")


def verify(
    world: Annotated[str, typer.Argument(help="Only alfworld has an engine to verify.")],
    transcripts: Annotated[list[Path], typer.Argument(help="Recorded games, .jsonl or .jsonl.xz.")],
    data: Annotated[Path | None, typer.Option(help="The folder of game files; by default $ALFWORLD_DATA.")] = None,
) -> None:
    """Replay games recorded with ALFWorld's own engine on the native one; exit code 1 if anything differs."""
    if world != "alfworld":
        raise InputError(f"only alfworld has an engine to verify, not {world!r}")
    result = verify_transcripts(transcripts, data)
    for found in result.differences:
        played = found.played
        _say(f"{played.file}:{played.line}: {played.game} step {found.step}, {found.command!r}: {found.field} differs")
        _say(f"  recorded: {found.recorded!r}\n  replayed: {found.replayed!r}")
    _say(f"{result.games} games, {result.steps:,} steps, {result.mismatches} mismatches")
    if result.mismatches:
        raise typer.Exit(1)


def _say(text: str) -> None:
    """Print lines, without what could command a terminal."""
    typer.echo(lines(text))
