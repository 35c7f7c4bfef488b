"""`rpms run`, `learn` and `play` as the command line declares them, with options that other commands share.

What they take to run is loaded once the options are known to be right, so that a typing error is answered at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from rpms.cli.knobs import LATER, with_options, with_settings

if TYPE_CHECKING:
    from rpms.cli.options import Resources
    from rpms.play.settings import Settings

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


@dataclass(frozen=True)
class ResourceOptions:
    """Options that `run`, `learn` and `study run` share, given to each as one value."""

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
    return with_options(command, "resources", added, lambda given: import_module("rpms.cli.options").Resources(**given))


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts, action."""

    without: ClassVar = ("task", "limit", "per_task", "sample", "prompt")
    """Knobs that it has no option for."""
    world: WorldName
    task: Annotated[str | None, typer.Option(help="A task's number, type, name or id; by default the first.")] = None
    variation: Annotated[
        int | None, typer.Option(help="Which variation of --task NAME in ScienceWorld, or seed in TextWorldExpress.")
    ] = None
    data: DataFolder = None
    engine: EngineName = "native"
    model: ModelName = "planner"
    base_url: BaseUrl = None
    option: WorldOptions = None
    goal: Annotated[
        str | None, typer.Option(help="What is wanted, in your own words, in place of the task's goal.", metavar="TEXT")
    ] = None
    show_prompts: Annotated[bool, typer.Option("--show-prompts", help="Show each prompt in full.")] = False
    rules: Annotated[bool, typer.Option("--rules", help="Show the active rules at the start.")] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show rejected memories too, and nothing shortened.")
    ] = False
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Play the tasks of a split and keep every episode; the same command continues where it stopped."""

    world: WorldName
    out: Annotated[
        Path | None,
        typer.Option(help="The run's folder; an existing run is continued. By default one in runs/, named after the "),
    ] = None
    engine: EngineName = "native"
    model: ModelName = "planner"
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="A decoding parameter of the provider's own.", metavar="NAME=VALUE", show_default=False),
    ] = None
    epochs: Epochs = 1
    stuck_after: Annotated[
        int, typer.Option(help="End an episode after N identical failures in a row; 0 is never.", min=0)
    ] = 0
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Play episodes again that a model or world error ended.")
    ] = False
    option: WorldOptions = None
    part: Annotated[str, typer.Option(help="One part of the tasks, dealt like cards: 1/2 is every second one.")] = "1/1"
    resources: Resources
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """Play a split round by round and write what it teaches as a frozen memory: snippets, lessons and schemas.

    With --memory, learning starts from that memory; with --continue, from the one in --out.
    """

    world: WorldName
    out: Annotated[Path, typer.Option(help="The memory to write, such as memory.jsonl; the rounds are kept beside it.")]
    rounds: Annotated[int, typer.Option(help="How many times to play the split.")] = 3
    engine: EngineName = "native"
    model: ModelName = "planner"
    later: Annotated[
        str, typer.Option(help="Condition of the later rounds: full or rules-only. --condition is the first's.")
    ] = "full"
    option: WorldOptions = None
    go_on: Annotated[
        bool, typer.Option("--continue", help="Continue from the frozen memory in --out with more rounds.")
    ] = False
    audit: Annotated[
        bool,
        typer.Option(
            "--audit", help="Set aside memories that do harm; some are hidden (--mask 0.2) to find out which."
        ),
    ] = False
    lessons: Annotated[
        str, typer.Option(help="Who words lessons: seen (taken from what was seen), or model (then checked).")
    ] = "seen"
    resources: Resources
    settings: Settings


def command_of(name: str, options: type) -> Callable[..., None]:
    """The command with the fields of a class as its options; `main` in its module, loaded then, is given them."""

    def command(**given: Any) -> None:
        import_module(f"rpms.cli.{name}").main(options(**given))

    signature = inspect.signature(options, eval_str=True, locals=LATER)
    command.__signature__, command.__doc__ = signature, options.__doc__  # type: ignore[attr-defined]
    whole = with_resources(command) if "resources" in signature.parameters else command
    return with_settings(without=getattr(options, "without", ()))(whole)
