"""A world that anybody wrote may answer anything: a command that plays it ends in one line, or
counts a world error.
"""

from __future__ import annotations

import pytest

from rpms.foreign.limits import LONGEST_OBSERVATION
from rpms.induction.learn import Exploring, RulesPlan, learn_rules
from rpms.logic.errors import InputError, WorldError
from rpms.play.run import run
from rpms.worlds.base import Outcome, Setting, start
from tests.play.corridor import Corridor
from tests.play.test_run import plan as plan_of

ANSWERS = {
    "None": lambda: None,
    "a text": lambda: "You are here.",
    "no text": lambda: Outcome(7),
    "ten megabytes": lambda: Outcome("x" * 10_000_000),
    "an exception": lambda: 1 // 0,
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


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_outcome_is_a_world_error_in_one_line(answer):
    world = Broken(ANSWERS[answer], at_once=True)
    game = world.open(world.tasks("walk", Setting())[0], Setting())
    with pytest.raises(WorldError) as caught:
        start(game)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_an_observation_of_the_stated_length_is_taken():
    world = Broken(lambda: Outcome("x" * LONGEST_OBSERVATION), at_once=True)
    assert start(world.open(world.tasks("walk", Setting())[0], Setting()))


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_run_counts_it_as_a_world_error(tmp_path, answer, at_once):
    rows = run(plan_of(on=Broken(ANSWERS[answer], at_once=at_once)), tmp_path).rows
    assert rows
    assert all(row.ending == "world error" for row in rows)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("at_once", [True, False])
def test_learning_rules_gives_up_with_one_line(tmp_path, answer, at_once):
    world = Broken(ANSWERS[answer], at_once=at_once)
    with pytest.raises(InputError, match="the world failed in each of 3 episodes"):
        learn_rules(
            RulesPlan(world, tuple(world.tasks("walk", Setting())), how=Exploring(steps=15)),
            tmp_path / "m.yaml",
        )
