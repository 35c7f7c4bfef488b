"""Names of models, and what each needs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.cli.models import check_model
from rpms.logic.errors import FileError, InputError, ModelError, ModelUnavailable
from rpms.models.base import Request
from rpms.models.catalogue import (
    PROVIDERS,
    ModelOptions,
    _provider,
    available,
    open_model,
    parse_model_name,
    parse_parameter,
)
from rpms.models.policy import FunctionModel, PolicyModel, read_script
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import prompt, request
from tests.models.server import openai_ok


@pytest.mark.parametrize(
    ("text", "provider", "rest"),
    [
        ("openai/gpt-4o", "openai", "gpt-4o"),
        (
            "deepinfra/meta-llama/Meta-Llama-3.1-8B-Instruct",
            "deepinfra",
            "meta-llama/Meta-Llama-3.1-8B-Instruct",
        ),
        ("hf//data/model.gguf", "hf", "/data/model.gguf"),
        ("OpenAI/gpt-4o", "openai", "gpt-4o"),
        ("planner", "planner", ""),
    ],
)
def test_a_name_is_a_provider_and_the_rest(text, provider, rest):
    name = parse_model_name(text)
    assert (name.provider.name, name.rest) == (provider, rest)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("opnai/gpt-4o", "Did you mean openai"),
        ("nosuch/x", "'nosuch'. Known"),
        ("gpt-4o", "Known: openai, anthropic"),
        ("", "there is no provider"),
        ("openai", "write openai/MODEL"),
        ("openai/", "write openai/MODEL"),
        ("planner/x", "write planner alone"),
    ],
)
def test_a_wrong_name_says_how_to_write_it(text, says):
    with pytest.raises(InputError, match=says) as caught:
        parse_model_name(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=300))
def test_any_name_is_taken_apart_or_refused(text):
    try:
        name = parse_model_name(text)
    except InputError:
        return
    assert name.provider.name in PROVIDERS


def test_every_provider_says_what_it_needs(monkeypatch):
    for provider in PROVIDERS.values():
        if provider.key_variable:
            monkeypatch.delenv(provider.key_variable, raising=False)
    states = {name: available(provider) for name, provider in PROVIDERS.items()}
    assert states["planner"][0]
    assert not states["openai"][0]
    assert "OPENAI_API_KEY" in states["openai"][1]
    assert "--base-url or OPENAI_COMPATIBLE_BASE_URL" in states["openai-compatible"][1]
    assert states["hf"][0] == (importlib.util.find_spec("transformers") is not None)


def test_a_provider_may_name_its_variables_itself():
    own = _provider(
        "some-host", key_variable="HOST_TOKEN", base_url="https://host.example/v1", what=""
    )
    assert (own.key_variable, own.base_url_variable) == ("HOST_TOKEN", "SOME_HOST_BASE_URL")


def test_a_key_or_a_server_that_is_there_makes_a_provider_ready(server, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "planted-key-groq-1234")
    ready, why = available(PROVIDERS["groq"])
    assert ready
    assert "planted" not in why
    for url, listens in ((server.url + "/v1", True), ("http://127.0.0.1:9/v1", False)):
        monkeypatch.setenv("VLLM_BASE_URL", url)
        assert available(PROVIDERS["vllm"])[0] is listens


def test_no_key_is_in_anything_that_is_shown_of_a_model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-shown-1234")
    server.play(openai_ok())
    model = open_model("openai/gpt-x", ModelOptions(base_url=server.url + "/v1"))
    check = check_model(model)
    model.close()
    assert "planted" not in repr(model) + "".join(check) + repr(
        [*map(available, PROVIDERS.values())]
    )


def test_a_check_reports_latency_tokens_cost_and_format(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-check-1234")
    server.play(
        openai_ok("Thought: easy\nAction: open drawer 1"),
        openai_ok("open drawer 1"),
        openai_ok("Hm?"),
    )
    model = open_model("openai/gpt-4o", ModelOptions(base_url=server.url + "/v1"))
    asked, repaired, none = (check_model(model) for _ in range(3))
    model.close()
    assert "format   as asked" in asked
    assert "action   open drawer 1" in asked
    assert f"cost     ${(100 * 2.5 + 7 * 10) / 1e6:.6f}" in asked
    assert "tokens   100 prompt, 0 cached, 7 completion" in asked
    assert "format   understood after repair: action without label" in repaired
    assert "format   no action found" in none


def test_extras_that_are_not_installed_are_named():
    """In a process of its own, in which the packages cannot be imported."""
    code = """
