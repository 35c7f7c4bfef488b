"""Facts of the airline that join several records: a reservation with its flights, its customer and today's offers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from rpms.guard.call_facts import Look, Unknown

MOST_METHODS: Final = {"certificate": 1, "credit_card": 1, "gift_card": 3}
MEMBER_BAGS: Final = {"regular": 0, "silver": 1, "gold": 2}
CABIN_BAGS: Final = {"basic_economy": 0, "economy": 1, "business": 2}
BAG, INSURANCE = 50, 30
RATES: Final = {"cancelled": 100, "delayed": 50}
"""Value of a certificate for each passenger, by what became of a flight."""

Leg = tuple[str, str]
"""A flight number and a date."""


# --- whose it is, and what became of it ---


def ours(look: Look, reservation: str) -> bool | None:
    """True if the reservation belongs to whom the conversation is with."""
    return look.truth("customer", look.record("reservation", reservation)["user_id"])


def flown(look: Look, reservation: str) -> bool | None:
    """True if any flight has departed. One on a later day has not; of others the status tells."""
    today = look.now.date().isoformat()
    legs = [leg for leg in _legs(look.record("reservation", reservation)["flights"]) if leg[1] <= today]
    return _any_status(look, legs, {"flying", "landed"})


def airline_cancelled(look: Look, reservation: str) -> bool | None:
    """True if the airline cancelled any of the flights."""
    return _any_status(look, _legs(look.record("reservation", reservation)["flights"]), {"cancelled"})


def _any_status(look: Look, legs: list[Leg], wanted: set[str]) -> bool:
    """True if a flight has one of some statuses; if none is known to, all must have been looked up."""
    known = look.records("status")
    return any(known.get(leg) in wanted for leg in legs) or any(look.record("status", *leg) in wanted for leg in legs)


# --- flights ---


def same_flights(look: Look, reservation: str, flights: list[Any]) -> bool | None:
    """True if these are the flights that are booked."""
    return _legs(look.record("reservation", reservation)["flights"]) == _legs(flights)


def keeps_route(look: Look, reservation: str, flights: list[Any]) -> bool | None:
    """True if flights make the trip that is booked."""
    booked = look.record("reservation", reservation)
    if _legs(booked["flights"]) == _legs(flights):
        return True
    return leads_there(look, booked["origin"], booked["destination"], booked["flight_type"], flights)


def leads_there(look: Look, origin: str, destination: str, trip: str, flights: list[Any]) -> bool | None:
    """True if flights make a trip."""
    ends = [_ends(look, leg) for leg in _legs(flights)]
    stops = [ends[0][0], *(end for _, end in ends)]
    if any(one[1] != following[0] for one, following in pairwise(ends)) or stops[0] != origin:
        return False
    if trip != "round_trip":
        return stops[-1] == destination and _once_each(stops)
    turns = [place for place, stop in enumerate(stops) if stop == destination]
    there_and_back = any(_once_each(stops[: turn + 1]) and _once_each(stops[turn:]) for turn in turns)
    return stops[-1] == origin and there_and_back


def _once_each(stops: list[str]) -> bool:
    return len(set(stops)) == len(stops)


def _ends(look: Look, leg: Leg) -> tuple[str, str]:
    """Origin and destination of a flight, from any offer or reservation that shows it; the same every day."""
    booked = (flight for each in look.records("reservation").values() for flight in each["flights"])
    for flight in (*_offers(look).values(), *booked):
        if flight["flight_number"] == leg[0]:
            return flight["origin"], flight["destination"]
    trip = _trip(look)
    raise Unknown("search", trip["origin"], trip["destination"], leg[1])


def _offer(look: Look, leg: Leg) -> Any:
    """Offer of a flight in the search; None where it shows others that day, or its status says it is not for sale."""
    offers = _offers(look)
    if leg not in offers and look.records("status").get(leg, "available") == "available":
        look.record("search", *_ends(look, leg), leg[1])
    return offers.get(leg)


def _offers(look: Look) -> dict[tuple[str, ...], Any]:
    return look.records("connection") | look.records("offer")


def _trip(look: Look) -> Any:
    """The reservation that a call is about, or the booking that it asks for."""
    asked = look.call.arguments
    return look.record("reservation", asked["reservation_id"]) if "reservation_id" in asked else asked


def _new_legs(look: Look, cabin: str, flights: list[Any]) -> list[Leg]:
    """The legs that are paid for anew: all of a booking, and in a change those not kept in the same cabin."""
    trip = _trip(look)
    kept = _legs(trip["flights"]) if trip is not look.call.arguments and trip["cabin"] == cabin else []
    return [leg for leg in _legs(flights) if leg not in kept]


def searched(look: Look, cabin: str, flights: list[Any]) -> bool | None:
    """True if each new flight was searched for."""
    for leg in _new_legs(look, cabin, flights):
        _offer(look, leg)
    return True


def for_sale(look: Look, cabin: str, flights: list[Any]) -> bool | None:
    """True if each new flight has a seat for every passenger."""
    seats = len(_trip(look)["passengers"])
    offers = [_offer(look, leg) for leg in _new_legs(look, cabin, flights)]
    return all(offer is not None and offer["available_seats"][cabin] >= seats for offer in offers)


# --- passengers and bags ---


def same_number(look: Look, reservation: str, passengers: list[Any]) -> bool | None:
    """True if the number of passengers stays."""
    return len(look.record("reservation", reservation)["passengers"]) == len(passengers)


def detailed(_look: Look, passengers: list[Any]) -> bool | None:
    """True if each passenger has names and a birth date."""
    return all(passenger.get(key) for passenger in passengers for key in ("first_name", "last_name", "dob"))


def right_fee(look: Look, total: int, paid: int) -> bool | None:
    """True if as many bags are paid for as are not free; what was paid for before stays so."""
    trip = _trip(look)
    before = trip["nonfree_baggages"] if trip is not look.call.arguments else 0
    each = MEMBER_BAGS[look.record("user", trip["user_id"])["membership"]] + CABIN_BAGS[trip["cabin"]]
    owed = max(0, total - each * len(trip["passengers"]))
    return bool(total >= 0 and owed <= paid <= max(owed, before))


# --- paying ---


def _methods(look: Look) -> dict[str, Any]:
    """The payment methods of whom the call is for."""
    return dict(look.record("user", _trip(look)["user_id"])["payment_methods"])


def _payments(look: Look) -> Iterator[tuple[str, float]]:
    """Each payment of a call: a method and how much."""
    asked = look.call.arguments
    if "payment_methods" in asked:
        yield from ((payment["payment_id"], payment["amount"]) for payment in asked["payment_methods"])
    elif "flights" in asked:
        yield asked["payment_id"], _price_of_change(look)
    else:
        yield asked["payment_id"], BAG * max(0, asked["nonfree_baggages"] - _trip(look)["nonfree_baggages"])


def _price_of_change(look: Look) -> float:
    """Price of other flights or another cabin; kept flights keep their price."""
    asked, booked = look.call.arguments, _trip(look)
    new = _new_legs(look, asked["cabin"], asked["flights"])
    stay = [leg for leg in _legs(asked["flights"]) if leg not in new]
    kept = sum((flight["price"] for flight in booked["flights"] if _leg(flight) in stay), 0.0)
    before = sum((flight["price"] for flight in booked["flights"]), 0.0)
    return (kept + _price(look, new, asked["cabin"]) - before) * len(booked["passengers"])


def _price(look: Look, legs: list[Leg], cabin: str) -> float:
    offers = [_offer(look, leg) for leg in legs]
    return sum((offer["prices"][cabin] for offer in offers if offer is not None), 0.0)


def known_profile(look: Look) -> bool | None:
    """True if the profile of whom the call is for was looked up, and is still what it was."""
    _methods(look)
    return True


def in_profile(look: Look) -> bool | None:
    """True if every method is one of the customer's."""
    methods = _methods(look)
    asked = look.call.arguments
    used = [payment["payment_id"] for payment in asked.get("payment_methods", [])] or [asked["payment_id"]]
    return all(method in methods for method in used)


