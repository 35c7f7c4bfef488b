"""Rules first: the paper's example, and what each mode does with it."""

from __future__ import annotations

import pytest

from rpms.core.arbitration import Arbitration, judge, objection_to_action
from rpms.core.belief import Situation, StateSignature
from rpms.core.memory import CriticalFailure, FailureLesson, SuccessSnippet, VerifiedSchema
from rpms.core.rules import RuleManual
from rpms.core.verdict import Fate
from tests.core.kitchen import COOL_APPLE, KitchenBelief, manual

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
    cooled = Situation(KitchenBelief("fridge 1", ("apple 1",), cool=frozenset({"apple 1"})), COOL_APPLE)
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


def test_a_plan_is_judged_step_by_step_through_the_effects_of_its_actions():
    plan = snippet("go to fridge 1", "open fridge 1", "take apple 1 from fridge 1", "cool apple 1 with fridge 1")
    closed = Situation(KitchenBelief("countertop 1", containers={"fridge 1": False}), COOL_APPLE)
    assert judge(plan, RULES, closed, Arbitration.HARD_SOFT).fate is Fate.KEPT
    never_opened = judge(snippet("go to fridge 1", "take apple 1 from fridge 1"), RULES, closed, Arbitration.HARD_SOFT)
    assert (never_opened.fate, never_opened.rule, never_opened.fact) == (Fate.DROPPED, "E-TAKE", "fridge 1 is closed")
    elsewhere = judge(snippet("go to sink 1", "open fridge 1"), RULES, closed, Arbitration.HARD_SOFT)
    assert (elsewhere.fate, elsewhere.fact) == (Fate.DROPPED, "you are not at fridge 1")


def test_a_doubt_names_the_unknown_fact():
    verdict = judge(snippet("go to drawer 1", "take apple 1 from drawer 1"), RULES, NOWHERE, Arbitration.SOFT)
    assert verdict.fact == "unknown whether drawer 1 is open"


def test_a_lesson_is_refuted_where_its_action_is_known_to_work():
    lesson = FailureLesson(COOL_APPLE.signature, STATE, "cool apple 1 with fridge 1", "must hold the object")
    assert judge(lesson, RULES, HOLDING, Arbitration.HARD).fate is Fate.DROPPED
    assert judge(lesson, RULES, NOWHERE, Arbitration.HARD_SOFT).fate is Fate.KEPT


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
