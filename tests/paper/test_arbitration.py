"""Rules first: the paper's example, and what each mode does with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.rules import RuleManual
from rpms.paper.arbitration import Arbitration, judge, objection_to_action
from rpms.paper.memory import CriticalFailure, FailureLesson, SuccessSnippet, VerifiedSchema
from rpms.paper.verdict import Fate
from rpms.planning.from_here import judge_here
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, manual

RULES = manual().active(COOL_APPLE.type, COOL_APPLE.object)
STATE = StateSignature.parse("holding=none")
HOLDING = Situation(KitchenBelief("fridge 1", ("apple 1",), {"fridge 1": True}), COOL_APPLE)
NOWHERE = Situation(KitchenBelief(), COOL_APPLE)


def snippet(*actions: str) -> SuccessSnippet:
    return SuccessSnippet(COOL_APPLE.signature, STATE, "transformed", actions)


PUT_TO_COOL = snippet("put apple 1 in/on fridge 1")


def test_advice_to_put_the_apple_in_the_fridge_to_cool_it_is_removed():
    verdict = judge(PUT_TO_COOL, RULES, HOLDING, Arbitration.HARD_SOFT)
    assert verdict.fate is Fate.DROPPED
    assert verdict.rule == "D-COOL-001"
    assert "apple 1 is not cool yet" in verdict.fact


def test_the_same_advice_is_sound_once_the_apple_is_cool():
    cooled = Situation(
        KitchenBelief("fridge 1", ("apple 1",), cool=frozenset({"apple 1"})), COOL_APPLE
    )
    assert judge(PUT_TO_COOL, RULES, cooled, Arbitration.HARD_SOFT).fate is Fate.KEPT


@pytest.mark.parametrize(
    ("mode", "conflict", "doubt"),
    [
        (Arbitration.NONE, Fate.KEPT, Fate.KEPT),
        (Arbitration.SOFT, Fate.WARNED, Fate.WARNED),
        (Arbitration.HARD, Fate.DROPPED, Fate.KEPT),
        (Arbitration.HARD_SOFT, Fate.DROPPED, Fate.WARNED),
    ],
)
def test_the_four_modes(mode, conflict, doubt):
    unsure = snippet("go to drawer 1", "take apple 1 from drawer 1")
    assert judge(PUT_TO_COOL, RULES, HOLDING, mode).fate is conflict
    assert judge(unsure, RULES, NOWHERE, mode).fate is doubt


def test_a_step_that_the_entrys_own_steps_made_impossible_is_a_conflict_wherever_it_is_used():
    for situation in (HOLDING, NOWHERE):
        elsewhere = judge(
            snippet("go to sink 1", "open fridge 1"), RULES, situation, Arbitration.HARD_SOFT
        )
        assert (elsewhere.fate, elsewhere.fact) == (Fate.DROPPED, "you are not at fridge 1")
        twice = judge(
            snippet("open fridge 1", "open fridge 1"), RULES, situation, Arbitration.HARD_SOFT
        )
        assert (twice.fate, twice.rule, twice.fact) == (Fate.DROPPED, "E-OPEN", "fridge 1 is open")


def test_a_tool_of_the_wrong_kind_is_a_conflict_wherever_it_is_used():
    verdict = judge(
        snippet("go to sink 1", "cool apple 1 with sink 1"), RULES, NOWHERE, Arbitration.HARD_SOFT
    )
    assert (verdict.fate, verdict.rule) == (Fate.DROPPED, "E-COOL")


@pytest.mark.parametrize(
    ("plan", "fact"),
    [
        (("go to fridge 1", "take apple 1 from fridge 1"), "fridge 1 is closed"),
        (("take apple 2 from countertop 1",), "unknown whether countertop 1 is open"),
        (("cool apple 7 with fridge 1",), "you do not hold apple 7"),
    ],
)
def test_what_fails_only_here_and_now_is_a_warning(plan, fact):
    closed = Situation(KitchenBelief("countertop 1", containers={"fridge 1": False}), COOL_APPLE)
    verdict = judge(snippet(*plan), RULES, closed, Arbitration.HARD_SOFT)
    assert (verdict.fate, verdict.fact) == (Fate.WARNED, fact)
    assert judge(snippet(*plan), RULES, closed, Arbitration.HARD).fate is Fate.KEPT


def test_another_object_of_an_entrys_own_goal_stands_for_the_one_asked_for():
    of_an_egg = replace(
        snippet("put egg 1 in/on fridge 1"),
        goal_signature=replace(COOL_APPLE, object="egg").signature,
    )
    verdict = judge(of_an_egg, RULES, NOWHERE, Arbitration.HARD_SOFT)
    assert (verdict.fate, verdict.rule) == (Fate.DROPPED, "D-COOL-001")


def test_what_is_held_stands_for_the_entrys_own_object_of_that_kind():
    cooled = Situation(
        KitchenBelief("fridge 1", ("apple 2",), cool=frozenset({"apple 2"})), COOL_APPLE
    )
    assert judge(PUT_TO_COOL, RULES, cooled, Arbitration.HARD).fate is Fate.KEPT


def test_judged_from_here_a_plan_is_followed_step_by_step_from_the_present_state():
    plan = snippet(
        "go to fridge 1",
        "open fridge 1",
        "take apple 1 from fridge 1",
        "cool apple 1 with fridge 1",
    )
    known = KitchenBelief(
        "countertop 1", containers={"fridge 1": False}, last_seen={"apple 1": "fridge 1"}
    )
    closed = Situation(known, COOL_APPLE)
    assert judge_here(plan, RULES, closed, Arbitration.HARD_SOFT).fate is Fate.KEPT
    never_opened = snippet("go to fridge 1", "take apple 1 from fridge 1")
    verdict = judge_here(never_opened, RULES, closed, Arbitration.HARD_SOFT)
    assert (verdict.fate, verdict.rule, verdict.fact) == (
        Fate.DROPPED,
        "E-TAKE",
        "fridge 1 is closed",
    )


def test_a_doubt_names_the_unknown_fact():
    verdict = judge(
        snippet("go to drawer 1", "take apple 1 from drawer 1"), RULES, NOWHERE, Arbitration.SOFT
    )
    assert verdict.fact == "unknown whether drawer 1 is open"


def test_a_lesson_is_doubted_and_from_here_refuted_where_its_action_is_known_to_work():
    lesson = FailureLesson(
        COOL_APPLE.signature, STATE, "cool apple 1 with fridge 1", "must hold the object"
    )
    assert judge(lesson, RULES, HOLDING, Arbitration.HARD_SOFT).fate is Fate.WARNED
    assert judge_here(lesson, RULES, HOLDING, Arbitration.HARD).fate is Fate.DROPPED
    for each in (judge, judge_here):
        assert each(lesson, RULES, NOWHERE, Arbitration.HARD_SOFT).fate is Fate.KEPT


def test_schemas_of_actions_that_no_rule_covers_are_doubtful_and_without_rules_nothing_is():
    strange = VerifiedSchema("teleport to {object}", "teleport")
    assert judge(strange, RULES, NOWHERE, Arbitration.HARD_SOFT).fate is Fate.WARNED
    no_rules = RuleManual().active(COOL_APPLE.type)
    for entry in (strange, PUT_TO_COOL):
        assert judge(entry, no_rules, HOLDING, Arbitration.HARD_SOFT).fate is Fate.KEPT


def test_critical_failures_are_always_kept():
    entry = CriticalFailure(COOL_APPLE.signature, STATE, "cool apple 1 with fridge 1", "never")
    assert judge(entry, RULES, HOLDING, Arbitration.HARD_SOFT).fate is Fate.KEPT


def test_an_action_that_is_no_action_is_objected_to():
    for nonsense in ("dance", "take  from", "x" * 10_000):
        objection = objection_to_action(nonsense, RULES, NOWHERE)
        assert objection is not None
        assert objection.conflict
