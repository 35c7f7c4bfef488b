"""Gymnasium environments: one id for each installed world, such as `rpms/ALFWorld-v0`; text in,
text out.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rpms.envs.env_episodes import (
    EnvTurn,
    Episodes,
    at_least_one,
    by_name,
    commands_each,
    is_whole,
    one_each,
    seed_of,
)
from rpms.foreign.limits import LONGEST_OBSERVATION
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.worlds.base import REQUEST, World
from rpms.worlds.registry import world_names

try:
    import gymnasium
    from gymnasium.error import CustomSpaceError
    from gymnasium.spaces import Text
    from gymnasium.vector import SyncVectorEnv
    from gymnasium.vector.utils import create_shared_memory
except ImportError:
    raise ImportError("rpms.envs.gym needs Gymnasium: pip install 'rpms[gym]'") from None

LONGEST_COMMAND = 1_000

_TITLES = {
    "alfworld": "ALFWorld",
    "scienceworld": "ScienceWorld",
    "textworld-express": "TextWorldExpress",
}
"""Spelling of names of worlds that the entry point does not tell."""
_OPTIONS = "there are task (an id or a number) and goal (what is wanted, in your own words)"
"""Options of a reset."""


class AnyText(Text):
    """Texts of any characters up to a length. Samples are printable ASCII."""

    def __init__(self, max_length: int) -> None:
        super().__init__(max_length, min_length=0, charset=string.printable)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length


@create_shared_memory.register(AnyText)
def _no_shared_memory(*_: Any, **__: Any) -> None:
    """Texts do not fit Gymnasium's shared memory, which fills them up and knows listed
    characters alone.
    """
    raise CustomSpaceError("texts are not shared between processes: give shared_memory=False")


class WorldEnv(gymnasium.Env[str, str]):
    """One game at a time. The arguments are those of `Episodes`, and whether infos list what is
    admissible.

    The reward is what the world's score rose by. A seed draws the task, the same on every machine;
    `reset(options={"task": …})` names one by its id or its number, and `{"goal": …}` puts another
    goal in its opening.
    """

    def __init__(
        self,
        world: str | World = "alfworld",
        split: str | None = None,
        *,
        admissible: bool = False,
        **settings: Any,
    ) -> None:
        self.episodes = Episodes(world, split, **settings)
        self.observation_space = AnyText(LONGEST_OBSERVATION)
        self.action_space = AnyText(LONGEST_COMMAND)
        self._admissible = admissible

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed_of(seed))
        given = by_name(options, f"options are given by name; {_OPTIONS}")
        for unknown in given.keys() - {"task", "goal"}:
            raise InputError(f"reset has no option {excerpt(unknown, 60)}; {_OPTIONS}")
        wanted = given.get("task")
        if wanted is None:
            wanted = int(self.np_random.integers(len(self.episodes.tasks)))
        task = self.episodes.choose(wanted)
        goal = given.get("goal", "")
        if not isinstance(goal, str):
            raise InputError(f"a goal is a text, not {excerpt(goal, 60)}")
        if goal.strip():
            task = replace(task, source={**task.source, REQUEST: goal})
        turn = self.episodes.start(task)
        return turn.observation, self._info(turn)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        turn = self.episodes.step(action)
        return turn.observation, turn.reward, turn.terminated, turn.truncated, self._info(turn)

    def _info(self, turn: EnvTurn) -> dict[str, Any]:
        episodes = self.episodes
        assert episodes.task is not None
        info = {
            "task": episodes.task.id,
            "type": episodes.task.type,
            "score": float(turn.score),
            "won": turn.won,
        }
        listed = {"admissible_commands": list(episodes.admissible())} if self._admissible else {}
        return {**info, "steps": episodes.steps, **listed}

    def admissible_commands(self) -> tuple[str, ...]:
        """Commands accepted now, for those who ask seldom:
        `env.unwrapped.admissible_commands()`.
        """
        return self.episodes.admissible()

    def close(self) -> None:
        self.episodes.close()


class WorldVectorEnv(SyncVectorEnv):
    """Many games in one process and thread, for `gymnasium.make_vec`.

    Arguments are checked before any is stepped.
    """

    def __init__(self, num_envs: int = 1, *args: Any, **settings: Any) -> None:
        made = [
            WorldEnv(*args, **settings) for _ in range(at_least_one(num_envs, "{} environments"))
        ]
        # each call gives the next one
        super().__init__([iter(made).__next__] * len(made), copy=False)
        self.games = [env.episodes for env in made]

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Start a task in each: `seed` for the first, one more for each other, or a list of
        seeds.
        """
        seeds: Any = [None] * self.num_envs if seed is None else seed
        if is_whole(seeds):
            first = int(seeds)
            seeds = [first + place for place in range(self.num_envs)]
        one_each(seeds, self.num_envs, "seeds", f"{self.num_envs} environments")
        return super().reset(
            seed=[seed_of(each) for each in seeds],
            options=by_name(options, f"options are given by name; {_OPTIONS}"),
        )

    def step(self, actions: Sequence[str]) -> tuple[tuple[str, ...], Any, Any, Any, dict[str, Any]]:
        commands_each(actions, self.num_envs, f"{self.num_envs} environments")
        return super().step(tuple(actions))


def env_id(world: str) -> str:
    """The id of an installed world: `rpms/ALFWorld-v0` for alfworld, `rpms/MyWorld-v0` for
    my_world.
    """
    title = _TITLES.get(world, "")
    if not title:
        for word in re.split(r"[\W_]+", world):
            title += word[:1].upper() + word[1:]
    return f"rpms/{title}-v0"


def register_worlds() -> tuple[str, ...]:
    """Register every installed world that is not yet; their ids. Importing this module does it."""
    ids = {env_id(name): name for name in world_names()}
    for name, world in ids.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="rpms.envs.gym:WorldEnv",
                vector_entry_point="rpms.envs.gym:WorldVectorEnv",
                kwargs={"world": world},
            )
    return tuple(ids)


register_worlds()
