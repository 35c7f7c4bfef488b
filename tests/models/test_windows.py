"""Length of a context window: given, asked, known, assumed."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rpms.models.windows import ASSUMED, context_window


@contextmanager
def listing(answers: dict[str, object]):
    """A server on loopback that answers GET requests by path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(answers[self.path]).encode() if self.path in answers else b""
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        ("openai/gpt-4", 8_192),
        ("openai/gpt-4-0613", 8_192),
        ("openai/gpt-4o-mini", 128_000),
        ("anthropic/claude-sonnet-4-5", 200_000),
        ("deepinfra/meta-llama/Meta-Llama-3.1-8B-Instruct", 131_072),
        ("hf/meta-llama/Meta-Llama-3-8B-Instruct", 8_192),
    ],
)
def test_some_are_known_by_name(name, tokens):
    window = context_window(name)
    assert (window.tokens, window.source, window.note) == (tokens, "known", "")


def test_what_is_given_goes_before_everything():
    assert context_window("openai/gpt-4o", 4_000).tokens == 4_000
    assert context_window("planner", 4_000).source == "given"


def test_what_is_no_llm_has_no_limit():
    assert context_window("planner").tokens == 0


def test_a_server_of_ones_own_is_asked_whatever_the_name_says():
    with listing(
        {"/v1/models": {"data": [{"id": "Qwen/Qwen2.5-7B", "max_model_len": 5_000}]}}
    ) as url:
        assert context_window("vllm/Qwen/Qwen2.5-7B", base_url=url).tokens == 5_000
    with listing(
        {"/v1/models": {"data": []}, "/props": {"default_generation_settings": {"n_ctx": 6_000}}}
    ) as url:
        assert context_window("llamacpp/m", base_url=url).tokens == 6_000


def test_an_adapter_that_vllm_serves_has_the_window_of_its_parent():
    base = {"id": "Qwen/Qwen2.5-1.5B-Instruct", "max_model_len": 5_000, "parent": None}
    taught = {"id": "taught", "root": "/adapter", "parent": base["id"], "max_model_len": None}
    with listing({"/v1/models": {"data": [base, taught]}}) as url:
        assert context_window("vllm/taught", base_url=url).tokens == 5_000


def test_adapters_that_name_each_other_as_parents_say_nothing():
    first = {"id": "first", "parent": "second"}
    second = {"id": "second", "parent": "first"}
    with listing({"/v1/models": {"data": [first, second]}}) as url:
        assert context_window("vllm/first", base_url=url).source == "assumed"


def test_a_server_that_says_nothing_or_is_not_there_leaves_the_name_or_a_guess():
    with listing({"/v1/models": {"data": [{"id": "other", "max_model_len": 5_000}]}}) as url:
        assert context_window("vllm/Qwen/Qwen2.5-7B", base_url=url).tokens == 32_768
        guess = context_window("vllm/mine", base_url=url)
    assert (guess.tokens, guess.source) == (ASSUMED, "assumed")
    assert "give --context" in guess.note
    assert context_window("vllm/mine", base_url="http://127.0.0.1:9/v1").source == "assumed"


def test_without_a_library_for_requests_nobody_is_asked(monkeypatch):
    for name in ("httpx", "httpx2"):
        monkeypatch.setitem(sys.modules, name, None)
    assert context_window("vllm/mine").source == "assumed"


def test_a_folder_of_weights_says_so_itself(tmp_path):
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 2048}')
    assert context_window(f"hf/{tmp_path}").tokens == 2_048
