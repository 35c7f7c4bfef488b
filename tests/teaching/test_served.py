"""A student that vLLM serves beside its base, by the name that `--lora-modules` gave it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rpms.models.secrets import FORBID_VARIABLE
from rpms.store.runs import RunFolder
from tests.cli.command import Rpms
from tests.cli.command import rpms as rpms  # noqa: PLC0414  a fixture
from tests.models.server import Reply, Seen, Server, openai_ok, serve

BASE = "Qwen/Qwen2.5-Coder-1.5B-Instruct"
WINDOW = 12_288


def listed(name: str, **told: Any) -> dict[str, Any]:
    """An entry of vLLM's list of models."""
    entry = {"id": name, "object": "model", "created": 1, "owned_by": "vllm", "root": name}
    return {**entry, "parent": None, "max_model_len": None, "permission": [], **told}


def answered(seen: Seen) -> Reply:
    """vLLM answers by the names that it lists, and says which others do not exist."""
    name = seen.body["model"]
    if name in (BASE, "taught"):
        return openai_ok("Thought: I look.\nAction: look")
    message = f"The model `{name}` does not exist."
    error = {"message": message, "type": "NotFoundError", "param": "model", "code": 404}
    return Reply(404, {"error": error})


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """`vllm serve BASE --enable-lora --lora-modules taught=adapter`, on loopback."""
    monkeypatch.setenv(FORBID_VARIABLE, "1")
    with serve() as server:
        adapter = listed("taught", root="/adapter", parent=BASE)
        base = listed(BASE, max_model_len=WINDOW)
        server.pages["/v1/models"] = {"object": "list", "data": [base, adapter]}
        server.play_script(answered)
        monkeypatch.setenv("VLLM_BASE_URL", f"{server.url}/v1")
        yield server


def test_a_run_asks_for_the_adapter_in_the_window_of_its_base(
    rpms: Rpms, vllm: Server, tmp_path: Path
):
    out = tmp_path / "run"
    words = ["run", "alfworld", "--split", "builtin", "--limit", 1, "--steps", 2, "--workers", 1]
    ran = rpms(*words, "--condition", "full", "--model", "vllm/taught", "--out", out)
    assert ran.code == 0, ran.err
    assert {seen.body["model"] for seen in vllm.asked} == {"taught"}
    protocol = RunFolder(out).protocol
    assert protocol.settings["model"] == "vllm/taught"
    assert protocol.settings["context"] == WINDOW
    assert "context window is not known" not in ran.out + ran.err


def test_games_are_not_refused_to_a_served_student_and_tables_leave_it_out(
    rpms: Rpms, vllm: Server, tmp_path: Path
):
    """A server says nothing of what its model was taught: a training game is played, the protocol
    has no word of teaching, and `rpms table taught` says why it has no row.
    """
    out = tmp_path / "run"
    words = ["run", "alfworld", "--condition", "baseline", "--split", "builtin_train", "--limit", 1]
    ran = rpms(*words, "--steps", 1, "--model", "vllm/taught", "--out", out)
    assert ran.code == 0, ran.err
    assert vllm.asked
    assert "taught" not in RunFolder(out).protocol.settings
    assert "what was taught to one that is served or replayed" in rpms("table", "taught", out).line


def test_a_student_that_is_served_is_corrected(rpms: Rpms, vllm: Server, tmp_path: Path):
    pairs = tmp_path / "pairs.jsonl"
    words = ["teach", "correct", "vllm/taught", "alfworld", "--pairs", pairs, "--memory", "none"]
    ran = rpms(*words, "--split", "builtin_train", "--limit", 1, "--steps", 2, "--processes", 1)
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in pairs.read_text("utf-8").splitlines()]
    assert {line["student"] for line in lines} == {"vllm/taught"}
    assert {seen.body["model"] for seen in vllm.asked} == {"taught"}


def test_a_name_that_vllm_was_not_given_is_one_line(rpms: Rpms, vllm: Server):
    ran = rpms("models", "check", "vllm/taugth")
    assert ran.code == 1
    assert "The model `taugth` does not exist" in ran.out + ran.err
    assert len(ran.err.splitlines()) <= 1
