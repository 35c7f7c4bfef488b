"""`rpms run`: a run is kept, continued and refused where it must be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rpms.models.base import Answer
from rpms.paper.episode import Usage
from rpms.store.memories import write_memory
from rpms.store.runs import RunFolder
from tests.cli.command import Rpms

_TOLD_TO_STOP = """
import os, signal, sys, threading, time
from pathlib import Path
from rpms.cli import main

def stop_after_an_episode():
    while not list(Path(sys.argv[-1]).glob("episodes/*.json.gz")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=stop_after_an_episode, daemon=True).start()
main()
"""
"""The signal comes from within: how busy this machine is decides nothing."""


class TestRun:
    def test_a_run_is_kept_and_continued(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        first = rpms("run", "alfworld", "--limit", 2, "--out", out)
        assert first.code == 0
        assert "2 of 2 episodes: 2 won" in first.out
        files = {file: file.stat().st_mtime_ns for file in (out / "episodes").iterdir()}
        assert len(files) == 2
        next(iter(files)).unlink()
        again = rpms("run", "alfworld", "--limit", 2, "--out", out)
        assert "2 of 2 episodes: 2 won" in again.out
        now = {file: file.stat().st_mtime_ns for file in (out / "episodes").iterdir()}
        assert now.keys() == files.keys()
        assert sum(now[file] == files[file] for file in files) == 1
        assert RunFolder(out).summary().won == 2

    def test_a_scheduler_may_stop_it_like_ctrl_c(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        options = [
            "run",
            "alfworld",
            "--preset",
            "strict",
            "--model",
            "menu-first",
            "--out",
            str(out),
        ]
        command = [sys.executable, "-c", _TOLD_TO_STOP, *options]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        _, err = process.communicate(timeout=120)
        assert process.returncode == 130
        assert "and the same command goes on from there" in err
        assert 0 < RunFolder(out).summary().done < 24

    def test_without_a_folder_the_same_command_finds_its_own_again(
        self, rpms: Rpms, tmp_path: Path, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        command = ("run", "alfworld", "--split", "builtin", "--limit", 1, "--model", "planner")
        assert "episodes are in runs/alfworld-builtin-planner-limit-1" in rpms(*command).out
        (file,) = (tmp_path / "runs" / "alfworld-builtin-planner-limit-1" / "episodes").iterdir()
        written = file.stat().st_mtime_ns
        assert rpms(*command).code == 0
        assert file.stat().st_mtime_ns == written
        assert (
            "runs/alfworld-builtin-planner-baseline"
            in rpms(*command, "--condition", "baseline").out
        )
        enforced = rpms(
            *command, "--enforce", "menu=5", "--enforce", "loops=true", "--enforce", "guard=off"
        ).out
        assert "episodes are in runs/alfworld-builtin-planner-menu-5-loops-on-limit-1\n" in enforced
        strict = rpms(*command, "--preset", "strict", "--enforce", "menu=5").out
        assert "episodes are in runs/alfworld-builtin-planner-strict-limit-1\n" in strict

    def test_tasks_by_type_and_by_id(self, rpms: Rpms, tmp_path: Path):
        said = rpms(
            "run",
            "alfworld",
            "--task",
            "look_at_obj_in_light",
            "--limit",
            1,
            "--out",
            tmp_path / "run",
        )
        (row,) = RunFolder(tmp_path / "run").summary().rows
        assert (said.code, row.type) == (0, "look_at_obj_in_light")
        rpms(
            "run",
            "alfworld",
            "--tasks",
            f"{row.task},pick_two_obj_and_place",
            "--out",
            tmp_path / "more",
        )
        assert {each.type for each in RunFolder(tmp_path / "more").summary().rows} == {
            "look_at_obj_in_light",
            "pick_two_obj_and_place",
        }
        assert (
            "no task 'nope'"
            in rpms("run", "alfworld", "--task", "nope", "--out", tmp_path / "run").line
        )

    def test_parts_are_dealt_and_share_no_task(self, rpms: Rpms, tmp_path: Path):
        played = []
        for part in ("1/2", "2/2"):
            out = tmp_path / part.replace("/", "-")
            rpms(
                "run", "alfworld", "--per-task", 1, "--part", part, "--memory", "none", "--out", out
            )
            played.append(set(RunFolder(out).protocol.tasks))
        assert all(played)
        assert not played[0] & played[1]

    def test_re_asks_are_counted(self, rpms: Rpms, tmp_path: Path):
        script = tmp_path / "script.txt"
        script.write_text("take egg 9 from fridge 1\n" * 6, encoding="utf-8")
        command = (
            "run",
            "alfworld",
            "--model",
            f"scripted/{script}",
            "--limit",
            1,
            "--steps",
            2,
            "--enforce",
        )
        assert (
            "\nre-asks: 4 (2.00 a step)\n"
            in rpms(*command, "guard=block", "--out", tmp_path / "block").out
        )
        assert "re-asks" not in rpms(*command, "guard=advise", "--out", tmp_path / "advise").out

    def test_another_protocol_in_the_same_folder_is_refused(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        rpms("run", "alfworld", "--limit", 1, "--condition", "rules-only", "--out", out)
        assert (
            "tasks: 1 → 2"
            in rpms("run", "alfworld", "--limit", 2, "--condition", "rules-only", "--out", out).line
        )
        line = rpms("run", "alfworld", "--limit", 1, "--out", out, "--condition", "baseline").line
        assert "condition.rules: true → false" in line

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--limit", 0), "--limit '0': write a whole number from 1 to 10,000,000"),
            (("--theta", 2), "--theta '2': write a number from 0 to 1"),
            (("--price", "cheap"), "--price 'cheap'"),
            (("--parameter", "top_k"), "name=value"),
            (("--split", "nope"), "no split 'nope'"),
            (("--task", ""), "--task '' names no task"),
            (("--task", " , "), "--task ' , ' names no task"),
            (("--condition", "E"), "'E' is no condition"),
            (("--part", "3/2"), "--part '3/2': write it like 1/2"),
            (("--model", "menu-best"), "menu-best chooses from a menu, and there is none"),
        ],
    )
    def test_a_mistake_is_one_line_and_leaves_nothing_behind(self, rpms, tmp_path, options, words):
        assert words in rpms("run", "alfworld", "--out", tmp_path / "run", *options).line
        assert not (tmp_path / "run" / "episodes").exists()

    def test_a_task_that_a_simplification_makes_impossible_is_refused(
        self, rpms: Rpms, tmp_path: Path
    ):
        command = ("run", "scienceworld", "--task", "power-component", "--out", tmp_path / "run")
        line = rpms(*command, "--option", "simplifications=noElectricalAction").line
        assert line == "power-component cannot be done with the simplification 'noElectricalAction'"
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize(
        "option", [("--max-tokens", 0), ("--temperature", -1), ("--workers", 0)]
    )
    def test_numbers_out_of_range_are_usage_errors(
        self, rpms: Rpms, tmp_path: Path, option: tuple[str, int]
    ):
        said = rpms("run", "alfworld", "--out", tmp_path / "run", *option)
        assert said.code == 2
        assert option[0] in said.err

    def test_a_file_in_place_of_the_folder(self, rpms: Rpms, tmp_path: Path):
        (tmp_path / "run").write_text("not a folder", encoding="utf-8")
        assert (
            str(tmp_path / "run")
            in rpms("run", "alfworld", "--condition", "baseline", "--out", tmp_path / "run").line
        )

    def test_a_memory_of_another_world_is_refused(self, rpms: Rpms, tmp_path: Path):
        write_memory(tmp_path / "memory.jsonl", [], "scienceworld")
        said = rpms(
            "run", "alfworld", "--out", tmp_path / "run", "--memory", tmp_path / "memory.jsonl"
        )
        assert "scienceworld" in said.line


KEYLESS = """
title: Two models
world: alfworld
limit: 1
models: [planner, openai/gpt-4o]
conditions:
  rules-only:
  other: {condition: rules-only, manual: %s}
