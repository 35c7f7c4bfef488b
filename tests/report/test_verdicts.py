"""Fates of memories: counted by reason over a run, and told entry by entry on its page."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from rpms.logic.errors import InputError
from rpms.report.gather import gather
from rpms.report.table import render
from rpms.report.tables import all_tables, make_table
from rpms.store.runs import RunFolder


def taken(file):
    (text,) = re.findall(r'^RPMS\.take\("[^"]+",(".*")\);$', file.read_text())
    return json.loads(json.loads(text))


def candidates(folder):
    run = RunFolder(folder)
    return [
        (step, each)
        for task in run.protocol.tasks
        for step in run.episode(task).steps
        for each in step.candidates
    ]


def test_every_candidate_of_every_step_is_counted_by_kind_and_verdict(played):
    (evidence,) = gather([played["full"]])
    table = make_table("verdicts", evidence)
    counted = Counter()
    for row in table.lines:
        kind, fate, _, count = (cell.text for cell in row.cells)
        counted[kind.replace(" ", "_"), fate] += int(count.split()[0])
    assert counted == Counter((each.kind, each.fate) for _, each in candidates(played["full"]))
    assert not any(re.search(r"\b[a-z]+ \d+\b", row.cells[2].text) for row in table.lines)
    assert "verdicts" not in {each.name for each in all_tables(evidence)}
    assert "Why" in render(table, "csv")


def test_without_memory_there_are_no_verdicts(played):
    (evidence,) = gather([played["rules-only"]])
    with pytest.raises(InputError, match="a condition with memory"):
        make_table("verdicts", evidence)


def test_an_entry_s_page_lists_every_step_that_showed_it_and_what_followed(report, played):
    overview = taken(report.folder / "data" / "memory.js")
    pages = [
        page
        for number in range(-(-len(overview) // 50))
        for page in taken(report.folder / "data" / f"entries-{number}.js")
    ]
    assert len(pages) == len(overview)
    shown = Counter()
    for name in ("memory-only", "full"):
        shown.update(
            each.entry for _, each in candidates(played[name]) if each.fate in ("kept", "warned")
        )
    assert {name: count for name, _, _, _, _, _, count in overview if count} == shown
    for (name, _, _, fates, won, lost, count), (steps, reasons) in zip(
        overview, pages, strict=True
    ):
        assert len(steps) == count, name
        assert sum(fates.values()) == count + sum(number for _, number in reasons)
        assert bool(won + lost) == bool(count)
    assert (report.folder / "memory.html").is_file()
