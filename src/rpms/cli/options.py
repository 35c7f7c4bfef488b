"""Options that several commands share beside the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WorldName = Annotated[str, typer.Argument(help="A world's name, such as alfworld, or the folder of your own.")]
DataFolder = Annotated[
    Path | None, typer.Option(help="The folder of game files; for ALFWorld $ALFWORLD_DATA by default.")
]
EngineName = Annotated[str, typer.Option(help="The simulator; `rpms worlds` lists those of each world.")]
ModelName = Annotated[str, typer.Option(help="`planner`, or provider/name; `rpms models` lists them.")]
BaseUrl = Annotated[str | None, typer.Option(help="The address of the model's server.")]
Epochs = Annotated[
    int, typer.Option(help="Play the tasks N times, each time as a run of its own, and say how results differ.", min=1)
]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", help="A world's own option, such as tasks=boil.", metavar="NAME=VALUE", show_default=False
    ),
]


def _memory_named(text: str) -> Path:
    from rpms.cli.choices import memory_named  # noqa: PLC0415  it loads worlds

    return memory_named(text)


_MEMORY_FILE = typer.Argument(
    parser=_memory_named,
    help="A memory (JSON Lines); `embedded`: the one that comes with ALFWorld.",
    show_default=False,
)
MemoryFile = Annotated[Path, _MEMORY_FILE]
MemoryFiles = Annotated[list[Path], _MEMORY_FILE]
