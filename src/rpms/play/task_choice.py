"""Choice of tasks: by part, type, chance, number or name."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from random import Random
from typing import NamedTuple

from rpms.foreign.json_text import whole_number
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.logic.facts import grouped
from rpms.worlds.base import Setting, Task, World


def read_part(text: str) -> slice:
    """Read `2/3`: the second of three parts that tasks are dealt into like cards, so that each
    part has every type.
    """
    number, _, of = map(whole_number, text.partition("/"))
    if not number or not of or number > of:
        raise ValueError(f"{excerpt(text)!r}: write it like 1/2, the first of two parts")
    return slice(number - 1, None, of)


def first_of_each_type(tasks: Sequence[Task], number: int | None) -> Sequence[Task]:
    """At most so many tasks of each type, in order."""
    if number is None:
        return tasks
    taken: Counter[str] = Counter()
    first = []
    for task in tasks:
        if taken[task.type] < number:
            taken[task.type] += 1
            first.append(task)
    return first


def drawn(tasks: Sequence[Task], number: int | None, seed: int) -> Sequence[Task]:
    """Tasks drawn at random, in their order; a seed draws the same ones on every machine."""
    if number is None or number >= len(tasks):
        return tasks
    places = Random(seed).sample(range(len(tasks)), number)  # noqa: S311  a draw, not a secret
    return [tasks[place] for place in sorted(places)]


def limited(tasks: Sequence[Task], limit: int | None) -> Sequence[Task]:
    """At most `limit` tasks, dealt round-robin over their types, so that a few of them show all; in
    their order.
    """
    if limit is None or limit >= len(tasks):
        return tasks
    if limit < 1:
        raise InputError(f"a limit of {limit} leaves nothing to run")
    by_type = grouped((task.type, place) for place, task in enumerate(tasks)).values()
    dealt = [place for place in chain.from_iterable(zip_longest(*by_type)) if place is not None]
    return [tasks[place] for place in sorted(dealt[:limit])]


class ChosenTasks(NamedTuple):
    """Tasks of a split."""

    tasks: Sequence[Task]
    setting: Setting
    """The setting, which says what was chosen where the world has an option for it."""


def tasks_named(
    world: World, split: str, setting: Setting, wanted: Sequence[str] | None
) -> ChosenTasks:
    """The tasks of a split that go by some names, or all of them."""
    if not wanted:
        return ChosenTasks(world.tasks(split, setting), setting)
    names = _names_in(wanted)
    if "tasks" in world.options:  # such a world leaves some tasks out unless they are named
        setting = _naming_tasks(setting, names)
    every = world.tasks(split, setting)
    chosen: set[str] = set()
    for name in names:
        called_so = [task.id for task in every if _goes_by(task, name)]
        if not called_so:
            raise _no_such_task(world, split, name, every)
        chosen.update(called_so)
    return ChosenTasks([task for task in every if task.id in chosen], setting)


def _naming_tasks(setting: Setting, names: Iterable[str]) -> Setting:
    """The setting with the tasks of these names in its option `tasks`."""
    kinds: dict[str, None] = {}
    for name in names:
        kind, _, _ = name.partition("/")
        kinds[kind] = None
    return replace(setting, options={**setting.options, "tasks": ",".join(kinds)})


def _names_in(wanted: Sequence[str]) -> list[str]:
    """Names with commas between them, in one text or in several."""
    words = map(str.strip, ",".join(wanted).split(","))
    names = list(filter(None, words))
    if not names:
        raise InputError(
            f"--task {wanted[0]!r} names no task: give types, names or ids, or leave it out"
        )
    return names


def _no_such_task(world: World, split: str, name: str, every: Iterable[Task]) -> InputError:
    """Words for a task that is not in the split: the split that has it, or else the types of tasks
    that there are.
    """
    other = variation_called(world, name)
    if other is not None and other.split != split:
        return InputError(
            f"{name} is of the split {other.split}, not of {split}: add --split {other.split}"
        )
    types = ", ".join(sorted({task.type for task in every}))
    return InputError(f"no task {name!r} in {split}: give an id, or a type out of {types}")


def place_of(ids: Sequence[str], wanted: str) -> int | None:
    """The place of a task in a list: by its number, its id, or the start of it."""
    number = whole_number(wanted, len(ids))
    if number:
        return number - 1
    if wanted in ids:
        return ids.index(wanted)
    for place, id_ in enumerate(ids):
        if wanted and id_.startswith(wanted):
            return place
    return None


def variation_called(world: World, text: str) -> Task | None:
    """The task that `name/number` means in a world of variations, of whatever split."""
    name, _, number = text.partition("/")
    # the most variations that a world has are some hundreds
    found = whole_number(number, 1_000_000)
    return world.variation(name, found) if found is not None else None


def _goes_by(task: Task, name: str) -> bool:
    return name in (task.type, task.id) or ("/" not in name and task.id.startswith(name))
