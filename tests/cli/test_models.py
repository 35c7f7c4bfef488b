"""`rpms models`: what is ready, and whether a model answers."""

from __future__ import annotations

import pytest

from tests.cli.command import Rpms
from tests.models.server import openai_ok, serve


class TestModels:
    def test_the_list_says_what_is_ready(self, rpms: Rpms):
        said = rpms("models")
        assert said.code == 0
        for row in ("planner", "scripted/FILE", "openai/"):
            assert row in said.out

    def test_checking_what_there_is_not(self, rpms: Rpms):
        assert "no provider 'nope'" in rpms("models", "check", "nope").line

    @pytest.mark.parametrize(
        "name", ["planner", "menu-random", "menu-random/3", "menu-first", "menu-best"]
    )
    def test_what_is_no_llm_needs_no_check(self, rpms: Rpms, name: str):
        said = rpms("models", "check", name)
        assert (said.code, said.err, said.out.count("\n")) == (0, "", 1)
        assert said.out.startswith(f"{name}: ready, nothing to check; no LLM")

    def test_checking_a_dead_server_is_quick_and_says_nothing_of_a_run(self, rpms: Rpms):
        said = rpms(
            "models", "check", "vllm/m", "--base-url", "http://127.0.0.1:9/v1", "--price", "1,2"
        )
        assert said.code == 1
        assert "start the server" in said.err
        assert "same command" not in said.err

    def test_checking_at_a_price_of_ones_own(self, rpms: Rpms):
        with serve() as server:
            server.play(openai_ok())
            said = rpms(
                "models", "check", "vllm/m", "--base-url", f"{server.url}/v1", "--price", "1,2"
            )
            assert "cost     $0.000114" in said.out
            assert "--price 'x'" in rpms("models", "check", "vllm/m", "--price", "x").line
