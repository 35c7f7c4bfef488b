"""The knobs of `rpms.play.settings` as options of commands: each is defined there, and only there."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any

import typer

from rpms.core.errors import InputError
from rpms.play.settings import KNOBS, SettingError, Settings

_SEVERAL = ("enforce", "task")
"""Knobs that may be given again and again."""
_PANEL = "Settings: the same names in study files and in Agent"


def with_settings(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each knob but some; it gets all of them, read, as `settings`."""
    names = [name for name in KNOBS if name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.name != "settings"]
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name))
            for name in names
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            settings = read_settings({name: given.pop(name) for name in names})
            command(**given, settings=settings)

        run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (*own, *added)}
        return run

    return decorate


def read_settings(given: Mapping[str, Any]) -> Settings:
    """Read what the command line gave; a mistake names the option."""
    try:
        return Settings.read({name: value for name, value in given.items() if value not in (None, [])})
    except SettingError as error:
        raise InputError(f"--{error.name.replace('_', '-')} {error.problem}") from None


def _annotation(name: str) -> Any:
    knob, flag = KNOBS[name].metadata, f"--{name.replace('_', '-')}"
    kind: Any = list[str] | None if name in _SEVERAL else bool | None if name == "state_filter" else str | None
    flags = {"task": (flag, "--tasks"), "state_filter": (f"{flag}/--no-state-filter",)}.get(name, (flag,))
    metavar = None if name == "state_filter" else knob["values"]
    return Annotated[
        kind, typer.Option(*flags, help=knob["doc"], metavar=metavar, show_default=False, rich_help_panel=_PANEL)
    ]
