"""The airline's policy judged by one who sees the whole database: which rules a call breaks, and
what to look up first.

This is the measure, written apart from the manual that is measured: it reads the simulator's
records, never a tool's answer, and knows nothing of the guard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from tau2.sandbox import Call
from tau2.session import Session

NOW = datetime(2024, 5, 15, 15)  # noqa: DTZ001 — the simulator's clock has no zone
WRITES = frozenset({
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
})  # fmt: skip
PAID = frozenset({"book_reservation", "update_reservation_baggages", "update_reservation_flights"})
COVERED = frozenset({"health", "weather"})
MOST = {"certificate": 1, "credit_card": 1, "gift_card": 3}
FREE_BAGS = {"regular": 0, "silver": 1, "gold": 2}
CABIN_BAGS = {"basic_economy": 0, "economy": 1, "business": 2}


def broken(session: Session, call: Call) -> set[str]:
    """The ids of the rules that a call would break now; empty for a call that may be made."""
    if call.name not in WRITES:
        return set()
    rules = set() if session.confirmed else {"AIR-CONFIRM"}
    try:
        return rules | _broken_by(session, call)
    except (
        KeyError
    ):  # it names what the database does not have, and so what nobody can have looked up
        return rules | {"AIR-LOOKUP", "AIR-SEARCH"}


def _broken_by(session: Session, call: Call) -> set[str]:
    if not session.called("get_user_details", user_id=session.customer):
        return {"AIR-IDENTIFY"}
    db, asked = session.sandbox.db, call.arguments
    user_id = asked.get("user_id")
    reservation = None
    if "reservation_id" in asked:
        if not session.shown(reservation_id=asked["reservation_id"]):
            return {"AIR-LOOKUP"}
        reservation = db.reservations[asked["reservation_id"]]
        user_id = reservation.user_id
    if user_id != session.customer:
        return {"AIR-ACCOUNT" if reservation is None else "AIR-OWNER"}
    if reservation is not None and reservation.status == "cancelled":
        return {"AIR-CANCELLED"}
    if call.name in PAID and _spent_since(session):
        return {"AIR-PROFILE-LOOKUP"}
    judge = {
        "book_reservation": _booking,
        "cancel_reservation": _cancelling,
        "send_certificate": _compensating,
        "update_reservation_baggages": _bags,
        "update_reservation_flights": _flights,
        "update_reservation_passengers": _passengers,
    }[call.name]
    return set(judge(session, asked, db.users[user_id], reservation))


def _spent_since(session: Session) -> bool:
    """True if money moved after the customer's profile was last looked up."""
    names = [call.name for call, result in session.turns if not result.failed]
    return any(name in PAID for name in names[len(names) - names[::-1].index("get_user_details") :])


def _cancelling(
    session: Session, _asked: dict[str, Any], _user: Any, reservation: Any
) -> Iterator[str]:
    statuses = status_of(session, reservation.flights)
    if session.reason is None:
        yield "AIR-REASON"
    elif flown(statuses):
        yield "AIR-FLOWN"
    elif not (
        "cancelled" in statuses
        or reservation.cabin == "business"
        or NOW - datetime.fromisoformat(reservation.created_at) <= timedelta(days=1)
        or (reservation.insurance == "yes" and session.reason in COVERED)
    ):
        yield "AIR-CANCEL"


def _flights(session: Session, asked: dict[str, Any], user: Any, reservation: Any) -> Iterator[str]:
    old = [(flight.flight_number, flight.date) for flight in reservation.flights]
    new = [(flight["flight_number"], flight["date"]) for flight in asked["flights"]]
    same_cabin = asked["cabin"] == reservation.cabin
    if old != new and reservation.cabin == "basic_economy":
        yield "AIR-BASIC"
    if not same_cabin and flown(status_of(session, reservation.flights)):
        yield "AIR-FLOWN-CABIN"
        return
    db = session.sandbox.db
    legs = [(db.flights[number].origin, db.flights[number].destination) for number, _ in new]
    if not joins(legs, reservation.origin, reservation.destination, reservation.flight_type):
        yield "AIR-ROUTE"
    fresh = [leg for leg in new if not (same_cabin and leg in old)]
    yield from _seats(session, fresh, asked["cabin"], len(reservation.passengers))
    kept = sum(
        flight.price
        for flight in reservation.flights
        if same_cabin and (flight.flight_number, flight.date) in new
    )
    price = (
        kept
        + sum(prices(session, fresh, asked["cabin"]))
        - sum(flight.price for flight in reservation.flights)
    )
    yield from _single_payment(user, asked["payment_id"], price * len(reservation.passengers))


