"""Options and arguments that commands of several groups take, each written once."""

from pathlib import Path
from typing import Annotated

import typer

WorldArgument = Annotated[
    str, typer.Argument(help="A world's name, such as alfworld, or the folder of your own.")
]
DataOption = Annotated[
    Path | None,
    typer.Option(help="The folder of game files; for ALFWorld $ALFWORLD_DATA by default."),
]
EngineOption = Annotated[
    str, typer.Option(help="The simulator; `rpms worlds` lists those of each world.")
]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="A world's own option, such as tasks=boil.", metavar="NAME=VALUE", show_default=False
    ),
]
RunsWorldOption = Annotated[
    str | None,
    typer.Option(
        help="The world of the runs, by its folder where it is not installed; its code runs."
    ),
]
ModelOption = Annotated[
    str, typer.Option(help="`planner`, or provider/name; `rpms models` lists them.")
]
BaseUrlOption = Annotated[str | None, typer.Option(help="The address of the model's server.")]
PriceOption = Annotated[
    str | None, typer.Option(help="US dollars per million tokens: IN,OUT[,CACHED].")
]
EpochsOption = Annotated[
    int,
    typer.Option(
        help="Play the tasks N times, each time as a run of its own, and say how results differ.",
        min=1,
    ),
]
