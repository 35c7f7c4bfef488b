"""Corrective rules: short, and each need said once."""

from __future__ import annotations

from rpms.learning.corrective_rules import duty, gerund, together
from rpms.learning.harvest import harvest
from rpms.paper.memory import FailureLesson
from tests.learning.episodes import MANUAL, scripted


def rules_of(*actions: str) -> list[str]:
    entries = harvest(scripted("pick_cool", *actions), MANUAL)
    return [each.corrective_rule for each in entries if isinstance(each, FailureLesson)]


def test_alternatives_that_need_the_same_are_said_once():
    assert rules_of("examine apple 99") == ["must hold the thing before examining"]


def test_the_alternatives_of_a_single_need_are_all_said():
    assert rules_of("examine fridge 1") == [
        "must hold the thing or must be at the thing before examining"
    ]


def test_a_lesson_names_two_needs_at_most():
    (rule,) = rules_of("go to fridge 1", "take apple 99 from cabinet 77")
    assert rule.count(" and ") <= 1
    (rule,) = rules_of("go to fridge 1", "put apple 99 in/on cabinet 77")
    assert rule.count(" and ") == 1
    assert rule.endswith(" before putting")


def test_a_need_that_two_things_share_is_said_once():
    shared = ["the tool must be here", "the object must be here"]
    assert together(shared) == "the tool and the object must be here"
    other = ["the tool must be here", "the object must be open"]
    assert together(other) == "the tool must be here and the object must be open"


def test_lessons_read_as_one_would_say_them():
    assert gerund("look_in") == "looking in it"
    assert duty("the stove works") == "the stove must work"
    assert duty("the vessel holds several things") == "the vessel must hold several things"
    rules = rules_of("go to fridge 1", "take apple 99 from fridge 1")
    assert all(rule.count("the object must") <= 1 for rule in rules)
