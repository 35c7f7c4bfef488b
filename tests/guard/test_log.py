"""The log: what is written is read back, replayed to the same rulings, and shown on a page;
hostile text stays text.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign import file_reader
from rpms.guard import Call, Guard, open_tool_manual
from rpms.guard.log import GuardLog, is_guard_log, read_guard_log
from rpms.guard.replay import replay
from rpms.logic.errors import FileError
from rpms.report import guard_pages
from rpms.report.guard_pages import write_guard_report
from tests.guard.test_guard import CANCEL, ORDER, SHOP, USER, returning
from tests.report.hostile import ATTACK


@pytest.fixture
def log(tmp_path) -> Path:
    """A log of two conversations."""
    file = tmp_path / "shop.jsonl"
    for session in ("one", "two"):
        guard = Guard(SHOP, log=file, session=session)
        guard.check(CANCEL)
        guard.observe(Call("get_order", {"order_id": "W1"}), ORDER)
        guard.observe(Call("get_user", {"user_id": "mia"}), USER)
        guard.hear("yes")
        for call in (returning("b9"), CANCEL):
            if guard.check(call).goes_on:
                guard.observe(
                    call, "Error: busy" if session == "two" else {**ORDER, "status": "cancelled"}
                )
        guard.tell('returned("W1")')
        guard.check(returning("a1"))
        guard.check({"name": "x", "arguments": "{not json"})
    return file


def test_a_replay_comes_to_the_same_rulings(log):
    gaps = Counter()
    steps = list(replay(Guard(SHOP), log, gaps))
    assert len(steps) == 8
    assert not [step for step in steps if step.changed]
    assert +gaps == {"calls were not of the form that their tools take, as when they were made": 2}


def test_a_replay_says_what_the_log_does_not_tell(rpms, tmp_path):
    file = tmp_path / "log.jsonl"
    guard = Guard(SHOP, log=file)
    guard.check({"name": "get_order", "arguments": "{not json"})
    guard.check({"name": "get_order", "arguments": "[]"})
    guard.observe(Call("get_order", {"order_id": "W1"}), {**ORDER, "note": "x" * 300_000})
    guard.hear("yes")
    assert guard.check(CANCEL).word == "allow"
    guard.tell("returned(W1)")
    done = rpms("guard", "check", "--manual", SHOP, file)
    assert "0 allow, 0 warn, 0 modify, 0 ask, 1 refuse; 1 differ from the log" in done.out
    assert "2 calls were not of the form that their tools take, as when they were made" in done.out
    assert "1 results were not kept: what followed from them is unknown" in done.out
    other = tmp_path / "other.yaml"
    other.write_text(
        "facts:\n  open: {initially: false}\ntools:\n  cancel_order: [order_id]\n...\n"
    )
    done = rpms("guard", "check", "--manual", other, file)
    assert "1 facts were told that cannot be told by this manual" in done.out


def test_another_manual_changes_rulings(log, tmp_path):
    strict = tmp_path / "strict.yaml"
    strict.write_text(SHOP.read_text().replace("is: pending,", "is: lost,"))
    changed = [step for step in replay(Guard(strict), log) if step.changed]
    assert {step.call.tool for step in changed} >= {"cancel_order"}


def test_the_page_shows_calls_rules_facts_and_remedies(log, tmp_path):
    report = write_guard_report([log], tmp_path / "report")
    text = report.page.read_text()
    for wanted in (
        "P-RETURN-001",
        "b9 is not in W1",
        "look up the order first, with get_order: W1",
        "Conversation two",
        "failed",
        "G-FORM",
    ):
        assert wanted in text
    write_guard_report([log], tmp_path / "report")  # in place of the older one


def test_what_calls_and_results_say_is_no_markup(tmp_path):
    file = tmp_path / "log.jsonl"
    guard = Guard(SHOP, log=file, session=ATTACK)
    call = Call("get_order" + ATTACK, {"order_id": ATTACK, ATTACK: [ATTACK]}, ATTACK)
    guard.check(call)
    guard.observe(call, {"id": ATTACK})
    guard.check(Call("cancel_order", {"order_id": ATTACK, "user_id": "{0.__class__}%s"}))
    assert len(list(read_guard_log(file))) == 3
    text = write_guard_report([file], tmp_path / "report", title=ATTACK).page.read_text(
        encoding="utf-8"
    )
    assert "<script>window" not in text
    assert "<img" not in text


def test_a_long_log_is_read_to_its_end_and_its_page_shows_what_was_refused_late(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(file_reader, "MOST_TRANSCRIPT_LINES", 10)  # a bound of other files
    monkeypatch.setattr(guard_pages, "_MOST_ALLOWED", 5)
    file = tmp_path / "long.jsonl"
    guard = Guard(SHOP, log=file)
    for number in range(20):
        assert guard.check(Call("get_user", {"user_id": f"u{number}"})).goes_on
    assert not guard.check(CANCEL).goes_on
    text = write_guard_report([file], tmp_path / "report").page.read_text()
    assert ("user_id=u4" in text, "user_id=u5" in text, f"{CANCEL.tool}(" in text) == (
        True,
        False,
        True,
    )
    assert "15 more calls are in the log" in text


def test_a_cut_off_end_is_left_out_and_a_wrong_line_is_named(log, tmp_path):
    text = log.read_text()
    whole = list(read_guard_log(log))
    cut = tmp_path / "cut.jsonl"
    cut.write_text(text[:-20])
    assert len(list(read_guard_log(cut))) == len(whole) - 1
    Guard(SHOP, log=cut, session="three").check(CANCEL)  # goes on where the other was cut off
    assert [event.session for event in read_guard_log(cut)][-2:] == [whole[-2].session, "three"]
    assert len(list(read_guard_log(cut))) == len(whole)
    cut.write_text(text.replace('"ruling":"allow"', '"ruling":"maybe"', 1))
    with pytest.raises(FileError, match=r"cut.jsonl:\d+: is no line of a guard's log: ruling"):
        list(read_guard_log(cut))
    cut.write_text("{}\n")
    assert not is_guard_log(cut)
    with pytest.raises(FileError, match="guard's log"):
        Guard(SHOP, log=cut)


def test_a_log_stays_small_and_is_replayed_all_the_same(tmp_path):
    file = tmp_path / "log.jsonl"
    guard = Guard(SHOP, log=file)
    big = Call("get_order", {"order_id": "W1", "note": "n" * 1_000_000}, "c1")
    assert guard.check(big).goes_on
    guard.observe(big, {**ORDER, "text": "t" * 100_000})
    guard.hear("yes")
    assert guard.check(CANCEL).goes_on
    assert file.stat().st_size < 10_000
    result = next(line for line in read_guard_log(file) if line.type == "result")
    assert result.arguments["order_id"] == "W1"
    assert "1,000,000 characters" in result.arguments["note"]
    assert not [step for step in replay(Guard(SHOP), file) if step.changed]


def test_masked_values_are_in_no_line_of_a_log(tmp_path):
    manual = tmp_path / "m.yaml"
    manual.write_text(
        "masks: [pin, iban]\nfacts: {odd: {args: [pin], path: <pin>, is: '1', yes: <pin> is odd, no: <pin> is even}}\n"
        "tools: {pay: [pin, to]}\npolicies: {P-ODD-1: {text: Odd., tools: pay, requires: odd(pin)}}\n...\n"
    )
    file = tmp_path / "log.jsonl"
    guard = Guard(manual, log=file)
    for id_ in ("a", "b"):
        pay = Call("pay", {"pin": "84pin12", "to": {"iban": ["DE77"]}}, id_)
        assert "84pin12 is even" in guard.check(pay).fact
        guard.observe(pay, {"iban": "DE77", "note": "fine"})
    text = file.read_text()
    assert "84pin12" not in text
    assert "DE77" not in text
    assert "is even" in text
    assert "fine" in text
    pins = {line.arguments["pin"] for line in read_guard_log(file)}
    assert len(pins) == 1  # one mask for one value


def test_a_log_is_moved_when_it_is_long_and_read_as_one(tmp_path):
    file = tmp_path / "log.jsonl"
    guard = Guard(SHOP, log=GuardLog(file, limit=4_000))
    for number in range(15):
        call = Call("get_order", {"order_id": f"W{number}"}, f"c{number}")
        guard.check(call)
        guard.observe(call, {**ORDER, "id": f"W{number}"})
    assert (tmp_path / "log.jsonl.1").stat().st_size < 5_000
    assert file.stat().st_size < 5_000
    events = list(read_guard_log(file))
    assert [event.arguments for event in events[-2:]] == [{"order_id": "W14"}] * 2
    file.rename(tmp_path / "away")  # as other programs do it
    guard.check(CANCEL)
    assert is_guard_log(file)


MANUAL = open_tool_manual(SHOP)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), JSON)
def test_no_call_and_no_result_breaks_the_guard(arguments, result):
    guard = Guard(MANUAL)
    for tool in ("cancel_order", "return_items", "get_order", "get_user"):
        for each in (
            {**arguments},
            {"order_id": "W1", "user_id": "mia", "items": result, "method": result, **arguments},
        ):
            assert guard.check(Call(tool, each)).rule != "G-ERROR"
            guard.observe(Call(tool, each), result)
    guard.observe(
        Call("get_order"),
        {"id": "W1", "status": result, "items": result, "placed": result, "user_id": result},
    )
    guard.observe(Call("get_user", {"user_id": "mia"}), {"payment_methods": result})
    guard.check(CANCEL)
    guard.check(returning("a1"))
    assert json.dumps(guard.explain())


@pytest.mark.parametrize(
    "call",
    [
        {"name": "x", "arguments": "[" * 100_000},
        {"name": "x", "arguments": '{"a": 1, "a": 2}'},
        {"name": "x", "arguments": {"a": "y" * 3_000_000}},
        {"name": "x", "arguments": {"a": float("nan")}},
        {"name": "x", "arguments": {"a": object()}},
        {"name": "x", "arguments": [1]},
        {"name": 5},
        {},
    ],
)
def test_what_is_no_call_is_refused(call):
    assert Guard(MANUAL).check(call).rule == "G-FORM"


def test_a_guard_that_fails_is_closed_or_loud(tmp_path, caplog):
    policies = "policies:\n  P-ODD-1: {text: No odd things., tools: do, when: odd}\n"
    text = f"facts:\n  odd: {{python: odd}}\ntools:\n  do: []\n{policies}"
    for errors, word in (("closed", "refuse"), ("open", "warn")):
        manual = tmp_path / "m.yaml"
        manual.write_text(f"errors: {errors}\n{text}...\n")
        guard = Guard(manual, python={"odd": lambda _look: 1 / 0})
        ruling = guard.check(Call("do"))
        assert (ruling.word, ruling.rule) == (word, "G-ERROR")
        assert "ZeroDivisionError" in caplog.text
    assert "THE CALL WAS NOT CHECKED" in caplog.text
