"""Listing the games under `$ALFWORLD_DATA`."""

import json
import os
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import list_tasks


def put_game(data: Path, name: str, text: str = '{"solvable": true}', split: str = "train") -> Path:
    path = data / "json_2.1.1" / split / name / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def ids(data: Path, split: str = "train") -> list[str]:
    return [task.id for task in list_tasks(data, split)]


def test_tasks_are_sorted_and_know_their_type_and_file(tmp_path):
    put_game(tmp_path, "pick_two_obj_and_place-Pen-None-Desk-305/trial_2")
    path = put_game(tmp_path, "look_at_obj_in_light-Pen-None-DeskLamp-305/trial_1")
    first, second = list_tasks(tmp_path, "train")
    assert (first.id, first.split, first.type, first.source) == (
        "look_at_obj_in_light-Pen-None-DeskLamp-305/trial_1",
        "train",
        "look_at_obj_in_light",
        {"path": str(path)},
    )
    assert second.type == "pick_two_obj_and_place"


def test_movable_sliced_unsolvable_and_unfinished_games_are_left_out(tmp_path):
    kept = "pick_and_place_simple-Pen-None-Desk-305/trial_1"
    put_game(tmp_path, kept)
    put_game(tmp_path, "pick_and_place_with_movable_recep-Pen-Bowl-Desk-305/trial_1")
    put_game(tmp_path, "pick_heat_then_place_in_recep-AppleSliced-None-Fridge-5/trial_1")
    put_game(
        tmp_path,
        "pick_and_place_simple-Pen-None-Desk-306/trial_1",
        '{"pddl_problem": "", "solvable": false}',
    )
    put_game(
        tmp_path,
        "pick_and_place_simple-Pen-None-Desk-307/trial_1",
        json.dumps(
            {"pddl_domain": "x" * 50_000, "solvable": False, "walkthrough": ["go to desk 1"] * 20}
        ),
    )
    put_game(tmp_path, "something_else-Pen-None-Desk-305/trial_1")
    put_game(tmp_path, "pick_and_place_simple-Pen-None-Desk-308/trial_1").unlink()
    (tmp_path / "json_2.1.1" / "train" / "README").write_text("")
    pipe = put_game(tmp_path, "pick_and_place_simple-Pen-None-Desk-309/trial_1")
    pipe.unlink()
    os.mkfifo(pipe)
    assert ids(tmp_path) == [kept]


def test_the_data_folder_may_have_any_name(tmp_path):
    """ALFWorld's own loader looks for the words in the whole path and would find nothing here."""
    put_game(tmp_path / "movable Sliced", "pick_and_place_simple-Pen-None-Desk-305/trial_1")
    assert len(ids(tmp_path / "movable Sliced")) == 1


def test_a_damaged_file_is_listed_for_the_engine_to_judge(tmp_path):
    put_game(tmp_path, "pick_and_place_simple-Pen-None-Desk-305/trial_1", '{"pddl_do')
    put_game(tmp_path, "pick_and_place_simple-Pen-None-Desk-305/trial_2", "")
    assert len(ids(tmp_path)) == 2


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (None, "no folder"),
        ("", "has no folder json_2.1.1"),
        ("json_2.1.1/valid_seen", r"no split 'train' in .* \(it has: valid_seen\)"),
        ("json_2.1.1/train", "no ALFWorld games in"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(tmp_path, made, message):
    data = tmp_path / "data"
    if made is not None:
        (data / made).mkdir(parents=True)
    with pytest.raises(InputError, match=message) as caught:
        list_tasks(data, "train")
    for hint in ("ALFWORLD_DATA", "--data", "alfworld-download", "--split builtin"):
        assert hint in str(caught.value)
    assert "\n" not in str(caught.value)
