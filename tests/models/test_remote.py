"""The OpenAI protocol, against a real server on loopback."""

from __future__ import annotations

import threading
import traceback
from dataclasses import replace

import pytest

from rpms.logic.errors import ContextOverflow, InputError, ModelError, ModelUnavailable
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.patience import Patience
from rpms.models.remote import RemoteModel
from tests.models.prompts import prompt, request
from tests.models.server import Reply, openai_error, openai_ok, serve

KEY = "planted-key-7f3a9c21e5"


class Waits:
    """A clock on which waiting takes no time and is written down."""

    def __init__(self):
        self.waits = []
        self.time = 0.0

    def patience(self, tries: int, timeout: float) -> Patience:
        return Patience(tries=tries, timeout=timeout, now=lambda: self.time, sleep=self.sleep)

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.time += seconds


@pytest.fixture
def waits():
    return Waits()


@pytest.fixture
def model(server, waits):
    made = RemoteModel(
        "openai/gpt-x",
        "gpt-x",
        server.url + "/v1",
        key=KEY,
        key_variable="OPENAI_API_KEY",
        patience=waits.patience(4, 3.0),
    )
    yield made
    made.close()


def test_the_prompt_and_the_decoding_are_sent_as_they_are(server, model):
    server.play(openai_ok(cached=64))
    decoding = Decoding(
        max_tokens=99,
        temperature=0.5,
        top_p=0.9,
        seed=3,
        stop=("\nObs:",),
        extra=(("top_k", 20), ("min_p", 0.1)),
    )
    answer = model.answer(request(decoding=decoding))
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "gpt-x",
        "messages": [{"role": m.role, "content": m.content} for m in prompt().messages()],
        "max_tokens": 99,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["\nObs:"],
        "top_k": 20,
        "min_p": 0.1,
    }
    assert answer.text == "Thought: I look.\nAction: look"
    assert (
        answer.usage.prompt_tokens,
        answer.usage.cached_tokens,
        answer.usage.completion_tokens,
    ) == (100, 64, 7)
    assert answer.usage.requests == 1
    assert answer.usage.seconds > 0
    assert answer.notes == ()


def test_greedy_and_short_by_default(server, model):
    server.play(openai_ok())
    model.answer(request())
    body = server.seen[0].body
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (
        0.0,
        256,
        ["\nObs:", "\nObservation:"],
    )
    assert "top_p" not in body
    assert "seed" not in body


def test_a_server_that_ignores_stop_sequences_is_cut_here(server, model):
    server.play(openai_ok("Action: look\nObs: a lie\nAction: take it", finish="length"))
    answer = model.answer(request())
    assert answer.text == "Action: look"
    assert answer.finish == "stop"


@pytest.mark.parametrize(
    "fault",
    [
        openai_error(429, "slow down"),
        openai_error(500, "oops"),
        openai_error(503, "restarting"),
        openai_error(408, "late"),
        Reply(body={"choices": []}),
        Reply(raw=b'{"choices": [', content_type="application/json"),
        Reply(raw=b"<html>bad gateway</html>", content_type="text/html"),
        Reply(body={"choices": [{"message": {"content": "x" * 4000}}]}, drop_after=50),
        Reply(silent=True),
        Reply(body={"error": {"message": "upstream is down", "code": 502}}),
    ],
    ids=lambda reply: f"{reply.status}-{str(reply.body or reply.raw)[:30]}-{reply.silent}",
)
def test_what_may_pass_is_tried_again(server, model, waits, fault):
    server.play(fault, openai_ok())
    answer = model.answer(request())
    assert answer.text.endswith("Action: look")
    assert answer.usage.requests == 2
    assert len(waits.waits) == 1


def test_a_dead_port_ends_at_once_in_one_line_that_says_what_to_do(waits):
    model = RemoteModel("vllm/m", "m", "http://127.0.0.1:9/v1", patience=waits.patience(3, 0.3))
    with pytest.raises(ModelUnavailable) as caught:
        model.answer(request())
    model.close()
    text = str(caught.value)
    assert "http://127.0.0.1:9/v1" in text
    assert "start the server" in text
    assert "again" not in text, "how to go on is for the run to say"
    assert "\n" not in text
    assert waits.waits == []


def test_waits_double_and_vary(server, model, waits):
    server.play(openai_error(500, "oops"))
    with pytest.raises(ModelUnavailable):
        model.answer(request())
    first, second, third = waits.waits
    assert 0.5 <= first <= 1.0 <= second <= 2.0 <= third <= 4.0


def test_a_wait_is_told_at_first_and_whenever_nothing_was_answered_since_the_last(
    server, model, caplog
):
    for turns in (1, 2):
        server.play(openai_error(500, "oops"), openai_error(503, "restarting"), openai_ok())
        model.answer(request(turns=turns))
    told = [record.getMessage() for record in caplog.records if record.name == "rpms"]
    assert ["oops" in line for line in told] == [True, False, False]
    assert told[0].endswith("server error (500): oops, trying again in 1 s, giving up in 7 s")
    assert all("restarting" in line for line in told[1:])


