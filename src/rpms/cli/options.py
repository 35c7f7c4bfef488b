"""Values made of options that several commands take, checked; and notes about them."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rpms.cli.screen import complain
from rpms.logic.errors import InputError, nearest
from rpms.models.catalogue import NO_PROMPT, ModelOptions, parse_model_name
from rpms.models.windows import Window
from rpms.paper.enforcement import Constrained, Enforcement
from rpms.paper.recall import EpisodicMemory
from rpms.parts import unused
from rpms.play.design import RunDesign
from rpms.play.settings import Settings
from rpms.play.sources import can_play, idle_parts
from rpms.play.task_choice import place_of, variation_called
from rpms.store.memories import read_frozen
from rpms.worlds.base import Setting, Task, World


def refuse_folders(*files: Path | None) -> None:
    """Refuse a folder where a file is to be written, before anything is computed."""
    for file in files:
        if file is not None and (not file.name or os.path.isdir(file)):  # noqa: PTH112  never raises
            raise InputError(f"{str(file)!r}: is a folder; give the file to write")


def make_setting(
    world: World, data: Path | None, engine: str, options: Sequence[str] | None
) -> Setting:
    """The setting that the options describe."""
    if "ray" in engine.split(","):
        raise InputError("--engine names the simulator: add --ray to play on a Ray cluster")
    if engine not in world.engines:
        raise InputError(f"{world.name} has no engine {engine!r}; {nearest(engine, world.engines)}")
    setting = Setting(data.absolute() if data else None, engine, _read_pairs(options or ()))
    world.chosen(setting)  # refuses options that the world does not have
    return setting


def _read_pairs(options: Iterable[str]) -> dict[str, str]:
    """The values of `--option NAME=VALUE`, by name."""
    values: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name:
            raise InputError(f"--option {option!r}: write NAME=VALUE")
        if values.setdefault(name, value) != value:
            raise InputError(
                f"--option {name!r} is given twice, as {values[name]!r} and as {value!r}: give it"
                " once"
            )
    return values


def require_menu(enforcement: Enforcement, model: str) -> None:
    """Raise InputError, before anything starts, if the model chooses from a menu and there is
    none.
    """
    name = parse_model_name(model).provider.name
    if not can_play(enforcement, model):
        raise InputError(
            f"{name} chooses from a menu, and there is none: add --preset strict or --enforce"
            " menu=5"
        )


def note_idle_parts(world: World, enforcements: Sequence[Enforcement], model: str = "") -> None:
    """Say once which parts of the enforcement can do nothing in a world, or with a model's kind of
    server.
    """
    words = [*idle_parts(world, *enforcements)]
    provider = parse_model_name(model).provider if model else None
    if provider and provider.base_url_variable and not provider.forms:
        free = f"{provider.name} cannot hold actions to a menu or grammar: they stay free"
        words += [free for each in enforcements if each.constrained is Constrained.AUTO]
    complain(*(f"note: {each}" for each in words))


def memory_of(settings: Settings, world: World, model: str) -> EpisodicMemory:
    """The memory that the settings name; none where a condition wants one is an error that says
    how to learn it.
    """
    file = settings.memory_file(world, model)
    return EpisodicMemory(world=world.name) if file is None else read_frozen(file, world.name)


def note_knowledge(settings: Settings, design: RunDesign, window: Window) -> None:
    """Say what was not given and was taken from elsewhere, and that --mask hides nothing if nothing
    is recalled.
    """
    remembers = design.condition.memory
    if remembers and settings.memory is None:
        complain(
            f"note: the memory is the one embedded in {design.world.name}; --memory gives another"
        )
    if window.note:
        complain(f"note: {design.model_name}: {window.note}")
    if settings.mask and not (remembers and design.memory.entries):
        why = "the memory is empty" if remembers else "memory is off in this condition"
        complain(f"note: --mask hides nothing: {why}")
    empty = not design.memory.entries
    silent = silent_model(design.model_name)
    never = unused(design.sources.seams, design.condition, empty=empty, silent=silent)
    complain(*(f"note: {words}" for words in never))
    note_idle_parts(design.world, [design.condition.enforcement], design.model_name)


def silent_model(model: str) -> str:
    """The model's name, if its answers do not depend on a prompt's words."""
    return model if parse_model_name(model).provider.backend in NO_PROMPT else ""


def named_task(
    world: World, split: str, setting: Setting, wanted: str | None, variation: int | None
) -> Task:
    """A task by number, id or name and variation; by name also one that the split leaves out by
    default.
    """
    if variation is not None:
        return _variation(world, wanted, variation)
    try:
        return choose_task(world.tasks(split, setting), wanted)
    except InputError:
        name = (wanted or "").partition("/")[0]
        if not name or name.isdecimal():
            raise
        return _left_out_task(world, split, setting, wanted or "", name)


def _variation(world: World, wanted: str | None, variation: int) -> Task:
    found = world.variation(wanted, variation) if wanted is not None else None
    if found is None:
        worlds = "a world whose tasks have variations (scienceworld) or seeds (textworld-express)"
        raise InputError(f"--variation goes with --task NAME, in {worlds}")
    return found


def _left_out_task(world: World, split: str, setting: Setting, wanted: str, name: str) -> Task:
    """A task that a split leaves out unless it is named; one of another split is an InputError."""
    if "tasks" in world.options:
        setting = replace(setting, options={**setting.options, "tasks": name})
    given = world.tasks(split, setting)
    other = variation_called(world, wanted)
    if other is not None and all(other.split != task.split for task in given):
        ways = (
            f"add --split {other.split}, or write --task {name} --variation"
            f" {other.id.rpartition('/')[2]}"
        )
        raise InputError(f"{wanted} is of the split {other.split}: {ways}") from None
    return choose_task(given, wanted)


def choose_task(tasks: Sequence[Task], wanted: str | None) -> Task:
    """A task by its number, by its id or the start of it, or the first of its type; the first
    one by default.
    """
    if not tasks:
        raise InputError("the split has no tasks")
    if wanted is None:
        return tasks[0]
    if not wanted.strip():
        raise InputError(
            f"--task {wanted!r} names no task: give a number or an id, or leave it out"
        )
    place = place_of([task.id for task in tasks], wanted)
    if place is not None:
        return tasks[place]
    for task in tasks:
        if task.type == wanted:
            return task
    raise InputError(
        f"no task {wanted!r}: give a number from 1 to {len(tasks)} or an id such as {tasks[0].id}"
    )


def model_options(base_url: str | None, timeout: float | None = None) -> ModelOptions:
    """Options that reach a model; a slow server gets the time it was given."""
    usual = ModelOptions(base_url=base_url)
    if timeout is None:
        return usual
    whole = max(usual.patience.whole, 2.5 * timeout)
    total = max(usual.patience.total, 2 * whole)
    patience = replace(usual.patience, timeout=timeout, whole=whole, total=total)
    return replace(usual, patience=patience)
