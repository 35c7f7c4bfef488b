"""The drop-in for ALFWorld's own environment: order, texts, infos, and misuse."""

import random
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from rpms.envs.alfworld import AlfredTWEnv, dealt
from rpms.logic.errors import FileError, InputError
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough
from rpms.worlds.alfworld.goals import goal_condition_rate
from tests.alfworld_games import load_builtin, save_builtin
from tests.envs.games import config_of, make_folder


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    return make_folder(tmp_path_factory.mktemp("games"))


@pytest.mark.parametrize(("count", "seed"), [(1, 0), (7, 1234), (60, 5), (500, 2**32 - 1)])
def test_games_are_dealt_as_numpy_deals_them(count, seed):
    dice = np.random.RandomState(seed)
    order = list(range(count))
    expected = []
    for _ in range(3):
        dice.shuffle(order)
        expected += order
    assert list(islice(dealt(range(count), seed), 3 * count)) == expected


def test_a_batch_plays_until_the_steps_are_used_up_and_then_stays(data):
    env = AlfredTWEnv(config_of(data, steps=3)).init_env(batch_size=2)
    observations, infos = env.reset()
    assert all(text.startswith("-= Welcome to TextWorld, ALFRED! =-") for text in observations)
    assert [Path(file).name for file in infos["extra.gamefile"]] == ["game.tw-pddl"] * 2
    for number in range(1, 4):
        observations, scores, dones, infos = env.step(
            [commands[0] for commands in infos["admissible_commands"]]
        )
        assert dones == (number == 3,) * 2
        assert scores == (0, 0)
        assert infos["extra.gamefile"] == [None, None]
    assert env.step(["look", "nonsense"]) == (observations, scores, dones, infos)


def test_scores_and_goal_conditions_follow_the_game(data):
    env = AlfredTWEnv(config_of(data, steps=50)).init_env(batch_size=1)
    dice = random.Random(0)
    for _ in range(30):
        _, infos = env.reset()
        dones = (False,)
        while not dones[0]:
            _, scores, dones, infos = env.step([dice.choice(infos["admissible_commands"][0])])
            assert scores == (int(infos["won"][0]),)
            assert (infos["goal_condition_success_rate"] == [1.0]) == infos["won"][0]


def test_a_game_that_is_won_is_over(tmp_path):
    name = builtin_ids()[0]
    save_builtin(name, tmp_path / "json_2.1.1" / "train")
    env = AlfredTWEnv(config_of(tmp_path, steps=50)).init_env(batch_size=1)
    env.reset()
    seen = [env.step([command]) for command in builtin_walkthrough(name)]
    assert [(scores, dones) for _, scores, dones, _ in seen[:-1]] == [((0,), (False,))] * (
        len(seen) - 1
    )
    _, scores, dones, infos = seen[-1]
    assert (scores, dones, infos["won"]) == ((1,), (True,), [True])


@pytest.mark.parametrize("name", builtin_ids())
def test_goal_conditions_are_all_met_exactly_where_the_game_is_won(name):
    engine = load_builtin(name)
    rate = goal_condition_rate(engine)
    state, _ = engine.reset()
    assert rate(state) < 1
    seen = [rate(state)]
    for command in builtin_walkthrough(name):
        state, _ = engine.step(state, command)
        seen.append(rate(state))
        assert (seen[-1] == 1) == engine.won(state)
    assert engine.won(state)
    assert len(set(seen)) > (1 if name.startswith("pick_and_place_simple") else 2)


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_either_dialect_is_a_switch(data, dialect):
    env = AlfredTWEnv(config_of(data, steps=50), dialect=dialect).init_env(batch_size=6)
    _, infos = env.reset()
    offered = set()
    dice = random.Random(1)
    for _ in range(30):
        infos = env.step([dice.choice(commands) for commands in infos["admissible_commands"]])[-1]
        offered |= {
            command.split()[0] for commands in infos["admissible_commands"] for command in commands
        }
    assert ("put" in offered, "move" in offered, "help" in offered) == (
        (True, False, False) if dialect == "0.3" else (False, True, True)
    )


def test_the_parts_are_the_original_ones(data, tmp_path):
    make_folder(tmp_path, 2, split="valid_seen")
    config = config_of(data)
    config["dataset"]["eval_id_data_path"] = str(
        tmp_path / "games-0.3-valid_seen" / "json_2.1.1" / "valid_seen"
    )
    assert AlfredTWEnv(config, "eval_in_distribution").num_games == 2
    config["dataset"]["num_eval_games"] = 1
    assert AlfredTWEnv(config, train_eval="eval_in_distribution").num_games == 1
    config["env"]["task_types"] = [1]
    assert all("pick_and_place_simple" in file for file in AlfredTWEnv(config).game_files)