def no_certificate(look: Look, method: str) -> bool | None:
    """True if a method is a card."""
    return bool(_methods(look)[method]["source"] != "certificate")


def few_methods(look: Look, payments: list[Any]) -> bool | None:
    """True if no kind of method is used more often than it may be, and none twice."""
    methods = _methods(look)
    if len({payment["payment_id"] for payment in payments}) < len(payments):
        return False
    used = Counter(methods[payment["payment_id"]]["source"] for payment in payments)
    return all(count <= MOST_METHODS[source] for source, count in used.items())


def covered(look: Look) -> bool | None:
    """True if each gift card and certificate holds what it is to pay in all."""
    methods, owed = _methods(look), dict[str, float]()
    for method, amount in _payments(look):
        owed[method] = owed.get(method, 0.0) + amount
    return all(
        methods[method]["source"] == "credit_card" or methods[method]["amount"] >= amount
        for method, amount in owed.items()
    )


def pays_something(_look: Look, payments: list[Any]) -> bool | None:
    """True if every payment is of more than nothing."""
    return all(payment["amount"] > 0 for payment in payments)


def adds_up(look: Look, payments: list[Any]) -> bool | None:
    """True if the payments of a booking are its price."""
    asked = look.call.arguments
    each = _price(look, _legs(asked["flights"]), asked["cabin"]) + INSURANCE * (asked["insurance"] == "yes")
    price = each * len(asked["passengers"]) + BAG * asked["nonfree_baggages"]
    return bool(price == sum(payment["amount"] for payment in payments))


