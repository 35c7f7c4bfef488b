"""What it takes to deploy a guard: shadow mode, restarts, shared facts, hot reload, tests,
drafts, telemetry.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.drafting import draft_manual
from rpms.guard.log import read_guard_log
from rpms.guard.replay import resumed
from rpms.guard.tool_manuals import find_likely_mistakes, find_tool_mistakes
from rpms.logic.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples" / "guard"
ONCE = """
guard: once
facts:
  paid: {args: [bill], initially: false, shared: true, yes: <bill> was paid}
tools:
  pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill)]}
  look: [bill]
policies:
  P-LOOK-1: {text: Only paid bills., tools: look, requires: paid(bill)}
...
"""
WITHOUT_POLICIES = ONCE.partition("policies:")[0] + "...\n"
PAY = Call("pay", {"bill": "B1"}, "c1")


@pytest.fixture
def once(tmp_path):
    (tmp_path / "once.yaml").write_text(ONCE)
    return tmp_path


def test_in_shadow_everything_passes_and_the_log_says_what_would_have_been_refused(once, rpms):
    log = once / "log.jsonl"
    guard = Guard(once / "once.yaml", log=log, observe_only=True)
    assert guard.check(Call("look", {"bill": "B1"})).word == "allow"
    assert guard.check(PAY).goes_on
    guard.observe(PAY, "paid")
    assert guard.check(Call("pay", {"bill": "B1"}, "c2")).word == "allow"
    checks = [
        (line.ruling, line.rule, line.shadow)
        for line in read_guard_log(log)
        if line.type == "check"
    ]
    assert checks == [("refuse", "P-LOOK-1", True), ("allow", "", True), ("refuse", "E-PAY", True)]
    told = rpms("guard", "check", "--manual", once / "once.yaml", log).out
    assert "1 refuse by P-LOOK-1" in told
    assert "1 allow, 0 warn, 0 modify, 0 ask, 2 refuse; 0 differ" in told


def test_a_belief_is_resumed_from_the_log_and_what_never_returned_is_lost(once):
    guard = Guard(once / "once.yaml", log=once / "log.jsonl", session="mia")
    guard.check(PAY)
    guard.observe(PAY, "paid")
    guard.check(Call("pay", {"bill": "B2"}, "c2"))  # and then the process ends
    again = resumed(Guard(once / "once.yaml"), once / "log.jsonl")["mia"]
    assert again.check(Call("look", {"bill": "B1"})).goes_on
    assert "did not return" in again.check(Call("pay", {"bill": "B2"}, "c3")).remedy
    assert again.check(Call("pay", {"bill": "B3"})).goes_on


def test_a_belief_that_is_resumed_goes_by_the_clock_and_not_by_the_log(tmp_path):
    manual, log = tmp_path / "m.yaml", tmp_path / "log.jsonl"
    manual.write_text(
        "facts: {past: {args: [day], path: <day>, before: now}}\ntools: {look: [day]}\n"
        "policies: {P-PAST-1: {text: Only the past., tools: look, requires: past(day)}}\n...\n"
    )
    look = Call("look", {"day": "2025-01-02"})
    Guard(manual, log=log, session="a").check(look)
    log.write_text(re.sub(r'"at":"[^"]+"', '"at":"2025-01-01T00:00:00+00:00"', log.read_text()))
    assert resumed(Guard(manual, log=log), log)["a"].check(look).goes_on


def test_two_guards_with_one_store_do_once_what_is_done_once(once):
    one, two = (Guard(once / "once.yaml", store=once / "shared.db") for _ in range(2))
    assert one.check(PAY).goes_on
    assert "under way" in two.check(PAY).remedy
    one.observe(PAY, "Error: no", failed=True)
    assert two.check(PAY).goes_on
    two.abandon(PAY)
    assert "did not return" in one.check(PAY).remedy
    two.observe(PAY, "paid")
    assert "B1 was paid" in one.check(PAY).fact
    assert one.check(Call("look", {"bill": "B1"})).goes_on
    one.tell('not paid("B1")')
    assert two.check(PAY).goes_on


def test_a_fact_with_words_for_yes_alone_is_denied_when_it_is_false(once):
    refused = Guard(once / "once.yaml").check(Call("look", {"bill": "B1"}))
    assert refused.text.startswith("P-LOOK-1: Only paid bills (it is not so that B1 was paid).")


def test_many_guards_of_one_process_share_one_store(once):
    first = Guard(once / "once.yaml", store=once / "facts.db")
    guards = [first.fresh(f"s{number}") for number in range(200)]
    pay = Call("pay", {"bill": "B1"})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda guard: guard.check(pay).goes_on, guards))
    assert made.count(True) == 1
    guards[made.index(True)].observe(pay, "paid")
    assert not first.check(pay).goes_on


def saved(file: Path, text: str) -> None:
    """Save a file a while ago: one that was written just now may be half saved."""
    file.write_text(text)
    long_ago = time.time() - 10 - len(text) / 1_000
    os.utime(file, (long_ago, long_ago))


def test_a_changed_manual_is_read_again(once):
    guard = Guard(once / "once.yaml")
    look = Call("look", {"bill": "B1"})
    assert not guard.check(look).goes_on
    saved(once / "once.yaml", WITHOUT_POLICIES)
    guard.refresh()
    assert guard.check(look).goes_on


@pytest.mark.parametrize(
    "text",
    [
        "policies: {P-1-1: {text: x, tools: none}}\n",
        ONCE.replace("facts:", "facts:\n  asked: {python: asked}", 1),
        "",
        ONCE.partition("policies:")[0].rstrip(),
        ONCE.partition("policies:")[0],
        None,
    ],
    ids=[
        "broken",
        "wants a function nobody gave",
        "empty",
        "half saved",
        "half saved, to the end of a line",
        "deleted",
    ],
)
def test_without_a_manual_nothing_passes_and_the_refusal_says_so(once, caplog, text):
    manual = once / "once.yaml"
    guard = Guard(manual)
    if text is None:
        manual.unlink()
    else:
        saved(manual, text)
    for call in (PAY, Call("unheard_of", {})):
        refused = guard.check(call)
        assert (refused.word, refused.rule) == ("refuse", "G-MANUAL")
    assert "ALL CALLS ARE REFUSED" in caplog.text
    saved(manual, ONCE)
    assert guard.check(PAY).goes_on


def test_a_manual_that_is_being_written_is_not_judged_by(once):
    manual = once / "once.yaml"
    guard = Guard(manual)
    manual.write_text(ONCE.partition("policies:")[0])  # the rest follows in a moment
    assert "being written" in guard.check(Call("look", {"bill": "B1"})).reason


def test_a_manual_may_be_cut_anywhere_and_is_never_taken_for_whole(once):
    manual = once / "once.yaml"
    guard = Guard(manual)
    whole = f"# reviewed\n{ONCE}"
    lines = whole.splitlines(keepends=True)
    for count in range(len(lines)):
        saved(manual, "".join(lines[:count]))
        assert guard.check(Call("look", {"bill": "B1"})).rule == "G-MANUAL"
    saved(manual, whole)
    assert guard.check(Call("look", {"bill": "B1"})).rule == "P-LOOK-1"


def test_no_guard_starts_with_a_manual_that_may_be_half_saved(once, rpms):
    """Cut after any line: many such pieces are sound manuals."""
    lines = ONCE.splitlines(keepends=True)
    sound = 0
    for count in range(len(lines)):
        text = "".join(lines[:count])
        (once / "cut.yaml").write_text(text)
        with pytest.raises(InputError):
            Guard(once / "cut.yaml")
        sound += bool(text.strip()) and not find_tool_mistakes(("cut.yaml", text))
    assert sound > 3
    (once / "cut.yaml").write_text(ONCE.removesuffix("...\n"))
    for command in (["check", "--manual"], ["test"]):
        done = rpms("guard", *command, once / "cut.yaml", once / "log.jsonl")
        assert done.code == 2
        assert "cut.yaml: it may be half saved: a whole manual ends with a line `...`" in done.line


def test_each_file_of_a_manual_says_that_it_is_whole(once):
    other = once / "other.yaml"
    other.write_text("tools: {wait: []}\n")
    with pytest.raises(InputError, match="may be half saved"):
        Guard([once / "once.yaml", other])
    other.write_text("tools: {wait: []}\n...\n")
    guard = Guard([once / "once.yaml", other])
    saved(other, "tools: {wait: [], sleep: []}\n...\n")
    assert guard.check(Call("sleep", {})).goes_on


def test_cases_test_a_manual_and_name_what_they_do_not_cover(once, rpms):
    files, cases = EXAMPLES / "files.yaml", EXAMPLES / "files_cases.yaml"
    done = rpms("guard", "test", files, cases)
    assert (done.code, done.out) == (0, "5 cases, 10 calls, 0 differ from what was expected\n")
    (once / "cases.yaml").write_text(
        'cases:\n  wrong:\n    - {call: look, args: {bill: B1}, expect: allow}\n    - {tell: paid("B1")}\n'
    )
    done = rpms("guard", "test", once / "once.yaml", once / "cases.yaml")
    assert done.code == 1
    assert "cases.yaml:3 wrong, look: expected allow, got refuse P-LOOK-1" in done.out
    assert "not covered: P-LOOK-1 never let a call pass" in done.out
    (once / "cases.yaml").write_text("cases: {a: [{calls: look}]}")
    assert rpms("guard", "test", once / "once.yaml", once / "cases.yaml").code == 2


TOOLS = [
    {
        "name": "delete_file",
        "description": "Delete a file.\nFor good.",
        "inputSchema": {"properties": {"path": {}, "odd name": {}}, "required": ["path"]},
        "annotations": {"destructiveHint": True},
    },
    {
        "name": "read: file",
        "inputSchema": {"properties": {"path": {}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "ping"},
    {"name": "append", "annotations": {"destructiveHint": False}},
]


def test_a_file_without_cases_is_no_test(once, rpms, tmp_path):
    for text in ("cases: {}\n", "cases:\n", "case: {a: []}\n"):
        (tmp_path / "cases.yaml").write_text(text)
        assert (
            "under the key `cases`"
            in rpms("guard", "test", once / "once.yaml", tmp_path / "cases.yaml").line
        )


def test_a_draft_needs_what_is_required_and_asks_before_destroying():
    text = draft_manual(TOOLS)
    manual = read_tool_manual(("draft.yaml", text))
    assert not find_likely_mistakes(("draft.yaml", text))
    guard = Guard(manual)
    assert guard.check(Call("delete_file", {"path": "a"}), can_ask=True).word == "ask"
    assert guard.check(Call("read: file", {"path": "a"})).word == "allow"
    assert guard.check(Call("delete_file", {}), can_ask=True).fact == "path is not given"
    assert manual.tools["read: file"].reads


def test_a_draft_is_closed():
    """What a server says nothing of may destroy, and what it adds later is refused."""
    guard = Guard(read_tool_manual(("draft.yaml", draft_manual(TOOLS))))
    assert guard.check(Call("ping", {}), can_ask=True).word == "ask"
    assert guard.check(Call("ping", {})).word == "refuse"
    assert guard.check(Call("append", {}), can_ask=True).word == "allow"
    assert guard.check(Call("anything", {}), can_ask=True).word == "refuse"
    assert guard.manual.unknown == "ask"


def test_a_draft_can_be_read_whatever_tools_are_called():
    destroys = {"annotations": {"destructiveHint": True}}
    names = ["删除", "delete.file", "delete_file", 'a\nb: c "{}', "yes"]
    text = draft_manual(
        [{"name": name, "description": "one\n  two: 3", **destroys} for name in names]
    )
    manual = read_tool_manual(("draft", text))
    assert list(manual.tools) == names
    assert [policy.tools for policy in manual.policies] == [(name,) for name in names]


def test_a_draft_is_written_from_a_real_server(tmp_path, rpms):
    pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'rpms[mcp]'")
    server = Path(__file__).parent / "sdk_server.py"
    command = [
        sys.executable,
        "-m",
        "rpms",
        "guard",
        "draft",
        "--out",
        tmp_path / "draft.yaml",
        "--",
    ]
    subprocess.run([*command, sys.executable, server], check=True)
    manual = read_tool_manual(("draft.yaml", (tmp_path / "draft.yaml").read_text()))
    assert {"get_order", "cancel_order", "refund"} <= manual.tools.keys()
    assert (
        rpms("guard", "draft", "--out", tmp_path / "draft.yaml", "--", "x").code == 2
    )  # it is there already


def test_checks_are_spans_and_counts_without_arguments():
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    metrics = importlib.import_module("opentelemetry.sdk.metrics")
    export = importlib.import_module("opentelemetry.sdk.metrics.export")
    trace = importlib.import_module("opentelemetry.sdk.trace")
    spans = importlib.import_module(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter"
    ).InMemorySpanExporter()
    simple = importlib.import_module("opentelemetry.sdk.trace.export").SimpleSpanProcessor
    tracing = trace.TracerProvider()
    tracing.add_span_processor(simple(spans))
    reader = export.InMemoryMetricReader()
    api = importlib.import_module("opentelemetry")
    api.trace.set_tracer_provider(tracing)
    api.metrics.set_meter_provider(metrics.MeterProvider([reader]))
    guard = Guard(
        read_tool_manual(("once.yaml", ONCE)),
        watch=importlib.import_module("rpms.guard.telemetry").telemetry(),
    )
    guard.check(Call("look", {"bill": "secret"}))
    (span,) = spans.get_finished_spans()
    assert (span.name, span.attributes["rpms.guard.rule"]) == ("rpms.guard.check", "P-LOOK-1")
    assert "secret" not in span.to_json() + reader.get_metrics_data().to_json()
