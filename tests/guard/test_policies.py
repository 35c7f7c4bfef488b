"""The airline's and the shop's policies: what a customer's yes is worth, what is asked for,
what is let through.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpms.guard import Allow, Call, Guard, Refuse, Warn
from rpms.guard.calls import ERROR
from rpms.logic.errors import InputError
from rpms.logic.facts import Atom, Truth
from tests.guard.policies import NAMES, policy_guard, policy_manual, records

MIA = {
    "user_id": "mia",
    "membership": "silver",
    "payment_methods": {
        "card_1": {"source": "credit_card"},
        "gift_1": {"source": "gift_card", "amount": 40, "balance": 40.0},
        "cert_1": {"source": "certificate", "amount": 500},
    },
    "reservations": ["R1"],
}
LEG = {
    "flight_number": "HAT1",
    "origin": "JFK",
    "destination": "SEA",
    "date": "2024-05-20",
    "price": 100,
}
TRIP = {
    "reservation_id": "R1",
    "user_id": "mia",
    "origin": "JFK",
    "destination": "SEA",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [LEG],
    "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
    "created_at": "2024-05-01T10:00:00",
    "total_baggages": 1,
    "nonfree_baggages": 0,
    "insurance": "yes",
    "status": None,
}
ORDER = {
    "order_id": "#W1",
    "user_id": "mia",
    "status": "delivered",
    "items": [{"item_id": "i1", "product_id": "p1", "price": 50.0}],
    "payment_history": [{"payment_method_id": "card_1", "amount": 50.0}],
}
PRODUCT = {
    "product_id": "p1",
    "variants": {
        "i1": {"item_id": "i1", "available": True, "price": 50.0},
        "i2": {"item_id": "i2", "available": True, "price": 85.0},
        "i3": {"item_id": "i3", "available": False, "price": 50.0},
    },
}
CANCEL = Call("cancel_reservation", {"reservation_id": "R1"})


def airline(**trip: object) -> Guard:
    guard = policy_guard("airline")
    guard.observe(Call("get_user_details", {"user_id": "mia"}), json.dumps(MIA))
    guard.observe(
        Call("get_reservation_details", {"reservation_id": "R1"}), json.dumps({**TRIP, **trip})
    )
    guard.observe(
        Call("get_flight_status", {"flight_number": "HAT1", "date": "2024-05-20"}), "available"
    )
    return guard


def shop(**order: object) -> Guard:
    guard = policy_guard("retail")
    guard.observe(Call("find_user_id_by_email", {"email": "mia@example.com"}), "mia")
    guard.observe(Call("get_user_details", {"user_id": "mia"}), json.dumps(MIA))
    guard.observe(Call("get_order_details", {"order_id": "#W1"}), json.dumps({**ORDER, **order}))
    guard.observe(Call("get_product_details", {"product_id": "p1"}), json.dumps(PRODUCT))
    return guard


def exchange(new: str, method: str = "card_1") -> Call:
    asked = {
        "order_id": "#W1",
        "item_ids": ["i1"],
        "new_item_ids": [new],
        "payment_method_id": method,
    }
    return Call("exchange_delivered_order_items", asked)


def flying(number: str, cabin: str = "economy", method: str = "card_1") -> Call:
    flights = [{"flight_number": number, "date": "2024-05-20"}]
    asked = {"reservation_id": "R1", "cabin": cabin, "flights": flights, "payment_id": method}
    return Call("update_reservation_flights", asked)


def test_a_yes_is_for_one_change_and_is_told_or_heard():
    guard = shop()
    assert guard.check(exchange("i2")).rule == "SHOP-CONFIRM"
    guard.tell("confirmed")
    assert isinstance(guard.check(exchange("i2")), Allow)
    guard.observe(exchange("i2"), json.dumps({**ORDER, "status": "exchange requested"}))
    guard.tell("confirmed")
    assert guard.check(exchange("i2")).rule == "SHOP-ONCE"

    guard = shop()
    guard.hear("Yes, please do that.")
    assert isinstance(guard.check(exchange("i2")), Allow)
    guard = shop()
    guard.hear("yes")
    guard.hear("Hold on, what does it cost?")
    assert guard.check(exchange("i2")).rule == "SHOP-CONFIRM"


@pytest.mark.parametrize(
    ("reason", "insurance", "rule"),
    [
        (None, "yes", "AIR-REASON"),
        ("change of plan", "yes", "AIR-CANCEL"),
        ("health", "no", "AIR-CANCEL"),
        ("health", "yes", ""),
    ],
)
def test_why_a_customer_cancels_is_for_the_host_to_tell(reason, insurance, rule):
    guard = airline(insurance=insurance)
    guard.tell("confirmed", *([f'reason("{reason}")'] if reason else []))
    assert guard.check(CANCEL).rule == rule


def test_a_reason_does_not_outlive_its_cancellation():
    guard = airline()
    guard.tell("confirmed", 'reason("health")')
    guard.check(CANCEL)
    guard.observe(CANCEL, json.dumps({**TRIP, "status": "cancelled"}))
    guard.observe(
        Call("get_reservation_details", {"reservation_id": "R2"}),
        json.dumps({**TRIP, "reservation_id": "R2"}),
    )
    assert guard.check(Call("cancel_reservation", {"reservation_id": "R2"})).rule == "AIR-REASON"


def test_what_decides_is_asked_for_where_it_is_unknown():
    guard = policy_guard("airline")
    guard.observe(Call("get_user_details", {"user_id": "mia"}), json.dumps(MIA))
    guard.tell("confirmed", 'reason("health")')
    assert (
        guard.check(CANCEL).remedy
        == "look up the reservation first, with get_reservation_details: R1"
    )
    guard.observe(
        Call("get_reservation_details", {"reservation_id": "R1"}),
        json.dumps({**TRIP, "insurance": "no"}),
    )
    ruling = guard.check(CANCEL)
    assert (ruling.rule, ruling.fact) == (
        "AIR-CANCEL",
        "unknown whether the airline cancelled a flight of R1",
    )
    assert (
        ruling.remedy
        == "look up the flight's status first, with get_flight_status: HAT1, 2024-05-20"
    )


def test_a_missing_lookup_is_named_before_a_missing_yes():
    guard = policy_guard("retail")
    assert guard.check(exchange("i2")).rule == "SHOP-IDENTIFY"
    guard.observe(Call("find_user_id_by_email", {"email": "mia@example.com"}), "mia")
    assert guard.check(exchange("i2")).rule == "SHOP-LOOKUP"
    assert shop().check(exchange("i2")).rule == "SHOP-CONFIRM"


def test_a_flight_of_a_later_day_has_not_departed_whatever_was_looked_up():
    guard = airline(cabin="business", flights=[{**LEG, "date": "2024-05-14"}])
    guard.tell("confirmed", 'reason("other")')
    assert (
        guard.check(CANCEL).remedy
        == "look up the flight's status first, with get_flight_status: HAT1, 2024-05-14"
    )
    guard.observe(
        Call("get_flight_status", {"flight_number": "HAT1", "date": "2024-05-14"}), "landed"
    )
    assert guard.check(CANCEL).rule == "AIR-FLOWN"
    guard = airline(cabin="business", flights=[{**LEG, "date": "2024-05-16"}])
    guard.tell("confirmed", 'reason("other")')
    assert isinstance(guard.check(CANCEL), Allow)


@pytest.mark.parametrize("search", ["search_direct_flight", "search_onestop_flight"])
def test_either_search_shows_a_flight(search):
    guard = airline()
    guard.tell("confirmed")
    assert guard.check(flying("HAT2")).rule == "AIR-SEARCH"
    offer = {
        **LEG,
        "flight_number": "HAT2",
        "available_seats": {"economy": 3},
        "prices": {"economy": 120},
    }
    shown = [offer] if search == "search_direct_flight" else [[offer]]
    guard.observe(
        Call(search, {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        json.dumps(shown),
    )
    assert guard.check(flying("HAT2", method="cert_1")).rule == "AIR-METHOD"
    assert isinstance(guard.check(flying("HAT2", method="gift_1")), Allow)


def test_one_yes_is_not_for_two_changes_at_once():
    guard = shop(items=[ORDER["items"][0], {"item_id": "i9", "product_id": "p1", "price": 50.0}])
    guard.tell("confirmed")
    assert isinstance(guard.check(exchange("i2")), Allow)
    ruling = guard.check(
        Call(
            "return_delivered_order_items",
            {"order_id": "#W1", "item_ids": ["i9"], "payment_method_id": "card_1"},
        )
    )
    assert ruling.rule == "SHOP-CONFIRM"


def test_a_flight_that_the_search_does_not_show_is_not_for_sale():
    guard = airline(flights=[{**LEG, "date": "2024-05-19"}])
    guard.tell("confirmed")
    assert guard.check(flying("HAT1")).rule == "AIR-SEARCH"
    guard.observe(
        Call("search_direct_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        "[]",
    )
    assert guard.check(flying("HAT1")).rule == "AIR-SEATS"


def test_like_for_like_is_warned_of_and_goes_on():
    guard = shop()
    guard.tell("confirmed")
    ruling = guard.check(exchange("i1"))
    assert isinstance(ruling, Warn)
    assert ruling.rule == "SHOP-LIKE-FOR-LIKE"


def test_a_gift_card_pays_what_it_holds():
    guard = shop()
    guard.tell("confirmed")
    assert isinstance(guard.check(exchange("i2", "gift_1")), Allow)
    poorer = {**MIA["payment_methods"], "gift_1": {"source": "gift_card", "balance": 34.99}}
    guard.observe(
        Call("get_user_details", {"user_id": "mia"}), json.dumps({**MIA, "payment_methods": poorer})
    )
    assert guard.check(exchange("i2", "gift_1")).rule == "SHOP-BALANCE"
    assert guard.check(exchange("i3")).rule == "SHOP-AVAILABLE"


def test_the_first_who_was_found_is_the_customer():
    guard = shop()
    guard.observe(Call("find_user_id_by_email", {"email": "noah@example.com"}), "noah")
    assert guard.check(Call("get_user_details", {"user_id": "noah"})).rule == "SHOP-ACCOUNT"
    assert isinstance(guard.check(Call("get_user_details", {"user_id": "mia"})), Allow)


def test_who_was_not_found_is_nobody():
    guard = policy_guard("retail")
    guard.observe(Call("find_user_id_by_email", {"email": "nobody@example.com"}), "User not found")
    assert guard.check(exchange("i2")).rule == "SHOP-IDENTIFY"


def test_an_unknown_policy_is_named():
    with pytest.raises(InputError, match="known: airline, retail"):
        policy_manual("bank")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "user_id",
                    "order_id",
                    "reservation_id",
                    "product_id",
                    "flights",
                    "items",
                    "payment_methods",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(data=st.data())
def test_no_result_and_no_argument_breaks_the_guard_or_gets_a_change_through(name, data):
    guard = policy_guard(name)
    tools = guard.manual.tools
    known = {"user_id": "mia", "order_id": "#W1", "reservation_id": "R1", "product_id": "p1"}
    for tool in data.draw(
        st.lists(st.sampled_from(sorted(tools.keys() - {"user_says"})), max_size=5)
    ):
        asked = {key: known.get(key, data.draw(JSON)) for key in tools[tool].arguments}
        result = data.draw(JSON)
        if isinstance(result, dict):
            result = {**known, **result}
        guard.observe(Call(tool, asked), result)
    for tool in sorted(tools.keys() - {"user_says"}):
        asked = {key: known.get(key, data.draw(JSON)) for key in tools[tool].arguments}
        ruling = guard.check(Call(tool, asked))
        assert ruling.rule != ERROR, ruling.text
        changes = any(
            effect.literal.atom.predicate == "confirmed" for effect in tools[tool].effects
        )
        assert isinstance(ruling, Refuse) or not changes


@pytest.mark.parametrize(
    ("said", "agrees"),
    [
        *(
            (text, True)
            for text in (
                "Yes",
                "Yes, cancel it.",
                "yes cancel it",
                "Sure, go ahead.",
                "OK",
                "Absolutely",
            )
        ),
        *(
            (text, True)
            for text in (
                "Go ahead and cancel it.",
                "I confirm.",
                "Please proceed with the exchange.",
            )
        ),
        *(
            (text, True)
            for text in (
                "Yes, that's correct. Please proceed.",
                "Of course.",
                "Yes, cancel the 3.5 kg.",
            )
        ),
        *(
            (text, False)
            for text in ("No", "Please do not cancel it.", "Please do nothing yet", "Yes, wait, no")
        ),
        *(
            (text, False)
            for text in (
                "Yes and no",
                "Yes, but not the second one",
                "I don’t want that",
                "I can't agree",
            )
        ),
        *(
            (text, None)
            for text in (
                "Go ahead and tell me more first",
                "Confirmed bachelor here",
                "Yes, wait",
                "Maybe",
            )
        ),
        *(
            (text, None)
            for text in (
                "Yes, but only the first",
                "Okay, what else",
                "Sure, if it is free",
                "Yes? How much",
            )
        ),
    ],
)
def test_a_plain_yes_is_told_from_everything_else(said, agrees):
    assert records.says_yes(said) is agrees


@pytest.mark.parametrize(
    "said",
    [
        "Yes, I heard you.",
        "Yes, I understand the policy.",
        "Ok, I see.",
        "Right, so the fee is fifty dollars.",
        "Yeah, right.",
        "Yes I have a question about the fee",
        "Okay, so let me get this straight.",
        "Yes I want a manager",
        "Sure, whatever.",
        "Sure, as soon as you waive the fee.",
        "I confirm my name is Mia Li.",
        "Yes, once my husband agrees.",
        "Absolutely. Absolutely ridiculous, that is.",
        "Yes, provided that it is free.",
        "Go ahead, make my day.",
        "Please proceed with caution.",
        "Yes, that is my email address.",
        "Yes, my order number is W123.",
        "Okay. I changed it already myself.",
        "Yes; hang on a sec",
        "Yes, I'd like to know the price",
        "Sure, sounds like a scam.",
        "Okay, cancel culture is real.",
        "I agree with my lawyer.",
        "Yes, please send me a list of options.",
        "Yes, I want to return something else",
        "OK, use your brain.",
        "Do it and I will sue you.",
        "Thanks.",
        "Great.",
    ],
)
def test_an_answer_that_begins_like_a_yes_and_goes_on_is_for_a_person(said):
    assert records.says_yes(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "Yes - please do that.",
        "Perfect, go ahead.",
        "Great, please proceed.",
        "yes pls",
        "Yes, I'd like to proceed.",
        "Yes, let's do it.",
        "Yes, please proceed with the refund to my credit card. Thank you!",
        "Yes, you can go ahead.",
        "Yes please, cancel both reservations and refund my card.",
        "Yes, that's right, please do it.",
        "Yes, upgrade me to business.",
    ],
)
def test_a_yes_with_thanks_or_with_what_is_to_be_done_is_plain(said):
    assert records.says_yes(said) is True


def test_what_is_no_plain_yes_takes_back_an_earlier_one():
    guard = shop()
    guard.hear("Yes, do it.")
    guard.hear("Okay, what else is there?")
    ruling = guard.check(exchange("i2"), can_ask=True)
    assert (ruling.word, ruling.rule) == (
        "ask",
        "SHOP-CONFIRM",
    )  # a person can say so; nobody else has
    assert guard.check(exchange("i2"), approved=True).goes_on


def booking(
    *payments: tuple[str, float], flights: tuple[tuple[str, str, str], ...] = (), **more: object
) -> Call:
    legs = flights or (("HAT2", "2024-05-20", "JFK"),)
    return Call(
        "book_reservation",
        {
            "user_id": "mia",
            "origin": "JFK",
            "destination": "SEA",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": number, "date": date} for number, date, _ in legs],
            "passengers": TRIP["passengers"],
            "payment_methods": [
                {"payment_id": method, "amount": amount} for method, amount in payments
            ],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
        }
        | more,
    )


def offered(guard: Guard, number: str, origin: str, destination: str, date: str) -> None:
    offer = {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "status": "available",
    }
    offer |= {"available_seats": {"economy": 9}, "prices": {"economy": 60}}
    arguments = {"origin": origin, "destination": destination, "date": date}
    guard.observe(Call("search_direct_flight", arguments), json.dumps([offer]))


@pytest.mark.parametrize(
    ("payments", "more", "rule"),
    [
        ([("card_1", 60)], {}, ""),
        ([("gift_1", 30), ("gift_1", 30)], {}, "AIR-PAY-COUNT"),
        ([("card_1", 160), ("gift_1", -100)], {}, "AIR-AMOUNTS"),
        ([("card_1", 60)], {"total_baggages": -2}, "AIR-BAGS-FEE"),
        ([("card_1", 60)], {"nonfree_baggages": -1}, "AIR-BAGS-FEE"),
    ],
)
def test_money_and_bags_are_counted_as_a_cashier_counts_them(payments, more, rule):
    guard = airline()
    offered(guard, "HAT2", "JFK", "SEA", "2024-05-20")
    guard.hear("Yes.")
    assert guard.check(booking(*payments, **more)).rule == rule


@pytest.mark.parametrize(
    "payments", ["x", None, {"a": {"amount": 5}}, [{"amount": "5"}], [{"amount": 5}, {}]]
)
def test_payments_of_an_unexpected_shape_pay_nothing_that_anybody_knows(payments):
    facts = airline()._facts(Call("book_reservation", {"payment_methods": payments}))
    assert facts.truth(Atom("pays_something", (facts.name(payments),))) is Truth.UNKNOWN


def test_a_search_is_asked_for_by_its_route():
    assert (
        "search_direct_flight: JFK, SEA, 2024-05-20"
        in airline().check(booking(("card_1", 60))).remedy
    )


def test_there_and_back_and_there_again_is_no_way_there():
    guard = airline()
    legs = (("HAT2", "JFK", "SEA"), ("HAT3", "SEA", "JFK"), ("HAT4", "JFK", "SEA"))
    for day, (number, origin, destination) in enumerate(legs):
        offered(guard, number, origin, destination, f"2024-05-2{day}")
    guard.hear("Yes.")
    flights = tuple((number, f"2024-05-2{day}", "") for day, (number, _, _) in enumerate(legs))
    assert guard.check(booking(("card_1", 180), flights=flights)).rule == "AIR-TRIP"


def test_a_certificate_is_sent_once():
    guard = airline()
    guard.observe(
        Call("get_flight_status", {"flight_number": "HAT1", "date": "2024-05-20"}), "cancelled"
    )
    send = Call("send_certificate", {"user_id": "mia", "amount": 100})
    for _ in range(2):
        guard.hear("Yes.")
        ruling = guard.check(send, can_ask=True)
        if ruling.goes_on:
            guard.observe(send, "Certificate sent.")
            guard.observe(Call("get_user_details", {"user_id": "mia"}), json.dumps(MIA))
    assert (ruling.word, ruling.rule) == ("ask", "AIR-CERTIFICATE-ONCE")


def test_a_shop_reads_nothing_before_it_knows_the_customer_and_looks_for_no_second_one():
    guard = policy_guard("retail")
    for tool, arguments in (
        ("get_user_details", {"user_id": "mia"}),
        ("get_order_details", {"order_id": "#W1"}),
    ):
        assert guard.check(Call(tool, arguments)).rule == "SHOP-IDENTIFY-READ"
    find = Call("find_user_id_by_email", {"email": "mia@example.com"})
    assert guard.check(find).goes_on
    guard.observe(find, "mia")
    assert guard.check(Call("get_user_details", {"user_id": "mia"})).goes_on
    assert (
        guard.check(Call("find_user_id_by_email", {"email": "ben@example.com"})).rule
        == "SHOP-ONE-CUSTOMER"
    )


def test_returning_nothing_is_no_return():
    guard = shop()
    guard.hear("Yes.")
    nothing = {"order_id": "#W1", "item_ids": [], "payment_method_id": "card_1"}
    assert guard.check(Call("return_delivered_order_items", nothing)).rule == "SHOP-ITEMS"
