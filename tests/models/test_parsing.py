"""A model's text, read as a thought and an action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.models.parsing import LONGEST_ACTION, LONGEST_TEXT, parse_answer

CASES = [
    ("Thought: I look.\nAction: go to desk 1", "I look.", "go to desk 1", ()),
    ("thought: I look.\n\nACTION:go to desk 1\n", "I look.", "go to desk 1", ()),
    ("**Thought:** x\n**Action:** go to desk 1.", "x", "go to desk 1", ()),
    ("**Thought**: x\n**Action**: `go to desk 1`", "x", "go to desk 1", ()),
    ("### Action:\ngo east", "", "go east", ()),
    ("ACT: use lamp 1", "", "use lamp 1", ()),
    ("Action 1: go to bed 1", "", "go to bed 1", ()),
    ("Next action: go to bed 1", "", "go to bed 1", ()),
    ("Action：look", "", "look", ()),
    ('Action: "go to desk 1"', "", "go to desk 1", ()),
    ("Action: 'go to desk 1'!", "", "go to desk 1", ()),
    ("Action: [examine desk 1]", "", "examine desk 1", ()),
    ("Action: > look", "", "look", ()),
    ("Action: 0", "", "0", ()),
    ("Assistant: Thought: a\nAction: b c", "a", "b c", ()),
    ("go to desk 1", "", "go to desk 1", ("action without label",)),
    ("> go to desk 1", "", "go to desk 1", ("action without label",)),
    (
        "> think: find a mug\n> go to shelf 1",
        "find a mug",
        "go to shelf 1",
        ("action without label",),
    ),
    (
        "Thought: find a mug.\ngo to shelf 1",
        "find a mug.",
        "go to shelf 1",
        ("action without label",),
    ),
    ("Let me check.\ngo to desk 1", "Let me check.", "go to desk 1", ("action without label",)),
    ("I will look first.\nAction: look", "I will look first.", "look", ("thought without label",)),
    (
        "1. go to desk 1\n2. take pen 1",
        "",
        "go to desk 1",
        ("action without label", "several actions"),
    ),
    ("Action: look\nAction: wait", "", "look", ("several actions",)),
    ("Action: go to desk 1; take pen 1", "", "go to desk 1", ("several actions",)),
    ("Action: go to desk 1, then take pen 1", "", "go to desk 1", ("several actions",)),
    ("Action: look\nObs: a lie\nAction: wait", "", "look", ("continuation",)),
    ("Thought: z\nAction: look\nHuman: next", "z", "look", ("continuation",)),
    ("Obs: You see a desk.\nThought: z\nAction: look", "z", "look", ()),
    ("Action:\n```\ntake pen 1 from desk 1\n```", "", "take pen 1 from desk 1", ("code fence",)),
    ("```\nlook\n```", "", "look", ("code fence", "action without label")),
    ("```text\nThought: a\nAction: look\n```", "a", "look", ("code fence",)),
    (
        "Thought: I should. Action: open drawer 1",
        "I should.",
        "open drawer 1",
        ("labels on one line",),
    ),
    ('```json\n{"thought": "a", "action": "look"}\n```', "a", "look", ("json",)),
    ('{"thought": "a", "action": "open drawer 1', "a", "open drawer 1", ("json",)),
    ("<thought>a</thought><action>look</action>", "a", "look", ("tags",)),
    ("<think>Action: wrong</think>\nThought: y\nAction: right", "y", "right", ("reasoning tags",)),
    ("hm, maybe</think>\nAction: right", "", "right", ("reasoning tags",)),
    (
        "<think>so\nAction: open drawer 1",
        "so",
        "open drawer 1",
        ("reasoning tags", "thought without label"),
    ),
    (
        "<|im_start|>assistant\nThought: a\nAction: b<|im_end|>\nAction: c",
        "a",
        "b",
        ("control tokens",),
    ),
    ("Action: look</s><s>[INST] next", "", "look", ("control tokens",)),
]


@pytest.mark.parametrize(
    ("text", "thought", "action", "repairs"), CASES, ids=[case[0][:40] for case in CASES]
)
def test_answers_of_all_kinds_are_read(text, thought, action, repairs):
    parsed = parse_answer(text)
    assert (parsed.thought, parsed.action, parsed.repairs) == (thought, action, repairs)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n ",
        "I am not sure what to do here.",
        "Action:",
        "Action: None",
        "Action: ...",
        "<think>let me think about this",
        "Thought: I wonder",
        "Action: think: hm",
        "What should I do?",
        "Obs: You see a desk 1.",
    ],
)
def test_an_answer_without_an_action_has_none(text):
    parsed = parse_answer(text)
    assert parsed.action is None
    assert "no action" in parsed.repairs


@given(st.text(max_size=400))
def test_any_text_is_read_and_the_action_is_one_clean_line(text):
    parsed = parse_answer(text)
    if parsed.action is not None:
        assert parsed.action == " ".join(parsed.action.split())
        assert parsed.action.isprintable()
        assert 0 < len(parsed.action) <= LONGEST_ACTION
    else:
        assert "no action" in parsed.repairs


PIECES = [
    "Thought:",
    "Action:",
    "\n",
    "```",
    "<think>",
    "</think>",
    "{",
    '"action"',
    ":",
    '"',
    "> ",
    "**",
    "1. ",
]
PIECES += [
    "Obs:",
    "Human: ",
    "Assistant: ",
    "look",
    " ",
    "<|im_end|>",
    "<action>",
    "; ",
    "(",
    "[",
    "'",
    "\\",
    "\r",
    "\x00",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_mixture_of_labels_and_signs_is_read(text):
    parse_answer(text)


@given(
    st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}| [0-9]{1,2}){0,5}", fullmatch=True).filter(
        lambda t: ":" not in t
    )
)
def test_a_well_formed_answer_is_read_as_written(command):
    if " and then " in command or command in {"none", "null", "nothing", "no action"}:
        return
    parsed = parse_answer(f"Thought: because.\nAction: {command}")
    assert (parsed.thought, parsed.action, parsed.repairs) == ("because.", command, ())


@pytest.mark.parametrize(
    "piece", [*PIECES, '{"a":', "[", '"action":"', "action: ", "<", "*_`", "Assistant: > "]
)
def test_hostile_repetition_is_cut_and_read(piece):
    """Quadratic patterns would take minutes here; the suite's time limit is the judge."""
    parsed = parse_answer(piece * (2 * LONGEST_TEXT))
    assert "cut to length" in parsed.repairs
