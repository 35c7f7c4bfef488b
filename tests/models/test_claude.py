"""Anthropic's protocol, against a real server on loopback."""

from __future__ import annotations

import traceback
from importlib.util import find_spec

import pytest

from rpms.logic.errors import ContextOverflow, ModelUnavailable
from rpms.models.base import Decoding
from rpms.models.claude import ClaudeModel, cached_pieces
from rpms.models.patience import Patience
from rpms.paper.prompt import Form, Layout
from tests.models.prompts import prompt, request
from tests.models.server import Reply, anthropic_error, anthropic_ok

pytestmark = pytest.mark.skipif(
    find_spec("anthropic") is None, reason="the extra `anthropic` is not installed"
)
KEY = "planted-key-claude-55aa"


@pytest.fixture
def model(server):
    patience = Patience(tries=3, timeout=3.0, now=lambda: 0.0, sleep=lambda _: None)
    made = ClaudeModel(
        "anthropic/claude-x",
        "claude-x",
        server.url,
        key=KEY,
        key_variable="ANTHROPIC_API_KEY",
        patience=patience,
    )
    yield made
    made.close()


def map_of(made):
    """The system's pieces, and the role and pieces of each message."""
    system, said = cached_pieces(made)
    return system, [(sent["role"], sent["content"]) for sent in said]


def marked(pieces):
    return [index for index, piece in enumerate(pieces) if "cache_control" in piece]


def test_the_request_carries_the_prompt_the_decoding_and_the_marks(server, model):
    server.play(anthropic_ok())
    answer = model.answer(
        request(decoding=Decoding(stop=("\nObs:",), top_p=0.9, seed=1, extra=(("top_k", 5),)))
    )
    (seen,) = server.seen
    assert seen.path == "/v1/messages"
    assert KEY in (seen.headers.get("x-api-key", "") or seen.headers.get("authorization", ""))
    body = seen.body
    assert (body["max_tokens"], body["temperature"], body["top_p"], body["top_k"]) == (
        256,
        0.0,
        0.9,
        5,
    )
    assert body["stop_sequences"] == ["\nObs:"]
    system, user = prompt().messages()
    assert "".join(piece["text"] for piece in body["system"]) == system.content
    assert "".join(piece["text"] for piece in body["messages"][0]["content"]) == user.content
    assert 1 <= len(marked(body["messages"][0]["content"]) + marked(body["system"])) <= 4
    assert answer.text == "Thought: I look.\nAction: look"
    usage = answer.usage
    assert (
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.written_tokens,
        usage.completion_tokens,
    ) == (105, 80, 15, 7)
    assert answer.notes == ("seed not sent: this provider has none",)


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("turns", [0, 1, 5, 40])
def test_the_pieces_are_the_prompt_to_the_letter(layout, turns, form):
    made = prompt(turns, layout, form=form)
    system, said = cached_pieces(made)
    messages = made.messages()
    assert "".join(piece["text"] for piece in system) == messages[0].content
    for message, sent in zip(messages[1:], said, strict=True):
        assert "".join(piece["text"] for piece in sent["content"]) == message.content
        assert sent["role"] == message.role
        assert all(piece["text"] for piece in sent["content"])
    assert (
        1
        <= len(
            [1 for pieces in (system, *(sent["content"] for sent in said)) for _ in marked(pieces)]
        )
        <= 4
    )


def test_what_was_marked_at_one_step_begins_the_next_steps_pieces():
    """The provider finds kept work only where the blocks up to a mark are the same."""
    for turns in range(6):
        _, ((_, before),) = map_of(prompt(turns))
        _, ((_, after),) = map_of(prompt(turns + 1))
        kept = [piece["text"] for piece in before[: marked(before)[-1] + 1]]
        assert [piece["text"] for piece in after[: len(kept)]] == kept
        assert len(kept) == 2 + turns  # the example, the rules and each turn


def test_a_conversation_is_marked_after_the_models_latest_turn():
    for turns in range(1, 6):
        _, before = map_of(prompt(turns, form=Form.CHAT))
        _, after = map_of(prompt(turns + 1, form=Form.CHAT))
        role, pieces = before[-2]
        assert (role, len(marked(pieces))) == ("assistant", 1)
        assert [[piece["text"] for piece in said] for _, said in after[: len(before) - 1]] == [
            [piece["text"] for piece in said] for _, said in before[:-1]
        ]


def test_in_the_papers_layout_only_what_never_changes_is_marked():
    system, said = map_of(prompt(3, Layout.PAPER))
    assert [piece["text"] for piece in system if "cache_control" in piece] == ["Solve the task."]
    assert not any(marked(pieces) for _, pieces in said)


def test_thinking_blocks_are_not_part_of_the_answer(server, model):
    reply = anthropic_ok("Action: look", stop="stop_sequence")
    reply.body["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "s"})
    server.play(reply)
    answer = model.answer(request())
    assert (answer.text, answer.finish) == ("Action: look", "stop")


@pytest.mark.parametrize(
    "fault",
    [
        anthropic_error(529, "Overloaded", "overloaded_error"),
        anthropic_error(429, "slow", "rate_limit_error", retry_after="2"),
        Reply(raw=b"<html>", content_type="text/html"),
        Reply(raw=b'{"content": [', content_type="application/json"),
        Reply(body={"content": "x" * 3000}, drop_after=20),
        Reply(silent=True),
    ],
    ids=["529", "429", "html", "half", "dropped", "silent"],
)
def test_what_may_pass_is_tried_again(server, model, fault):
    server.play(fault, anthropic_ok())
    assert model.answer(request()).usage.requests == 2


def test_a_prompt_that_is_too_long_is_recognised(server, model):
    server.play(anthropic_error(400, "prompt is too long: 210000 tokens > 200000 maximum"))
    with pytest.raises(ContextOverflow):
        model.answer(request())


def test_a_wrong_key_names_the_variable_and_never_the_key(server, model):
    server.play(anthropic_error(401, f"invalid x-api-key {KEY}", "authentication_error"))
    with pytest.raises(ModelUnavailable) as caught:
        model.answer(request())
    assert "ANTHROPIC_API_KEY" in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(model)


def test_a_model_without_temperature_is_asked_without_it(server, model):
    def picky(seen):
        if "temperature" in seen.body:
            return anthropic_error(400, "`temperature` is deprecated for this model.")
        return anthropic_ok()

    server.play_script(picky)
    assert model.answer(request()).notes == ("temperature not sent: refused by this model",)
