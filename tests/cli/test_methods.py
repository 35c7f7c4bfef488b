"""Methods and their trials, as a user meets them."""

from __future__ import annotations

import json


def test_the_command_line_reports_the_first_trial_and_the_best_apart(tmp_path, rpms):
    script = tmp_path / "script.txt"
    script.write_text("look\n" * 5)
    said = rpms(
        *(
            "run",
            "alfworld",
            "--split",
            "builtin",
            "--limit",
            2,
            "--steps",
            3,
            "--agent",
            "reflexion",
            "--trials",
            2,
        ),
        *("--model", f"scripted/{script}", "--out", tmp_path / "run"),
    )
    assert said.code == 0, said
    assert (
        "trial 0: 0 of 2 won, as above\ntrial 1: 0 of 2 won\nbest of all trials: 0 of 2 won (0.0%"
        in said.out
    )
    folders = [tmp_path / "run", tmp_path / "run" / "best-of-2"]
    table = rpms("table", "main", *folders)
    assert "reflexion, best of 2" in table.out, table
    shown = rpms(
        "play",
        "alfworld",
        "--split",
        "builtin",
        "--steps",
        2,
        "--agent",
        "reflexion",
        "--trials",
        2,
        "--model",
        f"scripted/{script}",
    )
    assert "trial 1" in shown.out
    assert "carried: Action: look" in shown.out
    protocol = json.loads((tmp_path / "run" / "trial-1" / "protocol.json").read_text())
    assert protocol["agent"]["trial"] == 1


def test_insights_from_the_command_line(tmp_path, rpms):
    rpms(
        "run",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        2,
        "--condition",
        "baseline",
        "--out",
        tmp_path / "run",
    )
    script = tmp_path / "answers.txt"
    script.write_text("ADD: Look first. (action: none)\n")
    out = tmp_path / "expel.jsonl"
    gathered = ("insights", tmp_path / "run", "--out", out, "--model")
    assert "writes no text" in rpms(*gathered, "planner").line
    said = rpms(*gathered, f"scripted/{script}")
    assert said.out.startswith("  2  Look first."), said
    assert "exists already" in rpms(*gathered, f"scripted/{script}").line
    played = rpms(
        *(
            "run",
            "alfworld",
            "--split",
            "builtin",
            "--limit",
            2,
            "--agent",
            "expel",
            "--insights",
            out,
        ),
        *("--out", tmp_path / "played"),
    )
    assert played.code == 0, played
    assert (
        "trial to trial"
        in rpms("learn", "alfworld", "--agent", "clin", "--out", tmp_path / "m.jsonl").line
    )


STUDY = """
title: Methods
world: alfworld
split: builtin
limit: 2
steps: 6
trials: 2
learn: {split: builtin, part: 2/2, limit: 2}
conditions:
  rules-only:
  act: {agent: act}
  clin: {agent: clin}
  expel: {agent: expel}
"""


def test_a_study_puts_methods_beside_conditions_and_gathers_what_expel_needs(tmp_path, rpms):
    file, out = tmp_path / "methods.yaml", tmp_path / "out"
    file.write_text(STUDY)
    said = rpms("study", "run", file, "--model", "planner", "--out", out, "--no-report")
    assert said.code == 0, said
    assert "gathering for expel" in said.out
    runs = json.loads((out / "study.json").read_text())["groups"][0]["runs"]
    assert list(runs) == ["rules-only", "act", "clin, trial 0", "clin, best of 2", "expel"]
    tests = rpms("table", "significance", out)
    assert "clin, best of 2 vs. Rules-only" in tests.out, tests
    assert "the best of up to 2 attempts" in rpms("table", "main", out).out
    again = rpms("study", "run", file, "--model", "planner", "--out", out, "--no-report")
    assert json.loads((out / "study.json").read_text())["groups"][0]["runs"] == runs
    assert again.code == 0
    file.write_text(STUDY.replace("learn: ", "# "))
    assert (
        "give expel `insights: FILE`"
        in rpms("study", "run", file, "--model", "planner", "--out", out / "b").line
    )
