"""The table of what learned manuals are worth: what may be asked for, and what is kept."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "learn_rules.py"


def measured(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(PROGRAM), *options], capture_output=True, text=True, check=False
    )


def test_a_world_that_is_not_known_is_told_in_one_line(tmp_path: Path) -> None:
    done = measured("--worlds", "vending", "--out", str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "no world 'vending' in --worlds; there are: science, express, alfworld, textworld, small\n"
    )


def test_a_world_whose_games_were_not_given_is_told_in_one_line(tmp_path: Path) -> None:
    done = measured("--worlds", "small,alfworld", "--out", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "--worlds alfworld needs --data FOLDER\n"


def test_small_worlds_are_learned_and_played_and_what_failed_is_measured_again(
    tmp_path: Path,
) -> None:
    known = {"kind": "", "steps": 60, "seed": 3, "seconds": 1, "not_won": []}
    won = {"test": {"games": 12, "won": 7, "score": 0.6}}
    rows = [
        {**known, **won, "world": "vending"},
        {**known, "world": "corridor", "error": "RuntimeError()"},
    ]
    kept = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "table.jsonl").write_text(kept)
    done = measured("--worlds", "small", "--seeds", "3", "--steps", "60", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    table = [line for line in done.stdout.splitlines() if "| test |" in line]
    assert [line.split(" | ")[0] for line in table] == [
        "| corridor 60 steps",
        "| post_office 60 steps",
        "| vending 60 steps",
    ]
    assert "| 7 of 12 |" in table[2]
    assert "RuntimeError" not in done.stdout
