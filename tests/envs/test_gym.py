"""Gymnasium: registered ids, its own checker, the vectorised form, and misuse."""

from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

import rpms.envs.gym as rpms_gym
from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough
from rpms.worlds.registry import world_names
from tests import toolbox

ALFWORLD = "rpms/ALFWorld-v0"
NAME = builtin_ids()[0]


def test_every_installed_world_has_an_id():
    ids = rpms_gym.register_worlds()
    assert {"rpms/ALFWorld-v0", "rpms/ScienceWorld-v0"} <= set(ids)
    assert len(ids) == len(world_names())
    assert all(gymnasium.spec(name).kwargs["world"] in world_names() for name in ids)


def test_a_world_of_another_package_has_one_too(monkeypatch):
    toolbox.register(monkeypatch, EntryPoint("toolbox", "toolbox_world:world", "rpms.worlds"))
    assert "rpms/Toolbox-v0" in rpms_gym.register_worlds()
    check_env(gymnasium.make("rpms/Toolbox-v0").unwrapped)
    del gymnasium.registry["rpms/Toolbox-v0"]
    assert rpms_gym.env_id("my_world") == "rpms/MyWorld-v0"


def test_gymnasiums_own_checker_passes():
    check_env(gymnasium.make(ALFWORLD, max_steps=20).unwrapped)
    check_env(gymnasium.make(ALFWORLD, admissible=True, options={"dialect": "0.4"}).unwrapped)


def test_a_walkthrough_wins_and_is_rewarded_once():
    env = gymnasium.make(ALFWORLD)
    _, info = env.reset(options={"task": NAME})
    assert info["task"] == NAME
    steps = [env.step(command) for command in builtin_walkthrough(NAME)]
    assert [step[1] for step in steps] == [0.0] * (len(steps) - 1) + [1.0]
    assert [step[2] for step in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1][4]["won"]
    with pytest.raises(InputError, match="step after the end: this episode is over"):
        env.step("look")
    env.close()


def test_a_seed_names_a_task():
    one, other = gymnasium.make(ALFWORLD), gymnasium.make(ALFWORLD)
    drawn = [one.reset(seed=seed)[1]["task"] for seed in range(12)]
    assert drawn == [other.reset(seed=seed)[1]["task"] for seed in range(12)]
    assert len(set(drawn)) > 3
    assert one.reset(options={"task": 5})[1]["task"] == builtin_ids()[5]


def test_steps_that_are_used_up_truncate():
    env = gymnasium.make(ALFWORLD, max_steps=2)
    env.reset(seed=0)
    assert env.step("look")[2:4] == (False, False)
    assert env.step("look")[2:4] == (False, True)
    with pytest.raises(InputError, match="has used up its 2 steps"):
        env.step("look")


def test_misuse_is_one_clear_line():
    with pytest.raises(gymnasium.error.NameNotFound, match="`AlfWorld` doesn't exist"):
        gymnasium.make("rpms/AlfWorld-v0")
    with pytest.raises(gymnasium.error.ResetNeeded):
        gymnasium.make(ALFWORLD).step("look")
    with pytest.raises(InputError, match="step before reset"):
        rpms_gym.WorldEnv("alfworld").step("look")
    with pytest.raises(InputError, match="no split 'nope'"):
        rpms_gym.WorldEnv("alfworld", "nope")
    with pytest.raises(InputError, match="no option 'colour'"):
        rpms_gym.WorldEnv("alfworld", options={"colour": "red"})
    with pytest.raises(InputError, match="no engine 'steam'"):
        rpms_gym.WorldEnv("alfworld", engine="steam")
    env = rpms_gym.WorldEnv("alfworld")
    with pytest.raises(InputError, match="nothing is admissible before reset"):
        env.admissible_commands()
    with pytest.raises(InputError, match=f"did you mean {NAME}"):
        env.reset(options={"task": NAME[:-1]})
    with pytest.raises(InputError, match="has 0 to 23"):
        env.reset(options={"task": 24})
    with pytest.raises(InputError, match="a goal is a text"):
        env.reset(options={"goal": 1})
    with pytest.raises(InputError, match="reset has no option aim"):
        env.reset(options={"aim": 1})
    env.reset()
    with pytest.raises(InputError, match="a command is a text, not int"):
        env.step(3)


def test_many_games_in_one_process_go_on_by_themselves():
    envs = gymnasium.make_vec(ALFWORLD, num_envs=3, max_steps=2, admissible=True)
    observations, infos = envs.reset(seed=5)
    assert observations in envs.observation_space
    single = gymnasium.make(ALFWORLD)
    assert list(infos["task"]) == [single.reset(seed=seed)[1]["task"] for seed in (5, 6, 7)]
    envs.step([commands[0] for commands in infos["admissible_commands"]])
    *_, truncated, infos = envs.step(("look",) * 3)
    assert truncated.all()
    observations, rewards, terminated, truncated, infos = envs.step(("look",) * 3)
    assert all(text.startswith("-= Welcome") for text in observations)
    assert (infos["steps"] == 0).all()
    assert not np.concatenate([rewards, terminated, truncated]).any()
    assert infos["_won"].all()
    assert infos["won"].dtype == np.bool_
    envs.close()


