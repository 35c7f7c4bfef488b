"""Options that `run`, `learn` and `study run` share, given to each as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from rpms.cli import options

LATER = {"Settings": Any, "Resources": Any}
"""Types of what a command gets once its options are read: nothing has to load them before."""


@dataclass(frozen=True)
class ResourceOptions:
    """Places of games and models, the player of episodes, and limits on all of it.

    Each field is an option of the same name. None of them decides how an episode goes.
    """

    data: options.DataFolder = None
    base_url: options.BaseUrl = None
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
    signature = inspect.signature(command, eval_str=True, locals=LATER)
    own = [each for each in signature.parameters.values() if each.name != "resources"]
    hints = get_type_hints(ResourceOptions, include_extras=True)
    added = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(ResourceOptions)
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from rpms.cli.resources import Resources  # noqa: PLC0415  all that plays, once the options are right

        resources = Resources(**{each.name: given.pop(each.name) for each in fields(ResourceOptions)})
        command(**given, resources=resources)

    run.__signature__ = signature.replace(parameters=sorted((*own, *added), key=lambda each: each.kind))  # type: ignore[attr-defined]
    return run
