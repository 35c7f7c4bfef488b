"""Near misses: of each call that changes something, whether it was informed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from rpms.guard import Call, Guard
from rpms.guard.call_audit import Grade, audit
from tests.cli.command import Rpms

ROOT = Path(__file__).parents[2]
RECORDS = ROOT.parent / "shared" / "records" / "gpt-4o-airline_even.jsonl.xz"
SHOP = """
records:
  order: {from: get_order, key: result.id, ask: look up the order}
facts:
  pending: {args: [order], of: order, path: status, is: pending, yes: <order> is pending, no: <order> is not pending}
  confirmed: {initially: false, yes: the customer said yes, no: the customer has not said yes}
  agrees: {args: [text], path: <text>, in: ["yes"], as: words}
tools:
  user_says: {args: [text], effects: [not confirmed, confirmed if agrees(text)]}
  get_order: {args: [order_id], reads: true, needs: [given(order_id)]}
  cancel_order: {args: [order_id], effects: [not confirmed]}
  refund: {args: [order_id]}
  note: [text]
policies:
  P-CANCEL-001: {text: Only pending orders are cancelled, tools: cancel_order, requires: pending(order_id)}
  P-YES-001: {text: A cancellation is confirmed, tools: cancel_order, requires: confirmed}
  P-REFUND-001: {text: A person approves refunds, tools: refund, asks: true}
...
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.yaml"
    file.write_text(SHOP)
    return file


def observer(shop: Path, log: Path, session: str) -> Guard:
    return Guard(shop, log=log, session=session, observe_only=True)


def make(guard: Guard, tool: str, result: object = "done", **arguments: object) -> None:
    call = Call(tool, arguments)
    guard.check(call)
    guard.observe(call, result)


def grades(shop: Path, log: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in audit(Guard(shop), log):
        found.setdefault(each.session, []).append(str(each.grade))
    return found


def test_a_call_is_informed_uninformed_or_violating_by_what_was_known_when_it_was_made(
    shop, tmp_path
):
    log = tmp_path / "calls.jsonl"
    informed = observer(shop, log, "informed")
    make(informed, "get_order", {"id": "W1", "status": "pending"}, order_id="W1")
    informed.hear("yes")
    make(informed, "cancel_order", order_id="W1")
    hasty = observer(shop, log, "not looked up")
    hasty.hear("yes")
    make(hasty, "cancel_order", order_id="W1")
    make(hasty, "get_order", {"id": "W1", "status": "pending"}, order_id="W1")  # too late
    wrong = observer(shop, log, "delivered")
    make(wrong, "get_order", {"id": "W1", "status": "delivered"}, order_id="W1")
    wrong.hear("yes")
    make(wrong, "cancel_order", order_id="W1")
    assert grades(shop, log) == {
        "informed": ["informed"],
        "not looked up": ["uninformed"],
        "delivered": ["violating"],
    }


def test_what_stands_as_it_was_at_first_is_not_known_and_what_was_told_is(shop, tmp_path):
    log = tmp_path / "calls.jsonl"
    for session, said in {"nobody spoke": "", "no": "no, wait"}.items():
        guard = observer(shop, log, session)
        make(guard, "get_order", {"id": "W1", "status": "pending"}, order_id="W1")
        if said:
            guard.hear(said)
        make(guard, "cancel_order", order_id="W1")
    assert grades(shop, log) == {"nobody spoke": ["uninformed"], "no": ["violating"]}


def test_only_calls_that_were_made_count_and_what_a_person_approved_does_not(shop, tmp_path):
    log = tmp_path / "calls.jsonl"
    guard = Guard(shop, log=log, session="s")
    guard.check(Call("cancel_order", {"order_id": "W1"}))  # refused
    call = Call("refund", {"order_id": "W1"})
    assert guard.check(call, can_ask=True).word == "ask"
    guard.check(call, can_ask=True, approved=True)
    guard.observe(call, "done")
    shadow = observer(shop, log, "shadow")
    make(shadow, "refund", order_id="W2")
    assert grades(shop, log) == {"s": ["informed"], "shadow": ["violating"]}


def test_the_command_says_it_by_rule_and_by_its_exit_code_and_writes_a_page(
    shop, tmp_path, rpms: Rpms
):
    log = tmp_path / "calls.jsonl"
    guard = observer(shop, log, "<b>s</b>")
    make(guard, "get_order", {"id": "W1", "status": "pending"}, order_id="W1")
    guard.hear("yes")
    make(guard, "cancel_order", order_id="W1")
    make(guard, "note", text="x")
    done = rpms("guard", "audit", log, "--manual", shop)
    assert (done.code, done.err) == (0, "")
    assert "1 informed, 0 uninformed, 0 violating" in done.out
    assert "1 calls were made with tools on which there is no rule" in done.out
    make(guard, "cancel_order", order_id="<i>W2</i>")
    page = tmp_path / "page"
    done = rpms("guard", "audit", log, "--manual", shop, "--out", page)
    assert done.code == 1
    assert "P-CANCEL-001" in done.out
    text = (page / "index.html").read_text()
    assert "2 calls that change something" in text
    assert "&lt;i&gt;W2" in text
    assert "<i>W2" not in text
    assert rpms("guard", "audit", tmp_path / "none", "--manual", shop).line.startswith(
        str(tmp_path)
    )


@pytest.fixture
def near_misses(monkeypatch: pytest.MonkeyPatch):
    """The benchmark, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("near", ROOT / "benchmarks" / "near_misses.py")
    module = importlib.util.module_from_spec(spec)
    before = set(sys.modules)
    before_path = list(sys.path)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before_path
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "tau2":
            del sys.modules[name]


def test_agreement_is_cohens_kappa(near_misses):
    pairs = [near_misses.Graded(*each.split()) for each in ["informed informed"] * 20]
    assert near_misses.kappa(pairs) == 1
    table = {("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15}
    named = {"a": Grade.INFORMED, "b": Grade.VIOLATING}
    pairs = [
        near_misses.Graded(named[a], named[b]) for (a, b), n in table.items() for _ in range(n)
    ]
    assert near_misses.kappa(pairs) == pytest.approx(0.4)  # the usual example


@pytest.mark.skipif(not RECORDS.is_file(), reason="../shared/records is not here")
def test_every_label_belongs_to_a_call_of_a_successful_conversation(near_misses, tmp_path):
    labels = json.loads(near_misses.LABELS.read_text())
    records = {near_misses.name_of(each): each for each in near_misses.read_records()}
    log = tmp_path / "records.jsonl"
    for name in labels:
        assert records[name]["reward"] == 1
        near_misses.write_record(records[name], log)
    found = list(audit(near_misses.policy_guard("airline"), log))
    pairs = list(near_misses.pair(found, labels))
    assert len(labels) == 20
    assert len(pairs) == len(found) == 35
    assert {each.label for each in pairs} == set(Grade)