# --- compensation ---


def entitled(look: Look, user: str) -> bool | None:
    """True if a customer may be compensated for anything that was looked up."""
    return any(_entitled(look, user))


def has_claim(look: Look, user: str) -> bool | None:
    """True if a flight of the customer was cancelled or is delayed."""
    return any(_claims(look, user))


def right_amount(look: Look, user: str, amount: int) -> bool | None:
    """True if a certificate is what one of the reservations gives."""
    return any(amount == due for due, _, _ in _claims(look, user))


def settled(look: Look, user: str, amount: int) -> bool | None:
    """True if the amount is for a cancelled flight, or the delayed reservation was changed or cancelled."""
    claims = [(status, name) for due, status, name in _claims(look, user) if due == amount]
    return any(status == "cancelled" or look.truth("changed", name) for status, name in claims)


def _entitled(look: Look, user: str) -> Iterator[Any]:
    """The customer's reservations that were looked up and may be compensated for; one that was not is asked for."""
    profile, known = look.record("user", user), look.records("reservation")
    for each in (known[name,] for name in profile["reservations"] if (name,) in known):
        if profile["membership"] != "regular" or each["insurance"] == "yes" or each["cabin"] == "business":
            yield each
    for name in profile["reservations"]:
        look.record("reservation", name)


def _claims(look: Look, user: str) -> Iterator[tuple[int, str, str]]:
    """Amounts due, each with its status and reservation; flights whose status is missing are asked for at the end."""
    statuses, missing = look.records("status"), []
    for reservation in _entitled(look, user):
        legs = _legs(reservation["flights"])
        missing += [leg for leg in legs if leg not in statuses]
        for status in {statuses[leg] for leg in legs if leg in statuses} & RATES.keys():
            yield RATES[status] * len(reservation["passengers"]), status, reservation["reservation_id"]
    for leg in missing:
        look.record("status", *leg)


def _leg(flight: Any) -> Leg:
    return flight["flight_number"], flight["date"]


def _legs(flights: list[Any]) -> list[Leg]:
    return [_leg(flight) for flight in flights]
