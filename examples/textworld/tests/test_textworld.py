"""It is sound, and whoever follows its manual wins."""

from __future__ import annotations

import pytest

pytest.importorskip("textworld", reason="needs TextWorld: pip install textworld")

from textworld_world import world
from textworld_world.games import KINDS

from rpms import Agent
from rpms.conformance import Status, check_world
from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import Goal
from rpms.worlds.base import Setting, World

CHECKED = ("manual", "goals", "belief", "schemas", "effects", "drift")


def test_it_has_every_property_of_a_world() -> None:
    """Runs the checks of `rpms worlds check`, on three short walks."""
    findings = check_world(world, games=3, steps=4, only=CHECKED)
    assert {
        finding.name: finding.detail for finding in findings if finding.status is not Status.OK
    } == {}


class Unnamed(type(world)):  # type: ignore[misc]
    """The same games, where nothing of the goal has a name before it is seen."""

    def start(self, goal: Goal) -> Belief:
        return FactBelief()


def played(own: World, kind: str, **settings: str) -> tuple[list[str], bool]:
    """The commands of the planner in the third training game of a kind, and if they win."""
    task = next(task for task in own.tasks("train", Setting()) if task.id == f"{kind}-3")
    game = own.open(task, Setting())
    agent = Agent(own, model="planner", condition="rules-only", **settings)
    outcome = game.reset()
    agent.reset(outcome.observation)
    commands: list[str] = []
    for _ in range(own.step_budget):
        commands.append(agent.act(outcome.observation))
        outcome = game.step(commands[-1])
        if outcome.done:
            break
    return commands, outcome.won


@pytest.mark.parametrize("kind", KINDS)
def test_the_planner_wins(kind: str) -> None:
    assert played(world, kind)[1]


@pytest.mark.parametrize("own", [world, Unnamed()], ids=["named", "unnamed"])
@pytest.mark.parametrize("kind", KINDS)
def test_doubt_changes_no_command_of_a_sound_manual(kind: str, own: World) -> None:
    trusting, won = played(own, kind, preset="strict", enforce="doubt=off")
    assert won
    assert played(own, kind, preset="strict") == (trusting, won)
