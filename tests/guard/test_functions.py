"""Functions behind a guard: sync, async, refused, changed, approved, and of many conversations."""

from __future__ import annotations

import asyncio
import inspect
from contextvars import ContextVar
from dataclasses import dataclass

import pytest

from rpms.guard import Call, CallRefused, Guard, guarded, read_tool_manual

MANUAL = """
records: {order: {from: get_order, key: result.id, ask: look up the order}}
facts:
  pending: {args: [order], of: order, path: status, is: pending, no: <order> is not pending}
  refunded: {args: [order], initially: false, yes: <order> was refunded}
  small: {args: [limit], path: <limit>, at_most: 10}
tools:
  get_order: [order_id]
  cancel_order: [order_id]
  refund: {args: [order_id], needs: [not refunded(order_id)], effects: [refunded(order_id)]}
  send: [to]
  search: [limit]
policies:
  P-CANCEL-1: {text: Only pending orders are cancelled., tools: cancel_order, requires: pending(order_id)}
  P-SEND-1: {text: A person approves., tools: send, asks: true}
  P-LIMIT-1: {text: At most ten., tools: search, requires: small(limit), sets: {limit: 10}}
"""


@dataclass
class Order:
    id: str
    status: str


@pytest.fixture
def guard() -> Guard:
    return Guard(read_tool_manual(("m", MANUAL)))


def test_a_decorated_function_is_checked_and_learned_from(guard):
    @guard.tool
    def get_order(order_id: str) -> Order:
        """Look an order up."""
        return Order(order_id, "pending" if order_id == "W1" else "sent")

    @guard.tool
    def cancel_order(order_id: str, _context: object = None) -> str:
        return "cancelled"

    with pytest.raises(CallRefused, match="look up the order first, with get_order: W1"):
        cancel_order("W1")
    assert get_order("W1").status == "pending"  # the function's own result
    assert cancel_order("W1", object()) == "cancelled"  # by its place, with what is no JSON
    get_order(order_id="W2")
    with pytest.raises(CallRefused) as refused:
        cancel_order(order_id="W2")
    assert refused.value.ruling.rule == "P-CANCEL-1"
    assert str(inspect.signature(get_order)) == "(order_id: 'str') -> 'Order'"
    assert get_order.__doc__ == "Look an order up."


def test_an_async_function_is_checked_and_what_is_cancelled_is_lost(guard):
    @guard.tool
    async def refund(order_id: str) -> str:
        if order_id == "broken":
            raise ValueError("no")
        await asyncio.sleep(30 if order_id == "slow" else 0)
        return "refunded"

    async def scenario() -> None:
        assert await refund("W1") == "refunded"
        with pytest.raises(CallRefused, match="W1 was refunded"):
            await refund("W1")
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                await refund("broken")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(refund("slow"), 0.05)
        with pytest.raises(CallRefused, match="did not return"):
            await refund("slow")

    asyncio.run(scenario())


@pytest.mark.parametrize("error", [TimeoutError, ConnectionResetError, KeyboardInterrupt])
def test_of_a_call_that_was_broken_off_nobody_knows_whether_it_was_done(guard, error):
    @guard.tool
    def refund(order_id: str) -> str:
        raise error

    async def refund_later(order_id: str) -> str:
        raise error

    with pytest.raises(error):
        refund("W1")
    with pytest.raises(CallRefused, match="did not return"):
        refund("W1")
    later = guarded(guard, refund_later, name="refund")
    with pytest.raises(error):
        asyncio.run(later("W2"))
    with pytest.raises(CallRefused, match="did not return"):
        asyncio.run(later("W2"))


def test_a_refusal_may_be_a_result_and_a_call_may_be_changed(guard):
    def cancel_order(order_id: str) -> str:
        return "cancelled"

    def search(limit: int, **more: object) -> str:
        return f"{limit} found"

    shown = guard.wrap(cancel_order, refused=lambda ruling: f"Sorry: {ruling.rule}")
    assert shown("W1") == "Sorry: P-CANCEL-1"
    assert guard.wrap(search)(limit=99, x=1).startswith("10 found\n[changed] P-LIMIT-1")


@pytest.mark.parametrize("default", [True, False, None])
def test_null_is_what_the_function_makes_of_it_and_so_unknown(default):
    """None in place of a default: a function may put it there, so that no rule can tell."""
    text = """
    records: {order: {from: get_order, key: result.id}}
    facts:
      forced: {args: [force], path: <force>, is: true}
      to_all: {args: [to], path: <to>, in: [everybody, all]}
      gift: {args: [order], of: order, path: gift, is: true}
      empty: {args: [to], path: <to>, is: null}
    tools: {get_order: [order_id], delete: [force, to], wrap: [order_id], clear: [to]}
    policies:
      P-FORCE-1: {text: Not forced., tools: delete, when: forced(force)}
      P-ALL-1: {text: Not to all., tools: delete, when: to_all(to)}
      P-GIFT-1: {text: Gifts stay wrapped., tools: wrap, when: gift(order_id)}
      P-EMPTY-1: {text: Only nobody., tools: clear, requires: empty(to)}
    """
    guard = Guard(read_tool_manual(("null.yaml", text)))
    made = []

    @guard.tool
    def delete(force: bool | None = default, to: str | None = "everybody") -> str:
        made.append(default if force is None else force)
        return "deleted"

    for given in ({"force": None, "to": "mia"}, {"force": False, "to": None}):
        with pytest.raises(CallRefused, match="unknown whether"):
            delete(**given)
    assert delete(force=False, to="mia") == "deleted"
    assert made == [False]
    # what a record says is what it says, and a rule on null is one
    guard.observe(Call("get_order", {"order_id": "W1"}), {"id": "W1", "gift": None})
    assert guard.check(Call("wrap", {"order_id": "W1"})).goes_on
    assert guard.check(Call("clear", {"to": None})).goes_on


@pytest.mark.parametrize("decision", [True, False, None, "yes"])
def test_a_person_may_be_asked(guard, decision):
    asked = []

    def send(to: str) -> str:
        return "sent"

    async def send_later(to: str) -> str:
        return "sent"

    async def later(call, ruling):
        asked.append((call.arguments["to"], ruling.rule))
        return decision

    def now(call, ruling):
        asked.append((call.arguments["to"], ruling.rule))
        return decision

    def refused(_ruling: object) -> str:
        return "not sent"

    said = guard.wrap(send, approves=now, refused=refused)("mia")
    both = [
        said,
        asyncio.run(
            guarded(guard, send_later, name="send", approves=later, refused=refused)("mia")
        ),
    ]
    assert both == ["sent" if decision is True else "not sent"] * 2
    assert asked == [("mia", "P-SEND-1")] * 2
    with pytest.raises(CallRefused, match="ask a person"):
        guard.wrap(send)("mia")


def test_one_function_serves_many_conversations(guard):
    here: ContextVar[Guard] = ContextVar("here")

    def refund(order_id: str) -> str:
        return "refunded"

    shared = guarded(here.get, refund)
    for _ in range(2):
        here.set(guard.fresh())
        assert shared("W1") == "refunded"
    with pytest.raises(CallRefused):
        shared("W1")
