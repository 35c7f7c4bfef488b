"""`rpms games` and `rpms verify`, which ALFWorld brings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough
from tests.alfworld_games import load_builtin, save_builtin
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


class TestVerify:
    @pytest.fixture
    def transcript(self, tmp_path: Path) -> Path:
        """A playthrough of a builtin game, recorded here, with the game beside it."""
        name = builtin_ids()[0]
        save_builtin(name, tmp_path)
        game = NativeGame(load_builtin(name))
        steps = []
        for command in (None, *builtin_walkthrough(name)):
            outcome = game.reset() if command is None else game.step(command)
            steps.append(
                {"action": command, "observation": outcome.observation, "won": outcome.won}
            )
        file = tmp_path / "played.jsonl"
        file.write_text(
            json.dumps({"game": name, "dialect": "0.3", "steps": steps}) + "\n", encoding="utf-8"
        )
        return file

    def test_an_unchanged_transcript(self, rpms: Rpms, transcript: Path):
        said = rpms("verify", "alfworld", transcript, "--data", transcript.parent)
        assert (said.code, said.out[:8]) == (0, "1 games,")
        assert said.out.endswith(" 0 mismatches\n")

    def test_a_difference_is_shown_and_is_exit_code_1(self, rpms: Rpms, transcript: Path):
        text = transcript.read_text(encoding="utf-8")
        transcript.write_text(text.replace('"won": true', '"won": false'), encoding="utf-8")
        said = rpms("verify", "alfworld", transcript, "--data", transcript.parent)
        assert said.code == 1
        assert f"{transcript}:1: " in said.out
        assert "won differs" in said.out
        assert "1 mismatches" in said.out

    def test_mistakes(self, rpms: Rpms, transcript: Path):
        folder = transcript.parent
        assert "$ALFWORLD_DATA" in rpms("verify", "alfworld", transcript).line
        assert (
            "no such transcript"
            in rpms("verify", "alfworld", folder / "nope.jsonl", "--data", folder).line
        )
        assert "only alfworld" in rpms("verify", "scienceworld", transcript).line
        transcript.write_text("{\n", encoding="utf-8")
        assert f"{transcript}:1: " in rpms("verify", "alfworld", transcript, "--data", folder).line
