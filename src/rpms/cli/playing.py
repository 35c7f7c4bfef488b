"""`rpms run`, `learn`, `play` and `study run` as the command line declares them, with options that others share.

What they take to run is loaded once the options are known to be right, so that a typing error is answered at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rpms.cli.knobs import ResourceOptions, grouped, knob_parameters, sign, told
from rpms.core.errors import InputError
from rpms.play.knobs import KNOBS

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
