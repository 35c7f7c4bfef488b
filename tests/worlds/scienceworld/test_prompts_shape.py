"""The prompt of Appendix D."""

from dataclasses import replace

import pytest
from laboratory import BOIL, FOCUS_ON_STOVE, HALLWAY, OPENINGS

from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, MEMORY_ONLY, RULES_ONLY, BeliefShown
from rpms.paper.decide import decide
from rpms.paper.memory import merge
from rpms.paper.prompt import Budget, Part
from rpms.paper.recall import EpisodicMemory
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import KINDS

KNOWLEDGE = knowledge_of(world)
MELT = (
    OPENINGS["melt"].partition("\n")[0]
    + "\n\n"
    + HALLWAY.replace("hallway", "kitchen").replace("the kitchen (", "the den (")
)


def prompt(condition, opening=BOIL + HALLWAY, memory=(), knowledge=KNOWLEDGE):
    goal = world.goal(opening)
    mind = compose(condition, knowledge, EpisodicMemory(merge(memory), "scienceworld"))
    return decide(mind, goal, world.start(goal), None, opening, ()).prompt


def blocks(found):
    return {block.part: block.text for block in found.blocks}


def test_the_blocks_have_the_papers_shape():
    text = blocks(prompt(FULL))
    assert text[Part.UNIVERSAL].startswith("[RULES - Tier 1: Universal Principles]\n  [U-")
    assert text[Part.DOMAIN].startswith("[RULES - Tier 2: Domain")
    assert "NEVER on devices (stove) or containers (metal pot)" in text[Part.DOMAIN]
    assert text[Part.ENVIRONMENT].startswith("[RULES - Tier 3: Environment (ScienceWorld)]")
    assert text[Part.GOAL] == "[Current Objective] fetch metal pot"
    assert (
        text[Part.BELIEF] == "[Current State]\n  Room: hallway  Carrying: nothing  Progress: step 0"
    )
    more = blocks(prompt(replace(FULL, belief=BeliefShown.EXTENDED)))[Part.BELIEF]
    assert more.startswith(
        "[Current State]\n  Room: hallway  Carrying: nothing known  Progress: step 0\n"
    )
    assert "Not yet searched: kitchen" in more


def test_the_baseline_says_nothing_of_the_penalty_and_the_third_tier_does():
    assert "-100" not in prompt(BASELINE).text
    assert "-100" in blocks(prompt(RULES_ONLY))[Part.ENVIRONMENT]


OUTSIDE = (
    "This room is called the outside. In it, you see: \n\tthe agent\n\ta adult giant tortoise\n\ta adult mouse\n"
    "You also see:\n\tA door to the kitchen (that is open)\n"
)


@pytest.mark.parametrize("task", [task for task in KINDS if task.startswith("lifespan")])
def test_the_papers_manual_tells_no_life_spans_and_nor_does_the_objective(task):
    opening = OPENINGS[task].partition("\n")[0] + "\n\n" + OUTSIDE
    told = {}
    for manual in ("paper", "complete"):
        knowledge = knowledge_of(world, Settings.read({"manual": manual}).sources(world))
        found = blocks(prompt(RULES_ONLY, opening, knowledge=knowledge))
        told[manual] = found[Part.DOMAIN] + found[Part.GOAL]
    assert "tortoise" in told["complete"]
    assert not [word for word in ("tortoise", "mouse", "elephant") if word in told["paper"]]


def test_a_critical_failure_is_shown_as_such_where_it_happened():
    shown = blocks(prompt(FULL, MELT, [FOCUS_ON_STOVE]))[Part.MEMORY]
    assert "AVOID [CRITICAL]: focus on stove" in shown
    assert "Rule: verify object identity matches task target before executing focus" in shown
    assert Part.MEMORY not in blocks(prompt(FULL, BOIL + HALLWAY, [FOCUS_ON_STOVE]))


def test_instruction_and_example_are_the_same_under_all_conditions():
    shared = [
        [
            block
            for block in prompt(condition).blocks
            if block.part in (Part.INSTRUCTION, Part.EXAMPLE)
        ]
        for condition in (BASELINE, RULES_ONLY, MEMORY_ONLY, FULL)
    ]
    assert len(shared[0]) == 2
    assert all(found == shared[0] for found in shared)


def test_the_baseline_is_told_nothing_else():
    assert not prompt(BASELINE).injected()


def test_every_action_of_the_example_and_of_the_instruction_fits_a_schema():
    rules = KNOWLEDGE.manual.active("F1", "find-plant")
    actions = [
        line.removeprefix("Action: ")
        for line in world.wording.example.splitlines()
        if line.startswith("Action: ")
    ]
    told = world.wording.instruction.partition("The available actions are:\n")[2].partition(
        "\n{obj} stands"
    )[0]
    actions += [action.strip() for line in told.splitlines() for action in line.split("|")]
    assert len(actions) > 30
    assert [action for action in actions if rules.instance(action) is None] == []


def test_the_example_is_a_task_that_the_world_reads():
    opening = world.wording.example.partition("\n")[2]
    assert world.goal(opening).task == "find-plant"


@pytest.mark.parametrize("task", KINDS)
def test_every_task_is_told_in_about_the_papers_tokens(task):
    opening = OPENINGS[task].partition("\n")[0] + "\n\n" + HALLWAY
    injected = sum(block.tokens for block in prompt(FULL, opening).injected())
    assert 650 <= injected <= 1200 - Budget().memory, "and memory within its budget"
