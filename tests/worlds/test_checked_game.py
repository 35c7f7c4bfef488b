"""A world that anybody wrote may answer anything: a command that plays it ends in one line, or
counts a world error.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from rpms.conformance import check_world
from rpms.envs.env_episodes import Episodes
from rpms.foreign.limits import LONGEST_COMMAND, LONGEST_OBSERVATION, MOST_COMMANDS
from rpms.induction.learn import Exploring, RulesPlan, learn_rules
from rpms.logic.belief import Belief
from rpms.logic.errors import InputError, RPMSError, WorldError
from rpms.logic.facts import Atom
from rpms.logic.goal import Goal
from rpms.play.run import run
from rpms.worlds.base import Command, Outcome, Setting, Task
from tests.play.corridor import Corridor, CorridorBelief
from tests.play.test_run import design as design_of


def exits():
    raise SystemExit(0)


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


def is_mute():
    raise Mute


class Nameless:
    def __str__(self) -> str:
        raise TypeError("I have no name")


def is_cancelled():
    raise asyncio.CancelledError


ANSWERS = {
    "None": lambda: None,
    "a text": lambda: "You are here.",
    "no text": lambda: Outcome(7),
    "ten megabytes": lambda: Outcome("x" * 10_000_000),
    "an exception": lambda: 1 // 0,
    "an exit": exits,
    "an exception without a text": is_mute,
    "a score that is text": lambda: Outcome("x", "high"),
    "no score": lambda: Outcome("x", None),
    "a score that is no number": lambda: Outcome("x", float("nan")),
    "a score beyond all numbers": lambda: Outcome("x", 10**400),
    "a score without a text": lambda: Outcome("x", Nameless()),
    "a win without a text": lambda: Outcome("x", 0.0, Nameless()),
    "an exception that is no Exception": is_cancelled,
    "a win that is text": lambda: Outcome("x", 0.0, "no"),
    "an end that is None": lambda: Outcome("x", 0.0, False, None),
}
COMMANDS = {
    "None": lambda: None,
    "numbers": lambda: (1, 2, 3),
    "a text": lambda: "look",
    "300,000 commands": lambda: tuple(f"go {number}" for number in range(300_000)),
    "an exception": lambda: 1 // 0,
    "an exit": exits,
    "a long command": lambda: ("x" * (LONGEST_COMMAND + 1),),
}


class Broken(Corridor):
    """Answers every command, and a reset where it is told so, with something that is no outcome."""

    name = "broken"

    def __init__(self, answer, *, at_once: bool) -> None:
        self._answer, self._at_once = answer, at_once

    def open(self, task, setting):
        game = super().open(task, setting)
        game.step = lambda _command: self._answer()
        if self._at_once:
            game.reset = self._answer
        return game


class Unlisted(Corridor):
    """Lists commands in a way of its own."""

    name = "unlisted"

    def __init__(self, commands) -> None:
        self._commands = commands

    def open(self, task, setting):
        game = super().open(task, setting)
        game.admissible = self._commands
        return game


def game_of(world):
    return world.open(world.tasks("walk", Setting())[0], Setting())


def one_line(error: Exception) -> str:
    assert "\n" not in str(error)
    assert len(str(error)) < 300
    return str(error)


def learn(world, tmp_path) -> None:
    tasks = tuple(world.tasks("walk", Setting()))
    learn_rules(RulesPlan(world, tasks, exploring=Exploring(steps=15)), tmp_path / "m.yaml")


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_outcome_is_a_world_error_in_one_line(answer):
    with pytest.raises(WorldError) as caught:
        game_of(Broken(ANSWERS[answer], at_once=True)).reset()
    one_line(caught.value)


@pytest.mark.parametrize("commands", COMMANDS)
def test_what_are_no_commands_is_a_world_error_in_one_line(commands):
    with pytest.raises(WorldError) as caught:
        game_of(Unlisted(COMMANDS[commands])).admissible()
    assert "admissible" in one_line(caught.value) or "commands at once" in str(caught.value)


def test_what_a_world_may_say_is_taken():
    assert game_of(Broken(lambda: Outcome("x" * LONGEST_OBSERVATION), at_once=True)).reset()
    assert game_of(Broken(lambda: Outcome("x", 1), at_once=True)).reset().score == 1.0
    listed = game_of(Unlisted(lambda: ["look"] * MOST_COMMANDS)).admissible()
    assert len(listed) == MOST_COMMANDS


def test_scores_and_flags_of_numpy_are_taken():
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    said = Outcome("x", numpy.float32(0.5), numpy.bool_(True), numpy.bool_(False))
    outcome = game_of(Broken(lambda: said, at_once=True)).reset()
    assert outcome == Outcome("x", 0.5, won=True, done=False)
    assert type(outcome.won) is bool


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_run_counts_it_as_a_world_error(tmp_path, answer, at_once):
    rows = run(design_of(on=Broken(ANSWERS[answer], at_once=at_once)), tmp_path).rows
    assert rows
    assert all(row.ending == "world error" for row in rows)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("at_once", [True, False])
def test_learning_rules_gives_up_with_one_line(tmp_path, answer, at_once):
    world = Broken(ANSWERS[answer], at_once=at_once)
    with pytest.raises(InputError, match="the world failed in each of 3 episodes"):
        learn(world, tmp_path)


@pytest.mark.parametrize("commands", COMMANDS)
def test_learning_rules_gives_up_where_commands_are_none(tmp_path, commands):
    with pytest.raises(InputError, match="the world failed in each of 3 episodes"):
        learn(Unlisted(COMMANDS[commands]), tmp_path)


@pytest.mark.parametrize("commands", COMMANDS)
def test_environments_and_the_check_of_worlds_say_it_in_one_line(commands):
    episodes = Episodes(Unlisted(COMMANDS[commands]), "walk")
    episodes.start(episodes.choose(0))
    with pytest.raises(WorldError):
        episodes.admissible()
    findings = list(check_world(Unlisted(COMMANDS[commands]), games=1, steps=2))
    assert any(finding.status == "failed" for finding in findings)


METHODS = {
    "goal": (lambda *_: None, lambda *_: Goal(5), exits),
    "start": (lambda *_: None, exits),
    "update": (lambda *_: None, exits, lambda *_: 1 // 0),
    "infeasible": (exits,),
    "command": (lambda *_: "look", lambda *_: Command(None), exits),
    "contradictions": (lambda *_: None, lambda *_: (1,), exits),
    "open": (lambda *_: None, lambda *_: object(), exits),
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_a_world_is_held_to_what_it_promises(tmp_path, method):
    for number, answer in enumerate(METHODS[method]):

        def broken(*given, answer=answer):
            return answer() if answer is exits else answer(*given)

        world = type("Odd", (Corridor,), {method: broken, "name": "odd"})()
        rows = run(design_of(on=world), tmp_path / str(number)).rows
        assert rows
        assert {row.ending for row in rows} == {"world error"}


def belief_that(method, answer):
    """A corridor whose beliefs answer one question oddly."""
    kind = type("OddBelief", (CorridorBelief,), {method: answer})
    starts = {"start": lambda *_: kind(), "name": "odd"}
    return type("Odd", (Corridor,), starts)()


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("truth", lambda *_: 1 // 0),
        ("truth", lambda *_: exits()),
        ("truth", lambda *_: None),
        ("names", property(lambda _: 1 // 0)),
        ("signature", lambda _: exits()),
        ("lines", lambda _: 1 // 0),
        ("value", lambda *_: 1 // 0),
    ],
)
def test_a_belief_of_a_world_is_held_to_it_too(tmp_path, method, answer):
    rows = run(design_of(on=belief_that(method, answer)), tmp_path).rows
    assert rows
    assert {row.ending for row in rows} == {"world error"}


def test_what_follows_from_a_belief_is_asked_with_care():
    kind = type("Answering", (Belief,), {"answers": {"at": (1, lambda *_: 1 // 0)}})
    belief = type("Odd", (Corridor,), {"start": lambda *_: kind(), "name": "odd"})().start(None)
    for ask in (lambda: belief.truth(Atom("at", ("x",))), lambda: belief.value("at", ("x",))):
        with pytest.raises(WorldError, match="the world failed in at "):
            ask()


def test_learning_rules_gives_up_with_one_line_on_such_a_belief(tmp_path):
    with pytest.raises(RPMSError) as caught:
        learn(belief_that("truth", lambda *_: 1 // 0), tmp_path)
    one_line(caught.value)


@pytest.mark.parametrize("answer", [5, "a text", object(), {1: 2}])
@pytest.mark.parametrize(
    "method", ["manual", "paper_manual", "procedures", "called", "variation", "edition", "tools"]
)
def test_texts_about_a_world_are_held_to_it_too(method, answer):
    world = type("Odd", (Corridor,), {method: lambda *_: answer, "name": "odd"})()
    with pytest.raises(WorldError, match=f"the world answered {method} with"):
        getattr(world, method)(*[None] * {"variation": 2, "edition": 2}.get(method, 0))


@pytest.mark.parametrize(
    "tasks",
    [
        lambda *_: None,
        lambda *_: (x for x in ()),
        lambda *_: ["a"],
        lambda *_: [Task("a", "walk", None)],
        lambda *_: [Task("a", "walk", "walk", None)],
        exits,
    ],
)
def test_tasks_are_a_list_of_tasks(tasks):
    world = type("Odd", (Corridor,), {"tasks": lambda *_: tasks(), "name": "odd"})()
    with pytest.raises(RPMSError) as caught:
        Episodes(world, "walk")
    one_line(caught.value)


def test_a_game_that_cannot_be_closed_was_played_all_the_same(tmp_path, caplog):
    class Stuck(Corridor):
        name = "stuck"

        def open(self, task, setting):
            game = super().open(task, setting)
            game.close = exits
            return game

    with caplog.at_level(logging.WARNING, "rpms"):
        rows = run(design_of(on=Stuck()), tmp_path).rows
    assert {row.ending for row in rows}.isdisjoint({"world error"})
    assert "the world failed in close" in caplog.text
