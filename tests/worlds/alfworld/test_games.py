"""Generated games: deterministic, of every type and room, realistic, and proved to be winnable."""

import functools
import json
import re
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import mean

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpms.logic.errors import InputError
from rpms.worlds.alfworld.affordances import tables
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.engine.layout import names_of
from rpms.worlds.alfworld.engine.texts import DIALECTS
from rpms.worlds.alfworld.games.house import initial_facts
from rpms.worlds.alfworld.games.listing import list_tasks, type_of
from rpms.worlds.alfworld.games.make import (
    GAME_FILE,
    GAMES_FOLDER,
    SCENES,
    MadeGame,
    Unprovable,
    find_walkthrough,
    make_game,
    make_games,
)
from rpms.worlds.alfworld.goals import TASK_TYPES, GameGoal
from tests.alfworld_games import wins_at_the_end


@functools.cache
def sample() -> list[MadeGame]:
    """Made where a test asks, and not while each worker collects."""
    return [make_game(11, index) for index in range(180)]


def files_under(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# Determinism


def test_the_same_seed_writes_the_same_bytes_and_a_larger_count_begins_with_them(tmp_path):
    make_games(3, 6, tmp_path / "a")
    make_games(3, 6, tmp_path / "b")
    make_games(3, 9, tmp_path / "more")
    first, more = files_under(tmp_path / "a"), files_under(tmp_path / "more")
    assert first == files_under(tmp_path / "b")
    games = {path: text for path, text in first.items() if path.startswith("json_2.1.1")}
    assert len(games) == 12
    assert games.items() <= more.items()


def test_games_do_not_depend_on_the_hash_seed():
    code = "from rpms.worlds.alfworld.games.make import make_game as m; print(m(5, 3).data, end='')"
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {str(make_game(5, 3).data).encode()}


def test_seeds_and_indices_give_different_games():
    assert len({str(make_game(seed, index).data) for seed in range(5) for index in range(6)}) == 30


@pytest.mark.parametrize("index", range(6))
def test_the_dialect_changes_words_only(index):
    old, new = (make_game(8, index, dialect) for dialect in DIALECTS)
    assert old.id == new.id
    assert old.data["pddl_problem"] == new.data["pddl_problem"]
    assert "walkthrough" not in old.data
    assert new.data["walkthrough"] == list(new.walkthrough)
    assert [
        re.sub(r"put (.*) in/on (.*)", r"move \1 to \2", command) for command in old.walkthrough
    ] == list(new.walkthrough)


# What is made


def test_every_type_room_and_sentence_occurs():
    assert Counter(game.goal.type for game in sample()) == dict.fromkeys(TASK_TYPES, 30)
    assert {game.house.room for game in sample()} == set(SCENES)
    assert {(game.goal.type, game.goal.sentence) for game in sample()} == {
        (t, s) for t in TASK_TYPES for s in (0, 1)
    }


def test_ids_have_the_official_form_and_are_unique():
    place = r"_(plus|minus)_\d\d_dot_\d\d"
    thing = re.compile(rf"[A-Za-z]+(_bar_{place}){{3}}(_bar_(Sink|Bathtub)Basin)?")
    location = re.compile(r"loc(_bar_(_minus_)?\d+){4}")
    for game in sample():
        ids = [thing.id for thing in (*game.house.receptacles, *game.house.items)]
        assert all(thing.fullmatch(name) for name in ids)
        assert len({name.lower() for name in ids}) == len(ids)
        assert all(location.fullmatch(r.location) for r in game.house.receptacles)
        folder, trial = game.id.split("/")
        assert re.fullmatch(rf"{game.goal.type}-[A-Za-z]+-None-[A-Za-z]+-\d+", folder)
        assert (
            SCENES[game.house.room] + 30
            < int(folder.rpartition("-")[2])
            < SCENES[game.house.room] + 100
        )
        assert re.fullmatch(r"trial_S11_\d{5}", trial)


def test_nobody_starts_at_a_receptacle_and_everything_starts_closed():
    for game in sample():
        facts = initial_facts(game.house)
        assert game.house.start not in {r.location for r in game.house.receptacles}
        assert not [
            fact
            for fact in facts
            if fact[0] in ("opened", "isOn", "isToggled", "isHot", "isClean", "holds")
        ]


def test_no_goal_object_of_a_plain_placing_game_starts_at_its_destination():
    for game in sample():
        if game.goal.type in ("pick_and_place_simple", "pick_two_obj_and_place"):
            there = {r.id for r in game.house.receptacles if r.type == game.goal.receptacle}
            assert not any(
                there & set(item.receptacles)
                for item in game.house.items
                if item.type == game.goal.object
            )


def test_houses_are_as_full_as_official_ones():
    """Means over the training games; a fifth either way is allowed for a sample of this size."""
    official = {
        "kitchen": (33.4, 54.1),
        "living": (14.6, 32.4),
        "bedroom": (14.5, 32.9),
        "bathroom": (14.4, 24.4),
    }
    for room, (receptacles, items) in official.items():
        houses = [game.house for game in sample() if game.house.room == room]
        assert mean(len(house.receptacles) for house in houses) == pytest.approx(
            receptacles, rel=0.2
        )
        assert mean(len(house.items) for house in houses) == pytest.approx(items, rel=0.1)


def test_most_houses_have_shared_locations_and_some_objects_stand_in_two_receptacles():
    shared = 0
    for game in sample():
        at = Counter(receptacle.location for receptacle in game.house.receptacles)
        shared += max(at.values()) > 1
    assert 0.6 < shared / len(sample()) < 0.9
    several = [item for game in sample() for item in game.house.items if len(item.receptacles) > 1]
    assert 0.003 < len(several) / sum(len(game.house.items) for game in sample()) < 0.05


def test_every_goal_the_tables_name_can_be_made():
    known = tables()
    for task_type, rooms in known["goals"].items():
        for room, pairs in rooms.items():
            for pair in pairs:
                goal = GameGoal(task_type, *pair.split(">"))
                facts = known["rooms"][room]
                places = facts["objects"][goal.object]["places"]
                assert set(places) - {"floor", goal.forbidden}
                if goal.destination is not None:
                    assert goal.destination in facts["receptacles"]
                    assert goal.object in known["can_contain"][goal.destination]
                if goal.treatment is not None:
                    assert goal.object in known["attributes"][f"{goal.treatment[0]}able"]


# Proof


def test_names_are_numbered_downwards_within_a_word():
    assert names_of(["apple_bar_1", "apple_bar_2", "sink_bar_1_bar_sinkbasin", "sink_bar_1"]) == {
        "apple_bar_1": "apple 2",
        "apple_bar_2": "apple 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
        "sink_bar_1": "sink 1",
    }


def engine_of(game: MadeGame, *more: str) -> GameEngine:
    """The engine of a game, with further facts."""
    problem = game.data["pddl_problem"].replace("(:init\n", "\n".join(["(:init", *more, ""]))
    return read_engine({**game.data, "pddl_problem": problem}, game.id)


def test_a_game_without_its_goal_object_is_refused():
    game = sample()[0]
    facts = [fact for fact in initial_facts(game.house) if fact[0] != "objectType"]
    with pytest.raises(Unprovable, match="no way to"):
        find_walkthrough(engine_of(game), facts, game.goal)


def test_a_game_that_is_won_already_is_refused():
    game = sample()[0]
    target = next(item.id for item in game.house.items if item.type == game.goal.object)
    place = next(r.id for r in game.house.receptacles if r.type == game.goal.receptacle)
    with pytest.raises(Unprovable, match="before the first step"):
        find_walkthrough(
            engine_of(game, f"(inReceptacle {target} {place})"),
            initial_facts(game.house),
            game.goal,
        )


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9), st.integers(0, 10**5), st.sampled_from(DIALECTS))
def test_any_game_of_any_seed_is_proved(seed, index, dialect):
    game = make_game(seed, index, dialect)
    assert 2 <= len(game.walkthrough) <= 12
    assert wins_at_the_end(engine_of(game), game.walkthrough)


