"""What is set aside: kept whole, checked when somebody has edited it, and out of the memory
until it is restored.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpms.logic.errors import FileError, InputError
from rpms.paper.memory import merge
from rpms.store.memories import check_frozen, read_memory
from rpms.store.quarantine import (
    Quarantined,
    quarantine_file,
    read_quarantine,
    restore,
    set_aside,
    write_without,
)
from tests.paper.entries import stores
from tests.report.runs import memory as embedded


@settings(max_examples=20)
@given(stores.filter(lambda store: len(merge(store)) > 1), st.data())
def test_nothing_is_lost_and_nothing_comes_in_again(tmp_path_factory, store, data):
    entries = merge(store)
    chosen = data.draw(
        st.sets(st.sampled_from([entry.id for entry in entries]), max_size=len(entries) - 1)
    )
    stay, aside = set_aside(entries, dict.fromkeys(chosen, "a reason"))
    assert {entry.id for entry in stay}.isdisjoint(chosen)
    assert merge(stay, [item.entry for item in aside]) == entries
    assert set_aside(entries, {}, aside) == (stay, aside)
    file = tmp_path_factory.mktemp("memory") / "memory.jsonl"
    write_without(file, stay, aside, "alfworld")
    assert read_quarantine(file, "alfworld") == aside
    for item in aside:
        assert restore(file, item.entry.id) == item
    assert merge(read_memory(file).entries) == entries
    assert check_frozen(file)


@pytest.fixture
def memory(tmp_path):
    kept, gone, *_ = embedded().entries
    file = tmp_path / "memory.jsonl"
    write_without(file, [kept], [Quarantined(gone, "audit: steps +4")], "alfworld")
    return file


def edited(file, change):
    aside = quarantine_file(file)
    lines = [json.loads(line) for line in aside.read_text().splitlines()]
    aside.write_text("\n".join(json.dumps(line) for line in change(lines)) + "\n")


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (lambda lines: lines[1:], 1, "should begin with"),
        (lambda lines: [{**lines[0], "version": 2}, *lines[1:]], 1, "should begin with"),
        (lambda lines: [{**lines[0], "world": "scienceworld"}, *lines[1:]], 1, "not of alfworld"),
        (lambda lines: [lines[0], {**lines[1], "reason": ""}], 2, "reason"),
        (
            lambda lines: [lines[0], {**lines[1], "why": "x"}],
            2,
            "a line holds `reason` and `entry`",
        ),
        (
            lambda lines: [
                lines[0],
                {"reason": "x", "entry": {**lines[1]["entry"], "type": "song"}},
            ],
            2,
            "unknown entry",
        ),
        (
            lambda lines: [lines[0], {"reason": "x", "entry": {**lines[1]["entry"], "id": ""}}],
            2,
            "has no id",
        ),
        (lambda lines: [lines[0], lines[1], lines[1]], 3, "more than once"),
        (lambda lines: [lines[0], ["x"]], 2, "one JSON object a line"),
    ],
)
def test_an_edited_file_is_told_by_line_and_changes_nothing(memory, change, line, words):
    edited(memory, change)
    before = memory.read_bytes()
    with pytest.raises(FileError, match=words) as told:
        restore(memory, "x")
    assert told.value.line == line
    assert memory.read_bytes() == before


def test_a_restored_entry_is_named_by_the_beginning_of_its_id_and_a_wrong_one_is_told(memory):
    (item,) = read_quarantine(memory)
    with pytest.raises(InputError, match="no entry 'nobody'"):
        restore(memory, "nobody")
    assert restore(memory, item.entry.id[:12]).reason == "audit: steps +4"


def test_a_memory_is_not_emptied(tmp_path, memory):
    entries = read_memory(memory).entries
    stay, aside = set_aside(entries, {entry.id: "bad" for entry in entries})
    with pytest.raises(InputError, match="nothing would be left"):
        write_without(tmp_path / "empty.jsonl", stay, aside, "alfworld")
