"""Texts and JSON read into facts: what is told, what follows from numbers and dates, and what
is not known.
"""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tau2_telecom_world.game import load_package
from tau2_telecom_world.world import SIGNATURES
from tickets import TASKS, opened, told, world

from rpms.logic.facts import Truth, parse_literal
from rpms.logic.goal import UNKNOWN_GOAL
from rpms.worlds.base import Setting

OPENING = (
    "Today is 2025-02-25.\nTicket: The user is experiencing issues with their mobile data. Customer name: Ann, phone "
    "number: 555-000-1111, current location: abroad in France. They will refuel 1.5 GB of data if necessary."
)
LINE = {
    "line_id": "L9",
    "phone_number": "555-000-1111",
    "status": "Active",
    "plan_id": "P9",
    "data_used_gb": 15.1,
    "data_refueling_gb": 0.0,
    "roaming_enabled": False,
    "contract_end_date": "2025-02-24",
}
CUSTOMER = {
    "customer_id": "C9",
    "phone_number": "555-000-1111",
    "line_ids": ["L8", "L9"],
    "bill_ids": ["B1", "B2"],
}
FIND = 'get_customer_by_phone(phone_number="555-000-1111")'
REFUEL = 'refuel_data(customer_id="C9", line_id="L9", gb_amount=1.5)'


def holds(belief, fact: str) -> bool | None:
    return {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: None}[
        belief.truth(parse_literal(fact).atom)
    ]


def after(*turns):
    return told(
        (None, OPENING),
        *((call, json.dumps(said) if not isinstance(said, str) else said) for call, said in turns),
    )


def test_a_ticket_says_what_it_is_about():
    goal = world.goal(OPENING)
    assert (goal.type, goal.state, goal.number, goal.amount, goal.today, goal.may_pay) == (
        "mobile_data_issue",
        "abroad",
        "555-000-1111",
        "1.5",
        "2025-02-25",
        False,
    )
    assert {
        world.goal(opened(kind).reset().observation).type
        for kind in ("mms_", "mobile_", "service_")
    } == {
        "mms_issue",
        "mobile_data_issue",
        "service_issue",
    }
    assert world.goal("Ticket: something else").type == UNKNOWN_GOAL


def test_the_ticket_tells_facts_and_nothing_more():
    belief = after()
    assert (holds(belief, "abroad"), holds(belief, "may_pay")) == (True, False)
    assert (
        holds(belief, "airplane")
        is holds(belief, "used_up(L9)")
        is holds(belief, "owing(C9)")
        is None
    )
    assert belief.names["amount"] == ("1.5",)


def test_data_is_used_up_when_it_exceeds_what_the_plan_allows_and_what_was_added():
    belief = after(("x()", LINE))
    assert holds(belief, "used_up(L9)") is None, "the plan's limit is not known yet"
    belief = after(("x()", LINE), ("x()", {"plan_id": "P9", "data_limit_gb": 15.0}))
    assert holds(belief, "used_up(L9)") is True
    belief = world.update(
        belief, REFUEL, '{"message": "…", "new_data_refueling_gb": 1.5, "charge": 3.0}'
    )
    assert holds(belief, "used_up(L9)") is False


@pytest.mark.parametrize(
    ("used", "limit", "added", "up"),
    [(15.0, 15.0, 0.0, True), (14.9, 15.0, 0.0, False), (17.0, 15.0, 2.0, True)],
)
def test_the_limit_itself_counts_as_used_up(used, limit, added, up):
    usage = {
        "line_id": "L9",
        "data_used_gb": used,
        "data_limit_gb": limit,
        "data_refueling_gb": added,
    }
    assert holds(after(("x()", usage)), "used_up(L9)") is up


@pytest.mark.parametrize(
    ("end", "over"), [("2025-02-24", True), ("2025-02-25", False), (None, False)]
)
def test_a_contract_is_over_the_day_after_its_end(end, over):
    assert holds(after(("x()", {**LINE, "contract_end_date": end})), "contract_over(L9)") is over


def test_whose_line_it_is_and_which_has_the_number():
    belief = after((FIND, CUSTOMER))
    assert belief.called("customer") == ("C9",)
    assert list(belief.called("line")) == ["L8", "L9"]
    assert (holds(belief, "owns(C9, L9)"), holds(belief, "owns(C9, L7)")) == (True, False)
    belief = world.update(
        belief,
        'get_details_by_id(id="L8")',
        json.dumps({**LINE, "line_id": "L8", "phone_number": "1"}),
    )
    assert list(belief.called("line")) == ["L9"]
    assert (holds(belief, "registered(L8)"), holds(belief, "registered(L9)")) == (False, None)


def test_one_overdue_bill_is_enough_to_owe_and_all_must_be_known_to_owe_nothing():
    paid, overdue = ({"bill_id": name, "customer_id": "C9", "status": status} for name, status in
                     (("B1", "Paid"), ("B2", "Overdue")))  # fmt: skip
    assert holds(after((FIND, CUSTOMER), ("x()", paid)), "owing(C9)") is None
    belief = after((FIND, CUSTOMER), ("x()", overdue))
    assert holds(belief, "owing(C9)") is True
    asked = 'send_payment_request(customer_id="C9", bill_id="B2")'
    belief = world.update(belief, asked, "Payment request sent to the customer for bill B2")
    assert (holds(belief, "asked_to_pay(C9)"), holds(belief, "requested")) == (True, True)
    belief = world.update(
        belief, "make_payment()", "Payment of 65.0 USD has been made for bill B2."
    )
    belief = world.update(belief, "x()", json.dumps(paid))
    assert (holds(belief, "owing(C9)"), holds(belief, "requested"), holds(belief, "paid(B2)")) == (
        False,
        False,
        True,
    )


