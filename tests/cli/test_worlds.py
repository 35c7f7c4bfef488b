"""`rpms worlds`: what is installed, and whether it is sound."""

from __future__ import annotations

from tests.cli.command import Rpms


class TestWorlds:
    def test_the_installed_worlds(self, rpms: Rpms):
        said = rpms("worlds")
        assert said.code == 0
        assert "builtin, builtin_train, builtin_large, valid_seen, valid_unseen, train" in said.out

    def test_alfworld_is_sound(self, rpms: Rpms):
        said = rpms("worlds", "check", "alfworld", "--games", 2, "--steps", 8)
        assert said.code == 0
        assert "failed" not in said.out
        assert "ok      belief" in said.out

    def test_mistakes(self, rpms: Rpms):
        assert "unknown world 'nope'" in rpms("worlds", "check", "nope").line
        assert "./nope: there is no such folder" in rpms("worlds", "check", "./nope").line
        assert "no engine 'nope'" in rpms("worlds", "check", "alfworld", "--engine", "nope").line
        assert (
            "no property is called 'nope'"
            in rpms("worlds", "check", "alfworld", "--only", "nope").line
        )

    def test_a_split_that_is_not_there_fails_the_check(self, rpms: Rpms):
        said = rpms("worlds", "check", "alfworld", "--split", "valid_seen")
        assert said.code == 1
        assert "ALFWORLD_DATA" in said.out
