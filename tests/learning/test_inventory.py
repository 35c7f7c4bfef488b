"""`rpms memory`: looking into memories, merging and comparing them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rpms.cli.app import make_app
from rpms.learning.harvest import harvest
from rpms.learning.inventory import Stats, difference, where_from
from rpms.logic.errors import FileError, InputError
from rpms.paper.memory import FailureLesson, merge
from rpms.paper.recall import EpisodicMemory
from rpms.store.memories import find_entry, freeze, read_memory, write_memory
from tests.learning.episodes import MANUAL, planned, scripted

HOSTILE = "=1+1 a|b <b>*c*</b>"
"""An action that a model might write: a spreadsheet's formula, a table's border, HTML and
emphasis."""


@pytest.fixture(scope="module")
def memories(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memories")
    heat = harvest(planned("pick_heat"), MANUAL)
    two = harvest(planned("pick_two"), MANUAL)
    (lesson,) = harvest(scripted("look", "take book 1 from desk 1"), MANUAL)
    assert isinstance(lesson, FailureLesson)
    hostile = [replace(lesson, failed_action=HOSTILE)]
    for name, entries in (("heat", heat), ("two", two), ("hostile", hostile)):
        write_memory(folder / f"{name}.jsonl", entries, "alfworld")
    return folder


def rpms(*words: str | Path):
    return CliRunner().invoke(make_app(), [str(word) for word in words])


def problem(*words: str | Path) -> str:
    done = rpms(*words)
    assert isinstance(done.exception, InputError), done.output
    return str(done.exception)


def test_stats_name_each_entry_with_its_episode_and_step(memories):
    memory = read_memory(memories / "two.jsonl")
    told = rpms("memory", "stats", memories / "two.jsonl", "--entries").output
    for entry in memory.entries:
        assert entry.id in told
        assert where_from(entry.origins) in told
    counted = Stats(memory.entries)
    assert counted.entries == len(memory) == counted.kinds.total()
    assert counted.episodes == 1
    assert counted.observations == sum(len(entry.origins) for entry in memory.entries)


def test_stats_say_whether_a_memory_is_frozen(memories, tmp_path):
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((memories / "heat.jsonl").read_bytes())
    assert "not frozen" in rpms("memory", "stats", copy).output
    freeze(copy)
    assert "frozen as sha256" in rpms("memory", "stats", copy).output
    copy.write_text(copy.read_text() + "\n")
    assert "CHANGED" in rpms("memory", "stats", copy).output


def test_one_entry_is_shown_in_full_by_the_beginning_of_its_id(memories):
    entry = read_memory(memories / "heat.jsonl").entries[0]
    told = rpms("memory", "show", memories / "heat.jsonl", entry.id[:-1]).output
    assert f'"id": "{entry.id}"' in told
    assert "learned in:" in told


def test_an_unknown_entry_is_one_line(memories):
    assert "no entry 'nonsense'" in problem("memory", "show", memories / "heat.jsonl", "nonsense")
    memory = read_memory(memories / "heat.jsonl")
    with pytest.raises(InputError, match="begins the ids of"):
        find_entry(memory, "s")


def test_merging_in_any_order_gives_the_same_file(memories, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert (
        rpms(
            "memory", "merge", memories / "heat.jsonl", memories / "two.jsonl", "--out", one
        ).exit_code
        == 0
    )
    assert (
        rpms(
            "memory", "merge", memories / "two.jsonl", memories / "heat.jsonl", "--out", two
        ).exit_code
        == 0
    )
    assert one.read_bytes() == two.read_bytes()
    assert "exists" in problem("memory", "merge", one, two, "--out", one)


def test_a_memory_that_changed_is_neither_merged_nor_exported_and_said_to_have(memories, tmp_path):
    changed, other = tmp_path / "changed.jsonl", memories / "two.jsonl"
    changed.write_bytes((memories / "heat.jsonl").read_bytes())
    freeze(changed)
    assert "CHANGED" not in rpms("memory", "show", changed).output
    changed.write_text(changed.read_text() + "\n")
    for words in (
        ("merge", changed, other, "--out", "x.jsonl"),
        ("export", changed, "--out", "x.md"),
    ):
        *before, out = words
        assert "has changed since it was frozen" in problem("memory", *before, tmp_path / out)
        assert not (tmp_path / out).exists()
    for words in (("show", changed), ("stats", changed), ("diff", other, changed)):
        assert "CHANGED since it was frozen" in rpms("memory", *words).output


def test_memories_that_name_no_world_are_merged_into_a_named_one(memories, tmp_path):
    bare = tmp_path / "bare.jsonl"
    bare.write_text((memories / "heat.jsonl").read_text().partition("\n")[2])
    out = tmp_path / "out.jsonl"
    assert "use --world" in problem("memory", "merge", bare, bare, "--out", out)
    assert "unknown world" in problem("memory", "merge", bare, "--world", "alfword", "--out", out)
    done = rpms(
        "memory", "merge", bare, memories / "two.jsonl", "--world", "alfworld", "--out", out
    )
    assert done.exit_code == 0, done.output
    assert read_memory(out, "alfworld").world == "alfworld"
    wrong = problem(
        "memory",
        "merge",
        memories / "two.jsonl",
        "--world",
        "scienceworld",
        "--out",
        tmp_path / "other.jsonl",
    )
    assert "is a memory of alfworld" in wrong


def test_memories_of_two_worlds_are_neither_merged_nor_compared(memories, tmp_path):
    other = tmp_path / "other.jsonl"
    write_memory(other, read_memory(memories / "heat.jsonl").entries, "elsewhere")
    assert "only memories of one world" in problem(
        "memory", "merge", memories / "heat.jsonl", other, "--out", tmp_path / "x.jsonl"
    )
    assert "of two worlds" in problem("memory", "diff", memories / "heat.jsonl", other)


def test_diff_tells_added_removed_and_changed(memories):
    heat, two = (read_memory(memories / f"{name}.jsonl") for name in ("heat", "two"))
    both = EpisodicMemory(merge(heat.entries, two.entries), "alfworld")
    found = difference(heat, both)
    assert not found.removed
    assert len(found.added) == len(both) - len(heat)
    assert {new.id for _, new in found.changed} == {
        "schema_" + old.id.partition("_")[2] for old, _ in found.changed
    }
    assert not any(difference(both, both))
    done = rpms("memory", "diff", memories / "heat.jsonl", memories / "two.jsonl")
    assert done.exit_code == 1
    assert rpms("memory", "diff", memories / "heat.jsonl", memories / "heat.jsonl").exit_code == 0


def test_export_escapes_what_models_wrote(memories, tmp_path):
    memory = read_memory(memories / "hostile.jsonl")
    assert [entry.failed_action for entry in memory.entries] == [HOSTILE]
    told = {}
    for ending in ("md", "csv"):
        out = tmp_path / f"memory.{ending}"
        assert rpms("memory", "export", memories / "hostile.jsonl", "--out", out).exit_code == 0
        told[ending] = out.read_text(encoding="utf-8")
    rows = list(csv.reader(told["csv"].splitlines()))
    assert len(rows) == len(memory) + 1
    assert not any(cell[:1] in {"=", "+", "-", "@"} for row in rows for cell in row)
    assert any(cell.startswith(f"'{HOSTILE}") for cell in rows[1])
    assert r"| =1+1 a\|b \<b\>\*c\*\</b\>: " in told["md"]
    assert "must end in one of .md, .csv" in problem(
        "memory", "export", memories / "hostile.jsonl", "--out", tmp_path / "memory.pdf"
    )


def test_bad_files_are_one_line_each(tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    assert "holds no entries" in problem("memory", "stats", empty)
    assert "cannot be read" in problem("memory", "show", tmp_path / "nowhere.jsonl")
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"type": "poem"}\n')
    done = rpms("memory", "stats", wrong)
    assert isinstance(done.exception, FileError)
    assert str(done.exception).startswith(f"{wrong}:1:")
