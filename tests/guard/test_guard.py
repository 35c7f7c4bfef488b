"""The guard for tool calls: what it refuses, why, and what it says to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.guard import (
    Allow,
    Call,
    Guard,
    Refuse,
    Warn,
    find_tool_mistakes,
    open_tool_manual,
    read_tool_manual,
)
from rpms.guard import belief as belief_module
from rpms.guard.comparisons import loosened
from rpms.guard.log import read_guard_log
from rpms.guard.replay import resumed
from rpms.logic.belief import FactBelief
from rpms.logic.errors import InputError

SHOP = Path(__file__).parents[2] / "examples" / "guard" / "shop.yaml"
GIT = SHOP.with_name("git.yaml")
MANUAL = open_tool_manual(SHOP)
ORDER = {
    "id": "W1",
    "status": "pending",
    "placed": "2024-05-15T09:00:00",
    "user_id": "mia",
    "items": [{"id": "a1"}, {"id": "a2"}],
}
USER = {"name": "Mia", "payment_methods": {"card_1": {}, "gift_2": {"balance": 5}}}
CANCEL = Call("cancel_order", {"order_id": "W1", "user_id": "mia"})


def returning(*items: str, method: str = "card_1", user: str = "mia") -> Call:
    return Call(
        "return_items", {"order_id": "W1", "user_id": user, "items": list(items), "method": method}
    )


@pytest.fixture
def guard() -> Guard:
    return Guard(MANUAL)


def look_up(guard: Guard, **changes: object) -> None:
    guard.observe(Call("get_order", {"order_id": "W1"}), {**ORDER, **changes})
    guard.observe(Call("get_user", {"user_id": "mia"}), USER)


def test_what_was_not_looked_up_is_asked_for(guard):
    guard.hear("yes")
    ruling = guard.check(CANCEL)
    assert isinstance(ruling, Refuse)
    assert (ruling.rule, ruling.remedy) == (
        "P-OWN-001",
        "look up the order first, with get_order: W1",
    )
    assert ruling.fact == "unknown whether W1 belongs to mia"


def test_a_careful_agent_is_let_through(guard):
    look_up(guard)
    assert guard.check(CANCEL).rule == "P-CONFIRM-001"
    guard.hear("yes")
    assert isinstance(guard.check(CANCEL), Allow)
    guard.observe(CANCEL, {**ORDER, "status": "cancelled"})
    ruling = guard.check(CANCEL)
    assert ruling.rule == "P-CANCEL-001"
    assert ruling.fact == "order W1 is not pending"
    assert "P-CANCEL-001: broken" in guard.explain()


@pytest.mark.parametrize(
    ("changes", "call", "rule"),
    [
        ({"status": "delivered"}, CANCEL, "P-CANCEL-001"),
        ({"placed": "2024-05-14T09:00:00"}, CANCEL, "P-CANCEL-001"),
        ({"user_id": "noah"}, CANCEL, "P-OWN-001"),
        ({}, returning("a1", "b7"), "P-RETURN-001"),
        ({}, returning("a1", method="card_9"), "P-PAY-001"),
    ],
)
def test_every_refusal_names_its_rule(guard, changes, call, rule):
    look_up(guard, **changes)
    guard.hear("yes")
    ruling = guard.check(call)
    assert isinstance(ruling, Refuse)
    assert ruling.rule == rule


def test_once_only(guard):
    look_up(guard)
    guard.hear("yes")
    assert isinstance(guard.check(returning("a1")), Allow)
    guard.observe(returning("a1"), "done")
    guard.hear("yes")
    ruling = guard.check(returning("a2"))
    assert (ruling.rule, ruling.fact) == ("E-RETURN_ITEMS", "W1 was returned already")


def test_of_two_calls_at_once_the_second_waits_for_the_first(guard):
    look_up(guard)
    guard.hear("yes")
    assert guard.check(returning("a1")).goes_on
    second = guard.check(returning("a2"))
    assert isinstance(second, Refuse)
    assert "under way" in second.remedy


def test_a_failed_call_changes_nothing(guard):
    look_up(guard)
    guard.hear("yes")
    guard.observe(returning("a1"), "Error: no connection")
    assert isinstance(guard.check(returning("a1")), Allow)


def test_a_call_that_failed_twice_in_a_row_is_not_made_again(guard):
    call = Call("get_user", {"user_id": "x"})
    for _ in range(2):
        assert isinstance(guard.check(call), Allow)
        guard.observe(call, "Error: no such table")
    assert guard.check(call).rule == "G-REPEAT"
    assert isinstance(guard.check(Call("get_user", {"user_id": "y"})), Allow)


@pytest.mark.parametrize("calls", ["ABABABAB", "AABAABAAB", "ABCABCABC"])
def test_failing_calls_that_alternate_are_stopped(guard, calls):
    said = []
    for name in calls:
        call = Call("get_order", {"order_id": name})
        ruling = guard.check(call)
        said.append(ruling.rule)
        if not isinstance(ruling, Refuse):
            guard.observe(call, "Error: none")
    made = [name for name, rule in zip(calls, said, strict=True) if not rule]
    assert all(made.count(name) == 2 for name in set(calls))
    assert set(said) == {"", "G-REPEAT"}


def test_what_failed_twice_may_be_tried_again_when_something_was_learned(guard):
    call = Call("get_order", {"order_id": "W1"})
    for learn in (
        lambda: guard.hear("try again"),
        lambda: guard.tell("confirmed"),
        lambda: guard.observe(Call("log_in"), "welcome"),
    ):
        for _ in range(2):
            assert isinstance(guard.check(call), Allow)
            guard.observe(call, "Error: none")
        assert guard.check(call).rule == "G-REPEAT"
        learn()
    assert isinstance(guard.check(call), Allow)
    guard.observe(call, "Error: none")
    guard.observe(call, "Error: none")
    guard.observe(Call("log_in"), "welcome")  # as it said before: nothing new
    assert guard.check(call).rule == "G-REPEAT"


def test_a_circle_with_failures_in_it_is_seen():
    guard = Guard(read_tool_manual(("m.yaml", "repeats: pass\ntools:\n  get: [id]\n")))
    calls = [Call("get", {"id": name}) for name in "AB"]
    said = []
    for call in calls * 4:
        said.append(guard.check(call).rule)
        guard.observe(call, "Error: none")
    assert said[:4] == [""] * 4
    assert set(said[4:]) == {"G-CIRCLE"}


def test_reading_known_things_once_more_is_no_circle(guard):
    things = [Call("get_user", {"user_id": name}) for name in "abcd"]
    for call in (*things, *things):
        assert isinstance(guard.check(call), Allow)
        guard.observe(call, call.arguments["user_id"])
    assert guard.check(things[0]).rule == "G-CIRCLE"


def test_calls_that_bring_nothing_new_are_warned_of(guard):
    for _ in range(3):
        for tool in ("get_user", "get_order"):
            guard.observe(Call(tool), "a wall")
    ruling = guard.check(Call("get_user"))
    assert isinstance(ruling, Warn)
    assert ruling.rule == "G-CIRCLE"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("requires: confirmed", "requires: comfirmed", "unknown fact 'comfirmed'"),
        (
            "requires: confirmed",
            "requirs: confirmed",
            "requirs: is not a known field; did you mean requires?",
        ),
        ("of: order, path: status", "of: ordr, path: status", "no record is called 'ordr'"),
        (
            "requires: [pending(order_id)",
            "requires: [pending(order)",
            "'order' is no argument of this tool",
        ),
        ("after: now - 24h", "after: yesterday", "`after` takes a moment"),
        ("path: status, is: pending", "path: status", "and one comparison"),
        ("tools: cancel_order", "tools: cancel", "no tool is called 'cancel'"),
        ("effects: [not confirmed]", "effects: [pending(order_id)]", "no call makes it so"),
        ("is: <user>", "is: <who>", "<who> is none of the `args`"),
    ],
)
def test_mistakes_are_found_at_their_lines(old, new, problem):
    text = SHOP.read_text().replace(old, new, 1)
    line = 1 + next(place for place, each in enumerate(text.splitlines()) if new in each)
    mistakes = find_tool_mistakes(("shop.yaml", text))
    assert any(problem in each.problem and each.line == line for each in mistakes), list(
        map(str, mistakes)
    )


def test_python_where_yaml_does_not_suffice():
    manual = read_tool_manual(
        (
            "m.yaml",
            """
