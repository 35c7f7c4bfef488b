"""What tools need, learned from a log of their failures, with the evidence."""

from __future__ import annotations

import json

import pytest

from rpms.guard import Call, Guard, open_tool_manual, read_tool_manual
from rpms.guard.replay import tried
from rpms.induction.manuals.manual_review import decide
from rpms.induction.tool_rules import learn_tools
from rpms.logic.errors import InputError
from rpms.store.evidence import Label
from tests.guard.test_guard import ORDER, SHOP

# the facts of a shop, and none of its rules
FACTS = SHOP.read_text().partition("tools:")[0] + "tools:\n  refund: [order_id, note]\n"


def write_log(
    file, statuses=("pending", "delivered", "pending", "cancelled", "delivered", "pending")
):
    for number, status in enumerate(statuses):
        guard = Guard(read_tool_manual(("facts.yaml", FACTS)), log=file, session=f"s{number}")
        guard.observe(
            Call("get_order", {"order_id": f"W{number}"}),
            {**ORDER, "id": f"W{number}", "status": status},
        )
        call = Call("refund", {"order_id": f"W{number}", "note": "W9"})
        guard.check(call)
        guard.observe(call, "done" if status == "pending" else "Error: the order is not open")
    return file


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "facts.yaml").write_text(f"{FACTS}\n...\n")
    write_log(tmp_path / "log.jsonl")
    return tmp_path


def learn(folder, only=lambda _: True):
    made = tried(Guard(folder / "facts.yaml"), folder / "log.jsonl")
    return learn_tools(filter(only, made), folder / "facts.yaml", folder / "learned.yaml")


def test_a_failing_tool_tells_what_it_needs(shop):
    result = learn(shop)
    (need,) = result.needs
    assert (need.at, need.text, need.label) == (
        ("tools", "refund"),
        "pending(order_id)",
        Label.NECESSARY,
    )
    assert (need.confirmed, need.against, need.decisive) == (3, 0, 3)
    assert need.witnesses[0] == ("s1", 2)
    assert "not open" in need.note
    assert result.silent == ("get_order",)
    assert list(map(str, open_tool_manual(shop / "learned.yaml").tools["refund"].needs)) == [
        "pending(<order_id>)"
    ]


@pytest.mark.parametrize("failed", [True, False])
def test_without_successes_or_without_failures_nothing_is_learned(shop, failed):
    result = learn(shop, lambda each: each.failed is failed)
    assert result.needs == ()
    assert "refund" in result.silent


def test_a_rejected_need_stays_out_when_it_is_learned_again(shop):
    (need,) = learn(shop).needs
    decide(shop / "learned.yaml", {need.id: False})
    assert not open_tool_manual(shop / "learned.yaml").tools["refund"].needs
    again = learn(shop)
    assert [edit.note for edit in again.edits] == ["taken out by hand"]
    assert not open_tool_manual(shop / "learned.yaml").tools["refund"].needs


def test_names_of_arguments_that_no_manual_can_say_are_passed_over(shop):
    lines = (shop / "log.jsonl").read_text().replace('"note"', '"no, te) or x("')
    (shop / "log.jsonl").write_text(lines)
    assert [need.text for need in learn(shop).needs] == ["pending(order_id)"]


def test_the_manual_that_is_learned_from_is_not_overwritten(shop):
    with pytest.raises(InputError, match="choose another --out"):
        learn_tools([], shop / "facts.yaml", shop / "facts.yaml")


def test_the_command_learns_from_logs_and_says_what_it_found(shop, rpms):
    done = rpms(
        "rules",
        "learn",
        shop / "facts.yaml",
        "--from",
        shop / "log.jsonl",
        "--out",
        shop / "out.yaml",
    )
    assert done.code == 0
    assert (
        "refund needs pending(order_id): 3 successes with it; 3 refusals that show it" in done.out
    )
    claims = [
        json.loads(line) for line in (shop / "out.evidence.jsonl").read_text().splitlines()[1:]
    ]
    assert [claim["text"] for claim in claims] == ["pending(order_id)"]
    assert (
        "instead of a world"
        in rpms("rules", "learn", "alfworld", "--from", shop / "log.jsonl", "--out", "x").line
    )


FILES = """
facts:
  exists: {args: [path], yes: <path> exists, no: <path> does not exist}
  listed: {args: [path], initially: false}
tools:
  list: {args: [path], effects: [exists(path)], reads: true}
  read: {args: [path], effects: [exists(path)]}
  write: {args: [path], effects: [exists(path)]}
  delete: {args: [path], effects: [not exists(path)]}
...
"""


def test_what_is_learned_refuses_nothing_that_worked_and_proposes_nothing_that_changes_anything(
    tmp_path,
):
    (tmp_path / "facts.yaml").write_text(FILES)
    there: set[str] = set()
    for session in range(6):
        guard = Guard(tmp_path / "facts.yaml", log=tmp_path / "log.jsonl", session=f"s{session}")
        for tool, path in (
            ("read", "old"),  # there, though nobody has said so
            ("write", "new"),
            ("read", "new"),
            ("delete", "new"),
            ("read", "new"),
            ("delete", "new"),
            ("write", "new"),
            ("read", "new"),
        ):
            call = Call(tool, {"path": f"{session}/{path}"})
            guard.check(call)
            fails = (
                path == "new" and tool in ("read", "delete") and call.arguments["path"] not in there
            )
            (there.discard if tool == "delete" else there.add)(call.arguments["path"])
            if fails:
                there.discard(call.arguments["path"])
            guard.observe(call, "Error: no such file" if fails else "done")
    result = learn(tmp_path)
    assert [claim.at[-1] for claim in result.needs] == [
        "delete"
    ]  # reading makes sure itself that a file exists
    learned = Guard(tmp_path / "learned.yaml")
    worked, here = 0, learned
    for each in tried(Guard(tmp_path / "facts.yaml"), tmp_path / "log.jsonl"):
        here = learned.fresh(silent=True) if each.step == 1 else here
        ruling = here.check(each.call)
        here.withdraw(each.call)
        here.observe(each.call, "", failed=each.failed)
        assert ruling.goes_on or each.failed
        worked += not each.failed
    assert worked == 36
    gone = learned.fresh()
    gone.tell('not exists("x")')
    refused = gone.check(Call("delete", {"path": "x"}))
    assert refused.rule == "E-DELETE"
    assert refused.remedy == "list first"
    assert learned.fresh().check(Call("delete", {"path": "y"})).goes_on  # nobody knows: it passes
