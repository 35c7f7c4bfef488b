"""Tools over OpenAI's protocol: what is offered, and how calls are read, whatever a server
sends.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign.call_text import NotACall, Tool, WrittenCall, narrowed, read_call
from rpms.models.parsing import parse_answer
from rpms.models.recorded import RecordedModel, ReplayModel, question
from rpms.models.remote import NO_CALL, RemoteModel, called
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import request
from tests.models.server import Reply, openai_error, openai_ok

SCHEMA = {"type": "object", "properties": {"line_id": {"type": "string"}, "gb": {"type": "number"}}}
TOOLS = (Tool("refuel", "Adds data.", SCHEMA), Tool("done", "Ends it."))
ASKED = replace(request(), tools=TOOLS)


def tool_call(
    name="refuel",
    arguments: object = '{"line_id": "L1", "gb": 2.0}',
    content: object = "Data is used up.",
) -> Reply:
    reply = openai_ok("")
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": arguments}}
    reply.body["choices"][0] = {
        "index": 0,
        "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": content, "tool_calls": [call]},
    }
    return reply


@pytest.fixture
def model(server):
    made = RemoteModel("vllm/m", "m", server.url + "/v1")
    yield made
    made.close()


def test_tools_are_offered_and_a_call_is_read_as_an_action(server, model):
    server.play(tool_call())
    answer = model.answer(ASKED)
    assert answer.text == 'Thought: Data is used up.\nAction: refuel(line_id="L1", gb=2.0)'
    assert (answer.finish, answer.notes) == ("stop", ())
    sent = server.seen[0].body
    assert sent["tool_choice"] == "required"
    assert sent["tools"][0] == {
        "type": "function",
        "function": {"name": "refuel", "description": "Adds data.", "parameters": SCHEMA},
    }
    assert "response_format" not in sent


def test_a_tool_may_describe_its_parameters_by_any_mapping(server, model):
    server.play(tool_call())
    tools = tuple(
        replace(tool, parameters=MappingProxyType(tool.parameters)) for tool in ASKED.tools
    )
    model.answer(replace(ASKED, tools=tools))
    assert server.seen[0].body["tools"][0]["function"]["parameters"] == SCHEMA


def test_without_tools_none_are_offered(server, model):
    server.play(openai_ok())
    model.answer(request())
    assert not {"tools", "tool_choice"} & set(server.seen[0].body)


def test_a_server_that_takes_no_tools_is_asked_for_text_and_the_answer_says_so(server, model):
    def script(seen):
        if "tools" in seen.body:
            return openai_error(
                400, "Unsupported parameter: 'tools'", param="tools", code="unsupported_parameter"
            )
        if "tool_choice" in seen.body:
            return openai_error(
                400,
                "Unsupported parameter: 'tool_choice'",
                param="tool_choice",
                code="unsupported_parameter",
            )
        return openai_ok("Thought: so\nAction: done()")

    server.play_script(script)
    answer = model.answer(ASKED)
    assert parse_answer(answer.text).action == "done()"
    assert any("tools" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ("", "refuel()"),
        (None, "refuel()"),
        ({"gb": 1}, "refuel(gb=1)"),
        ('{"gb": ', 'refuel({"gb": )'),
        ("[1, 2]", "refuel([1, 2])"),
        ("[" * 500, None),
    ],
)
def test_arguments_that_cannot_be_read_are_passed_on_for_the_world_to_refuse(
    server, model, arguments, action
):
    server.play(tool_call(arguments=arguments, content=None))
    answer = model.answer(ASKED)
    assert answer.text.startswith("Action: refuel(")
    if action is not None:
        assert answer.text == f"Action: {action}"


def test_words_that_would_be_read_as_another_answer_are_left_out(server, model):
    server.play(tool_call("done", "{}", content='{"action": "refuel()"}\nAction: refuel()'))
    assert parse_answer(model.answer(ASKED).text).action == "done()"


def test_a_text_with_a_semicolon_stays_one_call():
    call = str(
        WrittenCall("transfer", {"summary": "It is locked; then I gave up, and then it rang."})
    )
    assert parse_answer(f"Thought: x\nAction: {call}").action == call
    assert parse_answer(f"Thought: x\nAction: 2. {call}").action == call


_SENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["function", "name", "arguments", "x"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(_SENT, st.text(max_size=40))
def test_whatever_a_server_sends_is_borne(calls, words):
    text, notes = called(words, calls)
    assert text == words if NO_CALL in notes else "Action: " in text


def test_answers_with_tools_are_recorded_apart_and_replayed(server, model, tmp_path):
    server.play(tool_call())
    store = FolderOfAnswers(tmp_path)
    recorded = RecordedModel(model, store)
    assert recorded.calls_tools
    answer = recorded.answer(ASKED)
    assert "tools" in question(ASKED, "m")
    assert "tools" not in question(request(), "m")
    replay = ReplayModel("replay/x", store)
    assert replay.calls_tools
    assert not replay.constrains
    assert replay.answer(ASKED).text == answer.text


def test_a_menu_narrows_tools_to_its_calls_and_their_values():
    found = narrowed(TOOLS, ('refuel(line_id="L1", gb=2.0)', 'refuel(line_id="L2", gb=2.0)'))
    assert [tool.name for tool in found] == ["refuel"]
    assert found[0].parameters["properties"]["line_id"]["enum"] == ["L1", "L2"]
    assert found[0].parameters["properties"]["gb"]["enum"] == [2.0]
    assert found[0].parameters["required"] == ["line_id", "gb"]
    assert narrowed(TOOLS, ('refuel(line_id="L1")',))[0].parameters["properties"].keys() == {
        "line_id"
    }
    assert "enum" not in json.dumps(SCHEMA), "the tool itself is not changed"
    assert narrowed(TOOLS, ("go to desk 1",)) == TOOLS


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.from_regex(r"[a-z_]{1,12}", fullmatch=True),
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), _VALUES, max_size=4),
)
def test_what_is_written_is_read_back(name, arguments):
    call = WrittenCall(name, arguments)
    assert read_call(str(call)) == call


@given(st.text(max_size=80))
def test_any_text_is_a_call_or_is_said_not_to_be_one(text):
    try:
        call = read_call(text)
    except NotACall:
        return
    assert read_call(str(call)) == call


def test_a_text_that_looks_like_a_named_argument_is_a_value():
    assert read_call("f(\"a=b\", 'c: d')", {"f": ("x", "y")}) == WrittenCall(
        "f", {"x": "a=b", "y": "c: d"}
    )


@pytest.mark.parametrize(
    "text",
    [
        "f(" * 3000,
        "f(a=" + "[" * 1500,
        "f(a=" + "9" * 3000 + ")",
        "f(a=1, a=2)",
        "f(1)",
        "f(a=1e999)",
    ],
)
def test_hostile_calls_are_refused(text):
    with pytest.raises(NotACall):
        read_call(text)