def test_the_vectorised_form_is_gymnasiums_own():
    """The same commands, ours and Gymnasium's SyncVectorEnv: the same arrays."""
    ours = gymnasium.make_vec(ALFWORLD, num_envs=2, max_steps=3)
    theirs = gymnasium.make_vec(ALFWORLD, num_envs=2, vectorization_mode="sync", max_steps=3)
    seen = [envs.reset(seed=1) for envs in (ours, theirs)]
    for commands in (("look", "inventory"),) * 7:
        seen += [envs.step(commands) for envs in (ours, theirs)]
    for one, other in zip(seen[::2], seen[1::2], strict=True):
        assert one[0] == other[0]
        assert all(np.array_equal(a, b) for a, b in zip(one[1:-1], other[1:-1], strict=True))
        assert one[-1].keys() == other[-1].keys()
        assert all(np.array_equal(one[-1][name], other[-1][name]) for name in one[-1])


def test_vector_misuse_is_one_clear_line():
    envs = rpms_gym.WorldVectorEnv(2)
    with pytest.raises(InputError, match="step before reset"):
        envs.step(["look"] * 2)
    with pytest.raises(InputError, match="3 seeds for 2 environments"):
        envs.reset(seed=[1, 2, 3])
    for seed in (np.array(7), b"ab"):
        with pytest.raises(InputError, match=r"one \w+ for 2 environments"):
            envs.reset(seed=seed)
    envs.reset()
    with pytest.raises(InputError, match="1 commands for 2 environments"):
        envs.step(["look"])
    with pytest.raises(InputError, match="one text for 2 environments"):
        envs.step("look")
    with pytest.raises(InputError, match="0 environments"):
        rpms_gym.WorldVectorEnv(0)
    for wrong in (5, True, ["task"], "task", {1: 2}):
        with pytest.raises(InputError, match="options are given by name"):
            envs.reset(options=wrong)
        with pytest.raises(InputError, match="a world's options are given by name"):
            rpms_gym.WorldEnv("alfworld", options=wrong)


def test_games_in_processes_of_their_own_work_too():
    make = [lambda: rpms_gym.WorldEnv("alfworld")] * 2
    with pytest.raises(ValueError, match="shared_memory=False"):
        AsyncVectorEnv(make)
    envs = AsyncVectorEnv(make, shared_memory=False)
    try:
        observations, _ = envs.reset(seed=3)
        single, _ = rpms_gym.WorldEnv("alfworld").reset(seed=4)
        assert observations[1] == single
    finally:
        envs.close()


@pytest.mark.parametrize("number", [1.5, "2", None, 0, True])
def test_a_number_of_environments_is_whole(number):
    with pytest.raises(InputError, match="give a whole number"):
        rpms_gym.WorldVectorEnv(number)


def test_one_bad_command_steps_no_game():
    env = rpms_gym.WorldVectorEnv(3)
    env.reset(seed=1)
    for wrong in (["look", "look", 7], ["look", None, "look"], 7, ["look"]):
        with pytest.raises(InputError):
            env.step(wrong)
    assert [game.steps for game in env.games] == [0, 0, 0]
    with pytest.raises(InputError, match="a seed is a whole number"):
        env.reset(seed=["x", 1, 2])
    env.close()


def test_an_opening_states_a_goal_in_ones_own_words():
    env = gymnasium.make("rpms/ALFWorld-v0")
    observation, _ = env.reset(seed=1, options={"goal": "leave a cold potato on the counter"})
    assert observation.endswith("Your task is to: leave a cold potato on the counter")
    env.close()
    human = gymnasium.make("rpms/ALFWorld-v0", options={"goals": "human"})
    observation, info = human.reset(options={"task": 0})
    assert info["task"].endswith("#1")
    assert "lamplight" in observation
    human.close()


@pytest.mark.parametrize("data", [5, b"x", ["x"], "a\0b", object()])
def test_data_is_the_path_of_a_folder(data):
    with pytest.raises(InputError, match="data is the path of a folder"):
        rpms_gym.WorldEnv("alfworld", data=data)


def test_seeds_of_numpy_draw_the_same_tasks():
    numpy = pytest.importorskip("numpy")
    vector = rpms_gym.WorldVectorEnv(2, "alfworld")
    plain = vector.reset(seed=[3, 4])[1]["task"]
    for seeds in (3, numpy.int64(3), numpy.array([3, 4]), [numpy.uint8(3), 4]):
        assert list(vector.reset(seed=seeds)[1]["task"]) == list(plain)
    vector.close()
    env = rpms_gym.WorldEnv("alfworld")
    assert env.reset(seed=numpy.int64(3))[1]["task"] == env.reset(seed=3)[1]["task"]
    for seed in (numpy.float64(3), "3", -1, numpy.bool_(True)):
        with pytest.raises(InputError, match="a seed is a whole number"):
            env.reset(seed=seed)


@pytest.mark.parametrize("name", ["x" * 100_000, "a b " * 25_000])
def test_a_long_name_is_not_echoed_whole(name):
    for make in (
        lambda: rpms_gym.WorldEnv(name),
        lambda: rpms_gym.WorldEnv("alfworld", split=name),
        lambda: rpms_gym.WorldEnv("alfworld", engine=name),
        lambda: rpms_gym.WorldEnv("alfworld", options={name: "x"}),
        lambda: rpms_gym.WorldEnv("alfworld", options={"dialect": name}),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert len(str(caught.value)) < 5_000
