"""The knobs of `rpms.play.settings` and the options of `options.toml` as options of commands, in groups of the help."""

from __future__ import annotations

import copy
import functools
import inspect
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from typer.models import OptionInfo

from rpms.core.errors import InputError
from rpms.play.knobs import KNOBS

if TYPE_CHECKING:
    from rpms.play.settings import Settings

_SEVERAL = ("enforce", "task")
"""Knobs that may be given again and again."""
_TOLD = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))
GROUPS: Mapping[str, tuple[str, ...]] = {group: tuple(told.pop("order")) for group, told in _TOLD.items()}
"""Options by their names in Python, in the order of the help; what is in none stands under `Options`."""
_OPTIONS: Mapping[str, Any] = {name: each for told in _TOLD.values() for name, each in told.items()}
"""By name; where commands differ, by command and name."""
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
LATER = {"Settings": Any, "Resources": Any}
"""Types of what a command gets once its options are read: nothing has to load them before."""


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


def option(name: str, command: str = "", *, flag: bool = False) -> Any:
    """An option of `options.toml`, as it is for a command where commands differ. A flag has no opposite."""
    told = dict(_OPTIONS.get(f"{command}.{name}") or _OPTIONS[name])
    usual = (f"--{name.replace('_', '-')}",) if flag else ()
    return typer.Option(*told.pop("flags", usual), **told)


def with_settings(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each knob but some; it gets all of them, read, as `settings`."""
    added = {name: (_annotation(name), None) for name in KNOBS if name not in without}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        run: Any = with_options(command, "settings", added, _read)
        shown = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_grouped(each.name, each.annotation))
            for each in run.__signature__.parameters.values()
        ]
        shown.sort(key=lambda each: _PLACES.get(each.name, -1))
        run.__signature__ = inspect.Signature(shown)
        run.__annotations__ = {each.name: each.annotation for each in shown}
        return run  # type: ignore[no-any-return]

    return decorate


def with_options(
    command: Callable[..., None], name: str, added: Mapping[str, tuple[Any, Any]], make: Callable[[dict[str, Any]], Any]
) -> Callable[..., None]:
    """Give a command further options, by annotation and default, in place of the argument that is made of them."""
    signature = inspect.signature(command, eval_str=True, locals=LATER)
    own = [each for each in signature.parameters.values() if each.name != name]
    more = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for option, (annotation, default) in added.items()
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = make({option: given.pop(option) for option in added})
        command(**given, **{name: made})

    run.__signature__ = signature.replace(parameters=sorted((*own, *more), key=lambda each: each.kind))  # type: ignore[attr-defined]
    return run


def _read(given: Mapping[str, Any]) -> Settings:
    """Read what the command line gave; a mistake names the option."""
    from rpms.play.knob_values import SettingError  # noqa: PLC0415  once the options are right
    from rpms.play.settings import Settings  # noqa: PLC0415

    try:
        return Settings.read({name: value for name, value in given.items() if value not in (None, [])})
    except SettingError as error:
        raise InputError(f"--{error.name.replace('_', '-')} {error.problem}") from None


def _annotation(name: str) -> Any:
    knob, flag = KNOBS[name], f"--{name.replace('_', '-')}"
    kind: Any = list[str] | None if name in _SEVERAL else str | None
    flags = (flag, "--tasks") if name == "task" else (flag,)
    return Annotated[kind, typer.Option(*flags, help=knob.doc, metavar=knob.values, show_default=False)]


def _grouped(name: str, annotation: Any) -> Any:
    """An option's annotation with its group, and a plain word for its value."""
    kind, *details = get_args(annotation)
    found = next((each for each in details if isinstance(each, OptionInfo)), None)
    if found is None:
        return annotation  # an argument
    info = copy.copy(found)
    info.rich_help_panel = next((group for group, names in GROUPS.items() if name in names), None)
    if info.metavar is None:
        info.metavar = next((word for type_, word in _METAVARS.items() if type_ in (kind, *get_args(kind))), None)
    return Annotated[kind, info]