# Files


def test_the_folder_can_be_used_as_alfworld_data(tmp_path):
    made = make_games(1, 12, tmp_path / "deep" / "games", dialect="0.4", split="valid_seen")
    tasks = list_tasks(tmp_path / "deep" / "games", "valid_seen")
    assert [task.id for task in tasks] == sorted(made)
    assert Counter(map(type_of, made)) == dict.fromkeys(sorted(TASK_TYPES), 2)
    for task in tasks:
        path = Path(task.source["path"])
        assert json.loads(path.read_text())["solvable"] is True
        assert json.loads((path.parent / "traj_data.json").read_text())["task_type"] == task.type


def test_chosen_types_take_turns(tmp_path):
    made = make_games(
        1, 4, tmp_path / "games", types=["look_at_obj_in_light", "pick_two_obj_and_place"]
    )
    assert Counter(map(type_of, made)) == {"look_at_obj_in_light": 2, "pick_two_obj_and_place": 2}


def test_an_earlier_result_is_replaced_as_a_whole(tmp_path):
    out = tmp_path / "games"
    out.mkdir()
    make_games(1, 6, out)
    made = make_games(2, 2, out)
    assert {task.id for task in list_tasks(out, "train")} == set(made)
    assert [path.name for path in tmp_path.iterdir()] == ["games"]


def test_what_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not a folder of made games"):
        make_games(1, 1, tmp_path)
    with pytest.raises(InputError, match="is a file"):
        make_games(1, 1, tmp_path / "notes.txt")
    out = tmp_path / "games"
    make_games(1, 1, out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="no part of a folder of made games"):
        make_games(1, 1, out)
    assert (out / "notes.txt").read_text() == "mine"


def test_a_game_of_ones_own_among_made_ones_is_kept(tmp_path):
    """Its file has the name that made games have."""
    out = tmp_path / "games"
    make_games(1, 1, out)
    mine = out / GAMES_FOLDER / "train" / "mine" / "trial" / GAME_FILE
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"holds .*/mine"):
        make_games(1, 1, out)
    assert mine.read_text() == "mine"


def test_the_current_folder_is_not_taken_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the current folder"):
        make_games(1, 1, Path())
    assert Path.cwd() == tmp_path
    assert tmp_path.exists()


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("rpms.worlds.alfworld.games.make.make_game", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_games(1, 1, tmp_path / "games")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"games: cannot be (read|written)"):
        make_games(1, 1, tmp_path / "file" / "games")


def test_made_folders_can_be_read_by_others(tmp_path):
    make_games(1, 1, tmp_path / "games")
    assert stat.S_IMODE((tmp_path / "games").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": 0}, "count must be 1 or more"),
        ({"count": -3}, "count must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"dialect": "0.5"}, "unknown dialect '0.5'"),
        ({"types": ["pick_up"]}, "unknown task type 'pick_up'"),
        ({"types": []}, "no task type"),
        ({"split": "../up"}, "cannot name a split"),
        ({"split": "builtin"}, "cannot name a split"),
    ],
)
def test_wrong_arguments_are_explained_in_one_line(tmp_path, wrong, message):
    with pytest.raises(InputError, match=message) as caught:
        make_games(**{"seed": 1, "count": 1, "out": tmp_path / "games", **wrong})
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
