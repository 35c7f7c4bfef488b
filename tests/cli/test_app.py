"""The commands put together: what there is follows from the application, not from a list here."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main

from rpms.cli import learn, run, study
from rpms.cli.app import ENTRY_POINTS, add_others, app
from rpms.cli.resources import Resources
from tests.cli.command import Rpms


def _all_of(command: Any, *before: str) -> Iterator[tuple[str, ...]]:
    for name, each in getattr(command, "commands", {}).items():
        yield (*before, name)
        yield from _all_of(each, *before, name)


COMMANDS = tuple(_all_of(typer.main.get_command(app)))


def test_help_names_every_command(rpms: Rpms):
    said = rpms("--help")
    assert said.code == 0
    assert all(f" {names[0]} " in said.out for names in COMMANDS)
    assert rpms("-h").out == said.out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_that_says_what_it_does(rpms: Rpms, command: tuple[str, ...]):
    said = rpms(*command, "--help")
    assert said.code == 0
    usage, says, *_ = (line.strip() for line in said.out.splitlines() if line.strip())
    assert f"rpms {' '.join(command)}" in usage
    assert says[0].isalpha()


@pytest.mark.parametrize("command", [run.run_split, learn.learn_split, study.run_file], ids=["run", "learn", "study"])
def test_what_plays_is_asked_for_in_one_way(command: Any):
    parameters = inspect.signature(command).parameters
    usual = inspect.signature(run.run_split).parameters
    assert all(parameters[each.name] == usual[each.name] for each in fields(Resources))


@pytest.mark.parametrize("engine", ["ray", "native,ray"])
def test_a_cluster_is_no_engine(rpms: Rpms, engine: str):
    assert "add --ray" in rpms("run", "alfworld", "--engine", engine).line


class TestCommandsOfOthers:
    def _package(self, folder: Path, code: str) -> None:
        (folder / "stranger.py").write_text(code)
        metadata = folder / "stranger-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\nstranger = stranger:register\n")

    def _added(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[set[str | None], list[str]]:
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "stranger", raising=False)
        bare = typer.Typer()
        problems = add_others(bare)
        return {each.name for each in (*bare.registered_commands, *bare.registered_groups)}, problems

    def test_a_world_brings_its_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        assert self._added(tmp_path, monkeypatch) == ({"games", "verify"}, [])
        self._package(tmp_path, "def register(app):\n    app.command('greet')(lambda: None)\n")
        assert self._added(tmp_path, monkeypatch) == ({"games", "verify", "greet"}, [])

    def test_one_that_cannot_be_loaded_keeps_no_other_from_working(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        self._package(tmp_path, "import no_such_module\n")
        names, problems = self._added(tmp_path, monkeypatch)
        assert names == {"games", "verify"}
        (problem,) = problems
        assert problem.startswith(
            "the commands of stranger (stranger:register) cannot be loaded: ModuleNotFoundError: "
        )
