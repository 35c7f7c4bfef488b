"""Options of commands as `options.toml` tells them, and the knobs of `rpms.play.settings` as
options.

What commands take to run is loaded once the options are known to be right: a typing error is
answered at once.
"""

import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.models import OptionInfo

from rpms.logic.errors import InputError
from rpms.play.knobs import KNOBS

_TOLD = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))
GROUPS: Mapping[str, tuple[str, ...]] = {
    group: tuple(told.pop("order")) for group, told in _TOLD.items() if "order" in told
}
"""Options by their names in Python, in the order of the help; what is in none stands under
`Options`."""


def _read_options() -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for section, told in _TOLD.items():
        for name, each in told.items():
            whole = name if section in GROUPS else f"{section}.{name}"
            found[whole] = told[each] if isinstance(each, str) else each
    return found


_OPTIONS = _read_options()
"""Options by name; if commands differ, by command or group and name. An option may stand for
another one."""
_PLACES = {name: place for place, name in enumerate(chain.from_iterable(GROUPS.values()))}
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
    """Give the parameters of a command the options and arguments that `options.toml` tells of
    them.
    """
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    sign(function, [with_option(each, command) for each in parameters])


def sign(function: Any, parameters: Sequence[inspect.Parameter]) -> None:
    """Let a function say that it takes these parameters."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {each.name: each.annotation for each in parameters}


def with_option(parameter: inspect.Parameter, command: str) -> inspect.Parameter:
    """A parameter of a command with the option or argument that `options.toml` tells of it."""
    name = parameter.name
    kind = parameter.annotation
    words = _words_of(name, command)
    if words is None or get_origin(kind) is Annotated:
        return parameter
    # loaded with what else such options take, once there is something to read
    if "parser" in words:
        words["parser"] = partial(_parsed, words["parser"])
    is_required = parameter.default is inspect.Parameter.empty
    info: Any
    if words.pop("argument", is_required):
        info = typer.Argument(**words)
    else:
        usual = (f"--{name.replace('_', '-')}",) if kind is bool else ()  # without an opposite
        info = typer.Option(*words.pop("flags", usual), **words)
    return parameter.replace(annotation=Annotated[kind, info])


def _words_of(name: str, command: str) -> dict[str, Any] | None:
    """The entry of `options.toml` for a parameter: the command's, its group's, or that for all."""
    group = command.partition(" ")[0]
    for place in (f"{command}.{name}", f"{group}.{name}", name):
        if place in _OPTIONS:
            return dict(_OPTIONS[place])
    return None


def _parsed(parser: str, text: str) -> Any:
    return getattr(import_module("rpms.cli.options"), parser)(text)


def knob_parameters(names: Iterable[str]) -> Iterator[inspect.Parameter]:
    """Parameters of a command for knobs."""
    for name in names:
        kind: Any = list[str] | None if name in _GIVEN_AGAIN else str | None
        flags = [f"--{name.replace('_', '-')}"]
        if name == "task":
            flags.append("--tasks")
        knob = KNOBS[name]
        option = typer.Option(*flags, help=knob.doc, metavar=knob.values, show_default=False)
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
        )


_GIVEN_AGAIN = ("enforce", "task")
"""Knobs that a command line may give several times."""


def grouped(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters in the order of the help, their options in its groups and with plain words for
    their values.
    """
    ordered = sorted(parameters, key=lambda each: _PLACES.get(each.name, -1))
    for each in ordered:
        kind, info = get_args(each.annotation)
        if isinstance(info, OptionInfo):
            info.rich_help_panel = _group_of(each.name)
            if info.metavar is None:
                info.metavar = _metavar_of(kind)
    return ordered


def _group_of(option: str) -> str:
    """The group of the help that an option stands in."""
    for group, names in GROUPS.items():
        if option in names:
            return group
    return "Options"


def _metavar_of(kind: Any) -> str | None:
    """A plain word for the values of a type, or of one with None beside it."""
    known = (kind, *get_args(kind))
    for type_, word in _METAVARS.items():
        if type_ in known:
            return word
    return None


_TEACHING = (
    "condition",
    "preset",
    "enforce",
    "agent",
    "trials",
    "insights",
    "harvest",
    "reader",
    "mask",
)
"""Knobs that change no prompt told as in the paper, which is what is taught."""
_ELSEWHERE = ("ray", "price", "max_cost", "max_requests", "max_time")
"""Games for teaching are played on this machine, and nobody adds up what they cost."""
_OF_A_MODEL = ("base_url", "record", "timeout", "temperature", "max_tokens", "context")
"""Options of a model that answers: the planner, who plays what pairs are made of, asks none."""
_WITHOUT = {
    "play": ("limit", "per_task", "sample"),
    "study run": ("condition",),
    "teach pairs": (*_TEACHING, *_ELSEWHERE, *_OF_A_MODEL),
    "teach correct": (*_TEACHING, *_ELSEWHERE),
}
"""Knobs and shared options that a command has no option for, beside those with an option of its
own by the same name."""


def _read_settings(given: Mapping[str, Any]) -> Any:
    """The settings of the options that were given."""
    # loaded once the options are right
    from rpms.play.knob_values import SettingError  # noqa: PLC0415
    from rpms.play.settings import Settings  # noqa: PLC0415

    values = {knob: value for knob, value in given.items() if value not in (None, [])}
    try:
        return Settings.read(values)
    except SettingError as error:
        raise InputError(f"--{error.name.replace('_', '-')} {error.problem}") from None


def with_shared(name: str, function: Callable[..., None]) -> Callable[..., None]:
    """A command that takes the options of `ResourceOptions` for a function's `resources`, and
    knobs for `settings`.
    """
    own = dict(inspect.signature(function, eval_str=True).parameters)
    without = _WITHOUT.get(name, ())
    shared: dict[str, inspect.Parameter] = {}
    if own.pop("resources", None):
        of_resources = inspect.signature(ResourceOptions, eval_str=True).parameters
        shared = {each: known for each, known in of_resources.items() if each not in without}
    del own["settings"]
    knobs = [knob for knob in KNOBS if knob not in (*own, *without)]

    def command(**given: Any) -> None:
        given["settings"] = _read_settings({knob: given.pop(knob) for knob in knobs})
        if shared:
            resources = {each: given.pop(each) for each in shared}
            given["resources"] = import_module("rpms.cli.options").Resources(**resources)
        function(**given)

    command.__doc__ = function.__doc__
    parameters: list[inspect.Parameter] = []
    for each in (*own.values(), *shared.values()):
        parameters.append(with_option(each.replace(kind=inspect.Parameter.KEYWORD_ONLY), name))
    sign(command, grouped([*parameters, *knob_parameters(knobs)]))
    return command
