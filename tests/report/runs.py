"""Real runs of builtin games by a planner that is clumsy: the less it is told, the more often
it slips.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.models.base import Answer, Request
from rpms.models.policy import follow_plan
from rpms.paper.condition import CONDITIONS, Condition
from rpms.paper.memory import FailureLesson, Origin, SuccessSnippet, VerifiedSchema, merge
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

COOL, HEAT = "pick_cool_then_place_in_recep", "pick_heat_then_place_in_recep"
PLACE, LOOK = "pick_and_place_simple", "look_at_obj_in_light"


def memory() -> EpisodicMemory:
    """A little of every kind; some of it is bad advice in most states."""
    entries = []
    for kind in (
        COOL,
        HEAT,
        PLACE,
        LOOK,
        "pick_clean_then_place_in_recep",
        "pick_two_obj_and_place",
    ):
        goal = GoalSignature(kind, "apple", "", "fridge")
        for held in ("holding=none", "holding=apple 1"):
            state = StateSignature.parse(held)
            origins = frozenset({Origin("seen/one", 3), Origin("seen/two", 5)})
            entries.append(
                SuccessSnippet(
                    goal,
                    state,
                    "taken",
                    ("go to countertop 1", "take apple 1 from countertop 1"),
                    origins=origins,
                )
            )
            entries.append(
                SuccessSnippet(
                    goal, state, "placed", ("put apple 1 in/on fridge 1",), origins=origins
                )
            )
            lesson = "be at the place, and it must be open, before taking"
            entries.append(
                FailureLesson(goal, state, "take apple 1 from fridge 1", lesson, origins=origins)
            )
    cool = frozenset({Origin("seen/one", 3)})
    entries.append(
        VerifiedSchema(
            "cool {object} with fridge 1", "cool", ("holding object",), ("cooled",), cool
        )
    )
    return EpisodicMemory(merge(entries), "alfworld")


class Clumsy:
    """The planner with slips, which depend on the task, the step and how much of the prompt is
    knowledge.
    """

    name = "clumsy"

    def __init__(self, odds: float = 0.55, say: str = "") -> None:
        self._odds, self._say = odds, say

    def answer(self, request: Request) -> Answer:
        assert request.decision is not None
        decision = request.decision
        thought, action = follow_plan(decision)
        told = len({block.part.partition(".")[0] for block in decision.prompt.injected()})
        key = f"{request.episode}|{len(decision.prompt.text)}|{decision.belief.signature()}"
        roll = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32
        if roll < self._odds / (1 + told):
            slips = (
                "open fridge 1",
                "take apple 1 from fridge 1",
                "put apple 1 in/on desk 1",
                "examine the void",
            )
            action = slips[int(roll * 997) % len(slips)]
            thought = "This should do it."
        return Answer(f"Thought: {thought}{self._say}\nAction: {action}{self._say}")

    def close(self) -> None:
        """Nothing is held."""


def builtin_tasks(world: World, each: int) -> list[Task]:
    """The first tasks of every type."""
    tasks = world.tasks("builtin", Setting())
    by_type: dict[str, list[Task]] = {}
    for task in tasks:
        by_type.setdefault(task.type, []).append(task)
    return [task for group in by_type.values() for task in group[:each]]


def play_conditions(
    folder: Path,
    each: int = 1,
    conditions: Mapping[str, Condition] = CONDITIONS,
    say: str = "",
    budget: int = 25,
) -> dict[str, Path]:
    """Play some builtin games of every type under each condition; the run folders by condition."""
    world = find_world("alfworld")
    tasks = builtin_tasks(world, each)
    folders = {}
    for name, condition in conditions.items():
        design = design_run(
            world,
            "clumsy",
            lend(Clumsy(say=say)),
            split="builtin",
            tasks=tasks,
            condition=condition,
            memory=memory(),
            step_budget=budget,
        )
        run(design, folder / name)
        folders[name] = folder / name
    return folders
