"""Past the paper, in detail: what takes a refused answer's place, when advice is given, and
what a step keeps.
"""

from __future__ import annotations

from dataclasses import replace

from rpms.models.base import Answer, Decoding, Request
from rpms.models.policy import FunctionModel
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.enforcement import PAPER, Enforcement, GuardMode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome, Task
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 1, and a drawer 1.\n\n"
    "Your task is to: put a pen in desk."
)
NOTHING = "Nothing happens."


class Room:
    """A game that gives the same answer to everything."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def reset(self) -> Outcome:
        return Outcome(ROOM)

    def step(self, _command: str) -> Outcome:
        return Outcome(self._answer)

    def admissible(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        pass


def episode(enforcement: Enforcement, answer: Answer, world_says: str = NOTHING, steps: int = 1):
    asked: list[Request] = []

    def model(request: Request) -> Answer:
        asked.append(request)
        return answer

    mind = compose(replace(FULL, enforcement=enforcement), knowledge_of(WORLD), EpisodicMemory())
    game, task = Room(world_says), Task("pen", "pick_and_place_simple", {})
    return play(
        Play(Player(WORLD, mind, FunctionModel(model), Decoding()), game, task, steps)
    ).steps, asked


OPEN = Answer("Action: open drawer 1")


def test_without_a_menu_the_remedy_takes_the_place_of_an_answer_refused_to_the_last():
    (step,), asked = episode(replace(PAPER, guard=GuardMode.BLOCK, replace=True), OPEN)
    assert (len(asked), step.action, step.command) == (3, "open drawer 1", "go to drawer 1")
    assert step.replaced.startswith("refused to the last: ")
    assert step.objection == ""


def test_advice_is_given_only_where_the_world_refused():
    advise = replace(PAPER, guard=GuardMode.ADVISE)
    for world_says, advised in (
        (NOTHING, True),
        ("You open the drawer 1. In it, you see nothing.", False),
    ):
        steps, asked = episode(advise, OPEN, world_says, steps=2)
        assert steps[0].objection, "the guard was sure that it would fail"
        assert steps[0].infeasible is advised
        assert (f"Obs: {world_says} ({steps[0].objection})" in asked[1].prompt.text) is advised
        assert (steps[0].objection in asked[1].prompt.text) is advised


def test_a_step_keeps_what_the_models_side_had_to_do():
    (step,), _ = episode(PAPER, replace(OPEN, notes=("2 turns were dropped",)))
    assert step.notes == ("2 turns were dropped",)