def test_seed_and_skip_choose_what_is_played(data):
    env = AlfredTWEnv(config_of(data)).init_env(batch_size=1)
    assert env.seed(3) == [3]
    first = [env.reset()[1]["extra.gamefile"][0] for _ in range(4)]
    env.seed(3)
    env.skip(2)
    assert env.reset()[1]["extra.gamefile"] == [first[2]]


def test_misuse_is_one_clear_line(data, tmp_path):
    games = AlfredTWEnv(config_of(data))
    env = games.init_env(batch_size=2)
    with pytest.raises(InputError, match=r"step\(\) before reset\(\)"):
        env.step(["look", "look"])
    env.reset()
    with pytest.raises(InputError, match="3 commands for a batch of 2"):
        env.step(["look"] * 3)
    with pytest.raises(InputError, match="one text for a batch of 2"):
        env.step("look")
    with pytest.raises(InputError, match="one int for a batch of 2"):
        env.step(5)
    with pytest.raises(InputError, match="was given 2 as a command: a command is a text"):
        env.step(["look", 2])
    for size in (0, 2.5, True, "2"):
        with pytest.raises(
            InputError, match=f"a batch of '?{size}'? games: give a whole number, 1 or more"
        ):
            games.init_env(batch_size=size)
    with pytest.raises(
        InputError,
        match="train_eval is one of train, eval_in_distribution, eval_out_of_distribution",
    ):
        AlfredTWEnv(config_of(data), "test")
    with pytest.raises(InputError, match=r"no dialect '0\.5'"):
        AlfredTWEnv(config_of(data), dialect="0.5")
    with pytest.raises(InputError, match="eval_ood_data_path: no folder"):
        AlfredTWEnv(config_of(data), "eval_out_of_distribution")
    with pytest.raises(InputError, match="training_method is 'ppo'"):
        AlfredTWEnv(config_of(data, method="ppo")).init_env(1)
    with pytest.raises(InputError, match="seed of -1"):
        env.seed(-1)
    with pytest.raises(InputError, match="domain_randomization"):
        AlfredTWEnv({"env": {"domain_randomization": True}})
    with pytest.raises(InputError, match=r"env\.goal_desc_human_anns_prob cannot be read"):
        AlfredTWEnv({"env": "no section"})


def test_a_damaged_game_is_named(tmp_path):
    data = make_folder(tmp_path, 1)
    (file,) = data.rglob("game.tw-pddl")
    env = AlfredTWEnv(config_of(data)).init_env(1)
    env.reset()
    file.write_text("{}")
    with pytest.raises(FileError, match=r"game\.tw-pddl: is not a game file"):
        env.reset()


@pytest.mark.parametrize(
    ("config", "train_eval"),
    [
        (5, "train"),
        ({}, ["train"]),
        ({"env": {"task_types": 5}}, "train"),
        ({"env": {"task_types": ["look"]}}, "train"),
        ({"env": {"goal_desc_human_anns_prob": "often"}}, "train"),
        ({"env": {"goal_desc_human_anns_prob": 10**400}}, "train"),
        ({"env": {"domain_randomization": "yes"}}, "train"),
        ({"dataset": {"num_eval_games": float("inf")}}, "eval_in_distribution"),
        ({"dataset": {"num_eval_games": 1.5}}, "eval_in_distribution"),
        ({"dataset": {"eval_id_data_path": 7}}, "eval_in_distribution"),
        ({"dataset": {"eval_id_data_path": "x" * 5_000}}, "eval_in_distribution"),
        ({"dataset": {"eval_id_data_path": "a\0b"}}, "eval_in_distribution"),
        ({"general": {"training_method": ["dqn"]}}, "eval_in_distribution"),
    ],
)
def test_a_wrong_value_in_a_configuration_is_one_line(data, config, train_eval):
    if isinstance(config, dict) and "dataset" not in config:
        config = {**config, "dataset": {"data_path": str(data), "eval_id_data_path": str(data)}}
    elif isinstance(config, dict):
        config = {**config, "dataset": {"eval_id_data_path": str(data), **config["dataset"]}}
    with pytest.raises(InputError) as caught:
        AlfredTWEnv(config, train_eval).init_env(1)
    assert "\n" not in str(caught.value)


def test_seeds_and_numbers_of_games_are_whole(data):
    env = AlfredTWEnv(
        {"dataset": {"eval_id_data_path": str(data)}}, "eval_in_distribution"
    ).init_env(1)
    for call, value in ((env.seed, "x"), (env.seed, 1.5), (env.skip, "x"), (env.skip, -1)):
        with pytest.raises(InputError, match="whole number"):
            call(value)
