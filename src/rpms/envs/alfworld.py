"""ALFWorld's own environment class on the native engine: a loop written for the original changes
one import.

Games are dealt in the original's order, and the texts and infos are the original's.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random, SystemRandom
from typing import Any, NamedTuple, TypeVar

from rpms.envs.env_episodes import at_least_one, commands_each, is_whole
from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import game_files, known_dialect, load_game
from rpms.worlds.alfworld.goals import TASK_TYPES, goal_condition_rate

_NUMBERED = dict(enumerate(TASK_TYPES, 1))
"""The task types by the numbers that configurations give them."""

_FOLDERS = {
    "train": ("data_path", "$ALFWORLD_DATA/json_2.1.1/train"),
    "eval_in_distribution": ("eval_id_data_path", "$ALFWORLD_DATA/json_2.1.1/valid_seen"),
    "eval_out_of_distribution": ("eval_ood_data_path", "$ALFWORLD_DATA/json_2.1.1/valid_unseen"),
}
"""The entry of a configuration that names the folder of each part, and the official place of it."""

_STEPS = {"dqn": "rl", "dagger": "dagger"}
"""The section of a configuration that holds the number of steps of an episode, by the training
method."""

_SEED = 1234
"""Seed of the original's shuffle, until `seed` is called."""

Observations = tuple[str, ...]
Infos = dict[str, list[Any]]


class _Slot(NativeGame):
    """One game of a batch."""

    def __init__(self, file: str, dialect: str) -> None:
        super().__init__(load_game(file, dialect))
        self._rated = goal_condition_rate(self._engine)
        self.last = self.reset()
        self.steps = 0
        self.done = False

    def rate(self) -> float:
        return self._rated(self._state)


class AlfredBatchEnv:
    """Some games played side by side, each step one command for each; a game that is over stays
    as it ended.
    """

    def __init__(
        self, game_files: Sequence[str], batch_size: int = 1, max_steps: int = 50, dialect: str = ""
    ) -> None:
        self.gamefiles = list(game_files)
        self.batch_size = at_least_one(batch_size, "a batch of {} games")
        self._max_steps = at_least_one(max_steps, "episodes of {} steps")
        self._dialect = dialect
        self._slots: list[_Slot] = []
        self.seed(_SEED)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Deal the games anew."""
        if seed is not None and not is_whole(seed):
            raise InputError(f"a seed is a whole number, not {excerpt(seed, 60)}")
        self._games = dealt(self.gamefiles, seed)
        return [seed]

    def skip(self, nb_games: int = 1) -> None:
        """Leave out games."""
        if not is_whole(nb_games) or nb_games < 0:
            raise InputError(f"skip {excerpt(nb_games, 60)} games: give a whole number")
        for _ in range(nb_games):
            next(self._games)

    def reset(self) -> tuple[Observations, Infos]:
        """Start the next games."""
        files = [next(self._games) for _ in range(self.batch_size)]
        self._slots = [_Slot(file, self._dialect) for file in files]
        return self._observed(files)

    def step(
        self, commands: Sequence[str]
    ) -> tuple[Observations, tuple[int, ...], tuple[bool, ...], Infos]:
        """Give each game its command.

        `extra.gamefile` is told at reset alone, as in the original.
        """
        slots = self._slots
        if not slots:
            raise InputError("step() before reset(): call reset() first, which starts the games")
        commands_each(commands, len(slots), f"a batch of {len(slots)}")
        for slot, command in zip(slots, commands, strict=True):
            if not slot.done:
                slot.last = slot.step(command)
                slot.steps += 1
                slot.done = slot.last.won or slot.steps >= self._max_steps
        observations, infos = self._observed([None] * len(slots))
        won = tuple([int(slot.last.won) for slot in slots])
        done = tuple([slot.done for slot in slots])
        return observations, won, done, infos

    def _observed(self, files: Sequence[str | None]) -> tuple[Observations, Infos]:
        slots = self._slots
        observations = tuple([slot.last.observation for slot in slots])
        infos: Infos = {
            "won": [slot.last.won for slot in slots],
            "admissible_commands": [list(slot.admissible()) for slot in slots],
            "extra.gamefile": list(files),
            # not in the original's text form
            "goal_condition_success_rate": [slot.rate() for slot in slots],
        }
        return observations, infos

    def close(self) -> None:
        """Let go of the games; `reset` starts new ones."""
        self._slots = []


class AlfredTWEnv:
    """The games of one part, as a configuration chooses them; `init_env` plays them in batches.

    `config` is the original's, read from its YAML; what it leaves out is as in the original's own
    configuration. `dialect` plays every game in 0.3 (put … in/on) or 0.4 (move … to); by default
    each keeps its own.
    """

    def __init__(
        self, config: Mapping[str, Any], train_eval: str = "train", *, dialect: str = ""
    ) -> None:
        if not isinstance(config, Mapping):
            raise InputError(
                f"config is {excerpt(config, 60)}: give what the original's YAML holds, entries by"
                " name"
            )
        if not isinstance(train_eval, str) or train_eval not in _FOLDERS:
            raise InputError(
                f"no part {excerpt(train_eval, 60)!r}: train_eval is one of {', '.join(_FOLDERS)}"
            )
        known_dialect(dialect)
        self.config = config
        self.train_eval = train_eval
        self.dialect = dialect
        if _entry(config, 0.0, "env", "goal_desc_human_anns_prob") > 0:
            warnings.warn(
                "goal_desc_human_anns_prob does nothing: games are played as they are", stacklevel=2
            )
        if train_eval == "train" and _entry(config, False, "env", "domain_randomization"):
            raise InputError(
                "domain_randomization is not supported: set it to false, and names stay as in the"
                " games"
            )
        self.game_files = self._collected()
        self.num_games = len(self.game_files)

    def _collected(self) -> list[str]:
        """The game files in the order of the original, which is that of the disk."""
        key, usual = _FOLDERS[self.train_eval]
        folder = os.path.expandvars(str(_entry(self.config, usual, "dataset", key)))
        if not os.path.isdir(folder):  # noqa: PTH112  no name makes it raise
            raise InputError(
                f"dataset.{key}: no folder {excerpt(folder)}; set ALFWORLD_DATA, or name the folder"
                " in the config"
            )
        types = self._types()
        found = [path for path, kind in game_files(folder) if kind in types]
        if not found:
            raise InputError(
                f"dataset.{key}: no games of the types {', '.join(sorted(types)) or '(none)'} in"
                f" {folder}"
            )
        played = "train" if self.train_eval == "train" else "eval"
        limit = _entry(self.config, -1, "dataset", f"num_{played}_games")
        return found[:limit] if limit > 0 else found

    def _types(self) -> set[str]:
        """The types of tasks that the configuration asks for, by their numbers."""
        numbers = _entry(self.config, list(_NUMBERED), "env", "task_types")
        return {_NUMBERED[number] for number in numbers if number in _NUMBERED}

    def init_env(self, batch_size: int) -> AlfredBatchEnv:
        """An environment that plays so many games at once."""
        method = _entry(self.config, "dagger", "general", "training_method")
        if method not in _STEPS:
            raise InputError(
                f"general.training_method is {method!r}: choose one of {', '.join(_STEPS)}"
            )
        steps = _entry(self.config, 50, _STEPS[method], "training", "max_nb_steps_per_episode")
        return AlfredBatchEnv(self.game_files, batch_size, steps, self.dialect)


def _entry(config: Mapping[str, Any], usual: Any, *path: str) -> Any:
    """An entry of a configuration, or what the original's own has there."""
    found: Any = config
    for name in path:
        if not isinstance(found, Mapping):
            raise InputError(
                f"config: {'.'.join(path)} cannot be read: what stands before {name} holds no"
                " entries"
            )
        if name not in found:
            return usual
        found = found[name]
    kind = next(kind for kind in _KINDS if isinstance(usual, kind.type))
    if not kind.fits(found):
        raise InputError(f"config: {'.'.join(path)} is {excerpt(found, 60)}: give {kind.words}")
    return found


