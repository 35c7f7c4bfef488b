"""A goal that asks for a box which the house does not have was misread: the game ends, and no line
of the manual is doubted for it."""

from dataclasses import replace

import pytest

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import task_at
from rpms.worlds.scienceworld.world import ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)


class AnotherBox(ScienceWorldGame):
    """A train variation whose task names a box that no room has."""

    def _open(self, simulator):
        shown = super()._open(simulator).observation.partition("\n\n")[2]
        task = (
            "Your task is to find a(n) non-living thing. First, focus on the thing. Then, move it to"
            " the purple box in the kitchen."
        )
        return Outcome(f"{task}\n\n{shown}")


def test_where_the_box_of_a_goal_is_nowhere_the_game_ends_once_every_room_is_searched():
    task = task_at("find-non-living-thing", 1)
    condition = replace(RULES_ONLY, enforcement=STRICT)
    mind = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    game = AnotherBox(task.type, 1)
    try:
        episode = play(Play(player, game, task, 100))
    finally:
        game.close()
    assert episode.ending is Ending.STUCK
    options = plan_of(episode.steps[-1].decision).options
    assert not [link.doubt for option in options for link in option.chain if link.doubt]
