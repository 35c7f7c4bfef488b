"""TRL: an `environment_factory` for its trainers, in process. TRL itself is not imported here."""

import re
import weakref
from collections.abc import Callable
from typing import Any

from rpms.envs.env_episodes import Episodes, at_least_one, world_of
from rpms.play.methods import BOTH
from rpms.worlds.base import World

_WRITTEN = re.compile(
    BOTH.replace(" ", r"\s+") + r" ([^,\n]+), in this form:\nThought:.*\nAction: *(.*)\n"
)
"""Phrases by which a world's instruction asks for a written answer."""


class TaskEnvironment:
    """One episode at a time, as TRL's trainers play: `reset` with a row of the data, `act`, then
    `get_reward`.

    TRL gives the model every other public method as a tool: here that is `act` alone.
    """

    def __init__(self, episodes: Episodes) -> None:
        self._episodes = episodes
        self._score = 0.0
        weakref.finalize(self, episodes.close)

    def reset(self, task: str | int | None = None, seed: int | None = None, **_: Any) -> str:
        """Start the task that a row names, or one that its seed draws; returns the first
        observation.
        """
        turn = self._episodes.start(self._episodes.choose(task, seed))
        self._score = turn.score
        return turn.observation

    def act(self, command: str) -> str:
        """Give the world one command and read what happens.

        Args:
            command: The command, exactly as the world takes it.

        Returns:
            The world's answer.
        """
        turn = self._episodes.step(command)
        self._score = turn.score
        if not turn.done:
            return turn.observation
        ending = (
            "You have done the task." if turn.won else "The episode is over; the task is not done."
        )
        return f"{turn.observation}\n{ending}"

    def get_reward(self) -> float:
        """The score so far, on the world's own scale: 0 or 1 in ALFWorld, -100 to 100 in
        ScienceWorld.
        """
        return self._score


def environment_factory(
    world: str | World, split: str | None = None, **settings: Any
) -> Callable[[], TaskEnvironment]:
    """Make the factory that TRL calls for each rollout; `settings` are those of `Episodes`."""
    found = world_of(world)
    Episodes(found, split, **settings)
    return lambda: TaskEnvironment(Episodes(found, split, **settings))


def prompts(
    world: str | World, split: str | None = None, limit: int | None = None, **settings: Any
) -> list[dict[str, Any]]:
    """Rows of a data set: the world's instruction, and a task's id, so that all answers to one
    prompt play one game.
    """
    episodes = Episodes(world, split, **settings)
    if limit is not None:
        at_least_one(limit, "a limit of {} leaves no rows")
    messages = [
        {"role": "system", "content": _asking_for_calls(episodes.world.wording.instruction)},
        {
            "role": "user",
            "content": (
                "Use the tool `act` for each command, one at a time, until the task is done.\n\n"
            ),
        },
    ]
    return [{"prompt": messages, "task": task.id} for task in episodes.tasks[:limit]]


def _asking_for_calls(instruction: str) -> str:
    """An instruction that asks for calls of the tool where it asked for a thought and an action
    in writing.
    """

    def by_calling(written: re.Match[str]) -> str:
        what, form = written.groups()
        shown = "" if form.startswith("your ") else f", such as {form}"
        return f"one {what}, by calling the tool `act` with it{shown}.\n"

    return _WRITTEN.sub(by_calling, instruction, count=1)