class _Kind(NamedTuple):
    """A kind of entries."""

    type: type
    """The type of its default."""
    words: str
    fits: Callable[[Any], bool]
    """True for a value that it may have."""


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool) or value in (0, 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= LONGEST_NUMBER


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_whole(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(is_whole, value))


_KINDS = (
    _Kind(bool, "true or false", _is_switch),
    _Kind(int, "a whole number", is_whole),
    _Kind(float, "a number", _is_number),
    _Kind(str, "a text", _is_text),
    _Kind(list, "a list of whole numbers", _are_whole),
)


Item = TypeVar("Item")

_WORDS = 624
"""Words of the Mersenne Twister's state; Python's generator is the same one, started in another
way."""
_WORD = 0xFFFFFFFF
_PYTHON_STATE = 3
"""The version of the states that Python's generator gives and takes."""


def dealt(items: Sequence[Item], seed: int | None) -> Iterator[Item]:
    """Deal the items without end; the same seed deals as `numpy.random.RandomState(seed)` would."""
    if seed is None:
        seed = SystemRandom().getrandbits(32)
    if not 0 <= seed <= _WORD:
        raise InputError(f"a seed of {seed}: give a number from 0 to {_WORD}")
    state = [seed]
    for place in range(1, _WORDS):
        last = state[-1]
        state.append((1812433253 * (last ^ last >> 30) + place) & _WORD)
    words = Random()  # noqa: S311  games are dealt, not secrets
    words.setstate((_PYTHON_STATE, (*state, _WORDS), None))
    return _shuffled(list(items), words)


def _shuffled(order: list[Item], words: Random) -> Iterator[Item]:
    while order:
        for last in range(len(order) - 1, 0, -1):
            mask = (1 << last.bit_length()) - 1
            while (other := words.getrandbits(32) & mask) > last:
                pass
            order[last], order[other] = order[other], order[last]
        yield from order
