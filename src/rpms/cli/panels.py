"""Dataclasses whose fields are options of a command, and the panels of a long command's help."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, get_args

from typer.models import OptionInfo

PANELS: Mapping[str, Sequence[str]] = {
    "Which tasks": (
        "split",
        "task",
        "variation",
        "limit",
        "per_task",
        "sample",
        "part",
        "steps",
        "world",
        "parts",
        "data",
        "engine",
        "simplifications",
        "option",
        "goal",
    ),
    "Which model": (
        "model",
        "reader",
        "base_url",
        "context",
        "max_tokens",
        "temperature",
        "seed",
        "calls",
        "parameter",
        "timeout",
        "record",
        "price",
    ),
    "Rules, memory and method": (
        "condition",
        "preset",
        "memory",
        "overlap",
        "manual",
        "tiers",
        "arbitration",
        "state_filter",
        "theta",
        "k",
        "schemas",
        "memory_tokens",
        "warnings",
        "examined",
        "weights",
        "memory_words",
        "mask",
        "agent",
        "trials",
        "insights",
        "retriever",
        "consistency",
        "prompt",
    ),
    "The prompt, and what is done about actions": (
        "prompts",
        "layout",
        "form",
        "belief",
        "outcomes",
        "notes",
        "enforce",
        "repair",
    ),
    "Learning": ("rounds", "later", "go_on", "audit", "harvest", "lessons"),
    "Running, and when to stop": (
        "out",
        "pool",
        "workers",
        "processes",
        "ray",
        "epochs",
        "max_cost",
        "max_requests",
        "max_time",
        "only",
        "stuck_after",
        "retry_errors",
        "dry_run",
        "report",
    ),
    "What is shown": ("show_prompts", "rules", "verbose"),
}
"""Panels of the help of commands that play, in its order, each with the options that stand in it.
An option in none of them stands in typer's own panel, `Options`."""

_PLAIN_WORDS: Mapping[Any, str] = {
    Path: "PATH",
    int: "N",
    float: "NUMBER",
    str: "TEXT",
    list[str]: "TEXT",
    bool: "",  # a flag has no value
}
"""Names of values in these panels, where an option gives none: typer's own are names of types."""
_ORDER = tuple(chain.from_iterable(PANELS.values()))
Command = Callable[..., None]


def takes_options(*classes: type, without: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Make the fields of dataclasses options of a command, in the panels of its help.

    Each field is written as a parameter of a typer command would be, with `Annotated` and
    `typer.Option`. The command gets one value of each class, for its parameter of that type. An
    option that the command declares itself is its own; `without` names those that it has not.

    Typer reads options from a function's signature and has no groups of them. Spelled out, the six
    commands that play would be functions of fifty parameters each, nearly all of them the same.
    """

    def decorate(function: Command) -> Command:
        own: dict[str, inspect.Parameter] = {}
        receivers: dict[str, type] = {}
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            if parameter.annotation in classes:
                receivers[name] = parameter.annotation
            else:
                own[name] = parameter
        groups = [_Group.of(*each, without=(*own, *without)) for each in receivers.items()]

        @wraps(function)
        def command(**given: Any) -> None:
            for group in groups:
                given[group.receiver] = group.taken_from(given)
            function(**given)

        options = chain(own.values(), *(group.options for group in groups))
        _sign(command, [_in_panel(option) for option in sorted(options, key=_place)])
        return command

    return decorate


class _Group(NamedTuple):
    """The options of one dataclass, as a command has them."""

    receiver: str
    """The parameter of the command's function that gets the value."""
    value: type
    options: Sequence[inspect.Parameter]

    @classmethod
    def of(cls, receiver: str, value: type, without: Sequence[str]) -> Self:
        every = inspect.signature(value, eval_str=True).parameters.values()
        return cls(receiver, value, [option for option in every if option.name not in without])

    def taken_from(self, given: dict[str, Any]) -> Any:
        """The value made of the options that were given, which are taken out."""
        return self.value(**{option.name: given.pop(option.name) for option in self.options})


def _place(option: inspect.Parameter) -> int:
    """Place of an option in the help; what stands in no panel comes first."""
    return _ORDER.index(option.name) + 1 if option.name in _ORDER else 0


def _in_panel(option: inspect.Parameter) -> inspect.Parameter:
    """The option in its panel of the help; as a copy, since other commands may have it too."""
    kind, info = get_args(option.annotation)
    if not isinstance(info, OptionInfo):
        return option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    info = copy(info)
    if info.metavar is None:
        info.metavar = _plain_word(kind)
    for panel, names in PANELS.items():
        if option.name in names:
            info.rich_help_panel = panel
    return option.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info])


def _plain_word(kind: Any) -> str | None:
    """A plain word for the values of a type, or of one with None beside it."""
    for type_, word in _PLAIN_WORDS.items():
        if type_ in (kind, *get_args(kind)):
            return word
    return None


def _sign(function: Any, parameters: Sequence[inspect.Parameter]) -> None:
    """Let a function say that it takes these parameters, for typer to read."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {each.name: each.annotation for each in parameters}
