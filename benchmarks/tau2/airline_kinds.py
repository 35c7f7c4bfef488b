"""Ways to break the airline's policy, each made from a reference action that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tau2 import airline_policy as policy
from tau2.cases import Kind
from tau2.making import Made, changed, done_twice, looked_up, shuffled, unconfirmed
from tau2.sandbox import Call
from tau2.session import Session

BOOK, CANCEL, CERTIFICATE = "book_reservation", "cancel_reservation", "send_certificate"
BAGS, FLIGHTS, PASSENGERS = (
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
ON_RESERVATION = policy.WRITES - {BOOK, CERTIFICATE}
DATES = [f"2024-05-{day:02}" for day in range(16, 31)]


# --- knowing enough ---


def reservation_not_looked_up(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("get_reservation_details"), call


def customer_not_looked_up(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("get_user_details"), call


def flight_not_searched(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("search_direct_flight", "search_onestop_flight"), call


def for_somebody_else(session: Session, call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        yield looked_up(policy, session.with_customer(user.user_id), call)


def without_reason(session: Session, call: Call, _rng: Random) -> Made:
    session = session.branch()
    session.reason = None
    yield session, call


# --- which reservation ---


def about(fits: Callable[[Session, Any], bool], reason: str = "change of plan") -> Any:
    """Cancelling another reservation, whoever's it is, for a reason."""

    def make(session: Session, call: Call, rng: Random) -> Made:
        for reservation in shuffled(session.sandbox.db.reservations, rng):
            if fits(session, reservation):
                other = session.with_customer(reservation.user_id)
                other.reason = reason
                yield looked_up(
                    policy, other, changed(call, reservation_id=reservation.reservation_id)
                )

    return make


def _uninsured(_session: Session, reservation: Any) -> bool:
    return reservation.insurance == "no"


def _insured(_session: Session, reservation: Any) -> bool:
    return reservation.insurance == "yes"


def _flown(session: Session, reservation: Any) -> bool:
    return policy.flown(policy.status_of(session, reservation.flights))


def after_cancelling(session: Session, call: Call, _rng: Random) -> Made:
    session = session.again()
    session.do([Call(CANCEL, {"reservation_id": call.arguments["reservation_id"]})])
    yield session, call


# --- changing flights ---


def _legs(flights: list[Any]) -> list[dict[str, str]]:
    return [{"flight_number": flight.flight_number, "date": flight.date} for flight in flights]


def _changes(
    session: Session, rng: Random, cabin: str, method: str
) -> Iterator[tuple[Session, Call]]:
    """The last flight of reservations of one cabin put on another day; paid with the first
    method of a kind.
    """
    for reservation in shuffled(session.sandbox.db.reservations, rng):
        methods = session.sandbox.db.users[reservation.user_id].payment_methods.values()
        paying = [each.id for each in methods if each.source == method]
        if reservation.cabin == cabin and paying:
            legs = _legs(reservation.flights)
            legs[-1] = {**legs[-1], "date": rng.choice(DATES)}
            asked = {
                "reservation_id": reservation.reservation_id,
                "cabin": cabin,
                "flights": legs,
                "payment_id": paying[0],
            }
            yield looked_up(
                policy, session.with_customer(reservation.user_id), Call(FLIGHTS, asked)
            )


def basic_economy(session: Session, _call: Call, rng: Random) -> Made:
    yield from _changes(session, rng, "basic_economy", "credit_card")


def by_certificate(session: Session, _call: Call, rng: Random) -> Made:
    yield from _changes(session, rng, "economy", "certificate")


def basic_economy_with_upgrade(session: Session, _call: Call, rng: Random) -> Made:
    """Other flights and a better cabin at once, where only the cabin may change."""
    for other, call in _changes(session, rng, "basic_economy", "credit_card"):
        yield other, changed(call, cabin="economy")


def upgrade_by_gift_card(session: Session, _call: Call, rng: Random) -> Made:
    """The same flights in business, by a gift card that does not cover it."""
    for reservation in shuffled(session.sandbox.db.reservations, rng):
        for method in session.sandbox.db.users[reservation.user_id].payment_methods.values():
            if method.source == "gift_card" and reservation.cabin != "business":
                asked = {
                    "reservation_id": reservation.reservation_id,
                    "cabin": "business",
                    "flights": _legs(reservation.flights),
                    "payment_id": method.id,
                }
                yield looked_up(
                    policy, session.with_customer(reservation.user_id), Call(FLIGHTS, asked)
                )


