"""A ticket read: what the customer wants, and what it tells about the case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rpms.core.goal import UNKNOWN_GOAL, Goal

_TICKET = re.compile(r"Today is (?P<today>\d{4}-\d\d-\d\d)\.\nTicket: (?P<ticket>.+)", re.DOTALL)
_TYPES = (
    ("mms_issue", re.compile(r"unable to send MMS messages")),
    ("mobile_data_issue", re.compile(r"issues with their mobile data")),
    ("service_issue", re.compile(r"issues with their phone service")),
)
_NUMBER = re.compile(r"phone number: ([0-9][0-9-]{2,30}[0-9])")
_PLACE = re.compile(r"current location: (abroad|at home)")
_AMOUNT = re.compile(r"refuel (\d{1,4}(?:\.\d{1,3})?) GB")
_PAYING = re.compile(r"permission to pay all their overdue bills")


@dataclass(frozen=True)
class Ticket(Goal):
    """A goal with what its ticket tells."""

    today: str = ""
    number: str = ""
    amount: str = ""
    """Gigabytes that the customer would pay for."""
    may_pay: bool = False


def parse_ticket(opening: str) -> Goal:
    """Read the opening; type `unknown` where it is no ticket of a known kind."""
    match = _TICKET.match(opening)
    text = match["ticket"].strip() if match else opening
    type_ = next((name for name, pattern in _TYPES if pattern.search(text)), UNKNOWN_GOAL)
    number = _NUMBER.search(text)
    if match is None or type_ == UNKNOWN_GOAL or number is None:
        return Goal(UNKNOWN_GOAL, text=text)
    place, amount = _PLACE.search(text), _AMOUNT.search(text)
    return Ticket(
        type_,
        state={"abroad": "abroad", "at home": "home"}[place[1]] if place else "",
        text=text,
        today=match["today"],
        number=number[1],
        amount=str(float(amount[1])) if amount else "",
        may_pay=bool(_PAYING.search(text)),
    )
