"""The texts of the paper's prompts: the printed actions, the printed warnings, and the model's
own words.
"""

from __future__ import annotations

import re

from rpms.paper.condition import compose
from rpms.paper.decide import decide
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.worlds.registry import find_world
from tests.learning.episodes import scripted

HOUSE = "You are in the middle of a room. You see a fridge 1.\n\nYour task is to: put a hot apple in fridge."
HALLWAY = "Your task is to boil water. First, focus on the substance.\n\nThis room is called the hallway. In it, you see: \n"


def prompt(world: str, opening: str, **settings):
    found, given = find_world(world), Settings.read({"memory": "none", **settings})
    mind = compose(
        given.condition_value(), knowledge_of(found, given.sources(found)), EpisodicMemory()
    )
    goal = found.goal(opening)
    return decide(mind, goal, found.start(goal), None, opening, ()).prompt


def test_the_instruction_lists_the_nine_actions_that_the_paper_prints():
    text = next(
        block.text for block in prompt("alfworld", HOUSE).blocks if block.part is Part.INSTRUCTION
    )
    assert re.findall(r"^(\d+)\. (\w+)", text.partition("Reminder")[0], re.MULTILINE) == [
        *[("1", "go"), ("2", "take"), ("3", "put"), ("4", "open"), ("5", "close")],
        *[("6", "use"), ("7", "clean"), ("8", "heat"), ("9", "cool")],
    ]


def test_the_environment_tier_names_what_the_instruction_names_and_the_printed_warnings():
    house, science = prompt("alfworld", HOUSE).text, prompt("scienceworld", HALLWAY).text
    assert "TAKE:\n    Syntax: take <object> from <place>" in house
    assert "CRITICAL: You can hold only one object." in house
    for name in ("HELP:", "SLICE:", "EXAMINE:"):
        assert name not in house
    for name in ("RESET TASK:", "CHOOSE:"):
        assert name not in science
    assert "it stays in hand after measuring" in science
    assert "CRITICAL: afterwards the hand is empty" in science


def test_the_history_shows_what_the_model_wrote_and_what_it_was_read_as():
    episode = scripted("pick_heat", "Go to the Fridge 1", "look")
    text = episode.steps[1].decision.prompt.text
    assert "Action: Go to the Fridge 1\nObs: [read as: go to fridge 1] " in text
