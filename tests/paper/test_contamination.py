"""Played tasks were not learned from, or every table says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rpms.cli.app import make_app
from rpms.logic.errors import InputError
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.memory import learned_from
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.settings import Settings
from rpms.report.gather import gather
from rpms.report.tables import applicable
from rpms.store.memories import read_memory
from rpms.store.protocol import TABLES
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
EMBEDDED = read_memory(Path(WORLD.embedded_memory()), "alfworld")


def rpms(*words):
    return CliRunner().invoke(make_app(), [*map(str, words)], catch_exceptions=True)


def test_the_embedded_memory_was_learned_on_none_of_the_games_that_are_played_with_it():
    learned = learned_from(EMBEDDED.entries)
    assert learned <= {task.id for task in WORLD.tasks("builtin_train", Setting())}
    for split in ("builtin", "builtin_large"):
        assert learned.isdisjoint(task.id for task in WORLD.tasks(split, Setting()))


def test_a_plan_refuses_tasks_that_its_memory_was_learned_from_unless_told_otherwise():
    model = lend(PolicyModel("planner", follow_plan))
    with pytest.raises(InputError, match=r"learned from .* of these 24 tasks"):
        design_run(WORLD, "planner", model, split="builtin_train", memory=EMBEDDED)
    allowed = design_run(
        WORLD, "planner", model, split="builtin_train", memory=EMBEDDED, overlap=True
    )
    assert allowed.protocol().settings["memory"]["overlap"] == len(allowed.overlap) > 0
    assert (
        "overlap"
        not in design_run(WORLD, "planner", model, memory=EMBEDDED).protocol().settings["memory"]
    )


def test_a_study_that_would_learn_and_test_the_same_games_does_not_begin(tmp_path):
    file = tmp_path / "s.yaml"
    file.write_text(
        "title: T\nworld: alfworld\nsplit: builtin_large\nlearn: {split: builtin, limit: 2, rounds: 1}\n"
        "models: [planner]\nconditions: {full: }\n"
    )
    done = rpms("study", "run", file, "--split", "builtin", "--limit", 2, "--out", tmp_path / "out")
    assert done.exit_code
    assert "learned from 2 of these 2 tasks" in str(done.exception)
    assert not (tmp_path / "out").exists()
    done = rpms("study", "run", file, "--split", "builtin", "--limit", 2, "--dry-run")
    assert "learned from 2 of these 2 tasks" in str(done.exception)
    file.write_text(file.read_text().replace("rounds: 1", "rounds: 1, options: {goals: human}"))
    done = rpms("study", "run", file, "--split", "builtin", "--limit", 2, "--dry-run")
    assert "these 2 tasks" in str(done.exception), "a game in other words is the same game"


@pytest.mark.parametrize("way", ["run", "study"])
def test_where_it_is_allowed_every_table_says_so(way, tmp_path):
    told = "tasks are among those that its memory was learned from"
    if way == "run":
        memory = ("--split", "builtin_train", "--limit", 2, "--memory", "embedded")
        done = rpms(
            "run",
            "alfworld",
            *memory,
            "--overlap",
            "allow",
            "--steps",
            4,
            "--out",
            tmp_path / "out",
        )
    else:
        (tmp_path / "s.yaml").write_text(
            "title: T\nworld: alfworld\nsplit: builtin\nlimit: 2\nsteps: 12\nlearn: {split: builtin, limit: 2}\n"
            "models: [planner]\noverlap: allow\nconditions: {baseline: , memory-only: , rules-only: , full: }\n"
        )
        done = rpms("study", "run", tmp_path / "s.yaml", "--out", tmp_path / "out")
        assert told in " ".join(done.output.split())
        assert told in (tmp_path / "out" / "report" / "index.html").read_text()
    assert done.exit_code == 0, done.output
    comparisons = gather([tmp_path / "out"])
    for name in TABLES:
        for table in applicable(name, comparisons):
            assert any(told in note for note in table.notes), name


@pytest.mark.parametrize(
    ("world", "split", "named"),
    [
        ("alfworld", "valid_seen", "--split train"),
        ("alfworld", "valid_unseen", "--split train"),
        ("alfworld", "train", "--split builtin"),
        ("scienceworld", None, "--split train"),
        ("scienceworld", "train", "--split dev"),
    ],
)
def test_the_advice_to_learn_names_train_or_else_a_split_that_is_not_played(world, split, named):
    with pytest.raises(InputError, match=f"`rpms learn {world} {named} --out"):
        Settings(split=split).memory_file(find_world(world))


def test_python_and_command_line_have_one_set_of_defaults():
    settings = Settings()
    told = settings.design(WORLD, "m", lambda: None, memory=EpisodicMemory())
    assert (
        design_run(WORLD, "m", lambda: None, memory=EpisodicMemory()).protocol() == told.protocol()
    )
    with pytest.raises(InputError, match="uses memory, and none was given"):
        design_run(WORLD, "m", lambda: None)


def test_a_studys_embedded_memory_is_read(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "title: T\nworld: alfworld\nsplit: builtin_large\nlimit: 1\nsteps: 2\nmodels: [planner]\nmemory: embedded\n"
        "conditions: {memory-only: }\n"
    )
    assert (
        rpms(
            "study", "run", tmp_path / "s.yaml", "--out", tmp_path / "out", "--no-report"
        ).exit_code
        == 0
    )
    (found,) = gather([tmp_path / "out"])
    assert found.conditions["memory-only"].memory_entries == len(EMBEDDED)


def test_a_fifth_condition_breaks_nothing(tmp_path, monkeypatch):
    from rpms.paper import condition  # noqa: PLC0415

    fifth = condition.Condition(state_filter=False)
    monkeypatch.setitem(condition.CONDITIONS, "unfiltered", fifth)
    assert condition.named_condition("A") is condition.BASELINE
    assert condition.named_condition("unfiltered") is fifth
    ran = rpms(
        "run", "alfworld", "--limit", 1, "--steps", 3, "--condition", "A", "--out", tmp_path / "run"
    )
    assert ran.exit_code == 0, ran.output
    assert rpms("table", "main", tmp_path / "run").exit_code == 0
    assert rpms("report", tmp_path / "run").exit_code == 0