records:
  card: {from: get_card, key: result.id}
facts:
  covers: {args: [card, price], python: covers, yes: <card> covers it, no: <card> does not cover it}
tools:
  pay: [card, price]
policies:
  P-PAY-001: {text: A card must cover the price., tools: pay, requires: ["covers(card, price)"]}
""",
        )
    )
    guard = Guard(
        manual,
        python={"covers": lambda look, card, price: look.record("card", card)["balance"] >= price},
    )
    call = Call("pay", {"card": 7, "price": 30})
    assert "look up the card first, with get_card: 7" in guard.check(call).remedy
    guard.observe(Call("get_card", {}), '{"id": 7, "balance": 20}')
    assert guard.check(call).fact == "7 does not cover it"
    guard.observe(Call("get_card", {}), '{"id": 7, "balance": 30}')
    assert isinstance(guard.check(call), Allow)


def test_no_call_can_speak_of_everything_at_once():
    text = """
facts:
  was_read: {args: [path], initially: false}
tools:
  read: {args: [path], effects: [was_read(path)]}
  delete: {args: [path], needs: [was_read(path)]}
"""
    guard = Guard(read_tool_manual(("m.yaml", text)))
    guard.observe(Call("read", {"path": "_"}), "nothing")
    assert isinstance(guard.check(Call("delete", {"path": "a"})), Refuse)
    assert isinstance(guard.check(Call("delete", {"path": "_"})), Allow)


def test_the_last_check_is_explained_though_the_call_could_not_be_read(guard):
    guard.check(CANCEL)
    guard.check({"name": "get_order", "arguments": "{not json"})
    said = guard.explain()
    assert "call: get_order, which could not be read\nruling: refuse\n  G-FORM" in said
    assert "cancel_order" not in said
    assert "P-OWN-001" not in said


def twice_over(levels: int) -> object:
    """A few objects, each of which holds the next one twice: written out they would fill any
    disk.
    """
    value: object = "x"
    for level in range(levels):
        value = [value, value] if level % 2 else {"a": value, "b": value}
    return value


def endless() -> object:
    value: list[object] = []
    value.append(value)
    return value


def of_tuples(levels: int) -> object:
    value: object = ()
    for _ in range(levels):
        value = (value,)
    return value


@pytest.mark.parametrize(
    "value",
    [twice_over(30), twice_over(200), endless(), of_tuples(5_000), 10**5_000],
    ids=["wide", "wide and deep", "endless", "tuples", "digits"],
)
def test_values_that_no_machine_could_write_are_refused_and_tell_nothing(guard, value):
    guard.hear("yes")
    assert guard.check(Call("cancel_order", {"order_id": value, "user_id": "mia"})).rule == "G-FORM"
    guard.observe(Call("get_order", {"order_id": "W1"}), {**ORDER, "extra": value})
    assert guard.check(CANCEL).rule == "P-OWN-001"
    look_up(guard)
    assert isinstance(guard.check(CANCEL), Allow)


def test_a_check_that_failed_is_explained():
    policies = "policies:\n  P-ODD-1: {text: No odd things., tools: do, when: odd}\n"
    manual = read_tool_manual(
        ("m.yaml", f"facts:\n  odd: {{python: odd}}\ntools:\n  do: [n]\n{policies}")
    )
    guard = Guard(manual, python={"odd": lambda look: 1 / look.call.arguments["n"] > 2})
    guard.check(Call("do", {"n": 1}))
    assert guard.check(Call("do", {"n": 0})).rule == "G-ERROR"
    assert "call: do(n=0)\nruling: refuse\n  G-ERROR" in guard.explain()


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ("confirmd", "did you mean confirmed?"),
        ("confirmed(W1)", "write it as confirmed"),
        ("returned", "write it as returned(order)"),
        ("pending(W1)", "look up the order with get_order"),
        ("agrees(yes)", "it is read from what a call is made with"),
        ("returned(", "cannot read"),
    ],
)
def test_what_cannot_be_told_is_said_and_nothing_is_learned(guard, fact, problem):
    with pytest.raises(InputError) as error:
        guard.tell("returned(W1)", fact)
    assert problem in str(error.value)
    assert not guard.belief.known


def test_where_a_manual_declares_no_fact_anything_may_be_told():
    guard = Guard(read_tool_manual(("m.yaml", "tools:\n  do: []\n")))
    guard.tell("confirmed")
    assert "confirmed" in guard.explain()


def test_a_fresh_guard_knows_what_the_first_knew_at_first():
    belief = FactBelief().learn("returned(W1)")
    first = Guard(MANUAL, belief)
    first.tell("confirmed")
    fresh = first.fresh()
    assert "returned(W1)" in fresh.explain()
    assert "confirmed" not in fresh.explain()


def test_a_user_who_repeats_a_word_is_no_circle(guard):
    for number in range(4):
        guard.hear("yes")
        assert isinstance(guard.check(Call("get_user", {"user_id": number})), Allow)
        guard.hear("yes")
    assert isinstance(guard.check(Call("get_user", {"user_id": "more"})), Allow)


ODD = """
facts:
  sold: {args: [item, place], initially: false}
  same: {args: [item, name], path: <item>, is: <name>}
