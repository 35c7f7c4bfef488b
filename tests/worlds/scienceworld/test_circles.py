"""Circles of two in the simulator are noticed."""

from dataclasses import replace

import pytest

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Episode, Step
from rpms.paper.recall import EpisodicMemory
from rpms.planning.noticed import SurpriseKind
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import task_at
from rpms.worlds.scienceworld.world import ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)


class TwoPlanes(ScienceWorldGame):
    """A train variation with one plane of its own goal, and another that is nowhere."""

    def _open(self, simulator):
        shown = super()._open(simulator).observation.partition("\n\n")[2]
        task = (
            "Your task is to determine which of the two inclined planes (tin, lead) has the most"
            " friction. After completing your experiment, focus on the inclined plane with the most"
            " friction."
        )
        return Outcome(f"{task}\n\n{shown}")


def played(steps: int) -> Episode:
    """The game by its plans, under doubt."""
    task = task_at("inclined-plane-friction-named-surfaces", 930)
    condition = replace(RULES_ONLY, enforcement=STRICT)
    mind = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    game = TwoPlanes(task.type, 930)
    try:
        return play(Play(player, game, task, steps))
    finally:
        game.close()


def state_of(step: Step) -> str:
    """All that is known at a step."""
    belief = step.decision.belief
    return f"{belief.signature()} {belief.fingerprint}"


def test_walking_to_and_fro_while_a_block_slides_is_noticed():
    """The plane that is nowhere is looked for next door, and from there back where the block is."""
    steps = played(40).steps
    back = [
        place
        for place in range(2, len(steps))
        if state_of(steps[place]) == state_of(steps[place - 2])
        and steps[place - 1].command.startswith("go to ")
    ]
    assert back
    for place in back:  # the answer to the step before shows it
        assert SurpriseKind.CIRCLE in {one.kind for one in steps[place - 1].surprises}
