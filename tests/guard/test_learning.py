"""What tools need, proposed from a log of their failures, with the evidence."""

from __future__ import annotations

from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.replay import tried
from rpms.learn.tool_needs import propose_needs
from tests.guard.test_guard import ORDER, SHOP

# the facts of a shop, and none of its rules
FACTS = SHOP.read_text().partition("tools:")[0] + "tools:\n  refund: [order_id, note]\n"


def write_log(file):
    for number, status in enumerate(["pending", "delivered", "pending", "cancelled", "delivered", "pending"]):
        guard = Guard(read_tool_manual(("facts.yaml", FACTS)), log=file, session=f"s{number}")
        guard.observe(Call("get_order", {"order_id": f"W{number}"}), {**ORDER, "id": f"W{number}", "status": status})
        call = Call("refund", {"order_id": f"W{number}", "note": "W9"})
        guard.check(call)
        guard.observe(call, "done" if status == "pending" else "Error: the order is not open")
    return file


def test_a_failing_tool_tells_what_it_needs(tmp_path):
    log = write_log(tmp_path / "log.jsonl")
    made = list(tried(Guard(read_tool_manual(("facts.yaml", FACTS))), log))
    assert [each.failed for each in made if each.call.tool == "refund"] == [False, True, False, True, True, False]
    (need,) = propose_needs(made)
    assert (need.tool, need.text) == ("refund", "pending(order_id)")
    assert (need.successes, need.of_successes, need.failures, need.of_failures) == (3, 3, 3, 3)
    assert need.witnesses[0] == ("s1", 2)
    assert "not open" in need.evidence


def test_without_successes_nothing_is_proposed(tmp_path):
    made = list(tried(Guard(read_tool_manual(("facts.yaml", FACTS))), write_log(tmp_path / "log.jsonl")))
    assert propose_needs(each for each in made if each.failed) == []


def test_the_command_prints_yaml(tmp_path, rpms):
    (tmp_path / "facts.yaml").write_text(FACTS)
    log = write_log(tmp_path / "log.jsonl")
    done = rpms("guard", "learn", log, "--manual", tmp_path / "facts.yaml")
    assert done.code == 0
    assert '- "pending(order_id)"  # held in 3 of 3 successes' in done.out
