"""`rpms run`, `learn` and `play` as the command line declares them.

What they take to run is loaded once the options are known to be right, so that a typing error is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpms.cli import options
from rpms.cli.knobs import with_settings
from rpms.cli.options import with_resources

if TYPE_CHECKING:
    from rpms.cli.resources import Resources
    from rpms.play.settings import Settings


def _load(module: str, function: str) -> Callable[..., None]:
    body: Callable[..., None] = getattr(import_module(f"rpms.cli.{module}"), function)
    return body


@with_settings()
@with_resources
def run_split(
    world: options.WorldName,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder; an existing run is continued. By default one in runs/, named after the options."
        ),
    ] = None,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="A decoding parameter of the provider's own.", metavar="NAME=VALUE", show_default=False),
    ] = None,
    epochs: options.Epochs = 1,
    stuck_after: Annotated[
        int, typer.Option(help="End an episode after N identical failures in a row; 0 is never.", min=0)
    ] = 0,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Play episodes again that a model or world error ended.")
    ] = False,
    option: options.WorldOptions = None,
    part: Annotated[
        str, typer.Option(help="One part of the tasks, dealt like cards: 1/2 is every second one.")
    ] = "1/1",
    *,
    resources: Resources,
    settings: Settings,
) -> None:
    """Play the tasks of a split and keep every episode; the same command continues where it stopped."""
    _load("run", "run_split")(**locals())


@with_settings()
@with_resources
def learn_split(
    world: options.WorldName,
    out: Annotated[
        Path, typer.Option(help="The memory to write, such as memory.jsonl; the rounds are kept beside it.")
    ],
    rounds: Annotated[int, typer.Option(help="How many times to play the split.")] = 3,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    later: Annotated[
        str, typer.Option(help="Condition of the later rounds: full or rules-only. --condition is the first's.")
    ] = "full",
    option: options.WorldOptions = None,
    go_on: Annotated[
        bool, typer.Option("--continue", help="Continue from the frozen memory in --out with more rounds.")
    ] = False,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit", help="Set aside memories that do harm; some are hidden (--mask 0.2) to find out which."
        ),
    ] = False,
    lessons: Annotated[
        str, typer.Option(help="Who words lessons: seen (taken from what was seen), or model (then checked).")
    ] = "seen",
    *,
    resources: Resources,
    settings: Settings,
) -> None:
    """Play a split round by round and write what it teaches as a frozen memory: snippets, lessons and schemas.

    With --memory, learning starts from that memory; with --continue, from the one in --out.
    """
    _load("learn", "learn_split")(**locals())


@with_settings(without=("task", "limit", "per_task", "sample", "prompt"))
def play_one(
    world: options.WorldName,
    task: Annotated[str | None, typer.Option(help="A task's number, type, name or id; by default the first.")] = None,
    variation: Annotated[
        int | None, typer.Option(help="Which variation of --task NAME in ScienceWorld, or seed in TextWorldExpress.")
    ] = None,
    data: options.DataFolder = None,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    base_url: options.BaseUrl = None,
    option: options.WorldOptions = None,
    goal: Annotated[
        str | None, typer.Option(help="What is wanted, in your own words, in place of the task's goal.", metavar="TEXT")
    ] = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="Show each prompt in full.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Show the active rules at the start.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show rejected memories too, and nothing shortened.")
    ] = False,
    *,
    settings: Settings,
) -> None:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts, action."""
    _load("play", "play_one")(**locals())
