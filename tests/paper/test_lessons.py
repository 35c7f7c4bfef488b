"""Failure lessons are corrective rules in Appendix F's form, one to an episode."""

from __future__ import annotations

import re

import pytest

from rpms.learning.harvest import CLEAN, PAPER, harvest
from rpms.paper.condition import MEMORY_ONLY
from rpms.paper.memory import FailureLesson, SuccessSnippet, merge
from tests.learning.episodes import MANUAL, planned, scripted

FORM = re.compile(r"[a-z ,]*must [a-z ,]+ before [a-z ]+ing( [a-z]+)?")
FETCH = "take apple 1 from diningtable 1"


def lessons(*actions: str, **how) -> list[FailureLesson]:
    found = harvest(scripted("pick_heat", *actions, **how), MANUAL)
    return [entry for entry in found if isinstance(entry, FailureLesson)]


@pytest.mark.parametrize(
    ("actions", "rule"),
    [
        (("go to fridge 1", FETCH), "the object must be in the place before taking"),
        (
            ("go to diningtable 1", FETCH, "go to microwave 1", "open fridge 1"),
            "must be at the place and the place must be closed before opening",
        ),
        (
            ("go to diningtable 1", "heat apple 1 with microwave 1"),
            "must hold the object before heating",
        ),
    ],
)
def test_a_lesson_says_which_precondition_of_the_manual_was_missing(actions, rule):
    (lesson,) = lessons(*actions)
    assert rule in lesson.corrective_rule
    assert FORM.fullmatch(lesson.corrective_rule), lesson.corrective_rule
    assert not re.search(r"\d|Nothing happens|`", lesson.corrective_rule)


def test_without_rules_a_lesson_is_what_held_when_the_same_action_worked():
    there = ("go to diningtable 1", FETCH)
    (lesson,) = lessons("go to fridge 1", FETCH, *there, condition=MEMORY_ONLY)
    assert lesson.corrective_rule == "must be at the place before taking"
    assert not lessons("go to fridge 1", FETCH, condition=MEMORY_ONLY), "nothing to compare with"


def test_an_episode_counts_once_and_the_rule_is_the_key():
    (lesson,) = lessons("go to fridge 1", *[FETCH] * 6)
    assert lesson.occurrence_count == 1
    one, other = (
        lessons("go to fridge 1", f"take {thing} from diningtable 1")[0]
        for thing in ("apple 1", "apple 2")
    )
    assert len(merge([one], [other])) == 1


def test_what_is_no_action_of_the_world_teaches_nothing():
    assert not lessons("sing a song", "Nothing happens", "x" * 5000)
    found = harvest(scripted("pick_heat", "sing", "go to diningtable 1", FETCH), MANUAL)
    assert all("sing" not in e.actions for e in found if isinstance(e, SuccessSnippet))


def test_a_snippet_runs_from_the_search_with_an_empty_hand_to_the_deed():
    every = [e for e in harvest(planned("pick_heat"), MANUAL) if isinstance(e, SuccessSnippet)]
    found = {e.sub_goal_type: e for e in every if e.state_signature.occupied is False}
    assert found["heat_object"].actions == (
        *("go to diningtable 1", "take apple 1 from diningtable 1"),
        *("go to microwave 1", "heat apple 1 with microwave 1"),
    )
    assert found["take_object"].actions == found["heat_object"].actions[:2]
    full = {e.sub_goal_type: e for e in every if e.state_signature.occupied}
    assert full["heat_object"].actions == found["heat_object"].actions[2:], (
        "for a hand that is full"
    )
    clean = {
        e.sub_goal_type: e
        for e in harvest(planned("pick_heat"), MANUAL, by=CLEAN)
        if isinstance(e, SuccessSnippet)
    }
    assert clean["heat_object"].state_signature.occupied is True


def test_what_was_refused_stays_in_snippets_unless_they_are_to_be_clean():
    actions = ("go to diningtable 1", "open diningtable 1", FETCH, "go to microwave 1")
    for by, kept in ((PAPER, True), (CLEAN, False)):
        found = harvest(scripted("pick_heat", *actions), MANUAL, by=by)
        (taken,) = [e for e in found if isinstance(e, SuccessSnippet)]
        assert ("open diningtable 1" in taken.actions) is kept
