"""What a run keeps does not grow with the episodes it plays: counted in objects, not in seconds or megabytes."""

from __future__ import annotations

import gc
import json
import weakref
from pathlib import Path

from rpms.core.belief import Situation
from rpms.core.goal import Goal
from rpms.core.planning.doubts import wanted_facts
from rpms.core.planning.reason import reasoner_of
from rpms.core.planning.trust import atoms_over
from rpms.play.sources import knowledge_of
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