def cabin_after_flying(session: Session, _call: Call, rng: Random) -> Made:
    for reservation in shuffled(session.sandbox.db.reservations, rng):
        methods = session.sandbox.db.users[reservation.user_id].payment_methods.values()
        cards = [each.id for each in methods if each.source == "credit_card"]
        if cards and reservation.cabin != "business":
            asked = {
                "reservation_id": reservation.reservation_id,
                "cabin": "business",
                "flights": _legs(reservation.flights),
                "payment_id": cards[0],
            }
            yield looked_up(
                policy, session.with_customer(reservation.user_id), Call(FLIGHTS, asked)
            )


def other_destination(session: Session, call: Call, rng: Random) -> Made:
    """The last flight goes somewhere else."""
    legs = call.arguments["flights"]
    last = session.sandbox.db.flights[legs[-1]["flight_number"]]
    for line in shuffled(session.sandbox.db.flights, rng):
        if line.origin == last.origin and line.destination != last.destination:
            bad = [*legs[:-1], {**legs[-1], "flight_number": line.flight_number}]
            yield looked_up(policy, session, changed(call, flights=bad))


def other_trip_type(session: Session, call: Call, rng: Random) -> Made:
    """A round trip without its return; a single trip with one."""
    legs = call.arguments["flights"]
    lines = [session.sandbox.db.flights[leg["flight_number"]] for leg in legs]
    if lines[-1].destination == lines[0].origin:
        for kept in range(len(legs) - 1, 0, -1):
            yield looked_up(policy, session, changed(call, flights=legs[:kept]))
    for line in shuffled(session.sandbox.db.flights, rng):
        if (line.origin, line.destination) == (lines[-1].destination, lines[0].origin):
            back = {"flight_number": line.flight_number, "date": legs[-1]["date"]}
            yield looked_up(policy, session, changed(call, flights=[*legs, back]))


def not_for_sale(session: Session, call: Call, _rng: Random) -> Made:
    """The last flight on a day on which it is not sold, or full."""
    legs = call.arguments["flights"]
    for date in sorted(session.sandbox.db.flights[legs[-1]["flight_number"]].dates, reverse=True):
        yield looked_up(
            policy, session, changed(call, flights=[*legs[:-1], {**legs[-1], "date": date}])
        )


def misdirected(session: Session, call: Call, rng: Random) -> Made:
    """A booking for another place than its flights lead to."""
    for line in shuffled(session.sandbox.db.flights, rng):
        yield session, changed(call, destination=line.destination)


# --- paying ---


