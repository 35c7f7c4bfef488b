"""Several models and agents: one ranking for each set of tasks, and one report for all models."""

from __future__ import annotations

import pytest

from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.report.gather import gather
from rpms.report.leaderboards import leaderboards
from rpms.report.pages import write_report
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]


def play(out, name: str, able: int, limit: int = 4):
    """A model that wins the first few tasks and only looks about in the others."""
    world = find_world("alfworld")
    design = design_run(
        world,
        name,
        lambda: None,
        split="builtin",
        limit=limit,
        step_budget=12,
        memory=EpisodicMemory(),
    )
    known = {task.id for task in design.tasks[:able]}
    model = FunctionModel(
        lambda request: Answer(
            f"Action: {follow_plan(request.decision)[1] if request.episode in known else 'look'}"
        ),
        name,
    )
    run(
        design_run(
            world,
            name,
            lend(model),
            split="builtin",
            limit=limit,
            step_budget=12,
            memory=EpisodicMemory(),
        ),
        out,
    )
    return out


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [
        play(folder / f"of-{name}", f"acme/{name}", able)
        for name, able in (("low", 1), ("high", 4), ("mid", 2))
    ]


def test_the_best_comes_first_and_equals_share_a_rank(runs, tmp_path):
    twin = play(tmp_path / "twin", "acme/twin", 2)
    (board,) = leaderboards([*runs, twin])
    rows = [[cell.text for cell in line.cells][:5] for line in board.lines]
    assert [(model, rank, rate) for model, _, _, rank, rate in rows] == [
        ("acme/high", "1", "100.0"),
        ("acme/mid", "2", "50.0"),
        ("acme/twin", "2", "50.0"),
        ("acme/low", "4", "25.0"),
    ]
    assert "Cost ($)" not in board.columns


def test_other_tasks_are_another_ranking(runs, tmp_path):
    other = play(tmp_path / "other", "acme/high", 1, limit=2)
    first, second = leaderboards([other, *runs])
    assert [len(board.lines) for board in (first, second)] == [3, 1]
    assert (first.name, second.name) == ("leaderboard", "leaderboard-2")


def test_models_stand_side_by_side_in_one_report(runs, tmp_path):
    evidence = gather(runs)
    assert [each.model for each in evidence] == ["acme/low", "acme/high", "acme/mid"]
    written = write_report(runs, tmp_path / "report")
    page = written.page.read_text("utf-8")
    assert all(name in page for name in ("acme/low", "acme/high", "acme/mid"))
    assert len(list((tmp_path / "report").glob("*/data/*/*/*.js"))) == 12


def test_models_of_other_tasks_are_still_refused(runs, tmp_path, rpms: Rpms):
    other = play(tmp_path / "other", "acme/other", 1, limit=2)
    said = rpms("report", *runs, other).line
    assert "were not run under one protocol and cannot be compared" in said
    assert "tasks: 4 → 2" in said


def test_the_command_prints_the_ranking_and_writes_a_page(runs, tmp_path, rpms: Rpms):
    said = rpms("leaderboard", *runs, "--form", "csv", "--out", tmp_path / "board")
    assert said.code == 0
    assert said.out.splitlines()[0].startswith("Model,Agent,Condition,Rank,Succ. (%)")
    page = (tmp_path / "board/index.html").read_text("utf-8")
    assert page.index("acme/high") < page.index("acme/mid") < page.index("acme/low")
    assert "is neither a run nor a study" in rpms("leaderboard", tmp_path).line
