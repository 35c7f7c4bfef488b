"""Memory alone, from texts: what was learned in another room is gone to, and what it cannot
know it does not say.
"""

from dataclasses import replace

import pytest
from laboratory import DESCRIPTIONS, HALLWAY, KITCHEN

from rpms.logic.belief import StateSignature
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, MEMORY_ONLY
from rpms.paper.decide import decide
from rpms.paper.enforcement import PAPER, STRICT
from rpms.paper.memory import Origin, SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.planning.advice import plan_of
from rpms.play.sources import knowledge_of
from rpms.worlds.scienceworld import world

OPENING = f"Your task is to {DESCRIPTIONS['use-thermometer']}\n\n{HALLWAY}"
GOAL = world.goal(OPENING)
TAKE = ("open drawer", "look around", "pick up thermometer")


def snippet(room: str, sub_goal: str, actions: tuple[str, ...], stage: int) -> SuccessSnippet:
    state = StateSignature.parse(f"room={room}|inventory=empty|progress={stage}")
    name = f"{sub_goal} {actions[-1]}"
    return SuccessSnippet(
        GOAL.signature, state, sub_goal, actions, origins=frozenset({Origin("e", 1)}), id=name
    )


MEMORY = EpisodicMemory(
    [
        snippet("kitchen", "take", TAKE, 0),
        snippet(
            "art studio",
            "walk",
            ("open door to hallway", "go to hallway", "look around", "wait"),
            0,
        ),
        snippet(
            "hallway", "walk", ("open door to kitchen", "go to kitchen", "look around", "wait"), 0
        ),
    ],
    "scienceworld",
)


def decided(condition, *texts, enforcement=STRICT):
    """The decision after some commands and what was answered to each."""
    mind = compose(replace(condition, enforcement=enforcement), knowledge_of(world), MEMORY)
    belief, action, answer = world.start(GOAL), None, OPENING
    history: list[Turn] = []
    for command, text in texts:
        decision = decide(mind, GOAL, belief, action, answer, history)
        history.append(Turn(answer, command))
        belief, action, answer = decision.belief, command, text
    return decide(mind, GOAL, belief, action, answer, history)


WAY = (
    ("open door to kitchen", "The door is now open."),
    ("go to kitchen", "You move to the kitchen."),
)


@pytest.mark.parametrize(
    ("texts", "best"),
    [((), "open door to kitchen"), (WAY[:1], "go to kitchen"), (WAY, "look around")],
)
def test_what_was_learned_in_another_room_is_gone_to(texts, best):
    decision = decided(MEMORY_ONLY, *texts)
    assert decision.menu.commands == (best,)
    assert plan_of(decision).options[0].command == best, "a planner without rules has the same"


def test_it_is_done_there():
    decision = decided(MEMORY_ONLY, *WAY, ("look around", KITCHEN))
    assert decision.menu.commands == ("pick up thermometer",)
    (shown,) = [each for each in decision.memories if isinstance(each.entry, SuccessSnippet)]
    assert (shown.entry.actions, shown.adapted.note) == (("pick up thermometer",), "step 3 of 3")


def test_with_rules_or_told_as_in_the_paper_the_room_decides():
    for condition, enforcement in ((FULL, STRICT), (MEMORY_ONLY, PAPER)):
        candidates = decided(condition, enforcement=enforcement).candidates
        (taken,) = [each for each in candidates if each.entry.id.startswith("take")]
        assert (taken.verdict.fate, taken.verdict.reason) == (
            Fate.FILTERED,
            "learned in the kitchen, now in the hallway",
        )