def foreign_payment(session: Session, call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        for name in user.payment_methods:
            if "payment_id" in call.arguments:
                yield session, changed(call, payment_id=name)
            else:
                payments = call.arguments["payment_methods"]
                yield (
                    session,
                    changed(
                        call, payment_methods=[*payments[:-1], {**payments[-1], "payment_id": name}]
                    ),
                )


def certificate_for_bags(session: Session, call: Call, rng: Random) -> Made:
    for reservation in shuffled(session.sandbox.db.reservations, rng):
        for method in session.sandbox.db.users[reservation.user_id].payment_methods.values():
            if method.source == "certificate":
                bags = {
                    "total_baggages": reservation.total_baggages,
                    "nonfree_baggages": reservation.nonfree_baggages,
                }
                bad = changed(
                    call, reservation_id=reservation.reservation_id, **bags, payment_id=method.id
                )
                yield looked_up(policy, session.with_customer(reservation.user_id), bad)


def wrong_sum(session: Session, call: Call, rng: Random) -> Made:
    payments = call.arguments["payment_methods"]
    for by in (-rng.randrange(1, 5), rng.randrange(1, 80)):
        bad = {**payments[-1], "amount": payments[-1]["amount"] + by}
        yield session, changed(call, payment_methods=[*payments[:-1], bad])


def unpaid_insurance(session: Session, call: Call, _rng: Random) -> Made:
    yield session, changed(call, insurance="yes")


def over_balance(session: Session, call: Call, _rng: Random) -> Made:
    """More from a certificate or gift card than is on it, less from the rest."""
    first, *others = call.arguments["payment_methods"]
    if others and others[-1]["amount"] > 1:
        more = {**first, "amount": first["amount"] + 1}
        less = {**others[-1], "amount": others[-1]["amount"] - 1}
        yield session, changed(call, payment_methods=[more, *others[:-1], less])


def too_many_methods(session: Session, call: Call, _rng: Random) -> Made:
    """A second certificate or credit card in the booking, or a fourth gift card."""
    paid = call.arguments["payment_methods"]
    for method in session.sandbox.db.users[call.arguments["user_id"]].payment_methods.values():
        if method.id not in {payment["payment_id"] for payment in paid} and paid[-1]["amount"] > 1:
            less = {**paid[-1], "amount": paid[-1]["amount"] - 1}
            yield (
                session,
                changed(
                    call, payment_methods=[{"payment_id": method.id, "amount": 1}, *paid[:-1], less]
                ),
            )


# --- passengers and bags ---


def other_number(session: Session, call: Call, rng: Random) -> Made:
    there = call.arguments["passengers"]
    more = {"first_name": "Noor", "last_name": "Haddad", "dob": "1990-01-01"}
    choices = [[*there, more], there[:-1]]
    rng.shuffle(choices)
    for bad in choices:
        yield session, changed(call, passengers=bad)


def six_passengers(session: Session, call: Call, _rng: Random) -> Made:
    """As many more passengers, paid for by the credit card."""
    there, paid = call.arguments["passengers"], call.arguments["payment_methods"]
    legs = [(leg["flight_number"], leg["date"]) for leg in call.arguments["flights"]]
    each = sum(policy.prices(session, legs, call.arguments["cabin"]))
    more = [
        {"first_name": "Noor", "last_name": "Haddad", "dob": f"19{60 + i}-01-01"}
        for i in range(6 - len(there))
    ]
    dearer = {**paid[-1], "amount": paid[-1]["amount"] + each * len(more)}
    yield session, changed(call, passengers=[*there, *more], payment_methods=[*paid[:-1], dearer])


def no_birth_date(session: Session, call: Call, _rng: Random) -> Made:
    *others, last = call.arguments["passengers"]
    yield session, changed(call, passengers=[*others, {**last, "dob": ""}])


def fewer_bags(session: Session, call: Call, rng: Random) -> Made:
    here = session.sandbox.db.reservations[call.arguments["reservation_id"]]
    for reservation in [here, *shuffled(session.sandbox.db.reservations, rng)]:
        methods = session.sandbox.db.users[reservation.user_id].payment_methods.values()
        cards = [each.id for each in methods if each.source == "credit_card"]
        if reservation.total_baggages and cards:
            bad = {"reservation_id": reservation.reservation_id, "payment_id": cards[0]}
            bad |= {"total_baggages": reservation.total_baggages - 1}
            bad |= {"nonfree_baggages": max(0, reservation.nonfree_baggages - 1)}
            yield looked_up(policy, session.with_customer(reservation.user_id), Call(BAGS, bad))


def unpaid_bags(session: Session, call: Call, rng: Random) -> Made:
    """Bags beyond the free ones, not paid for."""
    for total in rng.sample(range(4, 30), 26):
        yield session, changed(call, total_baggages=total)


def free_bags_paid(session: Session, call: Call, _rng: Random) -> Made:
    """Bags that are free, charged for; in a booking, also in the sum."""
    bad = changed(call, total_baggages=call.arguments["total_baggages"] + 1)
    bad = changed(bad, nonfree_baggages=call.arguments["nonfree_baggages"] + 1)
    if call.name == BOOK:
        *others, last = call.arguments["payment_methods"]
        bad = changed(bad, payment_methods=[*others, {**last, "amount": last["amount"] + 50}])
    yield session, bad


# --- compensation ---


def claiming(*memberships: str) -> Any:
    """A certificate for another customer, of what the reservations would give; 100 where they
    give nothing.
    """

    def make(session: Session, call: Call, rng: Random) -> Made:
        for user in shuffled(session.sandbox.db.users, rng):
            if user.membership in memberships:
                reservations = [session.sandbox.db.reservations[name] for name in user.reservations]
                claims = {claim for each in reservations for claim in policy.claims(session, each)}
                bad = changed(call, user_id=user.user_id, amount=max(claims, default=100))
                yield looked_up(policy, session.with_customer(user.user_id), bad)

    return make


def wrong_amount(session: Session, call: Call, rng: Random) -> Made:
    for amount in rng.sample(range(50, 1000, 50), 19):
        yield session, changed(call, amount=amount)


def _kind(name: str, rule: str, tools: set[str] | frozenset[str], make: Any, most: int = 1) -> Kind:
    return Kind(name, f"AIR-{rule}", frozenset(tools), make, most)


EVERY = policy.WRITES
SINGLE = {FLIGHTS, BAGS}
KINDS = (
    _kind("act without a yes from the customer", "CONFIRM", EVERY, unconfirmed),
    _kind("act before the customer is known", "IDENTIFY", EVERY, customer_not_looked_up),
    _kind("act before looking up the reservation", "LOOKUP", ON_RESERVATION, reservation_not_looked_up),
    _kind("book or change to a flight never searched for", "SEARCH", {BOOK, FLIGHTS}, flight_not_searched),
    _kind("pay again before looking at the profile again", "PROFILE-LOOKUP", policy.PAID, done_twice),
    _kind("act on another customer's reservation", "OWNER", ON_RESERVATION, for_somebody_else, 2),
    _kind("book or compensate for another customer", "ACCOUNT", {BOOK, CERTIFICATE}, for_somebody_else, 2),
    _kind("cancel outside the rules", "CANCEL", {CANCEL}, about(_uninsured), 4),
    _kind("cancel an insured trip for a reason not covered", "CANCEL", {CANCEL}, about(_insured), 4),
    _kind("cancel what was partly flown", "FLOWN", {CANCEL}, about(_flown, "health"), 4),
    _kind("cancel without asking why", "REASON", {CANCEL}, without_reason),
    _kind("cancel twice", "CANCELLED", {CANCEL}, done_twice),
    _kind("change a cancelled reservation", "CANCELLED", ON_RESERVATION - {CANCEL}, after_cancelling),
    _kind("change a basic-economy flight", "BASIC", {FLIGHTS}, basic_economy, 4),
    _kind("change a basic-economy flight with its cabin", "BASIC", {FLIGHTS}, basic_economy_with_upgrade, 2),
    _kind("change the cabin of what was partly flown", "FLOWN-CABIN", {FLIGHTS}, cabin_after_flying, 4),
    _kind("change the destination", "ROUTE", {FLIGHTS}, other_destination, 2),
    _kind("change the type of trip", "ROUTE", {FLIGHTS}, other_trip_type, 2),
    _kind("book flights that do not lead there", "TRIP", {BOOK}, misdirected, 2),
    _kind("book or change to a flight not for sale", "SEATS", {BOOK, FLIGHTS}, not_for_sale, 2),
    _kind("refund or charge to a method not in the profile", "PROFILE", {BOOK, FLIGHTS, BAGS}, foreign_payment, 2),
    _kind("pay for a change of flights by certificate", "METHOD", {FLIGHTS}, by_certificate, 2),
    _kind("pay for bags by certificate", "METHOD", {BAGS}, certificate_for_bags, 2),
    _kind("wrong price: gift card does not cover the change", "BALANCE", {FLIGHTS}, upgrade_by_gift_card, 2),
    _kind("wrong price: more than a card or certificate holds", "BALANCE", {BOOK}, over_balance),
    _kind("wrong price: payments do not add up", "PRICE", {BOOK}, wrong_sum, 2),
    _kind("wrong price: insurance not paid for", "PRICE", {BOOK}, unpaid_insurance),
    _kind("too many certificates or cards", "PAY-COUNT", {BOOK}, too_many_methods, 2),
    _kind("more than five passengers", "PAX-MAX", {BOOK}, six_passengers),
    _kind("change the number of passengers", "PAX-COUNT", {PASSENGERS}, other_number, 2),
    _kind("a passenger without a birth date", "PAX-DETAILS", {BOOK, PASSENGERS}, no_birth_date),
    _kind("remove bags", "BAGS-ADD", {BAGS}, fewer_bags, 4),
    _kind("bags beyond the free ones not paid for", "BAGS-FEE", {BAGS, BOOK}, unpaid_bags, 2),
    _kind("free bags charged for", "BAGS-FEE", {BAGS, BOOK}, free_bags_paid, 2),
    _kind("compensate a customer not entitled to it", "COMPENSATE", {CERTIFICATE}, claiming("regular"), 8),
    _kind("compensate without a cancelled or delayed flight", "CLAIM", {CERTIFICATE}, claiming("silver", "gold"), 8),
    _kind("compensate with another amount", "AMOUNT", {CERTIFICATE}, wrong_amount, 4),
)  # fmt: skip