def _bags(_session: Session, asked: dict[str, Any], user: Any, reservation: Any) -> Iterator[str]:
    if asked["total_baggages"] < reservation.total_baggages:
        yield "AIR-BAGS-ADD"
    paid, had = asked["nonfree_baggages"], reservation.nonfree_baggages
    owed = owed_bags(
        asked["total_baggages"], user.membership, reservation.cabin, len(reservation.passengers)
    )
    if not owed <= paid <= max(owed, had):
        yield "AIR-BAGS-FEE"
    yield from _single_payment(user, asked["payment_id"], 50 * max(0, paid - had))


def _passengers(
    _session: Session, asked: dict[str, Any], _user: Any, reservation: Any
) -> Iterator[str]:
    if len(asked["passengers"]) != len(reservation.passengers):
        yield "AIR-PAX-COUNT"
    yield from _named(asked["passengers"])


def _booking(
    session: Session, asked: dict[str, Any], user: Any, _reservation: Any
) -> Iterator[str]:
    seats = len(asked["passengers"])
    if seats > 5:
        yield "AIR-PAX-MAX"
    yield from _named(asked["passengers"])
    legs = [(flight["flight_number"], flight["date"]) for flight in asked["flights"]]
    ends = [
        (session.sandbox.db.flights[number].origin, session.sandbox.db.flights[number].destination)
        for number, _ in legs
    ]
    if not joins(ends, asked["origin"], asked["destination"], asked["flight_type"]):
        yield "AIR-TRIP"
    unsold = set(_seats(session, legs, asked["cabin"], seats))
    yield from unsold
    if asked["nonfree_baggages"] != owed_bags(
        asked["total_baggages"], user.membership, asked["cabin"], seats
    ):
        yield "AIR-BAGS-FEE"
    methods = [
        user.payment_methods.get(payment["payment_id"]) for payment in asked["payment_methods"]
    ]
    if None in methods:
        yield "AIR-PROFILE"
        return
    used = Counter(method.source for method in methods)
    if any(count > MOST[source] for source, count in used.items()):
        yield "AIR-PAY-COUNT"
    for method, payment in zip(methods, asked["payment_methods"], strict=True):
        if method.source != "credit_card" and method.amount < payment["amount"]:
            yield "AIR-BALANCE"
    total = sum(prices(session, legs, asked["cabin"])) * seats + 50 * asked["nonfree_baggages"]
    total += 30 * seats * (asked["insurance"] == "yes")
    if not unsold and total != sum(payment["amount"] for payment in asked["payment_methods"]):
        yield "AIR-PRICE"


def _compensating(
    session: Session, asked: dict[str, Any], user: Any, _reservation: Any
) -> Iterator[str]:
    looked_up = [
        session.sandbox.db.reservations[name]
        for name in user.reservations
        if session.called("get_reservation_details", reservation_id=name)
    ]
    entitled = [
        r
        for r in looked_up
        if user.membership != "regular" or r.insurance == "yes" or r.cabin == "business"
    ]
    if not entitled:
        yield "AIR-COMPENSATE"
        return
    amounts = {amount for reservation in entitled for amount in claims(session, reservation)}
    if not amounts:
        yield "AIR-CLAIM"
    elif asked["amount"] not in amounts:
        yield "AIR-AMOUNT"


def claims(session: Session, reservation: Any) -> set[int]:
    """Certificates that a reservation's cancelled and delayed flights may give."""
    rates = {"cancelled": 100, "delayed": 50}
    statuses = status_of(session, reservation.flights)
    return {
        rate * len(reservation.passengers) for status, rate in rates.items() if status in statuses
    }


def _single_payment(user: Any, payment_id: str, price: float) -> Iterator[str]:
    method = user.payment_methods.get(payment_id)
    if method is None:
        yield "AIR-PROFILE"
    elif method.source == "certificate":
        yield "AIR-METHOD"
    elif method.source == "gift_card" and method.amount < price:
        yield "AIR-BALANCE"


