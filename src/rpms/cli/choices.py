"""Meaning of the options that several commands share: settings, memories and tasks, with notes on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rpms.cli.screen import complain
from rpms.core.acting.enforcement import Constrained, Enforcement
from rpms.core.errors import InputError
from rpms.core.recall import EpisodicMemory
from rpms.foreign.json_text import whole_number
from rpms.models.providers import parse_model_name
from rpms.models.windows import context_window
from rpms.play.plan import Terms
from rpms.play.settings import EMBEDDED_MEMORY, Settings
from rpms.play.sources import can_play, idle_parts
from rpms.play.tasks import variation_called
from rpms.store.memories import read_frozen
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world, world_names


def memory_named(text: str) -> Path:
    """A memory by its file, or `embedded` as after --memory: here no world is given, and one alone must bring one."""
    if text != EMBEDDED_MEMORY:
        return Path(text)
    found: dict[str, Path | None] = {}
    for name in world_names():
        with suppress(InputError):  # a world that cannot be loaded, or brings none
            found[name] = Settings(memory=EMBEDDED_MEMORY).memory_file(find_world(name))
    if len(found) != 1:
        raise InputError(f"embedded: worlds that bring a memory: {', '.join(found) or 'none'}; give a file")
    (file,) = found.values()
    assert file is not None
    return file


def make_setting(world: World, data: Path | None, engine: str, options: Sequence[str] | None) -> Setting:
    """The setting that the options describe."""
    if "ray" in engine.split(","):
        raise InputError("--engine names the simulator: add --ray to play on a Ray cluster")
    if engine not in world.engines:
        raise InputError(f"{world.name} has no engine {engine!r}; choose one of {', '.join(world.engines)}")
    pairs: dict[str, str] = {}
    for option in options or ():
        name, equals, value = option.partition("=")
        if not equals or not name:
            raise InputError(f"--option {option!r}: write NAME=VALUE")
        if pairs.setdefault(name, value) != value:
            raise InputError(f"--option {name!r} is given twice, as {pairs[name]!r} and as {value!r}: give it once")
    return Setting(data.absolute() if data else None, engine, pairs)


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


def terms_of(settings: Settings, world: World, model: str, base_url: str | None) -> Terms:
    """The terms of a run, with the room that its model has for knowledge."""
    return settings.terms(world, context_window(model, settings.context, base_url).tokens)


def memory_of(settings: Settings, world: World, model: str) -> EpisodicMemory:
    """The memory that the settings name; none where a condition wants one is an error that says how to learn it."""
    file = settings.memory_file(world, model)
    if file is None:
        return EpisodicMemory(world=world.name)
    return read_frozen(file, world.name)


def note_knowledge(settings: Settings, world: World, model: str, base_url: str | None) -> None:
    """Say what was not given and had to be found elsewhere: a memory, a context window."""
    if settings.condition_value().memory and settings.memory is None:
        complain(f"note: the memory is the one embedded in {world.name}; --memory gives another")
    if note := context_window(model, settings.context, base_url).note:
        complain(f"note: {model}: {note}")


def note_idle_mask(settings: Settings, memory: EpisodicMemory) -> None:
    """Say that --mask hides nothing where there is no memory to hide: such a run cannot be audited."""
    if settings.mask and not settings.condition_value().memory:
        complain("note: --mask hides nothing: memory is off in this condition")
    elif settings.mask and not memory.entries:
        complain("note: --mask hides nothing: the memory is empty")


def named_task(
    world: World,
    tasks: Callable[[Setting], Sequence[Task]],
    setting: Setting,
    wanted: str | None,
    variation: int | None,
) -> Task:
    """A task by number, id or name and variation; by name also one that the split leaves out by default."""
    if variation is None:
        given = tasks(setting)
        try:
            return choose_task(given, wanted)
        except InputError:
            name = (wanted or "").partition("/")[0]
            if not name or name.isdecimal():
                raise
            if "tasks" in world.options:
                given = tasks(replace(setting, options={**setting.options, "tasks": name}))
            other = variation_called(world, wanted or "")
            if other is not None and all(other.split != task.split for task in given):
                ways = f"add --split {other.split}, or write --task {name} --variation {other.id.rpartition('/')[2]}"
                raise InputError(f"{wanted} is of the split {other.split}: {ways}") from None
            return choose_task(given, wanted)
    found = world.variation(wanted, variation) if wanted is not None else None
    if found is None:
        worlds = "a world whose tasks have variations (scienceworld) or seeds (textworld-express)"
        raise InputError(f"--variation goes with --task NAME, in {worlds}")
    return found


def choose_task(tasks: Sequence[Task], wanted: str | None) -> Task:
    """A task by its number, by its id or the start of it, or the first of its type; the first one by default."""
    if not tasks:
        raise InputError("the split has no tasks")
    if wanted is None:
        return tasks[0]
    if not wanted.strip():
        raise InputError(f"--task {wanted!r} names no task: give a number or an id, or leave it out")
    if number := whole_number(wanted, len(tasks)):
        return tasks[number - 1]
    found = (
        [task for task in tasks if task.id == wanted]
        or [task for task in tasks if task.id.startswith(wanted)]
        or [task for task in tasks if task.type == wanted]
    )
    if not found:
        raise InputError(f"no task {wanted!r}: give a number from 1 to {len(tasks)} or an id such as {tasks[0].id}")
    return found[0]
