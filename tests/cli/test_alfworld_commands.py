"""`rpms games`: ALFWorld games made by a command."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Rpms


class TestGames:
    def test_made_games_can_be_run(self, rpms: Rpms, tmp_path: Path):
        made = rpms("games", "make", "--out", tmp_path / "games", "--count", 2, "--seed", 7)
        assert "2 games in " in made.out
        played = (
            "run",
            "alfworld",
            "--split",
            "train",
            "--data",
            tmp_path / "games",
            "--memory",
            "none",
        )
        played = (*played, "--out", tmp_path / "run")
        assert "2 of 2 episodes: 2 won" in rpms(*played).out

    def test_mistakes(self, rpms: Rpms, tmp_path: Path):
        assert "1 or more" in rpms("games", "make", "--out", tmp_path / "games", "--count", 0).line
        assert (
            "unknown task type"
            in rpms("games", "make", "--out", tmp_path / "games", "--type", "nope").line
        )
        assert (
            "dialect" in rpms("games", "make", "--out", tmp_path / "games", "--dialect", "0.5").line
        )