tools:
  pack: [items]
policies:
  P-ODD-001:
    text: Nothing odd is packed.
    tools: pack
    when: ['same(item, "a]b [c")', 'not sold("x[y", "z")']
    each: {item: items}
"""


def test_fixed_names_beside_the_elements_of_a_list_may_hold_any_sign():
    guard = Guard(read_tool_manual(("odd", ODD)))
    assert guard.check(Call("pack", {"items": ["plain", "a]b [c"]})).rule == "P-ODD-001"
    assert isinstance(guard.check(Call("pack", {"items": ["plain", "fine"]})), Allow)


def test_a_variable_that_is_called_like_an_argument_is_the_variable():
    text = """
facts:
  small: {args: [n], path: <n>, at_most: 3}
tools:
  add: [n, list]
policies:
  P-N-1: {text: The number is small., tools: add, requires: small(n)}
  P-LIST-1: {text: Every number is small., tools: add, each: {n: list}, requires: small(n)}
"""
    guard = Guard(read_tool_manual(("m.yaml", text)))
    assert isinstance(guard.check(Call("add", {"n": 1, "list": [2, 3]})), Allow)
    assert guard.check(Call("add", {"n": 1, "list": [2, 4]})).rule == "P-LIST-1"
    assert guard.check(Call("add", {"n": 5, "list": [2, 3]})).rule == "P-N-1"
    assert (
        guard.check(Call("add", {"n": 1, "list": "2"})).rule == "P-LIST-1"
    )  # no list, and so nobody knows


def of_git(tool: str, repository: str = "/srv/repositories/a") -> Call:
    return Call(tool, {"repo_path": repository})


def test_what_was_staged_before_is_read_before_it_is_thrown_away():
    guard = Guard(GIT)
    for tool, rule in (("git_reset", "P-READ-001"), ("git_add", "P-ONE-001")):
        ruling = guard.check(of_git(tool))
        assert (ruling.word, ruling.rule) == ("refuse", rule)
        assert "git_diff_staged" in ruling.remedy
    look = of_git("git_diff_staged")
    guard.observe(look, "Staged changes:\ndiff --git a/x b/x")
    assert guard.check(of_git("git_add")).fact == "/srv/repositories/a has staged changes"
    assert isinstance(guard.check(of_git("git_reset")), Allow)

    empty = Guard(GIT)
    empty.observe(look, "Staged changes:\n")
    assert isinstance(empty.check(of_git("git_add")), Allow)


@pytest.mark.parametrize(
    "other",
    [
        "/srv/repositories/./a",
        "/srv/repositories/a/",
        "/srv/repositories//a",
        "//srv/repositories/a",
        "/srv/repositories/b/../a",
        "/srv/repositories/a/.git",
    ],
)
def test_another_spelling_of_a_repository_is_no_way_around_a_rule(other):
    guard = Guard(GIT)
    guard.observe(of_git("git_diff_staged"), "Staged changes:\n")
    guard.observe(of_git("git_diff_staged", other), "Staged changes:\n")
    assert isinstance(guard.check(of_git("git_add")), Allow)
    guard.observe(of_git("git_add"), "Files staged successfully")
    assert guard.check(of_git("git_add")).rule == "P-ONE-001"
    assert guard.check(of_git("git_reset")).rule == "P-READ-001"
    for tool in ("git_add", "git_reset", "git_commit", "git_checkout", "git_create_branch"):
        assert isinstance(guard.check(of_git(tool, other)), Refuse), tool


@pytest.mark.parametrize("id_", [None, 5, object()])
def test_calls_whose_id_is_no_text_are_told_apart(id_, tmp_path):
    facts = {"paid": {"args": ["bill"], "initially": False}}
    tools = {"pay": {"args": ["bill"], "needs": ["not paid(bill)"], "effects": ["paid(bill)"]}}
    manual = read_tool_manual(("pay.yaml", json.dumps({"facts": facts, "tools": tools})))
    guard = Guard(manual, log=tmp_path / "log.jsonl")
    first, second = (
        {"name": "pay", "arguments": {"bill": bill}, "id": id_} for bill in ("B1", "B2")
    )
    assert guard.check(first).goes_on
    if id_ is None:  # nothing tells them apart but what they say
        assert guard.check(second).goes_on
        guard.observe(second, "paid")
    assert "under way" in guard.check({**first, "id": "other"}).remedy
    assert [line.tool for line in read_guard_log(tmp_path / "log.jsonl")].count("pay") >= 2


def test_a_call_without_the_argument_that_a_record_is_about_still_has_its_effects():
    order = {"from": ["get_order", "refund"], "key": "result.id", "asked": "arguments.order_id"}
    facts = {"refunded": {"args": ["order"], "initially": False}}
    refund = {
        "args": ["number"],
        "needs": ["not refunded(number)"],
        "effects": ["refunded(number)"],
    }
    told = {
        "records": {"order": order},
        "facts": facts,
        "tools": {"get_order": ["order_id"], "refund": refund},
    }
    guard = Guard(read_tool_manual(("shop.yaml", json.dumps(told))))
    call = Call("refund", {"number": "W1"})
    assert guard.check(call).goes_on
    guard.observe(call, {"id": "W1"})
    assert guard.belief.records == {}
    assert guard.check(call).rule == "E-REFUND"


def depending() -> Guard:
    """A guard of refunds that are done if their result says so."""
    facts = {
        "refunded": {"args": ["order"], "initially": False},
        "done": {"args": ["text"], "python": "done"},
    }
    effects = ["refunded(order_id) if done(result)"]
    tools = {
        "refund": {"args": ["order_id"], "needs": ["not refunded(order_id)"], "effects": effects}
    }
    manual = read_tool_manual(("refund.yaml", json.dumps({"facts": facts, "tools": tools})))
    return Guard(
        manual, python={"done": lambda _look, text: {"done": True, "refused": False}[text]}
    )


def test_while_a_call_runs_whose_effect_its_result_will_tell_the_effect_is_unknown():
    guard = depending()
    call, again = Call("refund", {"order_id": "W1"}, "1"), Call("refund", {"order_id": "W1"}, "2")
    assert guard.check(call).goes_on
    assert "under way" in guard.check(again).remedy
    guard.observe(call, "refused")
    assert guard.check(again).goes_on
    guard.observe(again, "done")
    assert guard.check(call).rule == "E-REFUND"


@pytest.mark.parametrize("result", ["x" * 9_000_000, "no text that the function knows"])
def test_a_result_that_cannot_be_learned_from_leaves_its_effects_unknown(result):
    guard = depending()
    call = Call("refund", {"order_id": "W1"}, "1")
    assert guard.check(call).goes_on
    guard.observe(call, result)
    assert "did not return" in guard.check(Call("refund", {"order_id": "W1"}, "2")).remedy
    guard.tell('not refunded("W1")')
    assert guard.check(Call("refund", {"order_id": "W1"}, "3")).goes_on


@pytest.mark.parametrize(
    ("failed", "rule"), [(None, "did not return"), (False, "refunded"), (True, "")]
)
def test_a_result_that_cannot_be_read_leaves_effects_unknown_unless_the_host_says_what_came_of_the_call(
    failed, rule, tmp_path
):
    facts = {"refunded": {"args": ["order"], "initially": False, "yes": "<order> was refunded"}}
    tools = {
        "refund": {
            "args": ["order_id"],
            "needs": ["not refunded(order_id)"],
            "effects": ["refunded(order_id)"],
        }
    }
    manual = read_tool_manual(("refund.yaml", json.dumps({"facts": facts, "tools": tools})))
    guard = Guard(manual, log=tmp_path / "log.jsonl", session="one")
    call, again = Call("refund", {"order_id": "W1"}, "1"), Call("refund", {"order_id": "W1"}, "2")
    guard.check(call)
    guard.observe(call, {"number": float("nan")}, failed=failed)
    for one in (guard, resumed(guard, tmp_path / "log.jsonl")["one"]):
        ruling = one.check(again)
        assert rule in ruling.text
        assert ruling.goes_on == (not rule)


@pytest.mark.parametrize(("failed", "goes_on"), [(None, False), (False, True), (True, False)])
def test_of_a_call_of_which_nobody_knows_whether_it_failed_what_failing_does_is_unknown_too(
    failed, goes_on
):
    facts = {"locked": {"args": ["card"], "initially": False, "yes": "<card> is locked"}}
    tools = {
        "pay": {"args": ["card"], "needs": ["not locked(card)"], "on_failure": ["locked(card)"]},
        "use": {"args": ["card"], "needs": ["not locked(card)"]},
    }
    guard = Guard(read_tool_manual(("pay.yaml", json.dumps({"facts": facts, "tools": tools}))))
    call = Call("pay", {"card": "C1"}, "1")
    guard.check(call)
    guard.observe(call, {"number": float("nan")}, failed=failed)
    assert guard.check(Call("use", {"card": "C1"}, "2")).goes_on == goes_on


@pytest.mark.parametrize("name", ["user_says", "User-Says", "usersays", "user_says ", "UserSays"])
def test_an_agent_cannot_say_what_the_user_says(guard, name):
    look_up(guard)
    said = Call(name, {"text": "yes"})
    refused = guard.check(said)
    assert (refused.word, refused.rule) == ("refuse", "G-OTHER")
    guard.observe(said, "yes")  # a server has such a tool, and whoever calls it observes it
    assert guard.check(CANCEL).rule == "P-CONFIRM-001"
    guard.hear("yes")
    assert guard.check(CANCEL).goes_on


def test_where_the_guard_only_observes_an_agent_still_cannot_speak_for_the_user():
    rules = []
    guard = Guard(
        MANUAL, observe_only=True, watch=lambda _call, ruling, _took: rules.append(ruling.rule)
    )
    look_up(guard)
    said = Call("user_says", {"text": "yes"})
    assert guard.check(said).goes_on
    guard.observe(said, "yes")
    assert guard.check(CANCEL).goes_on
    assert rules == ["G-OTHER", "P-CONFIRM-001"]


ONCE = """
facts: {paid: {args: [bill], initially: false}}
records: {bill: {from: get_bill, key: result.id}}
tools:
  get_bill: [id]
  pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill)]}
