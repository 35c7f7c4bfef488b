"""A surprise is told alike in the row, the table, the export and `rpms show`; the page is
looked at in test_browser.
"""

from __future__ import annotations

import csv
import json

import pytest

from rpms.cli.report import transcript
from rpms.report.condition_tables import action_table
from rpms.report.export import export
from rpms.report.gather import gather
from rpms.report.table import comma_separated
from rpms.store.runs import RunFolder


def test_what_surprised_is_in_the_table_the_export_and_the_transcript(played, tmp_path):
    folder = played["full"]
    run = RunFolder(folder)
    episodes = [run.episode(task) for task in run.protocol.tasks]
    steps = [step for episode in episodes for step in episode.steps]
    told = [one for step in steps for one in step.surprises]
    assert told, "these games hold commands that are refused for no known reason"
    assert [episode.row.surprises for episode in episodes] == [
        sum(len(step.surprises) for step in episode.steps) for episode in episodes
    ]

    (comparison,) = gather([folder])
    (row,) = csv.DictReader(comma_separated(action_table(comparison)).splitlines())
    assert float(row["Surprises"]) == pytest.approx(100 * len(told) / len(steps), rel=0.01)

    export([folder], "jsonl", tmp_path / "out")
    written = [
        json.loads(line)["surprises"]
        for line in (tmp_path / "out" / "steps.jsonl").read_text().splitlines()
    ]
    assert [line for cell in written for line in cell.splitlines()] == [
        f"{one.kind}: {one.text} [{one.line}]" for one in told
    ]

    lines = [
        line
        for episode in episodes
        for line in transcript(episode)
        if line.startswith("surprise, ")
    ]
    assert lines == [
        f"surprise, {one.kind}: {one.text}{f' [{one.line}]' if one.line else ''}" for one in told
    ]
