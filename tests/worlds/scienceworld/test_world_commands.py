"""Forgiving harmless form, and nothing more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laboratory import MENU, after, in_kitchen

from rpms.worlds.scienceworld import world


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Look Around.", "look around"),
        ("look", "look around"),
        ("go kitchen", "go to kitchen"),
        ("go into the kitchen", "go to kitchen"),
        ("enter kitchen", "go to kitchen"),
        ("pickup the thermometer", "pick up thermometer"),
        ("take orange from bowl", "pick up orange in bowl"),
        ("Pick up unknown substance B", "pick up unknown substance B"),
        ("place metal pot on stove", "move metal pot to stove"),
        ("drop jug", "put down jug"),
        ("turn on stove", "activate stove"),
        ("focus water", "focus on water"),
        ("wait 1", "wait1"),
        ("open kitchen door", "open door to kitchen"),
        ("open door kitchen", "open door to kitchen"),
        ("look inside cupboard", "look in cupboard"),
        ("`use thermometer on the water`", "use thermometer on water"),
    ],
)
def test_synonyms_are_written_the_simulators_way_and_recorded(written, meant):
    command = world.command(written, after())
    assert command.text == meant
    assert bool(command.repairs) == (written != meant)


@pytest.mark.parametrize(
    "text",
    [
        "look at inclined plane with a cloth surface",
        "focus on unknown substance A",
        "focus on book (the foundations of the origin of species)",
        "open cupboard door",
        "go through door to kitchen",
        "move red apple to inventory",
        "connect battery anode to black wire terminal 1",
        "dance",
    ],
)
def test_what_is_well_or_unknown_is_left_as_it_is(text):
    assert world.command(text, after()).text == text


def test_the_letter_a_of_a_name_is_no_article():
    assert world.command("pick up the unknown substance a", after()).text.endswith(
        "unknown substance a"
    )


def test_an_answer_to_a_menu_is_left_alone():
    asked = in_kitchen(("pick up orange", MENU))
    assert world.command("1.", asked).text == "1"
    assert world.command("pick up orange (in bowl, in counter, in kitchen)", asked).repairs == ()


@given(st.text(max_size=400))
def test_repairing_twice_changes_nothing_more_and_never_grows_a_command_much(text):
    once = world.command(text, after())
    assert world.command(once.text, after()).text == once.text
    assert len(once.text) <= len(text) + 12
