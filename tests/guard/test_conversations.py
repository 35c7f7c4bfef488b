"""Many conversations in one process: none is forgotten in what it has done."""

from rpms.guard import Call, Guard, conversations, read_tool_manual
from rpms.guard.conversations import Conversations

MANUAL = """
records: {bill: {from: get_bill, key: result.id}}
facts:
  open: {args: [bill], of: bill, path: status, is: open}
  paid: {args: [bill], initially: false}
tools:
  get_bill: [id]
  pay: {args: [bill], needs: [not paid(bill), open(bill)], effects: [paid(bill)]}
"""


def test_after_a_thousand_others_a_bill_is_not_paid_twice():
    many = Conversations(Guard(read_tool_manual(("m", MANUAL))))

    def pay(session: str) -> str:
        guard = many.guard_of(session)
        ruling = guard.check(Call("pay", {"bill": "B1"}, "c"))
        if ruling.goes_on:
            guard.observe(Call("pay", {"bill": "B1"}, "c"), "paid")
        return ruling.remedy or ruling.word

    look = Call("get_bill", {"id": "B1"})
    many.guard_of("mia").observe(look, {"id": "B1", "status": "open"})
    assert pay("mia") == "allow"
    for number in range(conversations.MOST_FRESH + 1):
        many.guard_of(f"other {number}").observe(look, {"id": "B1", "status": "open"})
    assert not many.guard_of("mia").belief.records  # these can be looked up again
    many.guard_of("mia").observe(look, {"id": "B1", "status": "open"})
    assert pay("mia") == "refuse"
    assert pay("other 0") == "look up the bill first, with get_bill: B1"
    assert pay("other 900") == "allow"
