"""Hostile requests to environments: what a client of the OpenEnv server may send, and any trainer's code may pass."""

from __future__ import annotations

from random import Random
from typing import Any

from attacks.mutate import NASTY_TEXTS, NASTY_VALUES
from rpms.core.errors import InputError
from rpms.envs.episodes import Episodes
from rpms.worlds.registry import find_world

try:
    from pydantic import ValidationError

    from rpms.envs.openenv import Command, Served, WorldsEnvironment
except ImportError:  # the extra is not installed: what is below it is attacked all the same
    WorldsEnvironment = None  # type: ignore[assignment, misc]

WORLD = find_world("alfworld")
VALUES = (*NASTY_VALUES, 10**5_000, "x" * 900_000)
ARGUMENTS = ("seed", "episode_id", "world", "split", "task", "max_steps", "admissible", "options")


def environment_requests(dice: Random, _folder: object, _samples: object) -> None:
    """A reset with anything in its arguments, and commands after it."""
    asked: dict[str, Any] = {name: dice.choice(VALUES) for name in ARGUMENTS if dice.random() < 0.12}
    if dice.random() < 0.3:
        asked["options"] = {dice.choice(("dialect", *NASTY_TEXTS)): dice.choice(VALUES)}
    commands = [dice.choice(NASTY_TEXTS) for _ in range(3)]
    if WorldsEnvironment is None:
        with Episodes(WORLD, asked.get("split"), options={}, max_steps=asked.get("max_steps")) as episodes:
            episodes.start(episodes.choose(asked.get("task")))
            for command in commands:
                episodes.step(command)
        return
    environment = WorldsEnvironment(Served((WORLD,)))
    try:
        environment.reset(**asked).model_dump_json()
        for command in commands:
            environment.step(Command(command=command)).model_dump_json()
        environment.state.model_dump_json()
    except ValidationError as error:  # as OpenEnv's own server answers it
        raise InputError("not a command") from error
    finally:
        environment.close()
