"""A person plays in the terminal, and a whole episode is read there."""

from __future__ import annotations

import io

import pytest

from rpms.cli.human import UNCERTAIN
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.condition import RULES_ONLY
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms

WALK = ("go to desk 1", "take alarmclock 2 from desk 1", "use desklamp 1")


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch):
    def give(*lines: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return give


def test_a_person_wins_with_the_belief_beside(rpms: Rpms, types):
    types("", *WALK)
    said = rpms("play", "alfworld", "--split", "builtin", "--model", "human")
    assert said.code == 0
    assert "won (3 steps, 0 infeasible, score 1)" in said.out
    assert "Not yet searched: bed 1, desk 1" in said.out
    assert "sub-goal: take object - alarmclock 2 (50%)" in said.out


def test_what_is_possible_is_listed_on_demand_and_nothing_else(rpms: Rpms, types):
    types("? take", "?", "go to desk 1", "? TAKE")
    said = rpms("play", "alfworld", "--split", "builtin", "--model", "human")
    first, second = said.out.split("You arrive at loc")
    assert "take " not in first.split("Ctrl-D leaves.")[1]
    assert "(none)" in first
    assert "go to sidetable 1" in first
    assert "take alarmclock 2 from desk 1" in second
    assert "go to bed 1 " not in second
    assert said.code == 0
    assert "left after 1 step\n" in said.err


def test_a_person_may_leave_before_the_game_begins(rpms: Rpms, types):
    types()
    goal = ("--goal", "xyzzy frobnicate")
    said = rpms("play", "alfworld", "--split", "builtin", "--model", "human", *goal)
    assert said.code == 0
    assert "left after 0 steps" in said.err


def test_what_something_unknown_could_hinder_is_listed_apart(rpms: Rpms, types):
    types("go to desk 1", "? alarmclock 2 from")
    said = rpms("play", "alfworld", "--split", "builtin", "--model", "human")
    likely, uncertain = said.out.split("On the desk 1")[1].split(UNCERTAIN)
    assert "take alarmclock 2 from desk 1" in likely
    assert "from sidetable 1" not in likely
    assert "take alarmclock 2 from sidetable 1" in uncertain
    assert "from desk 1" not in uncertain


def test_the_guard_asks_a_person_again(rpms: Rpms, types):
    types("fly", *WALK)
    said = rpms("play", "alfworld", "--split", "builtin", "--model", "human", "--preset", "strict")
    assert "`fly` was not executed: `fly` is no known action" in said.out
    assert "won (3 steps, 0 infeasible" in said.out
    assert said.out.count("Your task is to") == 1


def test_a_person_plays_no_runs(rpms: Rpms, tmp_path):
    said = rpms(
        "run", "alfworld", "--split", "builtin", "--model", "human", "--out", tmp_path / "out"
    )
    assert said.code == 2
    assert "with `rpms play` alone" in said.err


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "one"
    model = PolicyModel("planner", follow_plan)
    run(
        design_run(
            find_world("alfworld"),
            model.name,
            lend(model),
            limit=2,
            condition=RULES_ONLY,
            memory=EpisodicMemory(),
        ),
        out,
    )
    return out


def test_an_episode_is_shown_from_beginning_to_end(rpms: Rpms, played):
    folder = RunFolder(played)
    for number, task in enumerate(folder.protocol.tasks, start=1):
        record = folder.episode(task)
        said = rpms("show", played, "--task", number)
        assert said.code == 0
        assert rpms("show", folder.file(task)).out == said.out
        assert rpms("show", played, "--task", task).out == said.out
        lines = said.out.splitlines()
        assert [line[2:] for line in lines if line.startswith("> ")] == [
            step.command for step in record.steps
        ]
        assert lines[0] == f"task: {task}"
        assert f"ended: {record.row.ending}" in lines
        for step in record.steps:
            assert step.observation.strip() in said.out


def test_belief_and_prompts_are_shown_on_demand(rpms: Rpms, played):
    assert "Holding:" not in rpms("show", played).out
    assert "  Holding: nothing" in rpms("show", played, "--belief").out
    prompts = rpms("show", played, "--show-prompts").out
    assert "--- system" in prompts.lower() or "--- instruction" in prompts.lower()


def test_what_cannot_be_shown_is_said(rpms: Rpms, played, tmp_path):
    assert (
        "has no task 'x': give a number from 1 to 2, or an id"
        in rpms("show", played, "--task", "x").line
    )
    assert "--task needs a run's folder" in rpms("show", tmp_path / "x.json", "--task", 1).line
    assert "is no run: there is no protocol.json in it" in rpms("show", tmp_path).line
    (tmp_path / "x.json").write_text("{}")
    assert "is not a whole episode file" in rpms("show", tmp_path / "x.json").line


def test_a_misspelt_table_is_told_before_runs_are_looked_for(rpms: Rpms, tmp_path):
    pytest.importorskip("numpy", reason="needs the extra `report`")
    said = rpms("table", "ablaton", tmp_path / "nowhere").line
    assert said == "unknown table 'ablaton'; did you mean ablation?"
