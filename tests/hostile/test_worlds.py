"""Worlds of others as folders that a person typed: nothing that they do ends a command unnoticed."""

from __future__ import annotations

from tests.cli.command import Rpms

WORLD = """
from rpms.worlds.base import *
from tests.play.corridor import Corridor
class Exit(Corridor):
    name = "exit"
    def open(self, task, setting):
        game = super().open(task, setting)
        def step(command):
            raise SystemExit(0)
        game.step = step
        return game
world = Exit()
"""


def test_an_exit_of_a_world_ends_no_command(rpms: Rpms, tmp_path, monkeypatch):
    folder = tmp_path / "exit"
    folder.mkdir()
    (folder / "exit_world.py").write_text(WORLD)
    (folder / "manual.yaml").write_text("")
    (folder / "pyproject.toml").write_text(
        '[project]\n[project.entry-points."rpms.worlds"]\nexit = "exit_world:world"\n'
    )
    monkeypatch.chdir(tmp_path)
    ran = rpms(
        "run",
        folder,
        "--limit",
        "1",
        "--split",
        "walk",
        "--memory",
        "none",
        "--out",
        tmp_path / "run",
    )
    assert "world error" in ran.out + ran.err
    assert len(list((tmp_path / "run" / "episodes").iterdir())) == 1
    learned = rpms(
        "rules", "learn", folder, "--split", "walk", "--steps", "15", "--out", tmp_path / "m.yaml"
    )
    assert "the world failed in each of 3 episodes" in learned.err
    assert learned.code == 2