def _named(passengers: list[dict[str, Any]]) -> Iterator[str]:
    if not all(
        passenger.get(key) for passenger in passengers for key in ("first_name", "last_name", "dob")
    ):
        yield "AIR-PAX-DETAILS"


def _seats(
    session: Session, legs: list[tuple[str, str]], cabin: str, passengers: int
) -> Iterator[str]:
    for number, date in legs:
        line = session.sandbox.db.flights[number]
        leg = {"origin": line.origin, "destination": line.destination, "date": date}
        if not session.called("search_direct_flight", **leg):
            yield "AIR-SEARCH"
            return
        flight = line.dates.get(date)
        if (
            flight is None
            or flight.status != "available"
            or flight.available_seats[cabin] < passengers
        ):
            yield "AIR-SEATS"


def prices(session: Session, legs: list[tuple[str, str]], cabin: str) -> list[int]:
    """Price of each leg for a passenger today; none for one that is not sold."""
    flights = [session.sandbox.db.flights[number].dates.get(date) for number, date in legs]
    return [
        flight.prices[cabin]
        for flight in flights
        if flight is not None and flight.status == "available"
    ]


def owed_bags(total: int, membership: str, cabin: str, passengers: int) -> int:
    """Number of bags that have to be paid for."""
    return max(0, total - passengers * (FREE_BAGS[membership] + CABIN_BAGS[cabin]))


def joins(legs: list[tuple[str, str]], origin: str, destination: str, kind: str) -> bool:
    """True if legs lead from origin to destination, and back again on a round trip."""
    if not legs or any(legs[i][1] != legs[i + 1][0] for i in range(len(legs) - 1)):
        return False
    last = origin if kind == "round_trip" else destination
    landed = [leg[1] for leg in legs]
    most = 2 if kind == "round_trip" else 1  # a stop on the way there may be one on the way back
    wandering = (
        origin == destination
        or landed.count(destination) != 1
        or max(map(landed.count, landed)) > most
    )
    return (
        legs[0][0] == origin
        and landed[-1] == last
        and landed.count(origin) == (last == origin)
        and not wandering
    )


def status_of(session: Session, flights: list[Any]) -> list[str]:
    """Each flight's status on its day."""
    return [
        session.sandbox.db.flights[flight.flight_number].dates[flight.date].status
        for flight in flights
    ]


def flown(statuses: list[str]) -> bool:
    """True if any of these flights has left the ground."""
    return any(status in {"flying", "landed"} for status in statuses)


def reason_for(session: Session, call: Call) -> str | None:
    """The reason that the customer of a reference cancellation is taken to have given.

    A reason is only ever spoken. Where the insurance alone can make the reference right, it is one
    that is covered.
    """
    if call.name != "cancel_reservation":
        return None
    reservation = session.sandbox.db.reservations.get(call.arguments["reservation_id"])
    told = session.branch()
    told.reason = "change of plan"
    if (
        reservation is not None
        and reservation.insurance == "yes"
        and any(_cancelling(told, {}, None, reservation))
    ):
        return "health"
    return told.reason


def lookups(session: Session, call: Call) -> Iterator[Call]:
    """Lookups of a careful agent right before a call that changes something."""
    if call.name not in WRITES:
        return
    db, asked = session.sandbox.db, call.arguments
    yield Call("get_user_details", {"user_id": session.customer})
    names = [asked["reservation_id"]] if "reservation_id" in asked else []
    if call.name == "send_certificate":
        names = (
            list(db.users[asked["user_id"]].reservations) if asked["user_id"] in db.users else []
        )
    for name in names:
        yield Call("get_reservation_details", {"reservation_id": name})
        if call.name in {"cancel_reservation", "update_reservation_flights", "send_certificate"}:
            for flight in db.reservations[name].flights if name in db.reservations else ():
                yield Call(
                    "get_flight_status",
                    {"flight_number": flight.flight_number, "date": flight.date},
                )
    for flight in asked.get("flights", []):
        line = db.flights.get(flight["flight_number"])
        if line is not None:
            leg = {"origin": line.origin, "destination": line.destination, "date": flight["date"]}
            yield Call("search_direct_flight", leg)


def owner(db: Any, call: Call) -> str | None:
    """Owner of the account a call concerns; None if it names something that is not there yet."""
    if "reservation_id" in call.arguments:
        reservation = db.reservations.get(call.arguments["reservation_id"])
        return None if reservation is None else reservation.user_id
    return call.arguments.get("user_id")
