"""What a run keeps does not grow with the episodes it plays: counted in objects, not in seconds
or megabytes.
"""

from __future__ import annotations

import gc
import json
import os
import weakref
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from rpms.logic.belief import Situation
from rpms.logic.goal import Goal
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.progress import standing
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import PlanAdvice
from rpms.planning.facts_at_stake import wanted_facts
from rpms.planning.kept_answers import Found, KnownNames, Passing, asked_about
from rpms.planning.plan_graph import Plan
from rpms.planning.plan_with_doubts import plan_with_doubts
from rpms.planning.possible_facts import atoms_over
from rpms.planning.reason import Reasoner, reasoner_of
from rpms.planning.wanted_facts import Fact
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
        standing(rules, Situation(world.start(goal), goal))
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
        kept.append(weakref.ref(reasoner.achievers.groundwork.names))
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


def test_only_what_was_derived_about_a_name_falls_when_its_roles_change():
    before = KnownNames({}, {"place": ("desk 1",), "object": ("mug 1",)}, None)
    before.strangers.add("key 1")
    facts = [Fact("at", ("desk 1",)), Fact("holding", ("mug 1",)), Fact("holding", ("key 1",))]
    for fact in facts:
        before.made[fact.predicate, fact.args, False] = before.judged[1, fact.args, None] = True
        read = {
            (fact.predicate, fact.args): None,
            **({"place": ("desk 1",)} if fact is facts[0] else {}),
        }
        before.passed[fact.args] = Passing(set(), set(), read, asked_about(read))
        before.expanded.every[fact] = Found([], read, inf, asked_about(read, fact.args))

    def left(**names: tuple[str, ...]) -> list[list[str]]:
        after = KnownNames({}, names, before)
        tables = (after.made, after.judged, after.passed, after.expanded.every)
        return [
            [name for fact, name in zip(facts, "dmk", strict=True) if str(fact.args) in str(one)]
            for one in tables
        ]

    assert left(place=("desk 1",), object=("mug 1", "pen 1")) == [["d", "m", "k"]] * 4
    assert (
        left(place=("desk 1",), object=("mug 1", "key 1")) == [["d", "m"]] * 4
    )  # nobody knew the key
    assert left(place=("desk 1",), object=()) == [["d", "k"]] * 4
    assert (
        left(place=("desk 1", "bed 1"), object=("mug 1",))
        == [["d", "m", "k"]] * 2 + [["m", "k"]] * 2
    )


KINDS = {"alfworld": 12, "textworld-express": 4, "tau2-telecom": 2, "scienceworld": 2}
"""Games played in each world, of as many types; twice as many with RPMS_SLOW=1."""
if "RPMS_SLOW" in os.environ:
    KINDS = {name: 2 * count for name, count in KINDS.items()}
REFUSED = 5
"""One command in so many never reaches the game, which refuses another in its place."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of packages that a world imports
@pytest.mark.parametrize("name", KINDS)
def test_a_plan_with_all_that_earlier_steps_left_is_the_plan_of_one_who_starts_anew(name: str):
    world = find_world(name)
    if why := world.not_installed():
        pytest.skip(why)
    settings = Settings.read({"preset": "strict", "condition": "rules-only"})
    mind = compose(
        settings.condition_value(), knowledge_of(world, settings.sources(world)), EpisodicMemory()
    )
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    types = {task.type: task for task in reversed(world.tasks(world.splits[0], Setting()))}
    steps = shaken = 0
    for task in list(types.values())[: KINDS[name]]:
        game = world.open(task, Setting())
        try:
            outcome = game.reset()
            course = player.begin(player.understand(outcome.observation, task.id))
            while len(course.steps) < 12 and not (outcome.done or outcome.won):
                move = player.choose(course, outcome.observation, task.id)
                advice, context = move.decision.advice, move.decision.advice.step
                if steps % 3 == 0:
                    assert planned_anew(advice) == advice.plan
                rules, situation = context.schemas, context.situation
                assert reasoner_of(rules).plan(situation) == Reasoner(rules).plan(situation)
                shaken += advice.seen.trust.shaken
                if steps % 4 == 3:  # another goal by the same rules, and back
                    other = replace(
                        situation.goal, object=situation.goal.destination, destination=""
                    )
                    elsewhere = Situation(situation.belief.serving(other), other)
                    assert reasoner_of(rules).plan(elsewhere) == Reasoner(rules).plan(elsewhere)
                    assert reasoner_of(rules).plan(situation) == Reasoner(rules).plan(situation)
                steps += 1
                outcome = game.step(move.command if steps % REFUSED else "frobnicate")
                course = player.after(course, move, outcome)
        finally:
            game.close()
    assert steps > 10
    assert shaken


def planned_anew(advice: PlanAdvice) -> Plan:
    """The plan of an adviser whose rules have kept nothing."""
    adviser, step, goal = advice.adviser, advice.step, advice.step.situation.goal
    rules = (adviser.plans or adviser.tells).active(goal.type, goal.object, goal.destination)
    return plan_with_doubts(
        step, replace(rules), lambda text: adviser.spell(text, step.belief), advice.seen
    )[0]
