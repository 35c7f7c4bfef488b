"""Options that several commands share, and what they mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from rpms.core.arbitration import Arbitration
from rpms.core.condition import CONDITIONS, Condition, named_condition
from rpms.core.enforcement import PAPER, PARTS, Constrained, Enforcement, preset, with_part
from rpms.core.errors import InputError
from rpms.core.prompt import Layout
from rpms.core.recall import EpisodicMemory
from rpms.learn.freeze import read_frozen
from rpms.models.providers import parse_model_name
from rpms.play.run import MakeEngine
from rpms.play.setup import can_play, idle_parts
from rpms.play.threads import Threads
from rpms.worlds.base import Setting, Task, World

WorldName = Annotated[str, typer.Argument(help="The world, such as alfworld, or the folder of one.")]
SplitName = Annotated[str | None, typer.Option(help="The split; the world's own first one by default.")]
TaskNames = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        "--tasks",
        help="Only these tasks, by type, name or id; with commas between, or given again.",
        show_default=False,
    ),
]
DataFolder = Annotated[Path | None, typer.Option(help="A folder of game files; ALFWorld: $ALFWORLD_DATA by default.")]
EngineName = Annotated[str, typer.Option(help="Which simulator plays: native, or the original one.")]
ModelName = Annotated[str, typer.Option(help="`planner`, or provider/name; `rpms models` lists them.")]
BaseUrl = Annotated[str | None, typer.Option(help="Where the model's server is.")]
ConditionName = Annotated[str, typer.Option(help=f"What of RPMS is on: {', '.join(CONDITIONS)}.")]
ArbitrationMode = Annotated[Arbitration, typer.Option(help="How memories that conflict with rules are treated.")]
StateFilter = Annotated[bool, typer.Option(help="Filter memories by state, unless --no-state-filter is given.")]
LayoutName = Annotated[str, typer.Option(help="Order of the prompt's blocks: cached or paper.")]
PresetName = Annotated[str, typer.Option(help="How far actions are enforced: paper (not at all) or strict.")]
Enforce = Annotated[
    list[str] | None,
    typer.Option(
        help=f"One part of the enforcement, NAME=VALUE such as menu=5: {', '.join(PARTS)}. Their values are in docs, "
        "enforcement.md.",
        show_default=False,
    ),
]
MemoryFile = Annotated[Path | None, typer.Option(help="Episodic memory, JSON Lines; none by default.")]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="A world's own option, NAME=VALUE, such as tasks=boil.", show_default=False),
]
Steps = Annotated[int | None, typer.Option(help="Steps an episode may take; the world's own number by default.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="New tokens an answer may have.")]
PerTask = Annotated[int | None, typer.Option(help="Only the first so many tasks of each type.", min=1)]
Sample = Annotated[int | None, typer.Option(help="Only so many tasks, drawn at random with --seed.", min=1)]

_DIGITS = 9


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
    return Setting(data.resolve() if data else None, engine, pairs)


def make_enforcement(name: str, parts: Sequence[str] | None) -> Enforcement:
    """A preset with some parts changed."""
    enforcement = preset(name)
    for part in parts or ():
        key, equals, text = part.partition("=")
        if key not in PARTS or not equals:
            raise InputError(f"--enforce {part!r}: write NAME=VALUE with one of {', '.join(PARTS)}")
        try:
            enforcement = with_part(enforcement, key, text)
        except InputError as error:
            raise InputError(f"--enforce {part!r}: {error}") from None
    return enforcement


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
        typer.echo(f"note: {words}", err=True)


def note_free_actions(enforcement: Enforcement, model: str) -> None:
    """Say that a model's actions stay free, where they were to be held and its kind of server cannot."""
    provider = parse_model_name(model).provider
    if enforcement.constrained is Constrained.AUTO and provider.base_url_variable and not provider.forms:
        typer.echo(f"note: {provider.name} cannot hold actions to a menu or grammar: they stay free", err=True)


def make_condition(
    name: str,
    arbitration: Arbitration,
    *,
    state_filter: bool,
    layout: str,
    enforcement: Enforcement = PAPER,
) -> Condition:
    """The condition that the options describe."""
    base = named_condition(name)
    try:
        order = Layout[layout.upper()]
    except KeyError:
        raise InputError(f"--layout {layout!r}: choose cached or paper") from None
    return Condition(base.rules, base.memory, arbitration, state_filter, order, enforcement)


