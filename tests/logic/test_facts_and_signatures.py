from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import StateSignature
from rpms.logic.facts import Atom, Truth, kind_of, parse_clause, parse_literal
from rpms.logic.goal import GoalSignature

name = st.text(min_size=1, max_size=12).map(str.strip).filter(bool)


def test_unknown_matters_only_where_it_can_matter():
    true, false, unknown = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN
    assert (unknown & false, unknown & true, unknown | true, unknown | false, ~unknown) == (
        false,
        unknown,
        true,
        unknown,
        unknown,
    )
    for one, other in itertools.product(Truth, Truth):
        assert one & other is other & one
        assert ~(one & other) is ~one | ~other


def test_a_truth_is_no_bool():
    with pytest.raises(TypeError, match="three values"):
        bool(Truth.UNKNOWN)


def test_conditions_read_as_a_manual_writes_them():
    assert (
        str(parse_clause("not openable(place) or open( place )"))
        == "not openable(place) or open(place)"
    )
    assert parse_literal("hand_empty").atom == Atom("hand_empty")
    named = parse_clause('read("book (Pride, or Prejudice)") or in("salt or sugar", jar)')
    assert [each.atom.args for each in named.literals] == [
        ('"book (Pride, or Prejudice)"',),
        ('"salt or sugar"', "jar"),
    ]
    for wrong in ("", "open(", "Open(x)", "in(a,)", "__import__('os')", "open(x) and at(y)"):
        with pytest.raises(ValueError):
            parse_clause(wrong)


def test_the_kind_of_a_name_is_the_name_without_its_number():
    assert (kind_of("apple 1"), kind_of("metal pot"), kind_of("12"), kind_of("loc 3 4")) == (
        "apple",
        "metal pot",
        "12",
        "loc 3",
    )


@pytest.mark.parametrize(
    "text",
    [
        "holding=none",
        "holding=none|open=fridge 1,microwave 1",
        "room=kitchen|inventory=empty|progress=0",
        "holding=apple 1|location=fridge 1",
    ],
)
def test_state_signatures_have_the_papers_text_form(text):
    assert str(StateSignature.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["pick_heat_then_place_in_recep:mug:hot:cabinet", "F3:melt:water", "unknown"]
)
def test_goal_signatures_have_the_papers_text_form(text):
    assert str(GoalSignature.parse(text)) == text


@given(st.dictionaries(name, st.lists(name, max_size=3).map(tuple), max_size=4))
def test_any_state_signature_survives_its_text_form(fields):
    signature = StateSignature(tuple(fields.items()))
    assert StateSignature.parse(str(signature)) == signature


@given(name, st.lists(st.text(max_size=12).map(str.strip), min_size=3, max_size=3))
def test_any_goal_signature_survives_its_text_form(type_, fields):
    signature = GoalSignature(type_, *fields)
    assert GoalSignature.parse(str(signature)) == signature


@pytest.mark.parametrize("text", ["", ":mug", "a:b:c:d:e"])
def test_a_broken_goal_signature_is_refused(text):
    with pytest.raises(ValueError, match="goal signature"):
        GoalSignature.parse(text)


@pytest.mark.parametrize("text", ["holding", "=x", "a=1|a=2"])
def test_a_broken_state_signature_is_refused(text):
    with pytest.raises(ValueError, match="state signature"):
        StateSignature.parse(text)


def test_a_field_without_a_value_is_empty():
    assert StateSignature.parse("holding=") == StateSignature.parse("holding=none")


def test_occupancy_is_known_empty_known_full_or_unknown():
    occupied = [
        StateSignature.parse(text).occupied
        for text in ("holding=none", "inventory=axe", "room=kitchen")
    ]
    assert occupied == [False, True, None]
