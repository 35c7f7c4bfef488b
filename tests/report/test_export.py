"""Exports for other programs: the same episodes in every form, whole files, and a word on what
is missing.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import socket

import pytest

from rpms.logic.errors import InputError
from rpms.models.base import Answer, Usage
from rpms.models.policy import FunctionModel
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.report.export import FORMS, TABLES, USUAL, export
from rpms.report.gather import read_results
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]
HOSTILE = '=HYPERLINK("http://x")\x1b[2J\ud800\x00,"quoted"\nAction: go to desk 1'


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run of two embedded games by a model that writes what no file likes."""
    out = tmp_path_factory.mktemp("runs") / "one"
    model = FunctionModel(lambda _: Answer(HOSTILE, Usage(100, 20, 10, 1, 0.5)), "hostile")
    world = find_world("alfworld")
    run(
        design_run(
            world,
            model.name,
            lend(model),
            split="builtin",
            limit=2,
            step_budget=3,
            memory=EpisodicMemory(),
        ),
        out,
    )
    return out


def read(folder, form):
    if form == "csv":
        found = {}
        for name in USUAL:
            with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
                found[name] = list(csv.DictReader(stream))
        return found
    return {
        name: [
            json.loads(line) for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
        ]
        for name in USUAL
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_what_the_episodes_hold(played, tmp_path, form):
    files, notes = export([played], form, tmp_path / "out")
    assert not notes
    tables = read(tmp_path / "out", form)
    assert {f"{name}.{form}": len(lines) for name, lines in tables.items()} == files
    for name, lines in tables.items():
        assert all(list(line) == list(TABLES[name]) for line in lines)
    folder = RunFolder(played)
    rows = list(folder.rows())
    assert [line["task"] for line in tables["episodes"]] == [row.task for row in rows]
    assert [int(line["steps"]) for line in tables["episodes"]] == [3, 3]
    assert [float(line["model_seconds"]) for line in tables["episodes"]] == [1.5, 1.5]
    assert [int(line["prompt_tokens"]) for line in tables["steps"]] == [100] * 6
    commands = [step.command for row in rows for step in folder.episode(row.task).steps]
    assert [line["command"] for line in tables["steps"]] == commands
    considered = sum(
        len(step.candidates) for row in rows for step in folder.episode(row.task).steps
    )
    assert len(tables["candidates"]) == considered


def test_no_cell_is_a_formula_and_no_text_breaks_a_line(played, tmp_path):
    export([played], "csv", tmp_path / "out")
    lines = read(tmp_path / "out", "csv")["steps"]
    assert all(line["answer"].startswith("'=HYPERLINK") for line in lines)
    assert "\0" not in (tmp_path / "out/steps.csv").read_text("utf-8")


def test_a_run_in_progress_is_said_and_exported_as_far_as_it_is(played, tmp_path):
    part = tmp_path / "part"
    shutil.copytree(played, part)
    first, second = RunFolder(part).protocol.tasks
    RunFolder(part).file(second).unlink()
    _, stopped = export([part], "jsonl", tmp_path / "out")
    assert stopped == [f"{part} is not finished: 1 of 2 episodes are there and exported"]
    (part / "lock").write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
    _, going = export([part], "jsonl", tmp_path / "out")
    assert going == [f"{part} is being played: 1 of 2 episodes are there and exported"]
    assert [line["task"] for line in read(tmp_path / "out", "jsonl")["episodes"]] == [first]
    file = RunFolder(part).file(first)
    file.write_bytes(file.read_bytes()[:-40])
    _, damaged = export([part], "csv", tmp_path / "out")
    assert "is not a whole episode file" in damaged[0]
    assert read(tmp_path / "out", "csv")["episodes"] == []


def test_a_run_in_shards_is_read_like_any_other(played, tmp_path, monkeypatch):
    part, run_before = tmp_path / "part", RunFolder(played)
    shutil.copytree(played, part)
    for task in run_before.protocol.tasks:
        flat = part / "episodes" / run_before.file(task).name
        shard = flat.parent / flat.name.removesuffix(".json.gz")[-12:][:2]
        shard.mkdir(exist_ok=True)
        flat.rename(shard / flat.name)
    (shard / "other-000000000000.json.gz").write_bytes((shard / flat.name).read_bytes())
    monkeypatch.setattr("rpms.store.runs._FLAT", 1)
    lines = []
    for folder in (played, part):
        assert export([folder], "jsonl", tmp_path / "out")[1] == []
        lines.append(
            {
                name: [{**line, "run": ""} for line in found]
                for name, found in read(tmp_path / "out", "jsonl").items()
            }
        )
    assert lines[0] == lines[1]
    results, before = read_results("", RunFolder(part)), read_results("", run_before)
    assert (results.rows, results.seconds) == (before.rows, before.seconds)
    assert results.damaged == {}


def test_a_folder_of_something_else_is_left_alone(played, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="holds something that is not an export"):
        export([played], "csv", tmp_path / "mine")
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"


def test_the_command(rpms: Rpms, played, tmp_path):
    said = rpms(
        "export", played, "--to", "jsonl", "--out", tmp_path / "out", "--tables", "episodes,steps"
    )
    assert said.code == 0
    assert said.out.splitlines() == [
        f"{tmp_path}/out/episodes.jsonl: 2 lines",
        f"{tmp_path}/out/steps.jsonl: 6 lines",
    ]
    assert rpms("export", played, "--to", "xlsx").line == "--to 'xlsx': choose one of csv, jsonl"
    assert rpms("export", played, "--tables", "answers").line.startswith(
        "--tables answers: choose of episodes"
    )
    assert "is neither a run nor a study" in rpms("export", tmp_path).line
