"""The tasks of one split, played one at a time by commands: what every form in this package is
made of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.worlds.base import REQUEST, Game, Outcome, Setting, Task, World
from rpms.worlds.registry import find_world

_LISTS = 16
"""Lists of tasks kept: many environments of one split ask for the same one."""
_LONGEST_ID = 200
"""Characters of a name that are compared with the names of all tasks, to suggest the nearest
one."""


class EnvTurn(NamedTuple):
    """Result of a command, or of the start of a task."""

    observation: str
    reward: float
    """Rise of the score; a fall is negative. The rewards of an episode add up to its score."""
    score: float
    """On the world's own scale: 0 or 1 in ALFWorld, -100 to 100 in ScienceWorld."""
    won: bool
    terminated: bool
    """The game is over: won, or lost for good."""
    truncated: bool
    """The episode is over because its steps are used up."""

    @property
    def done(self) -> bool:
        return self.terminated or self.truncated


def _check_option(name: str, value: object) -> None:
    """Refuse a value that is neither a text nor a number: clients may send anything that JSON
    has.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, str) or (is_number and abs(value) <= LONGEST_NUMBER):  # type: ignore[arg-type]
        return
    raise InputError(f"the option {name}={excerpt(value, 60)}: give a text or a number")


class Episodes:
    """Plays the tasks of a split. Not for several threads at once; many may live in one process.

    What is left out is the world's own: its first split, its step budget. `data` is a folder of
    game files, `options` are the world's own, such as `{"dialect": "0.4"}` in ALFWorld.
    """

    def __init__(
        self,
        world: str | World,
        split: str | None = None,
        *,
        data: str | Path | None = None,
        engine: str = "native",
        options: Mapping[str, str] | None = None,
        max_steps: int | None = None,
    ) -> None:
        self.world = world_of(world)
        self.split = split or self.world.splits[0]
        if not isinstance(self.split, str):
            raise InputError(f"a split is named by a text, not by {excerpt(split, 60)}")
        if engine not in self.world.engines:
            engines = ", ".join(self.world.engines)
            raise InputError(f"{self.world.name} has no engine {engine!r}; choose one of {engines}")
        given = by_name(options, 'a world\'s options are given by name, such as {"dialect": "0.4"}')
        for name, value in given.items():
            _check_option(name, value)
        steps = self.world.step_budget if max_steps is None else max_steps
        self.max_steps = at_least_one(steps, "episodes of {} steps")
        folder = _folder_of(data)
        self.setting = Setting(folder, engine, {name: str(value) for name, value in given.items()})
        self.world.chosen(self.setting)
        self.tasks = _listed(
            self.world, self.split, folder, engine, tuple(sorted(self.setting.options.items()))
        )
        self.task: Task | None = None
        self.steps = 0
        self._game: Game | None = None
        self._last: EnvTurn | None = None

    def choose(self, wanted: str | int | None = None, seed: int | None = None) -> Task:
        """A task by its id or its place in the split, counted from 0; else one drawn with the
        seed.
        """
        if wanted is None:
            drawn = Random(None if seed is None else int(seed))  # noqa: S311  no secret
            return drawn.choice(self.tasks)
        return self._task_named(wanted) if isinstance(wanted, str) else self._task_at(wanted)

    def _task_named(self, wanted: str) -> Task:
        """The task with an id."""
        ids = {task.id: task for task in self.tasks}
        if wanted not in ids:
            near = get_close_matches(wanted[:_LONGEST_ID], ids, 1, 0.0)
            raise InputError(
                f"no task {excerpt(wanted, 80)} in {self._place}; did you mean {near[0]}?"
            )
        return ids[wanted]

    def _task_at(self, place: int) -> Task:
        """The task at a place in the split."""
        if not is_whole(place):
            raise InputError(
                f"a task is named by its id or its number, not by {excerpt(place, 60)}"
            )
        if not 0 <= place < len(self.tasks):
            raise InputError(
                f"no task {excerpt(place, 60)}: {self._place} has 0 to {len(self.tasks) - 1}"
            )
        return self.tasks[place]

    @property
    def _place(self) -> str:
        """World and split, for messages."""
        return f"{self.world.name}/{self.split}"

    def start(self, task: Task) -> EnvTurn:
        """Begin a task, whether or not the last one is over."""
        self.close()
        self._game = self.world.open(task, self.setting)
        self.task = task
        self.steps = 0
        opening = self._game.reset()
        if request := task.source.get(REQUEST):
            opening = replace(opening, observation=self.world.stating(opening.observation, request))
        return self._turn(opening, 0.0)

    def step(self, command: str) -> EnvTurn:
        """Give the game a command exactly as written: any text may come, what cannot be done is
        answered in words.
        """
        game = self._game
        last = self._last
        if game is None or last is None:
            raise InputError("step before reset: reset the environment first, which starts a task")
        if last.done:
            state = "is over" if last.terminated else f"has used up its {self.max_steps} steps"
            raise InputError(
                f"step after the end: this episode {state}; reset the environment to start another"
            )
        if not isinstance(command, str):
            raise InputError(f"a command is a text, not {type(command).__name__}")
        self.steps += 1
        return self._turn(game.step(command), last.score)

    def _turn(self, outcome: Outcome, before: float) -> EnvTurn:
        used_up = self.steps >= self.max_steps and not outcome.done
        rise = outcome.score - before
        self._last = EnvTurn(
            outcome.observation, rise, outcome.score, outcome.won, outcome.done, used_up
        )
        return self._last

    def admissible(self) -> tuple[str, ...]:
        """Commands that the simulator accepts now, sorted.

        In ScienceWorld this takes as long as 20 steps.
        """
        if self._game is None:
            raise InputError("nothing is admissible before reset: reset the environment first")
        return self._game.admissible()

    def close(self) -> None:
        """Release the game. Calling it twice does no harm."""
        game = self._game
        self._game = None
        self._last = None
        if game is not None:
            game.close()


def world_of(given: str | World) -> World:
    """A world, given as such or by its name; anything else is an InputError."""
    if isinstance(given, str):
        return find_world(given)
    if not isinstance(given, World):
        raise InputError(f"a world is given by its name or as a World, not as {excerpt(given, 60)}")
    return given


def _folder_of(data: str | Path | None) -> Path | None:
    """The folder of game files, by its path."""
    if data is None:
        return None
    if not isinstance(data, str | Path) or "\0" in str(data):
        raise InputError(f"data is the path of a folder of games, not {excerpt(data, 60)}")
    return Path(data).absolute()


def is_whole(value: object) -> bool:
    """True for a number that counts something, of NumPy too; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def seed_of(value: Any) -> int | None:
    """A seed as Python's own number; None for none."""
    if value is None:
        return None
    if not is_whole(value) or value < 0:
        raise InputError(f"a seed is a whole number, 0 or more, not {excerpt(value, 60)}")
    return int(value)