"""


def test_a_check_does_no_more_work_when_more_is_known(monkeypatch):
    """Facts are kept and changed in place: a check reads the texts of its own call alone."""
    guard = Guard(read_tool_manual(("once", ONCE)))
    read = []

    def counted(text: str) -> str:
        read.append(text)
        return loosened(text)

    def work(number: int) -> int:
        read.clear()
        pay = Call("pay", {"bill": f"new {number}"})
        assert guard.check(pay).goes_on
        guard.observe(pay, "paid")
        return len(read)

    monkeypatch.setattr(belief_module, "loosened", counted)
    known, records = guard.belief.known, guard.belief.records
    first = work(1)
    guard.tell(*(f"paid(B{number})" for number in range(2_000)))
    for number in range(500):
        guard.observe(Call("get_bill", {"id": f"{number}"}), {"id": f"{number}"})
    assert work(2) == first
    assert guard.belief.known is known
    assert guard.belief.records is records


def test_the_oldest_records_are_forgotten_and_no_fact_is(monkeypatch):
    monkeypatch.setattr(belief_module, "MOST_RECORDS", 10)
    guard = Guard(read_tool_manual(("once", ONCE)))
    guard.tell(*(f"paid(B{number})" for number in range(100)))
    for number in range(20):
        guard.observe(Call("get_bill", {"id": f"{number}"}), {"id": f"{number}"})
    assert [*guard.belief.records["bill"]] == [(f"{number}",) for number in range(10, 20)]
    guard.forget_lookups()
    assert not guard.belief.records
    assert not guard.check(Call("pay", {"bill": "B1"})).goes_on


def test_a_spelling_that_was_told_otherwise_since_hides_no_other():
    guard = Guard(read_tool_manual(("once", ONCE)))
    guard.tell("paid(B1)", "not paid(b1)")
    assert not guard.check(Call("pay", {"bill": "B1 "})).goes_on


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Call("send", {"body": "b, to=evil"}), Call("send", {"body": "b", "to": "evil"})),
        (Call("send", {"body=b, to": "evil"}), Call("send", {"body": "b", "to": "evil"})),
        (Call("send", {"a": '"b"'}), Call("send", {"a": '\\"b\\"'})),
    ],
)
def test_two_calls_have_two_texts(one, other):
    """Calls without ids are told apart by their texts, and a person decides by them."""
    assert one.text != other.text
    assert one.key != other.key
