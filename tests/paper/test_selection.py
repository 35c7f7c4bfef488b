"""Selection for a prompt without room for all: schemas for the moment, and critical failures
first.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import StateSignature
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, MEMORY_ONLY
from rpms.paper.decide import decide
from rpms.paper.memory import (
    CriticalFailure,
    FailureLesson,
    Kind,
    Origin,
    SuccessSnippet,
    VerifiedSchema,
)
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, knowledge

EMPTY, FULL_HAND = (StateSignature.parse(f"holding={what}") for what in ("none", "apple 1"))


def schema(action: str, template: str, times: int) -> VerifiedSchema:
    origins = frozenset(Origin("e", number) for number in range(times))
    return VerifiedSchema(template, action, origins=origins, id=f"schema {action}")


def snippet(deed: str, state: StateSignature, sub_goal: str, *actions: str) -> SuccessSnippet:
    origins = frozenset({Origin("e", 1)})
    before = {"action_type": deed}
    return SuccessSnippet(
        COOL_APPLE.signature,
        state,
        sub_goal,
        actions,
        before,
        origins=origins,
        id=f"success {deed}",
    )


SCHEMAS = [
    schema("go", "go to {place}", 140),
    schema("take", "take {object} from {place}", 40),
    schema("open", "open {place}", 30),
    schema("cool", "cool {object} with {place}", 2),
    schema("put", "put {object} in/on {place}", 9),
]
SNIPPETS = [
    snippet("take", EMPTY, "find_object", "go to countertop 1", "take apple 1 from countertop 1"),
    snippet("cool", FULL_HAND, "cool_object", "go to fridge 1", "cool apple 1 with fridge 1"),
    snippet("put", FULL_HAND, "put_object", "go to countertop 1", "put apple 1 in/on countertop 1"),
]


def shown_schemas(belief: KitchenBelief, entries=(*SNIPPETS, *SCHEMAS), condition=FULL):
    mind = compose(condition, knowledge(), EpisodicMemory(entries))
    decision = decide(mind, COOL_APPLE, belief, None, "o", ())
    return [candidate for candidate in decision.memories if candidate.entry.kind is Kind.SCHEMA]


@pytest.mark.parametrize("condition", [FULL, MEMORY_ONLY])
def test_schemas_are_those_of_the_deeds_that_the_goal_and_the_moment_need(condition):
    room = KitchenBelief("countertop 1", places=("fridge 1",))
    empty = shown_schemas(room, condition=condition)
    full = shown_schemas(replace(room, holding=("apple 2",)), condition=condition)
    assert [candidate.entry.action_type for candidate in empty] == ["take", "put"]
    assert [candidate.entry.action_type for candidate in full] == ["cool", "put"]
    assert empty[0].verdict.reason == "reached the present sub-goal in success take"
    assert empty[1].verdict.reason == "reached a sub-goal in success put, of a goal like this one"
    assert full[0].verdict.reason == "reached the present sub-goal in success cool"
    assert full[1].verdict.reason == "reached a sub-goal in success put, which suits the state"


def test_where_no_snippet_comes_to_mind_the_best_confirmed_schemas_are_shown():
    shown = shown_schemas(KitchenBelief("countertop 1"), SCHEMAS)
    assert [candidate.entry.action_type for candidate in shown] == ["go", "take"]


def lesson(number: int, times: int = 1) -> FailureLesson:
    origins = frozenset(Origin("e", step) for step in range(times))
    return FailureLesson(
        COOL_APPLE.signature,
        EMPTY,
        f"open pen {number}",
        "no",
        origins=origins,
        id=f"lesson {number}",
    )


CRITICAL = CriticalFailure(
    COOL_APPLE.signature,
    EMPTY,
    "eat apple 1",
    "never eat",
    origins=frozenset({Origin("e", 1)}),
    id="critical",
)


@pytest.mark.parametrize(("weight", "shown"), [(2.0, True), (1.0, False)])
def test_its_weight_puts_a_critical_failure_before_lessons_when_there_is_not_room_for_all(
    weight, shown
):
    lessons = [lesson(number, times=2) for number in (1, 2, 3)]
    entries = [replace(CRITICAL, retrieval_weight=weight), *lessons]
    mind = compose(FULL, knowledge(), EpisodicMemory(entries))
    decision = decide(mind, COOL_APPLE, KitchenBelief(), None, "o", ())
    fates = {candidate.entry.id: candidate.verdict.fate for candidate in decision.candidates}
    assert sum(fate is Fate.CROWDED for fate in fates.values()) == 1
    assert (fates["critical"] is Fate.KEPT) == shown
    assert ("AVOID [CRITICAL]: eat apple 1" in decision.prompt.text) == shown
