"""Doubt where the manual is sound: what nobody has seen yet is looked for, and nothing is doubted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT, with_part
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.planning.surprise import SurpriseKind
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.play.understanding import Understood
from rpms.worlds.alfworld import world as alfworld
from rpms.worlds.base import Setting, World
from tests.planning import maze


def played(world: World, task: str, *, doubt: bool, old: str = "", new: str = "") -> Episode:
    """Play a task by its plans, with a line of the manual changed."""

    class Changed(type(world)):  # type: ignore[misc]
        def manual(self):
            ((name, text),) = super().manual()
            assert old in text
            return ((name, text.replace(old, new)),)

    changed = Changed()
    condition = replace(RULES_ONLY, enforcement=with_part(STRICT, "doubt", doubt))
    mind = compose(condition, knowledge_of(changed), EpisodicMemory())
    (found,) = [one for one in changed.tasks("all", Setting()) if one.id == task]
    player = Player(changed, mind, open_model("planner"), Decoding())
    return play(Play(player, changed.open(found, Setting()), found, changed.step_budget))


@pytest.mark.parametrize("task", maze.MAZES)
def test_where_nothing_has_a_name_yet_exploring_comes_before_doubting(task):
    trusting = played(maze.world, task, doubt=False)
    doubting = played(maze.world, task, doubt=True)
    assert trusting.won
    assert [step.command for step in doubting.steps] == [step.command for step in trusting.steps]
    assert not any(step.surprises for step in doubting.steps)


def test_stranded_is_said_once_nothing_is_left_to_look_at():
    """The coin cannot be taken by any line: no room that is found could change that."""
    lost = played(maze.world, "row", doubt=True, old="effects: [holding(thing)]", new="effects: []")
    assert lost.steps[0].surprises[0].kind == SurpriseKind.STRANDED


def test_a_goal_whose_object_is_nowhere_is_said_and_no_line_is_doubted():
    """A misread goal: every place is searched, then nothing known leads to it any more."""
    condition = replace(RULES_ONLY, enforcement=STRICT)
    mind = compose(condition, knowledge_of(alfworld), EpisodicMemory())
    player = Player(alfworld, mind, open_model("planner"), Decoding())
    task = alfworld.tasks("builtin", Setting())[0]
    game = alfworld.open(task, Setting())
    outcome = game.reset()
    goal = replace(alfworld.goal(outcome.observation), object="trumpet")
    course = player.begin(Understood(goal))
    for _ in range(alfworld.step_budget):
        move = player.choose(course, outcome.observation, task.id)
        outcome = game.step(move.command)
        course = player.after(course, move, outcome)
    game.close()
    kinds = {surprise.kind for step in course.steps for surprise in step.surprises}
    assert SurpriseKind.STRANDED in kinds
    plans = [plan_of(step.decision) for step in course.steps]
    chains = [option.chain for plan in plans for option in plan.options]
    assert not any(link.doubt for chain in chains for link in chain)
