"""The texts of the paper's prompts: the printed actions, the printed warnings, and the model's
own words.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.decide import decide
from rpms.paper.enforcement import GuardMode
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import WITHOUT_ACTION
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.worlds.registry import find_world
from tests.learning.episodes import planned, scripted

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


def test_the_history_shows_what_the_model_wrote_and_the_world_answered():
    episode = scripted("pick_heat", "Go to the Fridge 1", "look")
    text = episode.steps[1].decision.prompt.text
    assert "Action: Go to the Fridge 1\nObs: You arrive at loc " in text


def test_notes_say_how_an_action_was_read():
    noted = Settings.read({"notes": "on"}).condition_value()
    episode = scripted("pick_heat", "Go to the Fridge 1", "look", condition=noted)
    text = episode.steps[1].decision.prompt.text
    assert "Action: Go to the Fridge 1\nObs: [read as: go to fridge 1] " in text


@pytest.mark.parametrize(
    ("settings", "heard"),
    [
        ({}, "Nothing happens."),
        ({"notes": "on"}, WITHOUT_ACTION),
        ({"preset": "strict"}, WITHOUT_ACTION),
    ],
)
def test_an_answer_without_action_hears_the_world_or_a_note(settings, heard):
    chosen = Settings.read(settings).condition_value()
    without = replace(chosen, enforcement=replace(chosen.enforcement, guard=GuardMode.OFF, menu=0))
    episode = scripted("pick_heat", "", "look", condition=without)
    assert episode.steps[1].observation == heard


def sub_goals(*, outcomes: bool) -> list[str]:
    """The sub-goals that a won episode of heating comes past."""
    commands = [step.command for step in planned("pick_heat").steps]
    shown = replace(RULES_ONLY, outcomes=outcomes)
    episode = scripted("pick_heat", *commands, condition=shown)
    assert episode.won
    return list(dict.fromkeys(step.decision.progress.sub_goal for step in episode.steps))


def test_what_becomes_of_objects_moves_the_sub_goal_only_where_it_is_tracked():
    assert sub_goals(outcomes=True)[-2:] == ["heat_object", "put_object"]
    assert sub_goals(outcomes=False)[-1] == "heat_object"


RULES = {
    "U-SEARCH-004": "countertop, table",
    "U-SEARCH-005": "ALL instances",
    "U-FAIL-001": "twice in a row",
    "U-FAIL-002": "'Nothing happens'",
    "U-STATE-003": "place it before searching for another",
    "U-VERIFY-002": "irreversible action, verify",
}


def test_the_rules_of_appendix_e_have_all_their_content():
    text = prompt("alfworld", HOUSE).text
    for rule, content in RULES.items():
        line = next(line for line in text.splitlines() if f"[{rule}]" in line)
        assert content in line
    assert "heat <object> with microwave 1. The object stays in hand." in text
    assert "cool <object> with fridge 1. The object stays in hand." in text
    focus = prompt("scienceworld", HALLWAY).text.partition("FOCUS ON:")[2][:200]
    assert "most dangerous action, verify identity first" in focus


def line_of(rule: str, text: str) -> str:
    return next(line for line in text.splitlines() if f"[{rule}]" in line)


def test_what_supposes_one_hand_is_said_otherwise_where_many_things_are_carried():
    house = line_of("U-STATE-003", prompt("alfworld", HOUSE).text)
    assert house.endswith("If holding an object, place it before searching for another.")
    science = line_of("U-STATE-003", prompt("scienceworld", HALLWAY).text)
    assert "If holding" not in science
    assert science.endswith("Complete one placement before the next search; keep instruments.")


def test_the_family_of_transforming_is_true_of_substances_that_are_created():
    science = prompt("scienceworld", HALLWAY).text
    assert "find or create the target substance" in line_of("F3-PROC-001", science)
    assert "For melt/freeze/boil, 'focus on'" in line_of("F3-FOCUS-001", science)
    assert "takes 10 steps" not in science  # of the episode's: waiting is one action


def test_scienceworlds_instruction_names_the_steps_of_the_run():
    world = find_world("scienceworld")
    assert "and have 100 actions." in prompt("scienceworld", HALLWAY).text
    short = knowledge_of(world, steps=30).style.wording
    assert "and have 30 actions." in short.instruction


def test_the_example_of_the_baseline_holds_no_rule():
    text = prompt("scienceworld", HALLWAY, condition="baseline").text
    assert "pot." not in text.partition("Thought: The lemon tree is a plant")[2].partition("\n")[0]