def test_a_server_that_has_gone_down_is_reported_at_each_retry_with_the_time_left(waits, caplog):
    with serve() as server:
        server.play(replace(openai_ok(), headers={"Connection": "close"}))
        url = f"{server.url}/v1"
        model = RemoteModel("vllm/m", "m", url, patience=waits.patience(4, 0.3))
        model.answer(request())
    with pytest.raises(ModelUnavailable, match="4 tries"):
        model.answer(request())
    model.close()
    told = [record.getMessage() for record in caplog.records if record.name == "rpms"]
    assert [line.rpartition("giving up in ")[2] for line in told] == ["7 s", "6 s", "4 s"]
    assert all(line.startswith(f"m at {url}: no connection") for line in told)


def test_retry_after_is_honoured(server, model, waits):
    server.play(openai_error(429, "slow down", retry_after="17"), openai_ok())
    model.answer(request())
    assert waits.waits == [17.0]


def test_a_wait_longer_than_the_limit_is_not_begun(server, model, waits):
    server.play(openai_error(429, "slow down", retry_after="86400"))
    with pytest.raises(ModelUnavailable, match="86400 s"):
        model.answer(request())
    assert waits.waits == []
    assert len(server.seen) == 1


def test_an_empty_account_is_not_waited_for(server, model, waits):
    server.play(openai_error(429, "You exceeded your current quota", code="insufficient_quota"))
    with pytest.raises(ModelUnavailable, match="no credit"):
        model.answer(request())
    assert waits.waits == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_names_the_variable_and_never_the_key(server, model, status):
    server.play(
        openai_error(
            status, f"Incorrect API key provided: {KEY}. Bearer {KEY}", code="invalid_api_key"
        )
    )
    with pytest.raises(ModelUnavailable) as caught:
        model.answer(request())
    assert "OPENAI_API_KEY" in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(model)
    assert KEY not in shown
    assert caught.value.__context__ is None or KEY not in repr(caught.value.__context__)


@pytest.mark.parametrize("status", [400, 404, 402, 429, 500])
def test_no_error_text_holds_a_key_that_the_server_echoes(server, model, monkeypatch, status):
    monkeypatch.setenv("OTHER_API_KEY", "another-planted-secret")
    server.play(
        openai_error(status, f"bad {KEY} and another-planted-secret and sk-abcdefgh1234567890")
    )
    with pytest.raises(ModelError) as caught:
        model.answer(request())
    shown = "".join(traceback.format_exception(caught.value))
    for secret in (KEY, "another-planted-secret", "sk-abcdefgh1234567890"):
        assert secret not in shown


def test_a_model_that_is_not_there_is_named(server, model):
    server.play(openai_error(404, "The model does not exist", code="model_not_found"))
    with pytest.raises(ModelUnavailable, match="gpt-x"):
        model.answer(request())


@pytest.mark.parametrize(
    "reply",
    [
        openai_error(400, "Please shorten.", code="context_length_exceeded"),
        openai_error(
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        ),
        openai_error(
            400, "the request exceeds the available context size. try increasing the context size"
        ),
        openai_error(500, "Requested tokens (9000) exceed context window of 8192"),
        openai_error(400, "input length and `max_tokens` exceed context limit: 9000 + 256 > 8192"),
        Reply(body={"error": {"message": "prompt is too long", "code": 400}}),
    ],
    ids=["openai", "vllm", "llama.cpp", "llama-cpp-python", "gateway", "in a 200"],
)
def test_a_prompt_that_is_too_long_is_recognised(server, model, waits, reply):
    server.play(reply)
    with pytest.raises(ContextOverflow):
        model.answer(request())
    assert waits.waits == []


def test_a_reasoning_models_refusals_are_learned_once_and_noted(server, model):
    def picky(seen):
        if "max_tokens" in seen.body:
            return openai_error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                code="unsupported_parameter",
                param="max_tokens",
            )
        if "temperature" in seen.body:
            return openai_error(
                400,
                "Unsupported value: 'temperature' does not support 0 with this model.",
                code="unsupported_value",
                param="temperature",
            )
        if "stop" in seen.body:
            return openai_error(
                400, "Unsupported parameter: 'stop' is not supported with this model."
            )
        return openai_ok("Action: look\nObs: mine")

    server.play_script(picky)
    answer = model.answer(request())
    assert answer.text == "Action: look"
    assert answer.usage.requests == 4
    assert answer.notes == (
        "max_tokens sent as max_completion_tokens",
        "stop not sent: refused by this model",
        "temperature not sent: refused by this model",
    )
    assert server.seen[-1].body["max_completion_tokens"] == 256
    again = model.answer(request())
    assert again.usage.requests == 1
    assert again.notes == answer.notes