def make_memory(file: Path | None, world: World) -> EpisodicMemory:
    """The memory of a file, or none."""
    return read_frozen(file, world.name) if file is not None else EpisodicMemory(world=world.name)


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


def first_of_each_type(tasks: Sequence[Task], number: int | None) -> Sequence[Task]:
    """At most so many tasks of each type, in order."""
    if number is None:
        return tasks
    seen: Counter[str] = Counter()
    kept = []
    for task in tasks:
        seen[task.type] += 1
        if seen[task.type] <= number:
            kept.append(task)
    return kept


def drawn(tasks: Sequence[Task], number: int | None, seed: int) -> Sequence[Task]:
    """So many tasks drawn at random, in their order; the same seed draws the same on every machine."""
    if number is None or number >= len(tasks):
        return tasks
    chosen = set(Random(seed).sample(range(len(tasks)), number))  # noqa: S311  a draw, not a secret
    return [task for place, task in enumerate(tasks) if place in chosen]


def choose_tasks(
    world: World,
    split: str | None,
    setting: Setting,
    wanted: Sequence[str] | None,
    *,
    per_task: int | None,
    sample: int | None,
    seed: int,
) -> tuple[Sequence[Task], Setting]:
    """The tasks that the options choose, and the setting, which says what was named, where the world can."""
    named, setting = tasks_named(world, split or world.splits[0], setting, wanted)
    return drawn(first_of_each_type(named, per_task), sample, seed), setting


def tasks_named(
    world: World, split: str, setting: Setting, wanted: Sequence[str] | None
) -> tuple[Sequence[Task], Setting]:
    """The tasks of a split that go by some names, all without any; the setting says which, where the world can."""
    if not wanted:
        return world.tasks(split, setting), setting
    names = [name.strip() for given in wanted for name in given.split(",") if name.strip()]
    if not names:
        raise InputError(f"--task {wanted[0]!r} names no task: give types, names or ids, or leave it out")
    setting = world.listing(list(dict.fromkeys(name.partition("/")[0] for name in names)), setting)
    every = world.tasks(split, setting)
    for name in names:
        if not any(_goes_by(task, name) for task in every):
            other = _variation_called(world, name)
            if other is not None and other.split != split:
                raise InputError(f"{name} is of the split {other.split}, not of {split}: add --split {other.split}")
            types = ", ".join(sorted({task.type for task in every}))
            raise InputError(f"no task {name!r} in {split}: give an id, or a type out of {types}")
    return [task for task in every if any(_goes_by(task, name) for name in names)], setting


def _variation_called(world: World, text: str) -> Task | None:
    """The task that `name/number` means in a world of variations, of whatever split."""
    name, _, number = text.partition("/")
    return world.variation(name, int(number)) if number.isdecimal() and len(number) <= _DIGITS else None


def _goes_by(task: Task, name: str) -> bool:
    return name in (task.type, task.id) or ("/" not in name and task.id.startswith(name))


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
            widened = world.listing([name], setting) if name and not name.isdecimal() else setting
            if widened == setting:
                raise
            given = tasks(widened)
            other = _variation_called(world, wanted or "")
            if other is not None and all(other.id != task.id for task in given):
                ways = f"add --split {other.split}, or write --task {name} --variation {other.id.rpartition('/')[2]}"
                raise InputError(f"{wanted} is of the split {other.split}: {ways}") from None
            return choose_task(given, wanted)
    found = world.variation(wanted, variation) if wanted is not None else None
    if found is None:
        raise InputError("--variation goes with --task NAME, in a world whose tasks have variations (scienceworld)")
    return found


def embedded_memory(world: World, split: str | None) -> Path | None:
    """The small memory that a world brings along for its embedded games, where these are played by default."""
    file = world.embedded_memory()
    return Path(file) if file and split is None else None


def choose_task(tasks: Sequence[Task], wanted: str | None) -> Task:
    """A task by its number, by its id or the start of it; the first one by default."""
    if not tasks:
        raise InputError("the split has no tasks")
    if wanted is None:
        return tasks[0]
    if not wanted.strip():
        raise InputError(f"--task {wanted!r} names no task: give a number or an id, or leave it out")
    if wanted.isdecimal() and 1 <= int(wanted) <= len(tasks):
        return tasks[int(wanted) - 1]
    found = [task for task in tasks if task.id == wanted] or [task for task in tasks if task.id.startswith(wanted)]
    if not found:
        raise InputError(f"no task {wanted!r}: give a number from 1 to {len(tasks)} or an id such as {tasks[0].id}")
    return found[0]
