"""TRL's environment_factory, driven by a stand-in loop that makes the calls TRL documents, in
its order.
"""

import inspect

import pytest

from rpms.envs.trl import _asking_for_calls, environment_factory, prompts
from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough
from rpms.worlds.registry import find_world

CONTROL = ("reset", "get_reward")


def tools_of(environment) -> dict:
    """As the trainer finds them: public methods, looked up on the class."""
    names = [
        name for name, _ in inspect.getmembers(type(environment), predicate=inspect.isfunction)
    ]
    return {
        name: getattr(environment, name)
        for name in names
        if name not in CONTROL and not name.startswith("_")
    }


class Trainer:
    """Draws environments from a pool, resets each with its row, calls tools until the model
    stops, asks for rewards.
    """

    def __init__(self, factory, model) -> None:
        self.factory, self.model, self.pool = factory, model, [factory()]

    def rollouts(self, rows: list[dict]) -> tuple[list[float], list[list[dict]]]:
        self.pool += [self.factory() for _ in range(len(rows) - len(self.pool))]
        environments = self.pool[: len(rows)]
        talks = []
        for environment, row in zip(environments, rows, strict=True):
            last = row["prompt"][-1]
            opening = environment.reset(**row)
            talks.append([*row["prompt"][:-1], {**last, "content": last["content"] + opening}])
        for environment, row, talk in zip(environments, rows, talks, strict=True):
            for name, arguments in self.model(row):
                try:
                    answer = tools_of(environment)[name](**arguments)
                except InputError as error:
                    answer = {"error": str(error)}
                talk.append({"role": "tool", "name": name, "content": str(answer)})
        return [environment.get_reward() for environment in environments], talks


def test_a_policy_that_knows_the_way_is_rewarded_and_one_that_does_not_is_not():
    def model(row):
        commands = builtin_walkthrough(row["task"]) if row["good"] else ("look", "dance")
        return [("act", {"command": command}) for command in commands]

    rows = [
        {**row, "good": place % 2 == 0}
        for place, row in enumerate(prompts("alfworld", "builtin", limit=6))
    ]
    trainer = Trainer(environment_factory("alfworld", "builtin"), model)
    for _ in range(2):  # instances are reused from batch to batch
        rewards, talks = trainer.rollouts(rows)
        assert rewards == [1.0, 0.0] * 3
    assert talks[0][-1]["content"].endswith("You have done the task.")
    assert talks[1][-1]["content"] == "Nothing happens."
    assert "Your task is to:" in talks[0][1]["content"]


def test_a_model_has_one_tool_and_its_words_say_how_to_use_it():
    tools = tools_of(environment_factory("alfworld")())
    assert list(tools) == ["act"]
    signature = inspect.signature(tools["act"], eval_str=True)
    assert {name: each.annotation for name, each in signature.parameters.items()} == {
        "command": str
    }
    assert "Args:\n    command: " in inspect.getdoc(tools["act"])


@pytest.mark.parametrize("world", ["alfworld", "scienceworld", "tau2-telecom", "textworld-express"])
def test_a_prompt_asks_for_calls_and_for_nothing_written(world):
    asked = _asking_for_calls(find_world(world).wording.instruction)
    assert "by calling the tool `act` with it" in asked
    assert [
        each for each in ("Thought:", "Action:", "in this form", "short thought") if each in asked
    ] == []


def test_a_row_has_the_prompt_that_asks_for_calls():
    system, user = prompts("alfworld", "builtin", limit=1)[0]["prompt"]
    assert (
        "answer with one action, by calling the tool `act` with it.\nThe available actions are:"
        in system["content"]
    )
    assert "Use the tool `act`" in user["content"]


def test_the_generations_of_a_prompt_play_one_game():
    factory = environment_factory("alfworld", options={"dialect": "0.4"})
    (row,) = prompts("alfworld", limit=1)
    assert row["task"] == builtin_ids()[0]
    one, other = factory(), factory()
    assert one.reset(**row) == other.reset(**row)
    one.act("go to bed 1")
    assert other.act("help").startswith("Available commands")
    assert one.reset(seed=3) == other.reset(seed=3)


def test_misuse_is_one_clear_line():
    with pytest.raises(InputError, match="no split 'nope'"):
        environment_factory("alfworld", "nope")
    with pytest.raises(InputError, match="unknown world"):
        environment_factory("alfwrld")
    with pytest.raises(InputError, match="a limit of 0"):
        prompts("alfworld", limit=0)
    environment = environment_factory("alfworld", max_steps=1)()
    with pytest.raises(InputError, match="step before reset"):
        environment.act("look")
    with pytest.raises(InputError, match="did you mean"):
        environment.reset(task="nope")
    environment.reset()
    assert environment.act("look").endswith("The episode is over; the task is not done.")
    with pytest.raises(InputError, match="step after the end"):
        environment.act("look")


@pytest.mark.parametrize(
    "world", [None, 5, b"alfworld", object(), ["alfworld"], "x" * 100_000, "a\0b"]
)
def test_what_is_no_world_is_one_line(world):
    for make in (environment_factory, prompts):
        with pytest.raises(InputError) as caught:
            make(world)
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("limit", [0, -1, "2", 1.5, True])
def test_a_limit_is_a_number_of_rows(limit):
    with pytest.raises(InputError, match="leaves no rows"):
        prompts("alfworld", limit=limit)
