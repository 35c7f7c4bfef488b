"""What a run keeps does not grow with the episodes it plays: counted in objects, not in seconds or megabytes."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

import pytest

from rpms.core.belief import Situation
from rpms.core.condition import compose
from rpms.core.goal import Goal
from rpms.core.planning.doubts import wanted_facts
from rpms.core.planning.reason import Reasoner, reasoner_of
from rpms.core.planning.trust import atoms_over
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.alfworld.games.listing import load_game, task_data
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

GOALS = 500


def test_rules_are_kept_prepared_for_some_goals_and_no_more():
    world = find_world("alfworld")
    manual, kept = knowledge_of(world).manual, []
    for number in range(GOALS):
        goal = Goal("pick_and_place_simple", f"thing{number}", "", "desk")
        rules = manual.active(goal.type, goal.object, goal.destination)
        reasoner_of(rules).standing(Situation(world.start(goal), goal))
        assert reasoner_of(rules) is reasoner_of(rules)
        assert all(atoms_over(rules, schema) for schema in rules.environment if schema.variables)
        assert wanted_facts(rules)
        kept.append(weakref.ref(rules))
    del rules, goal
    gc.collect()
    assert sum(each() is not None for each in kept) <= 260
    assert kept[-1]() is not None


def test_what_a_step_derived_for_the_next_is_kept_for_the_games_at_hand_alone():
    world = find_world("alfworld")
    manual, kept = knowledge_of(world).manual, []
    for number in range(200):
        goal = Goal("pick_and_place_simple", f"thing{number}", "", "desk")
        reasoner = reasoner_of(manual.active(goal.type, goal.object, goal.destination))
        reasoner.plan(Situation(world.start(goal), goal))
        kept.append(weakref.ref(reasoner.kept["names"]))
    gc.collect()
    assert sum(each() is not None for each in kept) <= 130
    assert kept[-1]() is not None


def test_a_game_is_kept_from_the_second_time_on(tmp_path: Path):
    file = tmp_path / "game.tw-pddl"
    file.write_text(json.dumps(task_data(find_world("alfworld").tasks("builtin", Setting())[0])))
    once = weakref.ref(load_game(str(file)))
    gc.collect()
    assert once() is None
    assert load_game(str(file)) is load_game(str(file))


KINDS = {"alfworld": 24, "textworld-express": 8, "tau2-telecom": 3, "scienceworld": 4}
"""Games played in each world, of as many types."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of packages that a world imports
@pytest.mark.parametrize("name", KINDS)
def test_a_plan_with_all_that_earlier_steps_left_is_the_plan_of_one_who_starts_anew(name: str):
    world = find_world(name)
    if why := world.not_installed():
        pytest.skip(why)
    settings = Settings.read({"preset": "strict", "condition": "rules-only"})
    mind = compose(settings.condition_value(), knowledge_of(world, settings.sources(world)), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    types = {task.type: task for task in reversed(world.tasks(world.splits[0], Setting()))}
    steps = 0
    for task in list(types.values())[: KINDS[name]]:
        game = world.open(task, Setting())
        try:
            outcome = game.reset()
            course = player.begin(player.understand(outcome.observation, task.id))
            while len(course.steps) < 12 and not (outcome.done or outcome.won):
                move = player.choose(course, outcome.observation, task.id)
                context = move.decision.advice.step
                rules = context.schemas
                assert reasoner_of(rules).plan(context.situation) == Reasoner(rules).plan(context.situation)
                outcome = game.step(move.command)
                course = player.after(course, move, outcome)
                steps += 1
        finally:
            game.close()
    assert steps > 10
