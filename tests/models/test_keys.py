"""A planted key is searched for in everything that a run leaves or shows."""

from __future__ import annotations

import base64
import logging
import pickle
import traceback

import pytest

from rpms.logic.errors import ModelError
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.patience import Patience
from rpms.models.secrets import safe_excerpt, url_secrets, without_secrets
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import request
from tests.models.server import anthropic_error, anthropic_ok, openai_error, openai_ok

KEY = "planted-key-9d1f00c4ffee42"

PROTOCOLS = {
    "openai/gpt-x": ("OPENAI_API_KEY", "/v1", openai_ok, openai_error),
    "vllm/m": ("VLLM_API_KEY", "/v1", openai_ok, openai_error),
    "anthropic/claude-x": ("ANTHROPIC_API_KEY", "", anthropic_ok, anthropic_error),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_planted_key_is_nowhere(name, server, tmp_path, monkeypatch, caplog, capfd):
    if name.startswith("anthropic"):
        pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
    variable, path, ok, error = PROTOCOLS[name]
    monkeypatch.setenv(variable, KEY)
    shown = []
    options = ModelOptions(
        base_url=server.url + path, patience=Patience(tries=2, first_wait=0.001, timeout=5)
    )
    with caplog.at_level(logging.DEBUG):
        model = open_model(name, options, record=FolderOfAnswers(tmp_path))
        server.play(ok())
        shown.append(repr(model.answer(request())))
        for status in (400, 401, 403, 404, 429, 500):
            server.play(error(status, f"the key {KEY} is bad, Bearer {KEY}"))
            with pytest.raises(ModelError) as caught:
                model.answer(request(turns=status % 7 + 3))
            problem = caught.value
            while problem is not None:
                shown += [str(problem), repr(problem), repr(problem.args)]
                problem = problem.__cause__ or problem.__context__
            shown += traceback.format_exception(caught.value)
            shown.append(repr(pickle.dumps(caught.value.args)))
        shown.append(repr(model))
        model.close()
    assert KEY in "".join(str(seen.headers) for seen in server.seen), (
        "the key must reach the provider"
    )
    captured = capfd.readouterr()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("rpms")]
    written = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) == 1
    for text in (*shown, *ours, *written, captured.out, captured.err):
        assert KEY not in text
    for record in caplog.records:
        assert KEY not in record.getMessage(), f"logged by {record.name}"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_key_echoed_in_an_answer_goes_no_further(name, server, tmp_path, monkeypatch):
    if name.startswith("anthropic"):
        pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
    variable, path, ok, _ = PROTOCOLS[name]
    monkeypatch.setenv(variable, KEY)
    monkeypatch.setenv("OTHER_TOKEN", "other-4711xyz-token")
    url = server.url.replace("//", "//me:pass%40word-4711xyz@") + path
    basic = base64.b64encode(b"me:pass@word-4711xyz").decode()
    server.play(
        ok(
            f"Thought: {KEY} other-4711xyz-token pass@word-4711xyz pass%40word-4711xyz {basic}\nAction: look"
        )
    )
    model = open_model(name, ModelOptions(base_url=url), record=FolderOfAnswers(tmp_path))
    answer = model.answer(request())
    model.close()
    assert answer.text == "Thought: [key] [key] [key] [key] [key]\nAction: look"
    assert "a key was removed from the answer" in answer.notes
    (written,) = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    for secret in (KEY, "4711xyz", basic):  # no hash and no time of day has these letters
        assert secret not in written


def test_an_answer_keeps_words_that_a_variable_happens_to_hold(monkeypatch):
    monkeypatch.setenv("MAX_TOKENS", "100000")
    monkeypatch.setenv("KEY_ROOM", "kitchen")
    assert without_secrets("go to kitchen 100000", ()) == "go to kitchen 100000"


def test_of_secrets_that_overlap_no_part_is_left():
    assert (
        without_secrets("x abc123456789xx y abc12\u200b3456 z", ("abc123456", "456789xx"))
        == "x [key] y [key] z"
    )


def test_a_url_knows_its_secrets():
    assert url_secrets("https://host/v1?version=2024-01-01") == ()
    assert url_secrets("https://a-long-token@host/v1")[0] == "a-long-token"
    assert url_secrets("https://host/v1?api_key=a-long-token&version=2024-01-01") == (
        "a-long-token",
    )


def test_an_excerpt_hides_basic_credentials_and_keeps_words():
    encoded = base64.b64encode(b"me:pass-word").decode()
    assert safe_excerpt(f"Authorization: Basic {encoded} refused") == "Authorization: [key] refused"
    assert safe_excerpt(f"got {encoded}", url_secrets("https://me:pass-word@host")) == "got [key]"
    assert safe_excerpt("Basic authentication required") == "Basic authentication required"
    assert safe_excerpt("Basic Authentication required") == "Basic Authentication required"
