"""`rpms run`, `learn`, `play` and `study run` as the command line declares them, with options that others share.

What they take to run is loaded once the options are known to be right, so that a typing error is answered at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_origin

import typer

from rpms.cli.knobs import LATER, ResourceOptions, option, with_options, with_settings

if TYPE_CHECKING:
    from rpms.cli.options import Resources
    from rpms.play.settings import Settings

WorldName = Annotated[str, typer.Argument(help="A world's name, such as alfworld, or the folder of your own.")]
StudyFile = Annotated[
    Path, typer.Argument(help="A study's file, or a name that `rpms study list` prints.", show_default=False)
]
DataFolder = Annotated[Path | None, option("data")]
EngineName = Annotated[str, option("engine")]
ModelName = Annotated[str, option("model")]
BaseUrl = Annotated[str | None, option("base_url")]
WorldOptions = Annotated[list[str] | None, option("option")]


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts, action."""

    without: ClassVar = ("task", "limit", "per_task", "sample", "prompt")
    """Knobs that it has no option for."""
    world: WorldName
    task: str | None = None
    variation: int | None = None
    data: Path | None = None
    engine: str = "native"
    model: str = "planner"
    base_url: str | None = None
    option: list[str] | None = None
    goal: str | None = None
    show_prompts: bool = False
    rules: bool = False
    verbose: bool = False
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Play the tasks of a split and keep every episode; the same command continues where it stopped."""

    world: WorldName
    out: Path | None = None
    engine: str = "native"
    model: str = "planner"
    parameter: list[str] | None = None
    epochs: int = 1
    stuck_after: int = 0
    retry_errors: bool = False
    option: list[str] | None = None
    part: str = "1/1"
    resources: Resources
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """Play a split round by round and write what it teaches as a frozen memory: snippets, lessons and schemas.

    With --memory, learning starts from that memory; with --continue, from the one in --out.
    """

    world: WorldName
    out: Path
    rounds: int = 3
    engine: str = "native"
    model: str = "planner"
    later: str = "full"
    option: list[str] | None = None
    go_on: bool = False
    audit: bool = False
    lessons: str = "seen"
    resources: Resources
    settings: Settings


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Run what is missing of a study and print its results; the same command continues where it stopped.

    A setting given here overrides the file's, in every condition and in learning.
    """

    without: ClassVar = ("condition", "arbitration", "state_filter")
    file: StudyFile
    out: Path | None = None
    model: list[str] | None = None
    pool: Path | None = None
    world: str | None = None
    parts: list[str] | None = None
    only: str = ""
    epochs: int = 1
    dry_run: bool = False
    report: bool = True
    resources: Resources
    settings: Settings


def command_of(name: str, options: type) -> Callable[..., None]:
    """The command with the fields of a class as its options; `main` in its module, loaded then, is given them."""

    def command(**given: Any) -> None:
        import_module(f"rpms.cli.{name}").main(options(**given))

    signature = inspect.signature(options, eval_str=True, locals=LATER)
    own = [each.replace(annotation=_told(each, name)) for each in signature.parameters.values()]
    command.__signature__, command.__doc__ = signature.replace(parameters=own), options.__doc__  # type: ignore[attr-defined]
    if "resources" in signature.parameters:
        shared = inspect.signature(ResourceOptions, eval_str=True).parameters.values()
        added = {each.name: (_told(each, name), each.default) for each in shared}
        command = with_options(
            command, "resources", added, lambda given: import_module("rpms.cli.options").Resources(**given)
        )
    return with_settings(without=getattr(options, "without", ()))(command)


def _told(field: inspect.Parameter, command: str) -> Any:
    """A field's annotation, with its option."""
    kind = field.annotation
    if get_origin(kind) is Annotated or field.name in ("resources", "settings"):
        return kind
    return Annotated[kind, option(field.name, command, flag=kind is bool)]