def test_a_refusal_stops_the_run_at_the_start_and_one_request_later_on(server, model):
    server.play(openai_error(400, "bad request"), openai_ok(), openai_error(400, "content policy"))
    with pytest.raises(ModelUnavailable):
        model.answer(request())
    model.answer(request())
    with pytest.raises(ModelError) as caught:
        model.answer(request())
    assert not isinstance(caught.value, ModelUnavailable)


def test_an_answer_that_never_has_choices_fails_this_request_alone(server, model):
    server.play(Reply(body={"choices": []}))
    with pytest.raises(ModelError) as caught:
        model.answer(request())
    assert not isinstance(caught.value, ModelUnavailable)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": None}}]},
        {
            "choices": [{"message": {"content": [{"type": "text", "text": "Action: look"}]}}],
            "usage": {},
        },
        {
            "choices": [{"message": {"content": 7}, "finish_reason": 3}],
            "usage": {"prompt_tokens": "many"},
        },
    ],
)
def test_odd_but_readable_answers_are_taken(server, model, body):
    server.play(Reply(body=body))
    answer = model.answer(request())
    assert answer.text in {"", "Action: look"}
    assert answer.usage.prompt_tokens == 0


def test_a_hostile_error_body_is_one_short_line(server, model):
    server.play(openai_error(404, "\x1b[31m{0} %s\n" * 5000))
    with pytest.raises(ModelUnavailable) as caught:
        model.answer(request())
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 500


def test_a_too_long_history_is_halved_until_it_fits(server, monkeypatch):
    def small_window(seen):
        turns = seen.body["messages"][1]["content"].count("Action: go to")
        return (
            openai_ok()
            if turns <= 4
            else openai_error(400, "too long", code="context_length_exceeded")
        )

    server.play_script(small_window)
    model = open_model("vllm/m", ModelOptions(base_url=server.url + "/v1"))
    answer = model.answer(request(turns=12))
    model.close()
    content = server.seen[-1].body["messages"][1]["content"]
    assert "You see thing 0." in content
    assert "You see thing 11." in content
    assert "Now you see a drawer." in content
    assert "You see thing 1." not in content
    assert answer.notes == ("history: 9 oldest turns dropped to fit the context window",)
    assert len(server.seen) == 3


def test_a_prompt_that_cannot_be_shortened_stays_an_overflow(server):
    server.play(openai_error(400, "too long", code="context_length_exceeded"))
    model = open_model("vllm/m", ModelOptions(base_url=server.url + "/v1"))
    with pytest.raises(ContextOverflow):
        model.answer(request(turns=30))
    model.close()
    assert len(server.seen) < 8


def test_many_threads_may_ask_at_once(server):
    server.play_script(
        lambda seen: openai_ok(f"Action: echo {len(seen.body['messages'][1]['content'])}")
    )
    model = open_model("llamacpp/m", ModelOptions(base_url=server.url + "/v1"))
    answers = {}

    def ask(turns):
        answers[turns] = model.answer(request(f"e{turns}", turns=turns)).text

    threads = [threading.Thread(target=ask, args=(turns,)) for turns in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model.close()
    expected = {n: f"Action: echo {len(prompt(n).messages()[1].content)}" for n in range(16)}
    assert answers == expected


def test_requests_elsewhere_are_forbidden_by_the_switch():
    model = RemoteModel("openai/gpt-x", "gpt-x", "https://user:hunter2@api.example.com/v1", key=KEY)
    with pytest.raises(ModelUnavailable, match="RPMS_FORBID_REQUESTS") as caught:
        model.answer(request())
    model.close()
    assert "hunter2" not in str(caught.value)


def test_a_missing_key_names_its_variable(monkeypatch):
    monkeypatch.delenv("DEEPINFRA_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="DEEPINFRA_API_KEY"):
        open_model("deepinfra/meta-llama/Meta-Llama-3.1-8B-Instruct")


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-ünsendbar-123456")
    with pytest.raises(ModelUnavailable, match="GROQ_API_KEY") as caught:
        open_model("groq/llama")
    assert "nsendbar" not in str(caught.value)


def test_the_base_url_comes_from_the_flag_then_the_environment(server, monkeypatch):
    server.play(openai_ok())
    monkeypatch.setenv("OLLAMA_BASE_URL", server.url + "/env/v1")
    for options, path in (
        (ModelOptions(), "/env/v1"),
        (ModelOptions(base_url=server.url + "/flag"), "/flag"),
    ):
        model = open_model("ollama/llama3", options)
        model.answer(request())
        model.close()
        assert server.seen[-1].path == path + "/chat/completions"
    with pytest.raises(InputError, match="--base-url"):
        open_model("openai-compatible/m")
    with pytest.raises(InputError, match="http"):
        open_model("openai-compatible/m", ModelOptions(base_url="file:///etc/passwd"))