def at_least_one(value: int, what: str) -> int:
    """A number that counts something, so at least 1; `what` is the message for any other value,
    with a place for it.
    """
    if not is_whole(value) or not 1 <= value <= LONGEST_NUMBER:
        raise InputError(f"{what.format(excerpt(value, 60))}: give a whole number, 1 or more")
    return int(value)


def one_each(values: Any, count: int, what: str, of: str) -> None:
    """Refuse anything but a list or array with one value for each of several games."""
    listed = hasattr(values, "__getitem__") and not isinstance(values, str | bytes | Mapping)
    listed = listed and getattr(values, "ndim", 1) > 0  # an array of one number has no length
    if not listed:
        kind = "text" if isinstance(values, str) else type(values).__name__
        raise InputError(f"one {kind} for {of}: give a list, one for each")
    if len(values) != count:
        raise InputError(f"{len(values)} {what} for {of}: give a list, one for each")


def commands_each(values: Any, count: int, of: str) -> None:
    """Refuse what are no commands, one for each of several games."""
    one_each(values, count, "commands", of)
    for value in values:
        if not isinstance(value, str):
            given = excerpt(value, 60)
            raise InputError(f"step() was given {given} as a command: a command is a text")


def by_name(given: object, problem: str) -> dict[str, Any]:
    """Options by their names; none where nothing is given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(problem)
    return dict(given)


@lru_cache(_LISTS)
def _listed(
    world: World, split: str, data: Path | None, engine: str, options: tuple[tuple[str, str], ...]
) -> Sequence[Task]:
    tasks = world.tasks(split, Setting(data, engine, dict(options)))
    if not tasks:
        raise InputError(f"{world.name}: the split {split!r} has no tasks")
    return tuple(tasks)
