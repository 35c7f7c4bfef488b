"""Options that several commands share beside the settings, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import complain
from rpms.core.enforcement import Constrained, Enforcement
from rpms.core.errors import InputError
from rpms.core.recall import EpisodicMemory
from rpms.foreign.digits import whole_number
from rpms.learn.freeze import read_frozen
from rpms.models.accounting import Price
from rpms.models.providers import NO_LLM, parse_model_name
from rpms.models.windows import context_window
from rpms.play.limits import Limits, Meter, parse_duration
from rpms.play.run import MakeEngine
from rpms.play.settings import EMBEDDED_MEMORY, Settings
from rpms.play.setup import can_play, idle_parts
from rpms.play.sources import Sources
from rpms.play.tasks import variation_called
from rpms.play.threads import Threads
from rpms.worlds.base import Setting, Task, World

WorldName = Annotated[str, typer.Argument(help="The world, such as alfworld, or the folder of one.")]
DataFolder = Annotated[Path | None, typer.Option(help="A folder of game files; ALFWorld: $ALFWORLD_DATA by default.")]
EngineName = Annotated[str, typer.Option(help="Which simulator plays: native, or the original one.")]
ModelName = Annotated[str, typer.Option(help="`planner`, or provider/name; `rpms models` lists them.")]
BaseUrl = Annotated[str | None, typer.Option(help="Where the model's server is.")]
Epochs = Annotated[
    int, typer.Option(help="Play the tasks so many times, each time a run of its own; says how results differ.", min=1)
]
MaxCost = Annotated[
    float | None, typer.Option(help="Stop at so many US dollars; the same command goes on.", metavar="USD")
]
MaxRequests = Annotated[
    int | None, typer.Option(help="Stop at so many requests to the model; the same command goes on.", metavar="N")
]
MaxTime = Annotated[
    str | None, typer.Option(help="Stop after a time such as 90s, 30m or 1h30m; the same command goes on.")
]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="A world's own option, NAME=VALUE, such as tasks=boil.", show_default=False),
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
    return Setting(data.absolute() if data else None, engine, pairs)


def make_meter(
    max_cost: float | None, max_requests: int | None, max_time: str | None, prices: Mapping[str, Price | None]
) -> Meter | None:
    """What counts against the limits that were given; `prices` by model, of which a limit on cost needs each."""
    limits = Limits(max_cost, max_requests, parse_duration(max_time) if max_time is not None else None)
    if limits == Limits():
        return None
    for model, price in prices.items():
        if max_cost is not None and price is None and parse_model_name(model).provider.backend not in NO_LLM:
            raise InputError(f"--max-cost: the price of {model} is not known; give it with --price IN,OUT")
    return Meter(limits)


def refuse_choosing_without_menu(enforcement: Enforcement, model: str) -> None:
    """Refuse, before anything starts, what chooses from a menu where there is none."""
    provider = parse_model_name(model).provider
    if not can_play(enforcement, model):
        raise InputError(
            f"{provider.name} chooses from a menu, and there is none: add --preset strict or --enforce menu=5"
        )


def note_idle_parts(world: World, *enforcements: Enforcement) -> None:
    """Say once what of the enforcement can do nothing in a world."""
    for words in idle_parts(world, *enforcements):
        complain(f"note: {words}")


def note_free_actions(enforcement: Enforcement, model: str) -> None:
    """Say that a model's actions stay free, where they were to be held and its kind of server cannot."""
    provider = parse_model_name(model).provider
    if enforcement.constrained is Constrained.AUTO and provider.base_url_variable and not provider.forms:
        complain(f"note: {provider.name} cannot hold actions to a menu or grammar: they stay free")


def sources_of(settings: Settings, world: World, model: str, base_url: str | None) -> Sources:
    """The knowledge of a run, with the room that its model has for it."""
    return settings.sources(world, context_window(model, settings.context, base_url).tokens)


def memory_of(settings: Settings, world: World, model: str) -> EpisodicMemory:
    """The memory that the settings name; none where a condition wants one is an error that says how to learn it."""
    split = next((split for split in ("valid_seen", "train") if split in world.splits), world.splits[0])
    file = settings.memory_file(world, f"rpms learn {world.name} --split {split} --model {model} --out memory.jsonl")
    if file is None:
        return EpisodicMemory(world=world.name)
    return read_frozen(file, world.name)


def note_knowledge(settings: Settings, world: World, model: str, base_url: str | None) -> None:
    """Say what was not given and had to be found elsewhere: a memory, a context window."""
    if settings.condition_value().memory and settings.memory in (None, EMBEDDED_MEMORY):
        complain(f"note: the memory is the one embedded in {world.name}; --memory gives another")
    if note := context_window(model, settings.context, base_url).note:
        complain(f"note: {model}: {note}")


def play_on(engine: str) -> tuple[str, MakeEngine]:
    """Take `native`, `textworld`, `ray` or `native,ray` apart: the simulator, and what plays the episodes."""
    names = engine.split(",")
    simulator = next((name for name in names if name != "ray"), "native")
    return simulator, on_ray() if "ray" in names else Threads


def on_ray() -> MakeEngine:
    """A cluster, or a line that says what it needs."""
    try:
        from rpms.play.ray_engine import OnRay  # noqa: PLC0415  needs the extra
    except ImportError:
        raise InputError("playing on a cluster needs Ray: pip install 'rpms[ray]'") from None
    return OnRay()


def named_task(
    world: World,
    tasks: Callable[[Setting], Sequence[Task]],
    setting: Setting,
    wanted: str | None,
    variation: int | None,
) -> Task:
    """A task by number, id or name and variation; by name also one that the split leaves out by default."""
    if variation is None:
        try:
            return choose_task(tasks(setting), wanted)
        except InputError:
            name = (wanted or "").partition("/")[0]
            if "tasks" not in world.options or not name or name.isdecimal():
                raise
            given = tasks(replace(setting, options={**setting.options, "tasks": name}))
            other = variation_called(world, wanted or "")
            if other is not None and all(other.id != task.id for task in given):
                ways = f"add --split {other.split}, or write --task {name} --variation {other.id.rpartition('/')[2]}"
                raise InputError(f"{wanted} is of the split {other.split}: {ways}") from None
            return choose_task(given, wanted)
    found = world.variation(wanted, variation) if wanted is not None else None
    if found is None:
        raise InputError("--variation goes with --task NAME, in a world whose tasks have variations (scienceworld)")
    return found


def choose_task(tasks: Sequence[Task], wanted: str | None) -> Task:
    """A task by its number, by its id or the start of it; the first one by default."""
    if not tasks:
        raise InputError("the split has no tasks")
    if wanted is None:
        return tasks[0]
    if not wanted.strip():
        raise InputError(f"--task {wanted!r} names no task: give a number or an id, or leave it out")
    if number := whole_number(wanted, len(tasks)):
        return tasks[number - 1]
    found = [task for task in tasks if task.id == wanted] or [task for task in tasks if task.id.startswith(wanted)]
    if not found:
        raise InputError(f"no task {wanted!r}: give a number from 1 to {len(tasks)} or an id such as {tasks[0].id}")
    return found[0]
