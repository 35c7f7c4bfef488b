"""Tickets of the train split, for tests. Nothing here looks at a task of test."""

from __future__ import annotations

from functools import cache

import pytest
from tau2_telecom_world import world

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting

pytest.importorskip("inspect_evals", reason="needs τ²-bench: pip install inspect-evals")

__all__ = ["TASKS", "followed", "mind", "opened", "task_with", "told", "world"]

TASKS = world.tasks("train", Setting())


def task_with(*parts: str):
    """The first train task whose id has all of some parts."""
    return next(task for task in TASKS if all(part in task.id for part in parts))


def opened(*parts: str):
    game = world.open(task_with(*parts), Setting())
    game.reset()
    return game


@cache
def mind():
    return compose(FULL, knowledge_of(world), EpisodicMemory())


def followed(task):
    """The episode of whoever follows the plans."""
    game = world.open(task, Setting())
    return play(
        Play(
            Player(world, mind(), PolicyModel("planner", follow_plan), Decoding()),
            game,
            task,
            world.step_budget,
        )
    )


def told(*turns: tuple[str | None, str]):
    """The belief after some texts: the opening, then each call with its answer."""
    goal = world.goal(turns[0][1])
    belief = world.start(goal)
    for action, said in turns:
        belief = world.update(belief, action, said)
    return belief
