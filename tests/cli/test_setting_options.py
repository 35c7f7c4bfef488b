"""The settings as options of commands, and what a run says of its knowledge."""

from __future__ import annotations

import inspect
import json
from itertools import chain
from pathlib import Path

import pytest

from rpms.cli import learn, play, run, study
from rpms.cli.panels import PANELS
from rpms.cli.report import export_runs
from rpms.cli.rules_learn import _STEPS
from rpms.play.settings import SETTING_NAMES
from rpms.report.export import FORMS, USUAL
from rpms.store.runs import RunFolder
from tests.cli.command import Rpms


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("run", set()),
        ("learn", set()),
        ("play", {"limit", "per_task", "sample"}),
        ("study run", {"condition"}),
    ],
)
def test_every_command_takes_every_setting_that_means_something_to_it(
    rpms: Rpms, command: str, missing: set[str]
):
    said = rpms(*command.split(), "--help").out
    for name in SETTING_NAMES:
        assert (f"--{name.replace('_', '-')}" in said) == (name not in missing), name


def test_a_run_records_what_it_was_given(rpms: Rpms, tmp_path: Path):
    prompts = tmp_path / "prompts.yaml"
    prompts.write_text("instruction: Act well.\n")
    given = (
        "--theta",
        0.7,
        "--k",
        "success=1",
        "--tiers",
        "universal,environment",
        "--prompts",
        prompts,
    )
    done = rpms(
        "run", "alfworld", "--limit", 1, *given, "--repair", "off", "--out", tmp_path / "run"
    )
    assert done.code == 0, done
    assert "note: the memory is the one embedded in alfworld" in done.err
    run = RunFolder(tmp_path / "run")
    settings = run.protocol.settings
    assert settings["retrieval"]["theta"] == 0.7
    assert settings["condition"]["tiers"] == ["universal", "environment"]
    assert (settings["condition"]["layout"], settings["condition"]["form"]) == ("paper", "chat")
    assert settings["manual"]["name"] == "paper"
    prompt = run.episode(run.protocol.tasks[0]).prompt(1)
    assert prompt.messages()[0].content.startswith("Act well.\n\n[Current State]")
    assert "rules.domain" not in {str(block.part) for block in prompt.blocks}


@pytest.mark.parametrize("condition", ["full", "memory-only"])
def test_a_condition_without_its_memory_names_the_command_to_learn_one(
    rpms: Rpms, tmp_path: Path, condition: str
):
    command = (
        "run",
        "scienceworld",
        "--split",
        "dev",
        "--condition",
        condition,
        "--out",
        tmp_path / "run",
    )
    line = rpms(*command).line
    assert f"the condition {condition} uses memory, and none was given" in line
    assert "`rpms learn scienceworld --split train --model planner --out memory.jsonl`" in line
    assert not (tmp_path / "run").exists()


def test_an_option_mistyped_is_answered_with_the_nearest(rpms: Rpms):
    assert "--temperature" in rpms("run", "alfworld", "--tempature", 1).err


def test_learning_goes_on_from_a_memory(rpms: Rpms, tmp_path: Path):
    learn = ("learn", "alfworld", "--rounds", 1, "--limit", 2)
    first = rpms(*learn, "--out", tmp_path / "one.jsonl")
    more = rpms(*learn, "--out", tmp_path / "two.jsonl", "--memory", "embedded", "--theta", 0.8)
    assert (first.code, more.code) == (0, 0)
    sizes = [len((tmp_path / name).read_text().splitlines()) for name in ("one.jsonl", "two.jsonl")]
    assert sizes[1] > sizes[0]


def test_the_runs_summary_says_it(rpms: Rpms, tmp_path):
    script = tmp_path / "script.txt"
    script.write_text("Action: look\n" * 6)
    command = (
        "run",
        "alfworld",
        "--limit",
        1,
        "--steps",
        5,
        "--condition",
        "rules-only",
        "--manual",
        "complete",
    )
    command = (*command, "--model", f"scripted/{script}", "--max-tokens", 100)
    said = rpms(*command, "--context", 1_400, "--out", tmp_path / "small").out
    assert "WARNING: 5 of 5 prompts left out rules or memories" in said
    assert "left out" not in rpms(*command, "--out", tmp_path / "large").out


