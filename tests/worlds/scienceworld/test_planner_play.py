"""The planner, played in the simulator: with the rules it wins, without them it explores."""

import pytest

from rpms.core.condition import compose, named_condition
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
from rpms.worlds.base import Setting
from rpms.worlds.scienceworld.tasks import task_at
from rpms.worlds.scienceworld.world import world

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")

CHEAP = (
    ("find-plant", 0),
    ("use-thermometer", 0),
    ("melt", 7),
    ("chemistry-mix", 0),
    ("chemistry-mix-paint-secondary-color", 0),
    ("identify-life-stages-2", 0),
    ("inclined-plane-determine-angle", 0),
    ("lifespan-longest-lived-then-shortest-lived", 0),
)
"""Train variations that take a second or two each."""


def played(name, variation, condition="rules-only", budget=100):
    mind = compose(named_condition(condition), knowledge_of(world), EpisodicMemory())
    task = task_at(name, variation)
    game = world.open(task, Setting())
    try:
        return play(Play(world, game, task, mind, PolicyModel("planner", world.planner), Decoding(), budget))
    finally:
        game.close()


@pytest.mark.parametrize(("name", "variation"), CHEAP)
def test_with_the_rules_it_reaches_the_full_score(name, variation):
    assert played(name, variation).score == 100


def test_without_rules_it_knows_no_procedure():
    episode = played("lifespan-longest-lived", 0, condition="baseline", budget=30)
    assert episode.score < 100
    assert not any(step.command.startswith("focus") for step in episode.steps)


def test_the_same_decision_gives_the_same_answer():
    episode = played("find-animal", 0, budget=6)
    for step in episode.steps:
        assert world.planner(step.decision) == (step.thought, step.action)
