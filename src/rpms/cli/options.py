"""Options that several commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rpms.core.arbitration import Arbitration
from rpms.core.condition import CONDITIONS, Condition, named_condition
from rpms.core.errors import InputError
from rpms.core.prompt import Layout
from rpms.core.recall import EpisodicMemory
from rpms.store.memories import read_memory
from rpms.worlds.base import Setting, Task, World

WorldName = Annotated[str, typer.Argument(help="The world, such as alfworld.")]
SplitName = Annotated[str | None, typer.Option(help="The split; the world's own first one by default.")]
DataFolder = Annotated[Path | None, typer.Option(help="A folder of game files; ALFWorld: $ALFWORLD_DATA by default.")]
EngineName = Annotated[str, typer.Option(help="Which simulator plays: native, or the original one.")]
ModelName = Annotated[str, typer.Option(help="`planner`, or provider/name; `rpms models` lists them.")]
BaseUrl = Annotated[str | None, typer.Option(help="Where the model's server is.")]
ConditionName = Annotated[str, typer.Option(help=f"What of RPMS is on: {', '.join(CONDITIONS)}.")]
ArbitrationMode = Annotated[Arbitration, typer.Option(help="How memories that conflict with rules are treated.")]
StateFilter = Annotated[bool, typer.Option(help="Filter memories by state.")]
LayoutName = Annotated[str, typer.Option(help="Order of the prompt's blocks: cached or paper.")]
MemoryFile = Annotated[Path | None, typer.Option(help="Episodic memory, JSON Lines; none by default.")]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", help="A world's own option, NAME=VALUE, such as simplifications=easy.", show_default=False
    ),
]


def make_setting(world: World, data: Path | None, engine: str, options: Sequence[str] | None) -> Setting:
    """The setting that the options describe."""
    if engine not in world.engines:
        raise InputError(f"{world.name} has no engine {engine!r}; choose one of {', '.join(world.engines)}")
    pairs: dict[str, str] = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name:
            raise InputError(f"--option {option!r}: write NAME=VALUE")
        pairs[name] = value
    return Setting(data, engine, pairs)


def make_condition(name: str, arbitration: Arbitration, *, state_filter: bool, layout: str) -> Condition:
    """The condition that the options describe."""
    base = named_condition(name)
    try:
        order = Layout[layout.upper()]
    except KeyError:
        raise InputError(f"--layout {layout!r}: choose cached or paper") from None
    return Condition(base.rules, base.memory, arbitration, state_filter, order)


def make_memory(file: Path | None, world: World) -> EpisodicMemory:
    """The memory of a file, or none."""
    return read_memory(file, world.name) if file is not None else EpisodicMemory(world=world.name)


def choose_task(tasks: Sequence[Task], wanted: str | None) -> Task:
    """A task by its number, by its id or the start of it; the first one by default."""
    if wanted is None:
        return tasks[0]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(tasks):
        return tasks[int(wanted) - 1]
    found = [task for task in tasks if task.id == wanted] or [task for task in tasks if task.id.startswith(wanted)]
    if not found:
        raise InputError(f"no task {wanted!r}: give a number from 1 to {len(tasks)} or an id such as {tasks[0].id}")
    return found[0]
