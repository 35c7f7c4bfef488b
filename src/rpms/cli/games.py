"""`rpms games`: make ALFWorld games."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import say
from rpms.worlds.alfworld.games.make import make_games
from rpms.worlds.alfworld.goals import TASK_TYPES

games = typer.Typer(
    help="Make ALFWorld games, so that you need not download any.", no_args_is_help=True
)


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
        say(f"{name:34} {number:5}")
    say(
        f"{len(made)} games in {out.absolute()}, each solved in"
        f" {sum(made.values()) / len(made):.1f} steps on average"
    )
    say(f"play them with: rpms run alfworld --split {split} --data {out} --model planner --out RUN")
