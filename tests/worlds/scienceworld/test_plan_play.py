"""Plans of the manual, played in the simulator on train variations: as they are, and as menus
under enforcement.
"""

from dataclasses import replace

import pytest

from rpms.learning.harvest import harvest
from rpms.models.base import Answer, Decoding
from rpms.models.policy import FunctionModel, PolicyModel, follow_plan, menu_best, menu_random
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, named_condition
from rpms.paper.enforcement import PAPER, STRICT, GuardMode
from rpms.paper.episode import Ending
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import task_at

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)

KNOWLEDGE = knowledge_of(world)
PLANNER = PolicyModel("planner", follow_plan)
WINNABLE = (
    ("find-plant", 0),
    ("find-non-living-thing", 1),
    ("use-thermometer", 0),
    ("use-thermometer", 1),  # the substance cools, and is 50 degrees warm when it is in its box
    ("measure-melting-point-known-substance", 0),
    ("melt", 7),
    ("freeze", 0),
    ("chemistry-mix", 0),
    ("chemistry-mix-paint-tertiary-color", 3),
    ("grow-plant", 0),
    ("identify-life-stages-2", 0),
    ("inclined-plane-determine-angle", 0),
    ("lifespan-longest-lived-then-shortest-lived", 0),
    ("mendelian-genetics-known-plant", 0),
    ("power-component-renewable-vs-nonrenewable-energy", 0),
    ("test-conductivity", 0),
)
NOT_INJECTED = (Part.INSTRUCTION, Part.EXAMPLE, Part.HISTORY, Part.OBSERVATION)


def played(model, name, variation, budget=100, condition=FULL, memory=None):
    mind = compose(condition, KNOWLEDGE, memory or EpisodicMemory())
    task = task_at(name, variation)
    game = world.open(task, Setting())
    try:
        return play(Play(Player(world, mind, model, Decoding()), game, task, budget))
    finally:
        game.close()


def enforced(enforcement=STRICT):
    return replace(FULL, enforcement=enforcement)


def always(*actions):
    """A model that says these actions, the last one for ever."""
    left = list(actions)
    return FunctionModel(
        lambda _request: Answer(f"Action: {left.pop(0) if len(left) > 1 else left[0]}")
    )


@pytest.mark.parametrize(("name", "variation"), WINNABLE)
def test_the_best_entry_of_each_menu_leads_to_the_full_score(name, variation):
    episode = played(menu_best("menu-best"), name, variation, condition=enforced())
    assert episode.score == 100
    assert sum(step.infeasible for step in episode.steps) <= len(episode.steps) / 10


@pytest.mark.parametrize(
    ("name", "variation"),
    [
        ("boil", 0),
        ("grow-fruit", 0),
        ("mendelian-genetics-unknown-plant", 0),
        ("use-thermometer", 24),  # both pass the threshold on the way to the boxes
        ("use-thermometer", 150),
    ],
)
def test_plans_alone_lead_to_the_full_score(name, variation):
    assert played(PLANNER, name, variation, condition=named_condition("rules-only")).score == 100


def test_without_rules_no_procedure_is_known():
    episode = played(
        PLANNER, "lifespan-longest-lived", 0, condition=named_condition("baseline"), budget=30
    )
    assert episode.score < 100
    assert not any(step.command.startswith("focus") for step in episode.steps)


@pytest.mark.parametrize(
    "name", ["find-animal", "melt", "inclined-plane-friction-named-surfaces", "grow-fruit"]
)
def test_any_entries_of_menus_never_lose_and_hardly_ever_fail(name):
    episode = played(menu_random("menu-random", "7"), name, 0, budget=60, condition=enforced())
    assert episode.ending is not Ending.LOST
    assert sum(step.infeasible for step in episode.steps) <= 6


@pytest.mark.parametrize("name", ["freeze", "measure-melting-point-known-substance"])
def test_what_is_injected_stays_under_800_tokens_with_memories_and_menu(name):
    learned = played(PLANNER, name, 1, condition=enforced(PAPER))
    memory = EpisodicMemory(harvest(learned, KNOWLEDGE.manual))
    episode = played(
        menu_random("menu-random", "3"), name, 0, budget=40, memory=memory, condition=enforced()
    )
    assert any(step.decision.memories for step in episode.steps)
    for step in episode.steps:
        blocks = [block for block in step.decision.prompt.blocks if block.part not in NOT_INJECTED]
        assert Part.MENU in {block.part for block in blocks}
        assert sum(block.tokens for block in blocks) < 800


def test_a_blocked_action_comes_back_with_its_remedy_and_is_not_executed():
    model = always("go to kitchen", "open door to kitchen", "go to kitchen")
    episode = played(model, "boil", 0, budget=2, condition=enforced())
    first = episode.steps[0]
    assert first.refusals == (
        ("go to kitchen", "the door to kitchen is closed; first: open door to kitchen"),
    )
    assert first.command == "open door to kitchen"
    assert not any(step.infeasible for step in episode.steps)


def test_advice_follows_the_bare_refusal():
    advised = enforced(replace(PAPER, guard=GuardMode.ADVISE))
    episode = played(always("go to kitchen"), "boil", 0, budget=2, condition=advised)
    assert episode.steps[0].infeasible
    history = [
        block.text
        for block in episode.steps[1].decision.prompt.blocks
        if block.part is Part.OBSERVATION
    ]
    assert (
        "The door is not open. (the door to kitchen is closed; first: open door to kitchen)"
        in history[0]
    )


def test_a_stuck_model_is_told_and_can_be_freed():
    idle = played(always("look around"), "boil", 0, budget=5, condition=enforced())
    assert "You keep coming back to this same state" in idle.steps[-1].decision.notice
    unstuck = enforced(replace(STRICT, unstick=True))
    freed = played(always("look around"), "boil", 0, budget=6, condition=unstuck)
    assert "open door to kitchen" in {step.command for step in freed.steps}
    assert any(step.replaced.startswith("stuck: ") for step in freed.steps)
