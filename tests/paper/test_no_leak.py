"""ScienceWorld under the paper's manual: a prompt says nothing that manual, goal and
observations did not give.
"""

from __future__ import annotations

import os
import re

import pytest

from rpms.learning.corrective_rules import gerund
from rpms.learning.harvest import harvest
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS
from rpms.paper.decide import decide
from rpms.paper.memory import merge
from rpms.paper.prompt import Part, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.paper.wording import schema_lines
from rpms.play.seats import Play, play
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of, manual_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("scienceworld")
STEPS = 60 if "RPMS_SLOW" in os.environ else 4
TASKS = list(WORLD.tasks("train", Setting(options={"per_task": "1"})))
TOLD = (Part.GOAL, Part.BELIEF, Part.MEMORY)
WORD = re.compile(r"[a-z]{3,}")
LABELS = (
    "current objective state room unknown carrying nothing progress step past experience learned from history avoid "
    "rule critical verified needs effects warning still find focus move measure create grow determine identify turn must not "
    "before and one that can which will with covers ended the task for good such make sure asks goes against inventory then right"
)
"""Words of the blocks' own form, and the names of steps that a goal's sentence asks for."""


def words(text: str) -> set[str]:
    return {word.rstrip("s") for word in WORD.findall(text.casefold().replace("_", " "))}


def given_by_manual() -> set[str]:
    manual = manual_of(WORLD, Settings().sources(WORLD).manual)
    texts = [rule.text for rule in manual.rules] + [
        schema_lines(action) for action in manual.actions
    ]
    texts += [f"{each.yes} {each.no} {each.name}" for each in manual.predicates.values()]
    texts += [
        f"{syntax} {gerund(action.name)}" for action in manual.actions for syntax in action.syntax
    ]
    return words(" ".join(texts))


MANUAL = given_by_manual()


def mind_of(condition: str, memory: EpisodicMemory):
    given = Settings.read({"condition": condition})
    return compose(given.condition_value(), knowledge_of(WORLD, given.sources(WORLD)), memory)


def played(task):
    """A few steps of the planner, under Rules-only."""
    game = WORLD.open(task, Setting())
    try:
        model, mind = PolicyModel("planner", follow_plan), mind_of("rules-only", EpisodicMemory())
        return play(Play(Player(WORLD, mind, model, Decoding()), game, task, STEPS))
    finally:
        game.close()


def again(episode, condition: str, memory: EpisodicMemory):
    """The same steps as another condition would be asked about them."""
    mind, history, action = mind_of(condition, memory), [], None
    belief = WORLD.start(episode.steps[0].decision.goal)
    for step in episode.steps:
        decision = decide(mind, step.decision.goal, belief, action, step.observation, history)
        yield step, decision
        belief, action = decision.belief, step.command
        history.append(Turn(step.observation, action, failed=step.infeasible))


@pytest.mark.skipif(bool(WORLD.not_installed()), reason=WORLD.not_installed())
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.type)
def test_no_word_is_told_that_manual_goal_or_observations_did_not_give(task):
    assert len(TASKS) == 26
    episode = played(task)
    memory = EpisodicMemory(
        merge(harvest(episode, manual_of(WORLD, Settings().sources(WORLD).manual)))
    )
    learned = words(" ".join(step.observation for step in episode.steps))
    told = {}
    for name in CONDITIONS:
        told[name] = []
        seen = set(learned) if CONDITIONS[name].memory else set()
        for step, decision in again(episode, name, memory):
            seen |= words(step.observation)
            blocks = [block for block in decision.prompt.blocks if block.part in TOLD]
            strange = (
                words("\n".join(block.text for block in blocks)) - seen - MANUAL - words(LABELS)
            )
            assert not strange, (name, step.number, strange)
            told[name].append([block.text for block in blocks if block.part is not Part.MEMORY])
    assert told["baseline"] == [[] for _ in episode.steps]
    assert told["rules-only"] == told["memory-only"] == told["full"]


@pytest.mark.parametrize("settings", [{}, {"tiers": "universal,environment"}, {"manual": "own"}])
def test_the_first_objective_of_appendix_d_is_to_find_water(settings, tmp_path):
    if settings.get("manual"):
        (tmp_path / "own.yaml").write_text("domain:\n  mine:\n    D-MINE-001: Boil it.\n")
        settings = {"manual": tmp_path / "own.yaml"}
    opening = (
        "Your task is to boil water. For compounds without a boiling point, combusting the substance is also fine. "
        "First, focus on the substance. Then, take actions that will cause it to change its state of matter.\n\n"
        "This room is called the hallway. In it, you see: \n\tthe agent\n"
    )
    for name in ("rules-only", "memory-only", "full"):
        given = Settings.read({"condition": name, **settings})
        mind = compose(
            given.condition_value(), knowledge_of(WORLD, given.sources(WORLD)), EpisodicMemory()
        )
        goal = WORLD.goal(opening)
        text = decide(mind, goal, WORLD.start(goal), None, opening, ()).prompt.text
        assert "[Current Objective] find water" in text
        assert "Progress: step 0" in text
