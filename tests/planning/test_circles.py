"""An action that the next one undoes is a circle of two: it is noticed as one, and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.paper.wording import Wording
from rpms.planning.noticed import SurpriseKind
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Game, Outcome, Setting, Task, World

MANUAL = """
world: to-and-fro
predicates:
  full: {args: [vessel]}
  beside: {args: [vessel, other]}
  drunk: {args: [vessel]}
  at: {args: [room]}
  near: {args: [room, hall]}
  rung: {args: [room]}
goals:
  drink: {over: {x: object}, holds: [drunk(x)]}
  ring: {over: {x: object}, holds: [rung(x)]}
environment:
  pour:
    syntax: pour <other> into <vessel>
    preconditions: [full(other), not full(vessel)]
    effects: [full(vessel), not full(other)]
  drink:
    syntax: drink <vessel> by <other>
    preconditions: ["beside(vessel, other)", full(vessel), full(other)]
    effects: [drunk(vessel)]
  go:
    syntax: go from <hall> to <room>
    preconditions: [at(hall), not at(room)]
    effects: [at(room), not at(hall)]
  ring:
    syntax: ring in <room> from <hall>
    preconditions: ["near(room, hall)", at(room), at(hall)]
    effects: [rung(room)]
"""
"""To drink needs two full vessels, it says, and to ring two rooms at once: both are wrong."""


class ToAndFroGame:
    def __init__(self) -> None:
        self.full = "jug"
        self.room = "porch"

    def reset(self) -> Outcome:
        return Outcome("You see a cup and a jug.")

    def step(self, command: str) -> Outcome:
        if command in ("pour jug into cup", "pour cup into jug"):
            _, source, _, target = command.split()
            if self.full != source:
                return Outcome("That cannot be done.")
            self.full = target
            return Outcome(f"The {target} is full.")
        if command in ("go from porch to yard", "go from yard to porch"):
            self.room = command.rsplit(maxsplit=1)[-1]
            return Outcome(f"You are in the {self.room}.")
        wins = {
            "drink cup by jug": self.full == "cup",
            "ring in yard from porch": self.room == "yard",
        }
        if wins.get(command):
            return Outcome("Done.", 1.0, won=True, done=True)
        return Outcome("That cannot be done.")

    def admissible(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        pass


class ToAndFro(World):
    name = "to-and-fro"
    splits: tuple[str, ...] = ("all",)
    step_budget = 20
    wording = Wording("You pour and walk.", "Action: go from porch to yard")

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"no split {split}")
        return [Task("drink", split, "drink"), Task("ring", split, "ring")]

    def open(self, task: Task, setting: Setting) -> Game:
        return ToAndFroGame()

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("to-and-fro.yaml", MANUAL),)

    def goal(self, opening: str) -> Goal:
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, goal: Goal) -> Belief:
        belief = FactBelief().learn(vessel=["cup", "jug"], other=["cup", "jug"])
        belief = belief.learn(room=["yard", "porch"], hall=["yard", "porch"])
        belief = belief.learn(
            "full(jug)", "not full(cup)", "not beside(_, _)", "beside(cup, jug)", "not drunk(cup)"
        )
        return belief.learn(
            "at(porch)", "not at(yard)", "not near(_, _)", "near(yard, porch)", "not rung(yard)"
        )

    def update(self, belief: FactBelief, action: str | None, observation: str) -> FactBelief:
        if observation.endswith("is full."):
            full = observation.split()[1]
            other = "jug" if full == "cup" else "cup"
            return belief.learn(f"full({full})", f"not full({other})")
        if observation.startswith("You are in the "):
            room = observation.removeprefix("You are in the ").removesuffix(".")
            other = "yard" if room == "porch" else "porch"
            return belief.learn(f"at({room})", f"not at({other})")
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation == "That cannot be done."


def played(goal: Goal) -> Episode:
    """A game played by its plans."""

    class Told(ToAndFro):
        def goal(self, opening: str) -> Goal:
            return goal

    world = Told()
    condition = replace(RULES_ONLY, enforcement=STRICT)
    mind = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, open_model("planner"), Decoding())
    task = Task(goal.type, "all", goal.type)
    return play(Play(player, world.open(task, Setting()), task, world.step_budget))


GOALS = {
    "pouring": Goal("drink", "cup", text="drink from the cup"),
    "walking": Goal("ring", "yard", text="ring in the yard"),
}


def undoes(command: str, before: str) -> bool:
    """True if a command has the things of the one before it the other way round."""
    return command != before and sorted(command.split()) == sorted(before.split())


@pytest.mark.parametrize("name", GOALS)
def test_what_the_next_step_undoes_is_noticed_as_a_circle_of_two_and_not_done_again(name):
    episode = played(GOALS[name])
    undoing = [
        {surprise.kind for surprise in step.surprises}
        for before, step in pairwise(episode.steps)
        if undoes(step.command, before.command)
    ]
    assert len(undoing) == 1
    assert all(SurpriseKind.CIRCLE in kinds for kinds in undoing)
    assert episode.won
