"""A goal that asks for what the house does not have was misread: the game ends, and no line of the
manual is doubted for it, or only in a few steps where such a thing might be made."""

from dataclasses import replace

import pytest

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan, menu_best
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


class Reworded(ScienceWorldGame):
    """A train variation whose task is told in other words."""

    def __init__(self, name, variation, task):
        super().__init__(name, variation)
        self._task = task

    def _open(self, simulator):
        shown = super()._open(simulator).observation.partition("\n\n")[2]
        return Outcome(f"{self._task}\n\n{shown}")


BOIL_MERCURY = (
    "Your task is to boil mercury. For compounds without a boiling point, combusting the"
    " substance is also acceptable. First, focus on the substance. Then, take actions that will"
    " cause it to change its state of matter."
)
PLANNER = PolicyModel("planner", follow_plan)


def played(model, name, variation, told):
    task = task_at(name, variation)
    condition = replace(RULES_ONLY, enforcement=STRICT)
    mind = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, model, Decoding())
    game = Reworded(name, variation, told)
    try:
        return play(Play(player, game, task, 100))
    finally:
        game.close()


def doubts(step):
    """The lines that the plans of a step doubt."""
    return [
        link.doubt
        for option in plan_of(step.decision).options
        for link in option.chain
        if link.doubt
    ]


@pytest.mark.parametrize("variation", [1, 7, 50])
def test_where_the_box_of_a_goal_is_nowhere_the_game_ends_once_every_room_is_searched(variation):
    told = (
        "Your task is to find a(n) non-living thing. First, focus on the thing. Then, move it to"
        " the purple box in the kitchen."
    )
    episode = played(PLANNER, "find-non-living-thing", variation, told)
    assert episode.ending is Ending.STUCK
    assert not [step.number for step in episode.steps if doubts(step)]


def test_where_the_substance_of_a_goal_is_nowhere_few_steps_doubt_how_it_is_made():
    episode = played(PLANNER, "boil", 0, BOIL_MERCURY)
    assert episode.ending is Ending.STUCK
    assert sum(bool(doubts(step)) for step in episode.steps) == 10
    assert episode.error == "no mercury is in any place here"


def test_who_chooses_from_menus_doubts_further_and_ends_where_there_is_no_menu():
    episode = played(menu_best("menu-best"), "boil", 0, BOIL_MERCURY)
    assert episode.ending is Ending.STUCK
    assert sum(not step.decision.menu.choices for step in episode.steps) <= 1
    assert sum(bool(doubts(step)) for step in episode.steps) > 10
