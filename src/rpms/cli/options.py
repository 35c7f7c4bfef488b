"""Options that several commands share beside the settings: declared here, so that a mistake in one loads no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rpms.cli.knobs import with_options

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


@dataclass(frozen=True)
class ResourceOptions:
    """Options that `run`, `learn` and `study run` share, given to each as one value (`rpms.cli.resources`)."""

    data: DataFolder = None
    base_url: BaseUrl = None
    workers: Annotated[
        int | None,
        typer.Option(help="Episodes played at once; by default one for each process, or CPU of a cluster.", min=1),
    ] = None
    processes: Annotated[
        int | None, typer.Option(help="Processes that play; by default one for each core. 1: threads.", min=1)
    ] = None
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster.")] = False
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, and never ask for it twice.")
    ] = None
    price: Annotated[str | None, typer.Option(help="US dollars per million tokens: IN,OUT[,CACHED].")] = None
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds that a request may stay silent, 120 by default; then it is repeated.", min=1),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option(help="Stop after spending this much; the same command continues.", metavar="USD")
    ] = None
    max_requests: Annotated[
        int | None, typer.Option(help="Stop after N requests to the model; the same command continues.", metavar="N")
    ] = None
    max_time: Annotated[
        str | None, typer.Option(help="Stop after a time such as 90s, 30m or 1h30m; the same command continues.")
    ] = None


def with_resources(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each resource; it gets all of them as `resources`."""
    hints = get_type_hints(ResourceOptions, include_extras=True)
    added = {each.name: (hints[each.name], each.default) for each in fields(ResourceOptions)}
    return with_options(command, "resources", added, _resources)


def _resources(given: dict[str, Any]) -> Any:
    from rpms.cli.resources import Resources  # noqa: PLC0415  all that plays, once the options are right

    return Resources(**given)
