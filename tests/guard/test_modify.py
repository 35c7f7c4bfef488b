"""Calls that are changed rather than refused: by the guard, in the log and on its page, and in
each framework.
"""

from __future__ import annotations

import asyncio
import importlib

import pytest

from rpms.guard import (
    Allow,
    Call,
    Guard,
    Modify,
    Refuse,
    Warn,
    find_tool_mistakes,
    read_tool_manual,
)
from rpms.guard.conversations import Conversations, Returned
from rpms.guard.log import CheckLine, read_guard_log

TEXT = """
facts:
  many: {args: [limit], path: <limit>, above: 100, yes: <limit> is above 100, no: <limit> is not above 100}
  huge: {args: [limit], path: <limit>, above: 1000}
  secret: {args: [table], path: <table>, is: users}
  was_read: {args: [table, limit], initially: false}
tools:
  query: {args: [table, limit, safe], effects: ["was_read(table, limit)"]}
policies:
  P-HUGE-1: {text: Never more than 1000., tools: query, when: huge(limit)}
  P-SECRET-1: {text: Users are not read., tools: query, when: secret(table)}
  P-LIMIT-1:
    text: No more than 100 rows at once.
    tools: query
    when: not given(limit) or many(limit)
    sets: {limit: 100}
  P-SAFE-1: {text: In safe mode only., tools: query, requires: given(safe), sets: {safe: true}}
"""
MANUAL = read_tool_manual(("limits.yaml", TEXT))


def asked(limit: object = 5000, table: str = "orders", id_: str = "", **more: object) -> Call:
    return Call("query", {"table": table, "limit": limit, **more}, id_)


def test_a_call_is_changed_where_its_rule_is_broken():
    guard = Guard(MANUAL)
    ruling = guard.check(asked(safe=True), can_modify=True)
    assert isinstance(ruling, Modify)
    assert ruling.goes_on  # with its own call
    assert ruling.call == Call("query", {"table": "orders", "limit": 100, "safe": True})
    assert (ruling.rule, ruling.fact, ruling.remedy) == (
        "P-LIMIT-1",
        "5000 is above 100",
        "call it with limit=100",
    )
    assert ruling.notice == (
        "[changed] P-LIMIT-1: No more than 100 rows at once (5000 is above 100). It was called with limit=100."
    )
    assert isinstance(guard.check(asked(100, safe=True), can_modify=True), Allow)
    assert "ruling: allow" in guard.explain()


def test_a_loop_that_asks_whether_it_goes_on_makes_the_changed_call():
    guard, made = Guard(MANUAL), []
    for call in (asked(safe=True), asked(7, safe=True), asked(table="users")):
        ruling = guard.check(call, can_modify=True)
        if ruling.goes_on:
            call = ruling.call if isinstance(ruling, Modify) else call  # noqa: PLW2901
            made.append(call.arguments["limit"])
            guard.observe(call, "rows")
    assert made == [100, 7]


def test_several_rules_change_one_call_and_what_was_not_given_is_set():
    ruling = Guard(MANUAL).check(Call("query", {"table": "orders"}), can_modify=True)
    assert isinstance(ruling, Modify)
    assert ruling.call.arguments == {"table": "orders", "limit": 100, "safe": True}
    assert "P-SAFE-1: In safe mode only" in ruling.reason
    assert ruling.fact == "limit is not given"
    assert ruling.remedy == "call it with limit=100, safe=true"


def test_the_changed_call_is_what_other_rules_judge_and_what_is_learned_from():
    guard = Guard(MANUAL)
    assert guard.check(asked(table="users"), can_modify=True).rule == "P-SECRET-1"
    ruling = guard.check(
        asked(safe=True), can_modify=True
    )  # P-HUGE-1 forbids it as it was asked for
    assert isinstance(ruling, Modify)
    guard.observe(ruling.call, "rows")
    assert [atom.args for atom in guard.belief.known] == [("orders", "100")]


def test_a_host_that_cannot_change_calls_refuses_and_says_how_and_nothing_is_under_way():
    guard = Guard(MANUAL)
    ruling = guard.check(asked(safe=True))
    assert isinstance(ruling, Refuse)
    assert ruling.text.endswith("What to do: call it with limit=100.")
    assert isinstance(guard.check(asked(100, safe=True)), Allow)


def test_a_rule_that_is_broken_again_after_it_had_its_way_refuses():
    more = (
        "  P-BACK-1: {text: Always all., tools: query, requires: many(limit), sets: {limit: 101}}\n"
    )
    ruling = Guard(read_tool_manual(("circle.yaml", TEXT + more))).check(
        asked(safe=True), can_modify=True
    )
    assert isinstance(ruling, Refuse)
    assert ruling.rule in ("P-LIMIT-1", "P-BACK-1")


