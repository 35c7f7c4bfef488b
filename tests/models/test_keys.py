"""A planted key is searched for in everything that a run leaves or shows."""

from __future__ import annotations

import logging
import pickle
import traceback

import pytest

from rpms.core.errors import ModelError
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.patience import Patience
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
    options = ModelOptions(base_url=server.url + path, patience=Patience(tries=2, first_wait=0.001, timeout=5))
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
    assert KEY in "".join(str(seen.headers) for seen in server.seen), "the key must reach the provider"
    captured = capfd.readouterr()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("rpms")]
    written = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(written) == 1
    for text in (*shown, *ours, *written, captured.out, captured.err):
        assert KEY not in text
    for record in caplog.records:
        assert KEY not in record.getMessage(), f"logged by {record.name}"