def test_a_missing_card_hides_whether_it_is_locked():
    status = "Airplane Mode: OFF\nSIM Card Status: {}\nCellular Connection: no_service"
    belief = after(("check_network_status()", status.format("missing")))
    assert (holds(belief, "sim_missing"), holds(belief, "sim_locked")) == (True, None)
    belief = after(("check_network_status()", status.format("locked_pin")))
    assert (holds(belief, "sim_missing"), holds(belief, "sim_locked")) == (False, True)


def test_what_a_test_showed_is_forgotten_after_a_change_and_kept_after_a_refusal():
    tested = ("can_send_mms()", "Your messaging app cannot send MMS messages.")
    assert holds(after(tested), "mms_works") is False
    assert holds(after(tested, ("check_vpn_status()", "VPN is turned OFF.")), "mms_works") is False
    assert holds(after(tested, ("toggle_data()", "Mobile Data is now ON.")), "mms_works") is None
    refused = ("disconnect_vpn()", "No active VPN connection to disconnect.")
    assert holds(after(tested, refused), "mms_works") is False


@pytest.mark.parametrize("amount", [0.00001, 12345678901, 1e20, 1e308])
def test_however_much_data_is_added_the_belief_knows_how_much(amount):
    game = opened("mms_issue")
    said = game.reset().observation
    call = f'refuel_data(customer_id="C1001", line_id="L1002", gb_amount={amount})'
    belief = world.update(world.start(world.goal(said)), call, game.step(call).observation)
    assert belief.of("L1002", "data_refueling_gb") == amount
    assert world.contradictions(belief, game) == ()


def test_an_amount_that_cannot_be_read_is_unknown():
    belief = world.update(
        after(("x()", {"line_id": "L9", "data_refueling_gb": 1.0})), REFUEL, "Done."
    )
    assert belief.of("L9", "data_refueling_gb") is None


@pytest.mark.parametrize(
    "settings",
    [
        "{}",
        '{"apn_name": "broken"}',
        '{"apn_name": "internet", "mmsc_url": null}',
        '{"apn_name": "internet", "reset_at_reboot": true}',
        '{"apn_name": "internet", "reset_at_reboot": "yes"}',
    ],
)
@pytest.mark.parametrize("before", ["check_apn_settings()", "reset_apn_settings()"])
def test_apn_settings_that_were_replaced_are_not_believed_any_more(before, settings):
    game = opened("mms_issue", "break_apn_mms_setting")
    said = game.reset().observation
    belief = world.update(world.start(world.goal(said)), None, said)
    for call in (before, f"set_apn_settings(apn_settings={settings})"):
        belief = world.update(belief, call, game.step(call).observation)
        assert world.contradictions(belief, game) == ()
    assert holds(belief, "apn_broken") is ("broken" in settings)


@pytest.mark.parametrize("seed", range(40) if os.environ.get("RPMS_SLOW") else (1, 2))
def test_the_belief_never_contradicts_the_sandbox_however_it_is_used(seed):
    dice = Random(seed)
    game = world.open(dice.choice(TASKS), Setting())
    said = game.reset().observation
    belief, call = world.update(world.start(world.goal(said)), None, said), None
    for _ in range(30):
        assert world.contradictions(belief, game) == (), call
        call = dice.choice(
            [each for each in game.admissible() if not each.startswith(("done", "transfer"))]
        )
        belief = world.update(belief, call, game.step(call).observation)


_TEXTS = st.one_of(
    st.text(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["line_id", "bill_ids", "customer_id", "status", "data_used_gb"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=8,
    ).map(json.dumps),
    st.sampled_from(
        [
            "Status Bar: ",
            "App 'x' has permission for: _.",
            "Network Mode Preference: _",
            "Current APN Name: ",
        ]
    ),
)


@given(
    _TEXTS,
    _TEXTS,
    st.sampled_from(
        [FIND, "x()", "refuel_data(line_id=5)", "", None, 'send_payment_request(bill_id="_")']
    ),
)
def test_any_text_is_borne(first, second, call):
    belief = after((call, first), (call, second))
    for fact in (
        "used_up(L9)",
        "owing(C9)",
        "contract_over(L9)",
        "granted(x, y)",
        "owns(C9, L9)",
        "preferred(z)",
    ):
        assert holds(belief, fact) in (True, False, None)
    assert belief.lines()
    assert belief.called("line") is not None
    assert isinstance(belief.fingerprint, str)


def test_the_table_of_parameters_is_the_package_one():
    known = {name: tuple(tool.parameters.properties) for name, tool in load_package().tools.items()}
    assert {name: parameters for name, parameters in known.items() if parameters} == dict(
        SIGNATURES
    )


@pytest.mark.parametrize(
    "written",
    [
        'refuel_data(customer_id="C1", line_id="L1", gb_amount=2.0)',
        "refuel_data( line_id='L1', customer_id='C1', gb_amount=2.0 ).",
        'refuel_data("C1", "L1", 2.0)',
        "refuel_data(C1, L1, gb_amount=2.0)",
        '{"name": "refuel_data", "arguments": {"gb_amount": 2.0, "customer_id": "C1", "line_id": "L1"}}',
    ],
)
def test_a_call_is_read_in_any_harmless_form(written):
    command = world.command(written, None)
    assert command.text == 'refuel_data(customer_id="C1", line_id="L1", gb_amount=2.0)'
    assert bool(command.repairs) == (written != command.text)
    assert world.command(command.text, None).text == command.text
