"""The games that ship with the package."""

from collections import Counter
from importlib.resources import files

import pytest

from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import (
    BUILTIN,
    BUILTIN_COUNT,
    BUILTIN_SEED,
    LARGE,
    LARGE_GAMES,
    LARGE_SEED,
    _games,
    builtin_game,
    builtin_ids,
    builtin_tasks,
    builtin_walkthrough,
    load_task,
    made_games,
)
from rpms.worlds.alfworld.games.make import make_game
from rpms.worlds.alfworld.goals import TASK_TYPES
from rpms.worlds.base import Task
from tests.alfworld_games import load_builtin, save_builtin, wins_at_the_end

GAMES = [make_game(BUILTIN_SEED, index) for index in range(BUILTIN_COUNT)]


def test_the_shipped_set_is_what_the_generator_makes():
    assert _games(BUILTIN) == made_games(BUILTIN_SEED, range(BUILTIN_COUNT))


def test_a_loaded_game_is_what_its_file_would_hold():
    assert {game.id: game.data for game in GAMES} == {
        name: builtin_game(name) for name in builtin_ids()
    }


def test_there_are_four_games_of_each_type():
    tasks = builtin_tasks()
    assert Counter(task.type for task in tasks) == dict.fromkeys(TASK_TYPES, 4)
    assert [task.id for task in tasks] == sorted(game.id for game in GAMES)
    assert {task.split for task in tasks} == {"builtin"}
    assert all(task.source == {"builtin": task.id} for task in tasks)


@pytest.mark.parametrize("name", builtin_ids())
def test_every_game_is_won_by_its_walkthrough(name):
    assert wins_at_the_end(load_builtin(name), builtin_walkthrough(name))


def test_they_are_varied():
    assert len({(game.goal.type, game.goal.sentence) for game in GAMES}) == 12
    assert set(Counter(game.house.room for game in GAMES)) == {
        "kitchen",
        "living",
        "bedroom",
        "bathroom",
    }
    assert min(Counter(game.house.room for game in GAMES).values()) >= 3
    assert len({game.goal.object for game in GAMES}) >= 15


def test_what_makes_games_hard_is_among_them():
    hidden = shared = at_destination = several = standing_in_two = 0
    for game in GAMES:
        house, goal = game.house, game.goal
        closed = {r.id for r in house.receptacles if r.openable}
        there = {r.id for r in house.receptacles if r.type == goal.receptacle}
        targets = [item for item in house.items if item.type == goal.object]
        hidden += all(closed.issuperset(item.receptacles) for item in targets)
        shared += len({r.location for r in house.receptacles}) < len(house.receptacles)
        at_destination += any(there.intersection(item.receptacles) for item in targets)
        several += len(targets) > goal.wanted
        standing_in_two += any(len(item.receptacles) > 1 for item in house.items)
    assert min(hidden, shared, at_destination, several, standing_in_two) >= 3


def test_the_set_is_small_on_disk():
    stored = (files("rpms.worlds.alfworld") / "builtin" / "games.json.gz").read_bytes()
    assert len(stored) < 150_000


def test_the_large_games_are_those_of_a_seed_whose_houses_have_many_places():
    few = LARGE_GAMES[:6]
    chosen = [
        n for n in range(few[-1] + 1) if len(make_game(LARGE_SEED, n).house.receptacles) >= 28
    ]
    assert chosen == list(few)
    tasks = builtin_tasks(LARGE)
    assert len(tasks) == len(LARGE_GAMES) == 48
    assert max(Counter(task.type for task in tasks).values()) == 10
    assert {task.split for task in tasks} == {LARGE}
    assert not {task.id for task in tasks} & set(builtin_ids())
    assert wins_at_the_end(load_builtin(tasks[0].id), builtin_walkthrough(tasks[0].id))


def test_an_unknown_name_is_an_input_error():
    with pytest.raises(InputError, match="no builtin game 'nope'"):
        builtin_game("nope")


def test_a_builtin_game_loads_alike_from_the_package_and_from_its_file(tmp_path):
    for task in builtin_tasks()[:3]:
        path = save_builtin(task.id, tmp_path)
        saved = load_task(Task(task.id, "train", task.type, {"path": str(path)}))
        assert saved.reset().observation == load_task(task).reset().observation
        assert saved.task == load_task(task).task