def test_where_nobody_knows_nothing_is_changed():
    ruling = Guard(MANUAL).check(
        asked("plenty", safe=True), can_modify=True
    )  # no number: unknown whether it is many
    assert isinstance(ruling, Refuse)
    assert ruling.rule in ("P-HUGE-1", "P-LIMIT-1")


def test_a_circle_is_no_reason_to_make_the_call_as_it_was_asked_for():
    guard = Guard(MANUAL)
    for _ in range(6):
        ruling = guard.check(asked(safe=True), can_modify=True)
        assert isinstance(ruling, Modify)
        guard.observe(ruling.call, "rows")
    guard = Guard(read_tool_manual(("circles.yaml", "circles: refuse\n" + TEXT)))
    said = []
    for _ in range(6):
        ruling = guard.check(asked(safe=True), can_modify=True)
        said.append(ruling.rule)
        if isinstance(ruling, Modify):
            guard.observe(ruling.call, "rows")
    assert said[-1] == "G-CIRCLE"


def test_a_warning_about_the_changed_call_is_not_lost():
    more = "  P-ODD-1: {text: Better not., tools: query, when: given(table), warns: true}\n"
    guard = Guard(read_tool_manual(("warn.yaml", TEXT + more)))
    ruling = guard.check(asked(safe=True), can_modify=True)
    assert isinstance(ruling, Modify)
    assert "P-ODD-1: Better not" in ruling.notice
    assert isinstance(guard.check(asked(1, safe=True), can_modify=True), Warn)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("sets: {rows: 1}", "'rows' is no argument of these tools (limit)"),
        ("sets: {limit: .nan}", "is not JSON"),
        ("sets: {limit: 1}\n    warns: true", "choose one"),
        ("sets: 5", "sets"),
    ],
)
def test_a_mistake_in_it_has_a_line(line, problem):
    text = "tools:\n  do: [limit]\npolicies:\n  P-1:\n    text: a\n    tools: do\n    when: given(limit)\n    "
    (mistake,) = find_tool_mistakes(("bad.yaml", text + line + "\n"))
    assert mistake.line == 8
    assert problem in str(mistake)


def test_a_rule_that_always_sets_is_asked_when():
    text = "tools:\n  do: [limit]\npolicies:\n  P-1: {text: a, tools: do, sets: {limit: 1}}\n"
    (mistake,) = find_tool_mistakes(("bad.yaml", text))
    assert "say when" in str(mistake)


def test_the_log_the_replay_and_the_page_show_it(tmp_path, rpms):
    manual, log = tmp_path / "limits.yaml", tmp_path / "log.jsonl"
    manual.write_text(f"{TEXT}...\n")
    guard = Guard(manual, log=log)
    ruling = guard.check(asked(safe=True), can_modify=True)
    assert isinstance(ruling, Modify)
    guard.observe(ruling.call, "rows")
    guard.check(asked(safe=True))  # by a host that cannot
    first, _, second = read_guard_log(log)
    assert isinstance(first, CheckLine)
    assert (first.ruling, first.arguments["limit"], first.made["limit"]) == ("modify", 5000, 100)
    assert (second.ruling, second.made) == ("refuse", None)
    replayed = rpms("guard", "check", "--manual", manual, log)
    assert "0 allow, 0 warn, 1 modify, 0 ask, 1 refuse; 0 differ from the log" in replayed.out
    assert rpms("report", log).code == 0
    page = (tmp_path / "log.report" / "index.html").read_text()
    assert "1 changed, 1 refused" in page
    assert page.count("rows") >= 1


def test_what_a_changed_call_returned_is_told_of_that_call_though_the_history_has_the_other():
    both = Conversations(Guard(MANUAL))
    call = asked(id_="c1", safe=True)
    assert isinstance(both.check("a", [], call), Modify)
    assert both.check("a", [Returned(call, "rows")], asked(10, id_="c2", safe=True)).goes_on
    assert [atom.args for atom in both.guard_of("a").belief.known] == [("orders", "100")]


def test_inspect_modifies(tmp_path):
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    tool = importlib.import_module("inspect_ai.tool")
    adapter = importlib.import_module("rpms.guard.inspect")
    manual = tmp_path / "limits.yaml"
    manual.write_text(f"{TEXT}...\n")
    call = tool.ToolCall(id="c1", function="query", arguments=dict(asked(safe=True).arguments))
    approval = asyncio.run(adapter.guard(str(manual))("", call, None, []))
    assert approval.decision == "modify"
    assert (approval.modified.id, approval.modified.arguments["limit"]) == ("c1", 100)
    assert "P-LIMIT-1" in approval.explanation
    assert call.arguments["limit"] == 5000
