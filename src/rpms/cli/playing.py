"""Options of commands as `options.toml` tells them, and `rpms run`, `learn`, `play` and `study run` with theirs.

What these take to run is loaded once the options are known to be right, so that a typing error is answered at once.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin

import typer
from typer.models import OptionInfo

from rpms.core.errors import InputError
from rpms.play.knobs import KNOBS

_SEVERAL = ("enforce", "task")
"""Knobs that may be given again and again."""
_TOLD = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))
GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(told.pop("order")) for group, told in _TOLD.items() if "order" in told
}
"""Options by their names in Python, in the order of the help; what is in none stands under `Options`."""
_OPTIONS: Mapping[str, Any] = {
    name if section in GROUPS else f"{section}.{name}": each
    for section, told in _TOLD.items()
    for name, each in told.items()
}
"""By name; where commands differ, by command or group of commands, and name."""
_PLACES = {name: place for place, name in enumerate(name for names in GROUPS.values() for name in names)}
_METAVARS: Mapping[Any, str] = {
    Path: "PATH",
    int: "N",
    float: "NUMBER",
    str: "TEXT",
    list[str]: "TEXT",
    bool: "",  # a flag has no value
}
"""Names of values where an option gives none: simpler than the names of types."""


@dataclass(frozen=True)
class ResourceOptions:
    """Options that `run`, `learn` and `study run` share, given to each as one value."""

    data: Path | None = None
    base_url: str | None = None
    workers: int | None = None
    processes: int | None = None
    ray: bool = False
    record: Path | None = None
    price: str | None = None
    timeout: float | None = None
    max_cost: float | None = None
    max_requests: int | None = None
    max_time: str | None = None


def declare(function: Any, command: str) -> None:
    """Give the parameters of a command the options and arguments that `options.toml` tells of them."""
    sign(function, told(inspect.signature(function, eval_str=True).parameters.values(), command))


def sign(function: Any, parameters: Sequence[inspect.Parameter]) -> None:
    """Let a function say that it takes these parameters."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {each.name: each.annotation for each in parameters}


def told(parameters: Iterable[inspect.Parameter], command: str) -> list[inspect.Parameter]:
    """Parameters of a command with their options, where any are told."""
    return [each.replace(annotation=_told(each, command)) for each in parameters]


def _told(parameter: inspect.Parameter, command: str) -> Any:
    """The annotation of a parameter with its option, where one is told."""
    name, kind, given = parameter.name, parameter.annotation, parameter.default is not inspect.Parameter.empty
    places = (f"{command}.{name}", f"{command.partition(' ')[0]}.{name}", name)
    found = next((_OPTIONS[place] for place in places if place in _OPTIONS), None)
    if found is None or get_origin(kind) is Annotated:
        return kind
    told = dict(found)
    if told.pop("argument", not given):
        return Annotated[kind, typer.Argument(**told)]
    usual = (f"--{name.replace('_', '-')}",) if kind is bool else ()  # without an opposite
    return Annotated[kind, typer.Option(*told.pop("flags", usual), **told)]


def knob_parameters(names: Iterable[str]) -> list[inspect.Parameter]:
    """Parameters of a command for knobs."""
    made = []
    for name in names:
        kind: Any = list[str] | None if name in _SEVERAL else str | None
        flags = (f"--{name.replace('_', '-')}", *(("--tasks",) if name == "task" else ()))
        told = typer.Option(*flags, help=KNOBS[name].doc, metavar=KNOBS[name].values, show_default=False)
        made.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, told])
        )
    return made


def grouped(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters in the order of the help, their options in its groups and with plain words for their values."""
    ordered = sorted(parameters, key=lambda each: _PLACES.get(each.name, -1))
    for each in ordered:
        kind, info = get_args(each.annotation)
        if isinstance(info, OptionInfo):
            info.rich_help_panel = next(group for group, names in GROUPS.items() if each.name in names)
            known = (kind, *get_args(kind))
            usual = next((word for type_, word in _METAVARS.items() if type_ in known), None)
            info.metavar = usual if info.metavar is None else info.metavar
    return ordered


if TYPE_CHECKING:
    from rpms.cli.options import Resources
    from rpms.play.settings import Settings

_LATER = {"Settings": Any, "Resources": Any}
"""Types of what a command gets once its options are read: nothing has to load them before."""


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts, action."""

    without: ClassVar = ("task", "limit", "per_task", "sample", "prompt")
    """Knobs that it has no option for."""
    world: str
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

    world: str
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

    world: str
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
    file: Path
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
    """The command with the fields of a class as its options; `main` in its module, loaded then, is given them.

    The options of `ResourceOptions` stand for its `resources`, and all knobs but some for its `settings`.
    """
    own = dict(inspect.signature(options, eval_str=True, locals=_LATER).parameters)
    shared = inspect.signature(ResourceOptions, eval_str=True).parameters if own.pop("resources", None) else {}
    del own["settings"]
    knobs = [knob for knob in KNOBS if knob not in getattr(options, "without", ())]

    def command(**given: Any) -> None:
        given["settings"] = _read({knob: given.pop(knob) for knob in knobs})
        if shared:
            resources = {each: given.pop(each) for each in shared}
            given["resources"] = import_module("rpms.cli.options").Resources(**resources)
        import_module(f"rpms.cli.{name.partition(' ')[0]}").main(options(**given))

    command.__doc__ = options.__doc__
    plain = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own.values(), *shared.values())]
    sign(command, grouped([*told(plain, name), *knob_parameters(knobs)]))
    return command


def _read(given: Mapping[str, Any]) -> Settings:
    """Read what the command line gave; a mistake names the option."""
    from rpms.play.knob_values import SettingError  # noqa: PLC0415  once the options are right
    from rpms.play.settings import Settings  # noqa: PLC0415

    try:
        return Settings.read({name: value for name, value in given.items() if value not in (None, [])})
    except SettingError as error:
        raise InputError(f"--{error.name.replace('_', '-')} {error.problem}") from None
