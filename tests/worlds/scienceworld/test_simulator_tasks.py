"""Listing and naming tasks, which needs neither Java nor the simulator, and settling menus by
their text.
"""

from __future__ import annotations

import pytest

from rpms.logic.errors import InputError
from rpms.worlds.scienceworld import tasks
from rpms.worlds.scienceworld.commands import menu_options, only_reading, player_choice
from rpms.worlds.scienceworld.world import ScienceWorldGame

DRAWERS = ("open drawer (in counter, in kitchen)", "open drawer (in cupboard, in kitchen)")


def test_the_papers_241_episodes():
    episodes = tasks.list_tasks("test", per_task=10)
    assert len(episodes) == len({task.id for task in episodes}) == 241
    assert len(tasks.PAPER_TASKS) == 26
    assert len(tasks.KINDS) == 30


def test_families_have_the_papers_sizes():
    sizes = {
        family: sum(kind.family == family for kind in tasks.KINDS.values())
        for family in tasks.FAMILIES
    }
    assert sizes == {"F1": 4, "F2": 3, "F3": 7, "F4": 12, "F5": 4}


def test_splits_are_apart_and_cover_every_variation():
    for kind in tasks.KINDS.values():
        covered = [variation for split in tasks.SPLITS for variation in kind.variations(split)]
        assert covered == list(range(kind.variations("test").stop))
        assert all(
            tasks.task_at(kind.name, variation).split == "dev"
            for variation in kind.variations("dev")
        )


def test_tasks_are_listed_in_order_and_by_name():
    assert [task.id for task in tasks.list_tasks("dev", 2, ["power-component", "boil"])] == [
        "power-component/10",
        "power-component/11",
        "boil/14",
        "boil/15",
    ]
    only = tasks.task_at("boil", 21)
    assert (only.split, only.type, dict(only.source)) == (
        "test",
        "boil",
        {"task": "boil", "variation": "21"},
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ScienceWorldGame("biol", 0), "no task 'biol': did you mean boil"),
        (lambda: ScienceWorldGame("", 0), "no task '': choose one of"),
        (lambda: ScienceWorldGame("boil", 30), "boil has no variation 30: they go from 0 to 29"),
        (lambda: ScienceWorldGame("boil", -1), "boil has no variation -1"),
        (
            lambda: ScienceWorldGame("boil", 0, "openDoor"),
            "no simplification 'openDoor': did you mean openDoors",
        ),
        (
            lambda: ScienceWorldGame("power-component", 0, "noElectricalAction"),
            "cannot be done with",
        ),
        (
            lambda: tasks.list_tasks("dev", 1, ["boil", "power-component"], "noElectricalAction"),
            "power-component cannot be done with the simplification 'noElectricalAction'",
        ),
        (
            lambda: tasks.list_tasks("validation"),
            "no split 'validation': the splits are train, dev, test",
        ),
        (lambda: tasks.list_tasks("dev", 0), "must be 1 or more, not 0"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_menu_is_read_and_other_text_is_not():
    menu = "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
    assert menu_options(menu + f"0:\t{DRAWERS[0]}\n1:\t{DRAWERS[1]}\n") == DRAWERS
    assert menu_options("0:\topen drawer") == ()


@pytest.mark.parametrize(
    ("options", "command", "reading"),
    [
        (DRAWERS, "open drawer", None),
        (DRAWERS, "open drawer in cupboard", 1),
        (DRAWERS, "Open  the drawer in the counter", 0),
        (("go terminal 2 (in plane)", "go terminal 2 (in plane)"), "go to plane terminal 2", 0),
        (("look at plane J (in hall)", "look at plane (in hall)"), "examine plane", 1),
        (("look at plane J (in hall)", "look at plane E (in hall)"), "look at plane", None),
        (
            (
                "move a seed (in jar, in hall) to pot 1 (in hall)",
                "move a seed (in cup) to pot 1 (in hall)",
            ),
            "0",
            None,
        ),
        (
            ("pour cup (in hall) in jug (in sink)", "pour cup (in box) in jug (in sink)"),
            "pour cup in box into jug",
            1,
        ),
    ],
)
def test_a_menu_is_settled_only_where_the_command_names_one_option(options, command, reading):
    assert only_reading(options, command) == reading


@pytest.mark.parametrize(
    ("command", "choice"),
    [
        ("1", 1),
        (" 0\n", 0),
        ("1: open drawer", 1),
        (DRAWERS[1].upper(), 1),
        ("2", None),
        ("-1", None),
        ("open", None),
    ],
)
def test_a_player_answers_by_number_or_by_text(command, choice):
    assert player_choice(DRAWERS, command) == choice
