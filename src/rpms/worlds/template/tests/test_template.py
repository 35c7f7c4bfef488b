"""It is sound, and whoever follows its manual wins."""

import pytest
from template_world import world

from rpms import Agent
from rpms.conformance import Status, check_world
from rpms.worlds.base import Setting, Task

TASKS = [task for split in world.splits for task in world.tasks(split, Setting())]


def test_it_has_every_property_of_a_world() -> None:
    """Runs the checks of `rpms worlds check`."""
    assert {
        finding.name: finding.detail
        for finding in check_world(world)
        if finding.status is not Status.OK
    } == {}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_planner_does_its_duty(task: Task) -> None:
    """This loop is also how any program of your own lets an agent act."""
    game = world.open(task, Setting())
    agent = Agent(world, model="planner", condition="rules-only")
    outcome = game.reset()
    agent.reset(outcome.observation)
    for _ in range(world.step_budget):
        outcome = game.step(agent.act(outcome.observation))
        assert not world.infeasible(outcome.observation)
        if outcome.done:
            break
    assert outcome.won
