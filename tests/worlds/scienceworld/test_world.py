"""The World object: its settings, its mistakes, and playing with it."""

import pytest
from laboratory import REFUSALS, after

from rpms.logic.errors import InputError
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import PAPER_TASKS
from rpms.worlds.scienceworld.world import ScienceWorldGame


def test_it_is_found_by_its_name():
    assert find_world("scienceworld") is world
    assert (world.name, world.step_budget, world.max_tokens, world.engines) == (
        "scienceworld",
        100,
        512,
        ("native",),
    )
    assert world.splits == ("dev", "train", "test")


def test_the_papers_episodes_are_the_default():
    assert len(world.tasks("test", Setting(options={"per_task": "10"}))) == 241
    assert {task.type for task in world.tasks("dev", Setting())} == set(PAPER_TASKS)


def test_tasks_and_their_number_can_be_chosen():
    setting = Setting(options={"tasks": "boil, melt,power-component", "per_task": "2"})
    assert [task.id for task in world.tasks("dev", setting)] == [
        "boil/14", "boil/15", "melt/14", "melt/15", "power-component/10", "power-component/11",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"task": "boil"}, "no option 'task'"),
        ({"tasks": "boll"}, "did you mean boil"),
        ({"per_task": "all"}, "write a number"),
        ({"per_task": "0"}, "1 or more"),
        ({"simplifications": "esy"}, "did you mean easy"),
        (
            {"simplifications": "noElectricalAction", "tasks": "boil,power-component"},
            "power-component cannot be done",
        ),
    ],
)
def test_a_wrong_option_is_one_clear_line(options, problem):
    with pytest.raises(InputError, match=problem):
        world.tasks("dev", Setting(options=options))


def test_a_wrong_split_is_one_clear_line():
    with pytest.raises(InputError, match="no split"):
        world.tasks("valid", Setting())


@pytest.mark.parametrize("answer", REFUSALS)
def test_refusals_count_as_infeasible(answer):
    assert world.infeasible(answer)


def test_nothing_is_said_of_a_game_that_is_no_simulator_or_does_not_run():
    assert world.contradictions(after(), object()) == ()
    assert world.contradictions(after(), ScienceWorldGame("boil", 0)) == ()


def test_a_goal_of_no_template_can_still_be_played():
    goal = world.goal("Do something nice.")
    belief = world.update(world.start(goal), None, "Do something nice.")
    assert str(belief.signature()) == "inventory=empty"


def test_experience_of_the_same_task_and_substance_is_nearest():
    alike = world.retrieval.similarity
    melt, other = world.goal("Your task is to melt water. First, focus on the substance."), world.goal(
        "Your task is to melt lead. First, focus on the substance.")  # fmt: skip
    boil = world.goal("Your task is to boil water. First, focus on the substance.")
    same, task, substance = (
        alike(melt.signature, found.signature) for found in (melt, other, boil)
    )
    assert same == 1.0
    assert same > task > substance >= world.retrieval.threshold
