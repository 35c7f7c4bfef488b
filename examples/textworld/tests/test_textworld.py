"""It is sound, and whoever follows its manual wins."""

from __future__ import annotations

import pytest

pytest.importorskip("textworld", reason="needs TextWorld: pip install textworld")

from textworld_world import world
from textworld_world.games import KINDS

from rpms import Agent
from rpms.conformance import Status, check_world
from rpms.worlds.base import Setting

CHECKED = ("manual", "goals", "belief", "schemas", "effects", "drift")


def test_it_has_every_property_of_a_world() -> None:
    """Runs the checks of `rpms worlds check`, on three short walks."""
    findings = check_world(world, games=3, steps=4, only=CHECKED)
    assert {
        finding.name: finding.detail for finding in findings if finding.status is not Status.OK
    } == {}


@pytest.mark.parametrize("kind", KINDS)
def test_the_planner_wins(kind: str) -> None:
    """The third training game of each kind."""
    task = next(task for task in world.tasks("train", Setting()) if task.id == f"{kind}-3")
    game = world.open(task, Setting())
    agent = Agent(world, model="planner", condition="rules-only")
    outcome = game.reset()
    agent.reset(outcome.observation)
    for _ in range(world.step_budget):
        outcome = game.step(agent.act(outcome.observation))
        if outcome.done:
            break
    assert outcome.won
