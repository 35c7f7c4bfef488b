"""A run with a memory says in how many steps any of it was in the prompt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from rpms.paper.prompt import Part
from rpms.store.episodes import EpisodeRow
from rpms.store.run_summaries import MemoryShown
from rpms.store.runs import RunFolder
from tests.cli.command import Ran, Rpms, rpms

__all__ = ["rpms"]


def run(rpms: Rpms, out: Path, *words: str) -> Ran:
    ran = rpms("run", "alfworld", "--split", "builtin", "--limit", 4, *words, "--out", out)
    assert ran.code == 0, ran.err
    return ran


def rows(out: Path) -> tuple[EpisodeRow, ...]:
    return RunFolder(out).summary().rows


def counted(out: Path) -> MemoryShown:
    """By the prompts themselves."""
    folder = RunFolder(out)
    shown = steps = 0
    for task in folder.protocol.tasks:
        for step in folder.episode(task).steps:
            steps += 1
            shown += any(block.part is Part.MEMORY for block in step.prompt)
    return MemoryShown(shown, steps)


ACTING = ("--preset", "strict", "--model", "menu-best", "--memory", "embedded")


def test_a_run_that_acts_says_how_seldom_memory_was_told(rpms: Rpms, tmp_path: Path):
    ran = run(rpms, tmp_path / "full", *ACTING)
    shown = counted(tmp_path / "full")
    assert 0 < shown.count < shown.steps / 2
    assert f"memory: in the prompt in {shown.count} of {shown.steps} steps\n" in ran.out
    run(rpms, tmp_path / "rules", *ACTING, "--condition", "rules-only")
    table = rpms("table", "significance", tmp_path / "rules", tmp_path / "full").out
    table = " ".join(table.split())  # a note goes on in the next line
    assert f": {shown.count} of {shown.steps} prompts showed memories" in table
    assert table.count("showed memories") == 1


def test_where_most_prompts_show_memory_tables_are_silent(rpms: Rpms, tmp_path: Path):
    ran = run(rpms, tmp_path / "full", "--model", "planner", "--memory", "embedded")
    shown = counted(tmp_path / "full")
    assert not shown.rare
    assert f"memory: in the prompt in {shown.numbers} steps\n" in ran.out
    run(rpms, tmp_path / "rules", "--model", "planner", "--condition", "rules-only")
    table = rpms("table", "significance", tmp_path / "rules", tmp_path / "full")
    assert "showed memories" not in table.out


def test_a_run_without_memory_says_nothing_of_it(rpms: Rpms, tmp_path: Path):
    assert "memory:" not in run(rpms, tmp_path / "rules", "--condition", "rules-only").out


def test_an_export_has_the_number(rpms: Rpms, tmp_path: Path):
    run(rpms, tmp_path / "full", *ACTING)
    assert rpms("export", tmp_path / "full", "--to", "jsonl").code == 0
    file = tmp_path / "full" / "export" / "jsonl" / "episodes.jsonl"
    exported = [json.loads(line)["remembered"] for line in file.read_text().splitlines()]
    assert sum(exported) == counted(tmp_path / "full").count


def test_episodes_of_earlier_versions_which_did_not_count_are_left_out(rpms: Rpms, tmp_path: Path):
    run(rpms, tmp_path / "full", *ACTING)
    first, *others = rows(tmp_path / "full")
    uncounted = replace(first, remembered=None)
    assert MemoryShown.of([uncounted, *others]) == MemoryShown.of(others)
    assert not MemoryShown.of([uncounted]).rare
