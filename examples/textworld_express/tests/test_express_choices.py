"""Choice of games: names, parameters, seeds, and mistakes in one line."""

from __future__ import annotations

import pytest
from textworld_express_world.games import GAMES, list_tasks, parse_choice, task_at
from textworld_express_world.world import world

from rpms.logic.errors import InputError
from rpms.worlds.base import Setting


def test_all_games_are_played_where_none_is_named():
    tasks = world.tasks("dev", Setting())
    assert len(tasks) == 8_000
    assert {task.type for task in tasks} == set(GAMES)
    assert world.edition(tasks, Setting()) == {"parameters": "default"}


def test_parameters_go_to_the_games_that_have_them():
    choice = parse_choice("coin, sorting, numLocations=5")
    assert choice.games == ("coin", "sorting")
    assert (choice.of("coin"), choice.of("sorting")) == ("numLocations=5", "")
    setting = Setting(options={"game": "coin,numLocations=5"})
    assert world.edition((), setting) == {"parameters": "numLocations=5"}
    assert {task.type for task in world.tasks("train", setting)} == {"coin"}


def test_a_parameter_with_its_default_value_makes_the_same_games():
    assert parse_choice("coin,numLocations=11") == parse_choice("coin")
    assert parse_choice("coin,cookingworld,numLocations=11") == parse_choice("cookingworld, coin")
    assert parse_choice("coin,mapreader,numLocations=11").of("mapreader") == "numLocations=11"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cookingword", "no game 'cookingword': did you mean cookingworld?"),
        ("chess", "no game 'chess': choose one of cookingworld, "),
        ("coin,numLocation=3", "coin: no parameter 'numLocation': did you mean numLocations?"),
        ("sorting,zzz=3", "there are none"),
        ("coin,numLocations=12", "numLocations=12: write a number from 1 to 11"),
        ("coin,numLocations=many", "write a number from 1 to 11"),
        (
            "coin,twc,numLocations=8",
            "write a number from 1 to 3, which each of these games can have",
        ),
        ("numLocations=40", "write a number from 2 to 3, which each"),
        (
            "coin,numLocations=3,numLocations=11",
            "numLocations is given twice, as 3 and as 11: give it once",
        ),
        ("mapreader,numLocations=1", "write a number from 2 to 48"),
    ],
)
def test_a_wrong_choice_is_one_line_with_the_nearest_name(text, line):
    with pytest.raises(InputError) as caught:
        parse_choice(text)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_options_are_refused_with_the_right_form():
    with pytest.raises(InputError, match="write game=NAME,PARAMETER=VALUE"):
        world.tasks("dev", Setting(options={"numLocations": "5"}))


def test_a_task_that_does_not_exist_is_one_line():
    assert task_at("coin", 10_000).split == "dev"
    with pytest.raises(InputError, match=r"coin has no seed 5000: they are 0 to 999 \(train\)"):
        task_at("coin", 5_000)
    with pytest.raises(InputError, match="no split 'valid'"):
        list_tasks("valid", GAMES)
