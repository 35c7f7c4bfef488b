"""No part of a condition uses what the condition leaves out: the 2x2 under `strict`, in a real
game.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import StateSignature
from rpms.logic.facts import kind_of
from rpms.logic.goal import GoalSignature
from rpms.logic.rules import Tier
from rpms.models.base import Decoding
from rpms.models.policy import FunctionModel
from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, MEMORY_ONLY, RULES_ONLY, Condition
from rpms.paper.decide import Decision, decide
from rpms.paper.enforcement import STRICT, Consistency, GuardMode, JudgedBy
from rpms.paper.memory import CriticalFailure, Entry, Origin, SuccessSnippet
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
KNOWLEDGE = knowledge_of(WORLD)
TASK = WORLD.tasks("builtin", Setting())[0]
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a drawer 1, a garbagecan 1, a "
    "desk 1, and a shelf 1.\n\nYour task is to: put a pen in shelf."
)
GOAL = WORLD.goal(ROOM)
PEN_IN_THE_BIN = SuccessSnippet(
    GoalSignature("pick_and_place_simple", "pen", "", "shelf"),
    StateSignature.of(holding=()),
    "take_object",
    ("go to garbagecan 4", "take pen 7 from garbagecan 4"),
    origins=frozenset({Origin("e", 1)}),
    id="bin",
)
OPENED_FROM_AFAR = replace(PEN_IN_THE_BIN, actions=("go to bed 2", "open drawer 3"), id="afar")


def strictly(condition: Condition, *entries: Entry, **parts: object) -> Decision:
    beyond = replace(STRICT, **parts)
    mind = compose(
        replace(condition, enforcement=beyond), KNOWLEDGE, EpisodicMemory(entries, "alfworld")
    )
    return decide(mind, GOAL, WORLD.start(GOAL), None, ROOM, ())


def played(condition: Condition, *answers: str, **parts: object):
    """An episode with these answers, the last of them again and again, and how many were asked
    for.
    """
    asked: list[str] = []

    def answer(request):
        asked.append(request.prompt.text)
        return f"Action: {answers[min(len(asked), len(answers)) - 1]}"

    mind = compose(
        replace(condition, enforcement=replace(STRICT, **parts)), KNOWLEDGE, EpisodicMemory()
    )
    game = WORLD.open(TASK, Setting())
    return play(Play(Player(WORLD, mind, FunctionModel(answer), Decoding()), game, TASK, 4)), asked


@pytest.mark.parametrize("condition", [BASELINE, MEMORY_ONLY], ids=["baseline", "memory-only"])
def test_without_rules_nothing_is_refused_asked_again_or_explained(condition):
    for guard in (GuardMode.BLOCK, GuardMode.ADVISE):
        episode, asked = played(condition, "open drawer 1", guard=guard)
        assert len(asked) == len(episode.steps) == 4
        assert episode.counts["reasks"] == 0
        assert all(step.infeasible and not step.refusals for step in episode.steps)
        assert not any("you are not at drawer 1" in text for text in asked)


def test_without_rules_what_is_stuck_stays_stuck():
    episode, _ = played(BASELINE, "open drawer 1", unstick=True, replace=True)
    assert {step.command for step in episode.steps} == {"open drawer 1"}
    freed, _ = played(RULES_ONLY, "open drawer 1", unstick=True, replace=True)
    assert any(step.replaced for step in freed.steps)


def test_the_baseline_has_no_menu_no_guidance_and_the_papers_prompt():
    decision = strictly(BASELINE, PEN_IN_THE_BIN)
    assert decision.menu.items == decision.advice.guidance == ()
    assert decision.prompt.injected() == ()


def test_memory_onlys_menu_is_recalled_experience_alone():
    assert strictly(MEMORY_ONLY).menu.items == ()
    decision = strictly(MEMORY_ONLY, PEN_IN_THE_BIN)
    assert [(item.command, item.reason) for item in decision.menu.items] == [
        ("go to garbagecan 1", "pen was found at garbagecan 1 of 1 times")
    ]
    assert decision.advice.guidance == ()
    assert not {Part.UNIVERSAL, Part.DOMAIN, Part.ENVIRONMENT} & {
        block.part for block in decision.prompt.blocks
    }


def test_what_memory_only_recalls_is_not_held_against_the_manual():
    finer = {"consistency": Consistency.PRECONDITION, "judged_by": JudgedBy.ACTION}
    for condition, recalled in ((MEMORY_ONLY, True), (FULL, False)):
        shown = {
            candidate.entry.id
            for candidate in strictly(condition, OPENED_FROM_AFAR, **finer).memories
        }
        assert ("afar" in shown) is recalled, (
            "that one must be at a drawer to open it is the manual's knowledge"
        )


def test_rules_only_ignores_memory():
    with_memory, without = strictly(RULES_ONLY, PEN_IN_THE_BIN), strictly(RULES_ONLY)
    assert (with_memory.menu, plan_of(with_memory), with_memory.prompt) == (
        without.menu,
        plan_of(without),
        without.prompt,
    )
    assert with_memory.menu.best == "go to desk 1", "the likeliest place by the manual"


def test_memory_and_rules_choose_together():
    unlocated = replace(FULL, tiers=(Tier.UNIVERSAL, Tier.ENVIRONMENT))
    assert strictly(unlocated, PEN_IN_THE_BIN).menu.best == "go to garbagecan 1", (
        "experience, where no rule says where"
    )
    assert strictly(FULL, PEN_IN_THE_BIN).menu.best == "go to desk 1", "rules first"


def test_a_tier_that_is_left_out_does_not_act():
    without_localities = strictly(replace(RULES_ONLY, tiers=(Tier.UNIVERSAL, Tier.ENVIRONMENT)))
    assert without_localities.menu.best == "go to bed 1", "places in the order of the room"
    without_actions = strictly(replace(RULES_ONLY, tiers=(Tier.UNIVERSAL, Tier.DOMAIN)))
    assert without_actions.menu.items == without_actions.advice.guidance == ()


OPENED = next(iter(played(RULES_ONLY, "look")[0].steps)).decision
GOAL_OF_TASK = OPENED.goal
ENDED = CriticalFailure(
    GOAL_OF_TASK.signature, StateSignature(), "go to bed 9", "it ended the task for good", id="end"
)


@pytest.mark.parametrize("condition", [FULL, MEMORY_ONLY], ids=["full", "memory-only"])
def test_the_like_of_what_ended_a_task_for_good_is_asked_about_once_with_the_entry_named(condition):
    place = next(name for name in OPENED.belief.names["place"])
    ended = replace(ENDED, failed_action=f"go to {kind_of(place)} 99")
    asked: list[str] = []

    def answer(request):
        asked.append(request.prompt.text)
        return f"Action: go to {place}"

    mind = compose(
        replace(condition, enforcement=STRICT), KNOWLEDGE, EpisodicMemory([ended], "alfworld")
    )
    game = WORLD.open(TASK, Setting())
    (step,) = play(
        Play(Player(WORLD, mind, FunctionModel(answer), Decoding()), game, TASK, 1)
    ).steps
    assert len(asked) == 2
    assert "end: the like of it ended such a task for good" in asked[1]
    assert step.command == f"go to {place}", "a model that insists is taken at its word"


def test_without_adapting_entries_are_shown_as_they_were_stored():
    stored = strictly(MEMORY_ONLY, PEN_IN_THE_BIN, adapt=False).memories[0]
    assert (stored.entry, stored.adapted) == (PEN_IN_THE_BIN, None)
    bound = strictly(MEMORY_ONLY, PEN_IN_THE_BIN).memories[0]
    assert bound.entry.actions == ("go to garbagecan 1",)
    assert bound.adapted.note == "step 1 of 2; pen was found at garbagecan 1 of 1 times"
