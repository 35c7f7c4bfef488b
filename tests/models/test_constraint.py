"""Actions held to choices: the forms in which servers are told, and what becomes of servers
that do not listen.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign.json_text import question_key
from rpms.models.base import Decoding, able
from rpms.models.catalogue import PROVIDERS, ModelOptions, open_model
from rpms.models.constraint import (
    NOT_HELD,
    RESPONSE_FORMAT,
    grammar,
    is_held_to,
    regex,
    shapes_of,
    usable,
)
from rpms.models.parsing import action_is_complete, parse_answer
from rpms.models.policy import FunctionModel
from rpms.models.recorded import RecordedModel, ReplayModel, question
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import request
from tests.models.server import heeding, is_probe, openai_error, openai_ok

CHOICES = ("go to drawer 1", "open drawer 1", "look")
SHAPES = shapes_of(CHOICES)
HOSTILE = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)


def asking(choices=CHOICES, **options):
    return replace(request(**options), choices=choices)


def connect(server, provider="vllm"):
    return open_model(f"{provider}/m", ModelOptions(base_url=server.url + "/v1"))


# --- the forms ---


@given(st.lists(HOSTILE, min_size=1, max_size=6))
def test_the_expression_matches_each_choice_and_nothing_else(texts):
    choices = usable(texts)
    if not choices:
        return
    pattern = re.compile(regex(shapes_of(choices), 256))
    for choice in choices:
        assert pattern.fullmatch(f"Thought: I think so.\nAction: {choice}")
    assert not pattern.fullmatch(
        "Thought: x\nAction: something else entirely, which is longer than any choice"
    )
    assert not pattern.fullmatch(f"Thought: x\ny\nAction: {choices[0]}")


@given(st.lists(HOSTILE, min_size=1, max_size=6))
def test_a_choice_cannot_leave_its_string_in_the_grammar(texts):
    choices = usable(texts)
    if not choices:
        return
    lines = grammar(shapes_of(choices), 256).splitlines()
    assert [line.split(" ::= ")[0] for line in lines] == ["root", "thought", "action"]
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', lines[2])
    assert [re.sub(r"\\(.)", r"\1", string) for string in strings] == list(choices)
    assert re.sub(r'"(?:[^"\\]|\\.)*"', "S", lines[2]) == "action ::= " + " | ".join(
        "S" * len(choices)
    )


def test_what_one_line_cannot_hold_is_no_choice():
    assert usable(["look", "", " ", "a\nAction: b", "x" * 500, "look", "\x00"]) == ("look",)


def test_a_short_limit_leaves_room_for_the_action():
    assert "{0,400}" in regex(SHAPES, 512)
    assert "{0,32}" in regex(SHAPES, 64)
    assert "{0,0}" in grammar(SHAPES, 16)


def test_the_thought_is_written_before_the_action():
    fields = RESPONSE_FORMAT.fields(SHAPES, 100)["response_format"]["json_schema"]["schema"][
        "properties"
    ]
    assert list(fields) == ["thought", "action"]
    assert fields["action"]["enum"] == list(CHOICES)


def test_held_compares_as_answers_are_read():
    assert is_held_to("Thought: x\nAction: look", SHAPES)
    assert is_held_to(json.dumps({"thought": "x", "action": "open drawer 1"}), SHAPES)
    assert not is_held_to("Thought: x\nAction: look around", SHAPES)
    assert not is_held_to("I do not know.", SHAPES)
    assert is_held_to("Action: use [lamp].", shapes_of(("use [lamp].",)))


# --- servers ---


@pytest.mark.parametrize(
    ("provider", "parameter"),
    [("vllm", "structured_outputs"), ("llamacpp", "grammar"), ("ollama", "response_format")],
)
def test_each_server_is_told_in_its_own_way(server, provider, parameter):
    server.play_script(heeding((parameter,), openai_ok("Thought: x\nAction: look")))
    model = connect(server, provider)
    answer = model.answer(asking())
    free = model.answer(request())
    model.close()
    assert answer.notes == free.notes == ()
    held_body, free_body = (seen.body for seen in server.asked)
    assert "go to drawer 1" in json.dumps(held_body[parameter])
    assert parameter not in free_body


def test_a_json_answer_is_understood(server):
    server.play_script(
        heeding(
            ("response_format",), openai_ok(json.dumps({"thought": "why not", "action": "look"}))
        )
    )
    model = connect(server, "openai-compatible")
    answer = model.answer(asking())
    model.close()
    assert parse_answer(answer.text).action == "look"
    assert server.seen[0].body["response_format"]["json_schema"]["strict"] is True


def test_a_server_that_refuses_the_form_is_told_in_the_next(server):
    def strict(seen):
        if "grammar" in seen.body:
            return openai_error(
                400, "Unrecognized request argument supplied: grammar", param="grammar"
            )
        listens = "response_format" in seen.body and not is_probe(seen)
        if is_probe(seen):
            return openai_ok(
                "Action: tick 4071" if "response_format" in seen.body else "Action: look"
            )
        return openai_ok(
            json.dumps({"thought": "", "action": "look"}) if listens else "Who is there?"
        )

    server.play_script(strict)
    model = connect(server, "llamacpp")
    first, second = model.answer(asking()), model.answer(asking())
    model.close()
    assert first.notes == second.notes == ("choices sent as response_format",)
    assert first.usage.requests == second.usage.requests == 1
    assert parse_answer(second.text).action == "look"


def test_a_server_that_takes_no_form_answers_freely_and_each_answer_says_so(server):
    def deaf(seen):
        if "response_format" in seen.body:
            return openai_error(400, "this model does not support response format `json_schema`")
        return openai_ok("Thought: x\nAction: dance")

    server.play_script(deaf)
    model = connect(server, "openai-compatible")
    first, second = model.answer(asking()), model.answer(asking())
    model.close()
    assert first.text == second.text == "Thought: x\nAction: dance"
    assert all(
        any(note.startswith(NOT_HELD) for note in answer.notes) for answer in (first, second)
    )
    assert second.usage.requests == 1


def test_an_answer_cut_at_its_limit_says_nothing_about_the_server(server):
    server.play_script(
        heeding(("structured_outputs",), openai_ok("Thought: on and on", finish="length"))
    )
    model = connect(server)
    model.answer(asking())
    model.answer(asking())
    model.close()
    assert all("structured_outputs" in seen.body for seen in server.seen)


def test_an_answer_that_cannot_be_read_says_nothing_about_the_server(server):
    texts = iter(["Thought: it said <|im_end|> and", "Thought: x\nAction: look"])
    server.play_script(heeding(("structured_outputs",), lambda _: openai_ok(next(texts))))
    model = connect(server)
    answers = [model.answer(asking()), model.answer(asking())]
    model.close()
    assert all("structured_outputs" in seen.body for seen in server.seen)
    assert [answer.usage.requests for answer in answers] == [1, 1]


def test_what_one_question_meets_changes_nothing_for_the_next(server):
    """A refusal or an answer that was not held is of its own question: it depends on who asked
    first otherwise.
    """
    replies = iter(
        [
            openai_error(
                400, "Unsupported parameter: structured_outputs", param="structured_outputs"
            ),
            openai_ok("Thought: x\nAction: dance"),
            openai_ok("Thought: x\nAction: dance"),
            openai_ok("Thought: x\nAction: look"),
        ]
    )
    server.play_script(heeding(("structured_outputs",), lambda _: next(replies)))
    model = connect(server)
    refused, free, fine = (model.answer(asking()) for _ in range(3))
    model.close()
    assert any(note.startswith("structured_outputs not sent") for note in refused.notes)
    assert all(
        any(note.startswith(NOT_HELD) for note in answer.notes) for answer in (refused, free)
    )
    assert fine.notes == ()
    assert "structured_outputs" in server.asked[-1].body


def test_which_models_can(server, monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-key-constrains")
    assert able(connect(server), "constrains")
    assert able(open_model("menu-first"), "constrains")
    pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
    assert not able(open_model("anthropic/claude-x"), "constrains")
    assert all(not PROVIDERS[name].forms for name in ("anthropic", "planner", "scripted"))


# --- records ---


def test_choices_are_part_of_a_question_and_none_leave_its_key_as_it_was():
    free, chosen, other = request(), asking(), asking(CHOICES[:2])
    keys = {question_key(question(one, "m")) for one in (free, chosen, other)}
    assert len(keys) == 3
    assert "choices" not in question(free, "m")


def test_a_record_replays_what_was_held_and_what_was_free(tmp_path):
    asked = []

    def answer(one):
        asked.append(one)
        return "Action: look" if one.choices else "Action: dance"

    inner = FunctionModel(answer)
    inner.constrains = True
    recorded = RecordedModel(inner, FolderOfAnswers(tmp_path))
    assert able(recorded, "constrains")
    assert recorded.answer(request()).text == "Action: dance"
    assert not able(ReplayModel("replay/x", FolderOfAnswers(tmp_path)), "constrains")
    assert recorded.answer(asking()).text == "Action: look"
    replay = ReplayModel("replay/x", FolderOfAnswers(tmp_path))
    assert able(replay, "constrains")
    assert replay.answer(asking()).text == "Action: look"
    assert replay.answer(request()).text == "Action: dance"
    assert len(asked) == 2
    with pytest.raises(Exception, match="held to other choices"):
        replay.answer(asking(("wait",)))


# --- the end of an action line ---


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("Thought: x\nAction: look\n", True),
        ("Action: look\n\n", True),
        ("**Action:** look\n", True),
        ("Thought: x\nAction: look", False),
        ("Thought: Action: look\n", False),
        ("Action: think: I wonder\n", False),
        ("Action:\n", False),
        ("<think>\nAction: look\n", False),
        ("<think>\nhm\n</think>\nAction: look\n", True),
    ],
)
def test_an_action_is_complete_when_nothing_could_change_it(text, complete):
    assert action_is_complete(text) is complete
    if complete:
        assert (
            parse_answer(text).action
            == parse_answer(text + "Obs: x\nAction: other\n").action
            == "look"
        )


def test_decoding_is_unchanged_by_choices():
    assert asking(decoding=Decoding(max_tokens=9)).decoding == Decoding(max_tokens=9)
