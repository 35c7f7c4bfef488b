"""The benchmark of one model, as a user meets it: a mistake is one line, and the table has a
row a configuration.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from tests.cli.command import Ran, Rpms

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "small_model.py"


@pytest.fixture
def benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    main = runpy.run_path(str(PROGRAM))["main"]

    def run(*arguments: object) -> Ran:
        usual = ("--model", "planner", "--split", "builtin", "--out", tmp_path / "runs")
        monkeypatch.setattr(sys, "argv", ["small_model.py", *map(str, (*usual, *arguments))])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return Ran(int(str(code)), printed.out, printed.err)

    return run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--world", "nope"), "unknown world 'nope'"),
        (("--model", "nope"), "no provider 'nope'"),
        (("--model", "hf/./nowhere"), "hf/./nowhere"),
        (("--split", "nope"), "no split 'nope'"),
        (("--split", "valid_seen"), "give --data"),
        (("--split", "valid_seen", "--data", "nowhere"), "nowhere"),
        (("--memory", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        (("--option", "fast"), "write NAME=VALUE"),
        (("--only", "full@x"), "--only 'full@x': 'x' is no whole number above 0"),
        (("--only", "full@0"), "--only 'full@0'"),
        (("--only", "nope"), "no configuration 'nope'; choose from 'baseline', 'rules-only', "),
        (("--only", "nope"), ", 'full + menu; held', "),
        (
            ("--model", "menu-first", "--only", "full"),
            "menu-first chooses from a menu, and 'full' has none",
        ),
        *(
            (option, f"argument {option[0]}: ")
            for option in (("--sample", 0), ("--sample", -1), ("--per-task", 0))
        ),
        *(
            (option, f"argument {option[0]}: ")
            for option in (("--at-once", 0), ("--max-tokens", 0), ("--steps", "x"))
        ),
    ],
)
def test_a_mistake_is_one_line(benchmark, tmp_path: Path, options: tuple[object, ...], words: str):
    said = benchmark(*options)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), said
    assert words in said.err
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_holds_another_run_is_refused_before_anything_is_played(
    benchmark, tmp_path: Path
):
    played = benchmark("--sample", 1, "--only", "full")
    assert (played.code, played.out.count("\n")) == (0, 3)
    assert "| full | 1 of 1 | " in played.out
    said = benchmark("--sample", 2, "--only", "baseline,full")
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "holds another run" in said.err
    assert not list((tmp_path / "runs" / "baseline" / "episodes").glob("*"))


def test_a_memory_changed_since_its_freeze_is_refused(benchmark, rpms: Rpms, tmp_path: Path):
    memory = tmp_path / "memory.jsonl"
    assert rpms("learn", "alfworld", "--limit", 1, "--rounds", 1, "--out", memory).code == 0
    memory.write_text(memory.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    said = benchmark("--memory", memory)
    assert said.code == 2
    assert f"{memory}: has changed since it was frozen" in said.err


def test_what_chooses_from_a_menu_plays_what_has_one(benchmark):
    said = benchmark("--model", "menu-first", "--sample", 1, "--steps", 1)
    rows = [line.split(" | ")[0].strip("| ") for line in said.out.splitlines()[2:]]
    assert said.code == 0
    assert {"full + menu", "full + menu, held", "full + strict"} <= set(rows)
    without = {"full", "baseline", "baseline + strict", "full + guard", "full + recent"}
    assert not without & set(rows), "a baseline has no menu under any preset"