"""


class TestNothingIsWrittenBefore:
    """Anything known to be missing is reported before a folder is made."""

    @pytest.fixture(autouse=True)
    def keyless(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    @pytest.mark.parametrize(
        "command", [("run", "alfworld", "--out"), ("learn", "alfworld", "--out")]
    )
    @pytest.mark.parametrize(
        ("model", "words"),
        [
            ("openai/gpt-4o", "set the environment variable OPENAI_API_KEY"),
            ("hf/none.gguf", "there is no such file"),
            ("replay/none", "none: there is no such folder or file of answers"),
        ],
    )
    def test_by_run_and_learn(self, rpms: Rpms, tmp_path: Path, command, model: str, words: str):
        said = rpms(*command, tmp_path / "new" / "m.jsonl", "--model", model)
        assert said.code
        assert words in said.err
        assert "episodes" not in said.out + said.err
        assert not list(tmp_path.iterdir())

    def test_by_a_study_of_all_its_models_and_conditions(self, rpms: Rpms, tmp_path: Path):
        file, out = tmp_path / "study.yaml", tmp_path / "out"
        command = ("study", "run", file, "--out", out, "--no-report")
        file.write_text(KEYLESS % "complete", encoding="utf-8")
        assert "OPENAI_API_KEY" in rpms(*command).err
        assert not out.exists()
        file.write_text(KEYLESS % "none.yaml", encoding="utf-8")
        assert "none.yaml: is no manual" in rpms(*command, "--model", "planner").err
        assert not out.exists()

    def test_what_is_finished_needs_no_key(
        self, rpms: Rpms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        command = (
            "run",
            "alfworld",
            "--limit",
            1,
            "--out",
            tmp_path / "run",
            "--model",
            "openai/gpt-4o",
        )
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        with monkeypatch.context() as answering:
            answering.setattr(
                "rpms.models.remote.RemoteModel.answer", lambda *_: Answer("Action: look", Usage())
            )
            assert "1 of 1 episodes" in rpms(*command, "--steps", 1).out
        monkeypatch.delenv("OPENAI_API_KEY")
        assert "1 of 1 episodes" in rpms(*command, "--steps", 1).out
