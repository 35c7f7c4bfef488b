"""Facts of the airline that join several records: a reservation with its flights, its customer
and today's offers.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from rpms.guard.call_facts import Unknown
from tau2_policies.records import PolicyFacts

MOST_METHODS: Final = {"certificate": 1, "credit_card": 1, "gift_card": 3}
MEMBER_BAGS: Final = {"regular": 0, "silver": 1, "gold": 2}
CABIN_BAGS: Final = {"basic_economy": 0, "economy": 1, "business": 2}
BAG, INSURANCE = 50, 30
RATES: Final = {"cancelled": 100, "delayed": 50}
"""Value of a certificate for each passenger, by what became of a flight."""

Leg = tuple[str, str]
"""A flight number and a date."""


class AirlineFacts(PolicyFacts):
    """Facts that the airline's rules ask about a call; the manual says in words what each means."""

    @property
    def trip(self) -> Any:
        """The reservation that the call is about, or the booking that it asks for."""
        asked = self.asked
        return (
            self.record("reservation", asked["reservation_id"])
            if "reservation_id" in asked
            else asked
        )

    @property
    def methods(self) -> dict[str, Any]:
        """The payment methods of whom the call is for."""
        return dict(self.record("user", self.trip["user_id"])["payment_methods"])

    @property
    def offers(self) -> dict[tuple[str, ...], Any]:
        """Flights that searches showed, by number and date."""
        return self.records("connection") | self.records("offer")

    # --- whose it is, and what became of it ---

    def ours(self, reservation: str) -> bool | None:
        return self.truth("customer", self.record("reservation", reservation)["user_id"])

    def flown(self, reservation: str) -> bool | None:
        """True if any flight has departed.

        One on a later day has not; of others the status tells.
        """
        today = self.now.date().isoformat()
        legs = [
            leg
            for leg in _legs(self.record("reservation", reservation)["flights"])
            if leg[1] <= today
        ]
        return self._any_status(legs, {"flying", "landed"})

    def airline_cancelled(self, reservation: str) -> bool | None:
        return self._any_status(
            _legs(self.record("reservation", reservation)["flights"]), {"cancelled"}
        )

    def _any_status(self, legs: list[Leg], wanted: set[str]) -> bool:
        """True if a flight has one of some statuses; if none is known to, all must have been
        looked up.
        """
        known = self.records("status")
        found = any(known.get(leg) in wanted for leg in legs)
        return found or any(self.record("status", *leg) in wanted for leg in legs)

    # --- flights ---

    def same_flights(self, reservation: str, flights: list[Any]) -> bool | None:
        return _legs(self.record("reservation", reservation)["flights"]) == _legs(flights)

    def keeps_route(self, reservation: str, flights: list[Any]) -> bool | None:
        booked = self.record("reservation", reservation)
        way = booked["origin"], booked["destination"], booked["flight_type"]
        return self.same_flights(reservation, flights) or self.leads_there(*way, flights)

    def leads_there(
        self, origin: str, destination: str, trip: str, flights: list[Any]
    ) -> bool | None:
        ends = [self._ends(leg) for leg in _legs(flights)]
        stops = [ends[0][0], *(end for _, end in ends)]
        if any(one[1] != following[0] for one, following in pairwise(ends)) or stops[0] != origin:
            return False
        if trip != "round_trip":
            return stops[-1] == destination and _once_each(stops)
        turns = [place for place, stop in enumerate(stops) if stop == destination]
        there_and_back = any(
            _once_each(stops[: turn + 1]) and _once_each(stops[turn:]) for turn in turns
        )
        return stops[-1] == origin and there_and_back

    def _ends(self, leg: Leg) -> tuple[str, str]:
        """Origin and destination of a flight, from any offer or reservation that shows it; the
        same every day.
        """
        booked = (
            flight for each in self.records("reservation").values() for flight in each["flights"]
        )
        for flight in (*self.offers.values(), *booked):
            if flight["flight_number"] == leg[0]:
                return flight["origin"], flight["destination"]
        raise Unknown("search", self.trip["origin"], self.trip["destination"], leg[1])

    def _offer(self, leg: Leg) -> Any:
        """Offer of a flight; None where the search shows others that day, or its status says it
        is not for sale.
        """
        if leg not in self.offers and self.records("status").get(leg, "available") == "available":
            self.record("search", *self._ends(leg), leg[1])
        return self.offers.get(leg)

    def _new_legs(self, cabin: str, flights: list[Any]) -> list[Leg]:
        """The legs that are paid for anew: all of a booking, and in a change those not kept in
        the same cabin.
        """
        kept = (
            _legs(self.trip["flights"])
            if self.trip is not self.asked and self.trip["cabin"] == cabin
            else []
        )
        return [leg for leg in _legs(flights) if leg not in kept]

    def searched(self, cabin: str, flights: list[Any]) -> bool | None:
        """True if each new flight was searched for."""
        for leg in self._new_legs(cabin, flights):
            self._offer(leg)
        return True

    def for_sale(self, cabin: str, flights: list[Any]) -> bool | None:
        seats = len(self.trip["passengers"])
        offers = [self._offer(leg) for leg in self._new_legs(cabin, flights)]
        return all(
            offer is not None and offer["available_seats"][cabin] >= seats for offer in offers
        )

    # --- passengers and bags ---

    def same_number(self, reservation: str, passengers: list[Any]) -> bool | None:
        return len(self.record("reservation", reservation)["passengers"]) == len(passengers)

    def detailed(self, passengers: list[Any]) -> bool | None:
        return all(
            passenger.get(key)
            for passenger in passengers
            for key in ("first_name", "last_name", "dob")
        )

    def right_fee(self, total: int, paid: int) -> bool | None:
        """True if as many bags are paid for as are not free; what was paid for before stays so."""
        trip = self.trip
        before = trip["nonfree_baggages"] if trip is not self.asked else 0
        each = (
            MEMBER_BAGS[self.record("user", trip["user_id"])["membership"]]
            + CABIN_BAGS[trip["cabin"]]
        )
        owed = max(0, total - each * len(trip["passengers"]))
        return bool(total >= 0 and owed <= paid <= max(owed, before))

    # --- paying ---

    def _payments(self) -> Iterator[tuple[str, float]]:
        """Each payment of a call: a method and how much."""
        asked = self.asked
        if "payment_methods" in asked:
            yield from (
                (payment["payment_id"], payment["amount"]) for payment in asked["payment_methods"]
            )
        elif "flights" in asked:
            yield asked["payment_id"], self._price_of_change()
        else:
            yield (
                asked["payment_id"],
                BAG * max(0, asked["nonfree_baggages"] - self.trip["nonfree_baggages"]),
            )

    def _price_of_change(self) -> float:
        """Price of other flights or another cabin; kept flights keep their price."""
        asked, booked = self.asked, self.trip["flights"]
        new = self._new_legs(asked["cabin"], asked["flights"])
        stay = [leg for leg in _legs(asked["flights"]) if leg not in new]
        kept = sum(
            (
                flight["price"]
                for flight, leg in zip(booked, _legs(booked), strict=True)
                if leg in stay
            ),
            0.0,
        )
        before = sum((flight["price"] for flight in booked), 0.0)
        return (kept + self._price(new, asked["cabin"]) - before) * len(self.trip["passengers"])

    def _price(self, legs: list[Leg], cabin: str) -> float:
        offers = [self._offer(leg) for leg in legs]
        return sum((offer["prices"][cabin] for offer in offers if offer is not None), 0.0)

    def known_profile(self) -> bool | None:
        """True if the profile of whom the call is for was looked up, and is still what it was."""
        return self.methods is not None

    def in_profile(self) -> bool | None:
        methods = self.methods
        used = [payment["payment_id"] for payment in self.asked.get("payment_methods", [])]
        return all(method in methods for method in used or [self.asked["payment_id"]])

    def no_certificate(self, method: str) -> bool | None:
        return bool(self.methods[method]["source"] != "certificate")

    def few_methods(self, payments: list[Any]) -> bool | None:
        """True if no kind of method is used more often than it may be, and none twice."""
        methods = self.methods
        if len({payment["payment_id"] for payment in payments}) < len(payments):
            return False
        used = Counter(methods[payment["payment_id"]]["source"] for payment in payments)
        return all(count <= MOST_METHODS[source] for source, count in used.items())

    def covered(self) -> bool | None:
        """True if each gift card and certificate holds what it is to pay in all."""
        methods, owed = self.methods, dict[str, float]()
        for method, amount in self._payments():
            owed[method] = owed.get(method, 0.0) + amount
        paid = ((methods[method], amount) for method, amount in owed.items())
        return all(
            method["source"] == "credit_card" or method["amount"] >= amount
            for method, amount in paid
        )

    def pays_something(self, payments: list[Any]) -> bool | None:
        return all(payment["amount"] > 0 for payment in payments)

    def adds_up(self, payments: list[Any]) -> bool | None:
        asked = self.asked
        each = self._price(_legs(asked["flights"]), asked["cabin"]) + INSURANCE * (
            asked["insurance"] == "yes"
        )
        price = each * len(asked["passengers"]) + BAG * asked["nonfree_baggages"]
        return bool(price == sum(payment["amount"] for payment in payments))

    # --- compensation ---

    def entitled(self, user: str) -> bool | None:
        return any(self._entitled(user))

    def has_claim(self, user: str) -> bool | None:
        return any(self._claims(user))

    def right_amount(self, user: str, amount: int) -> bool | None:
        return any(amount == due for due, _, _ in self._claims(user))

    def settled(self, user: str, amount: int) -> bool | None:
        """True if the amount is for a cancelled flight, or the delayed reservation was changed
        or cancelled.
        """
        claims = [(status, name) for due, status, name in self._claims(user) if due == amount]
        return any(status == "cancelled" or self.truth("changed", name) for status, name in claims)

    def _entitled(self, user: str) -> Iterator[Any]:
        """The customer's reservations that were looked up and may be compensated for; one that
        was not is asked for.
        """
        profile, known = self.record("user", user), self.records("reservation")
        for each in (known[name,] for name in profile["reservations"] if (name,) in known):
            if (
                profile["membership"] != "regular"
                or each["insurance"] == "yes"
                or each["cabin"] == "business"
            ):
                yield each
        for name in profile["reservations"]:
            self.record("reservation", name)

    def _claims(self, user: str) -> Iterator[tuple[int, str, str]]:
        """Amounts due, each with its status and reservation; flights without a known status are
        asked for last.
        """
        statuses, missing = self.records("status"), []
        for reservation in self._entitled(user):
            legs = _legs(reservation["flights"])
            missing += [leg for leg in legs if leg not in statuses]
            for status in {statuses[leg] for leg in legs if leg in statuses} & RATES.keys():
                yield (
                    RATES[status] * len(reservation["passengers"]),
                    status,
                    reservation["reservation_id"],
                )
        for leg in missing:
            self.record("status", *leg)


def _once_each(stops: list[str]) -> bool:
    return len(set(stops)) == len(stops)


def _legs(flights: list[Any]) -> list[Leg]:
    return [(flight["flight_number"], flight["date"]) for flight in flights]