import sys
for name in ("torch", "transformers", "anthropic"):
    sys.modules[name] = None
from rpms.logic.errors import ModelUnavailable
from rpms.models.catalogue import open_model
for name in ("hf/some/model", "anthropic/claude-x"):
    try:
        open_model(name)
    except ModelUnavailable as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ANTHROPIC_API_KEY": "planted-key-x"},
        timeout=60,
    )
    for extra in ("rpms[hf]", "rpms[anthropic]"):
        assert extra in done.stdout
    assert "planted" not in done.stdout + done.stderr


def test_importing_the_models_loads_no_sdk():
    code = (
        "import sys, rpms.models.catalogue, rpms.models.hf.model, rpms.models.remote; "
        "print([m for m in ('openai', 'anthropic', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_paths_that_are_not_there_are_named(tmp_path):
    for name in (f"hf/{tmp_path}/none", "hf/none.gguf"):
        with pytest.raises(InputError, match="no such file or folder"):
            open_model(name)
    with pytest.raises(FileError, match=r"none\.txt"):
        open_model(f"scripted/{tmp_path}/none.txt")


def test_a_script_is_read_from_the_beginning_by_each_episode(tmp_path):
    path = tmp_path / "script.txt"
    path.write_text("# a comment\nlook\n\nThought: x Action: open drawer 1\n")
    model = open_model(f"scripted/{path}")
    texts = [model.answer(request(episode)).text for episode in ("a", "b", "a", "b")]
    assert texts == ["Action: look"] * 2 + ["Thought: x Action: open drawer 1"] * 2
    with pytest.raises(ModelError, match="2 answers"):
        model.answer(request("a"))
    assert model.name == f"scripted/{path}"


def test_a_script_of_objects_may_differ_between_episodes(tmp_path):
    path = tmp_path / "script.jsonl"
    path.write_text('{"text": "free text"}\n{"episode": "b", "thought": "t", "action": "wait"}\n')
    model = read_script(path)
    assert model.answer(request("a")).text == "free text"
    assert model.answer(request("b")).text == "Thought: t\nAction: wait"


@pytest.mark.parametrize("line", ["[]", "{", '{"text": 3}', '{"thought": "x"}', "[" * 5000])
def test_a_wrong_script_names_its_line(tmp_path, line):
    path = tmp_path / "script.jsonl"
    path.write_text('{"text": "ok"}\n' + line + "\n")
    with pytest.raises(FileError, match=r"script\.jsonl:2"):
        read_script(path)


def test_a_policy_reads_the_decision():
    policy = PolicyModel("planner", lambda decision: ("it says so", decision))
    asked = Request(
        prompt(), request().decoding, "e", decision="open drawer 1"
    )  # a policy's decision is its own affair
    assert policy.answer(asked).text == "Thought: it says so\nAction: open drawer 1"
    assert policy.answer(asked).usage.requests == 0
    with pytest.raises(ModelError, match="decision"):
        policy.answer(request())


def test_the_planner_needs_no_world_but_a_decision():
    model = open_model("planner")
    assert model.name == "planner"
    with pytest.raises(ModelError, match="reads the step's decision"):
        model.answer(request("x"))


def test_only_what_follows_from_the_prompt_is_recorded(tmp_path):
    with pytest.raises(InputError, match="only answers of an LLM"):
        open_model("planner", record=FolderOfAnswers(tmp_path))


def test_a_function_is_a_model():
    assert (
        FunctionModel(lambda request: f"Action: {request.episode}").answer(request("x")).text
        == "Action: x"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("top_k=20", 20),
        ("min_p=0.1", 0.1),
        ("flag=true", True),
        ("reasoning_effort=low", "low"),
        ("a=b=c", "b=c"),
    ],
)
def test_a_providers_own_parameter_is_read(text, value):
    assert parse_parameter(text)[1] == value


@pytest.mark.parametrize("text", ["", "x", "=1", "a b=1", "1x=2"])
def test_a_wrong_parameter_says_how_to_write_it(text):
    with pytest.raises(InputError, match="name=value"):
        parse_parameter(text)


def test_replay_needs_a_store_to_open():
    with pytest.raises(InputError):
        open_model(f"replay/{Path('x')}")
    with pytest.raises(ModelUnavailable):
        open_model("openai/x") if not os.environ.get("OPENAI_API_KEY") else pytest.skip(
            "a key is set"
        )