STUDY = """
title: A study
about: The whole of it.
world: alfworld
split: valid_unseen
learn: {split: valid_seen, rounds: 1, later: rules-only}
tables: [learning, arbitration, ablation]
conditions: {baseline: , memory-only: , rules-only: , full: }
"""


class TestPilot:
    @pytest.fixture
    def games(self, rpms: Rpms, tmp_path: Path) -> Path:
        """Games of one's own, under the name of the split that a study learns from."""
        assert (
            rpms("games", "make", "--out", tmp_path / "games", "--count", 8, "--seed", 3).code == 0
        )
        made = next(path for path in (tmp_path / "games").rglob("train") if path.is_dir())
        made.rename(made.with_name("valid_seen"))
        return tmp_path / "games"

    def test_it_ends_with_a_page_and_says_what_was_run(
        self, rpms: Rpms, tmp_path: Path, games: Path
    ):
        pytest.importorskip("matplotlib", reason="needs the extra `report`")
        file = tmp_path / "study.yaml"
        file.write_text(STUDY)
        out = tmp_path / "out"
        command = (
            "study",
            "run",
            file,
            "--data",
            games,
            "--limit",
            4,
            "--model",
            "planner",
            "--out",
            out,
        )
        done = rpms(*command, "--model", "menu-best", "--preset", "strict", "--manual", "paper")
        assert done.code == 0, done
        assert "note: this pilot plays valid_seen" in done.err
        assert (
            "The table 'learning' is left out: it needs runs with memories of several sizes."
            in done.out
        )
        assert "The table 'arbitration' is left out" in done.out
        tables = rpms("table", "ablation", out).out
        assert "2×2 ablation on 4 tasks. Model: planner." in tables
        assert "2×2 ablation on 4 tasks. Model: menu-best." not in tables, (
            "a baseline has no menu to choose from"
        )
        index = json.loads((out / "study.json").read_text())
        assert (
            index["title"]
            == "A study (preset strict, manual paper, limit 4) - rehearsal on valid_seen"
        )
        page = (out / "report" / "1" / "index.html").read_text()
        assert "is left out" in page
        for played in (out / "runs").iterdir():
            assert RunFolder(played).protocol.settings["manual"]["name"] == "paper"

    def test_without_a_limit_a_missing_split_is_an_error(
        self, rpms: Rpms, tmp_path: Path, games: Path
    ):
        file = tmp_path / "study.yaml"
        file.write_text(STUDY)
        assert (
            "no split 'valid_unseen'"
            in rpms("study", "run", file, "--data", games, "--model", "planner").line
        )


def test_every_name_in_a_panel_is_an_option_of_a_command_that_plays():
    """A name that no command has would put nothing anywhere."""
    commands = (play.main, run.main, learn.learn_memory, study.main)
    names = {name for command in commands for name in inspect.signature(command).parameters}
    assert set(chain.from_iterable(PANELS.values())) <= names


@pytest.mark.parametrize("folder", [".", "/", ""])
@pytest.mark.parametrize(
    "command", [("rules", "learn", "alfworld"), ("learn", "alfworld")], ids=" ".join
)
def test_a_folder_in_place_of_the_file_to_write_is_refused_at_once(rpms: Rpms, command, folder):
    ran = rpms(*command, "--out", folder)
    assert ran.code == 2
    assert "is a folder; give the file to write" in ran.line


def test_what_the_texts_of_options_list_is_what_there_is(rpms: Rpms):
    export = rpms("export", "--help").out
    assert f"The format: {' or '.join(FORMS)}." in export
    assert inspect.signature(export_runs).parameters["tables"].default == ",".join(USUAL)
    assert f"by default {_STEPS:,}, or 0 with --from" in rpms("rules", "learn", "--help").out
