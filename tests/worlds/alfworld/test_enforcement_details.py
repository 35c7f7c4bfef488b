"""Past the paper, in detail: ALFWorld's menu in each dialect, and what its guidance says and
does not say.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import StateSignature
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.decide import decide
from rpms.paper.enforcement import PAPER
from rpms.paper.memory import Origin, SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.paper.recall import EpisodicMemory
from rpms.play.sources import knowledge_of
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a diningtable 1, a dresser 1, "
    "a fridge 1, a safe 1, a sofa 1, and a toilet 1.\n\nYour task is to: put some egg on diningtable."
)
GOAL = WORLD.goal(ROOM)
GUIDED = replace(PAPER, guidance=True, menu=5)


def decision(*turns: tuple[str, str], memory=(), history=()):
    belief = WORLD.update(WORLD.start(GOAL), None, ROOM)
    for command, answer in turns:
        belief = WORLD.update(belief, command, answer)
    mind = compose(replace(FULL, enforcement=GUIDED), knowledge_of(WORLD), EpisodicMemory(memory))
    return decide(mind, GOAL, belief, "look", "Nothing happens.", history)


@pytest.mark.parametrize(
    ("fridge", "table", "put", "other"),
    [
        ("loc 3", "loc 9", "put egg 2 in/on diningtable 1", "move egg 2 to diningtable 1"),
        (
            "fridge 1",
            "diningtable 1",
            "move egg 2 to diningtable 1",
            "put egg 2 in/on diningtable 1",
        ),
    ],
    ids=["0.3", "0.4"],
)
def test_the_menu_puts_in_the_words_of_the_games_dialect(fridge, table, put, other):
    menu = decision(
        (
            "go to fridge 1",
            f"You arrive at {fridge}. The fridge 1 is open. In it, you see a egg 2.",
        ),
        ("take egg 2 from fridge 1", "You pick up the egg 2 from the fridge 1."),
        ("go to diningtable 1", f"You arrive at {table}. On the diningtable 1, you see nothing."),
    ).menu
    assert menu.best == put
    assert other not in menu.commands


@pytest.mark.parametrize("failed", [False, True])
def test_what_failed_was_not_just_done(failed):
    guidance = decision(history=[Turn("o", "open fridge 1", failed=failed)]).advice.guidance
    assert ("  Just done: open fridge 1" in guidance) is not failed


def found_in_the_toilet(holding: str) -> SuccessSnippet:
    actions = ("go to toilet 1", "take egg 1 from toilet 1")
    state = StateSignature.parse(f"holding={holding}")
    return SuccessSnippet(
        GOAL.signature, state, "taken", actions, origins=frozenset({Origin("e", 1)}), id="s"
    )


def test_a_place_that_only_memory_knows_comes_before_those_that_nobody_knows_of():
    """Finds are counted over the whole memory, whatever state its entries suit."""
    suited, not_suited = [found_in_the_toilet("none")], [found_in_the_toilet("mug 1")]
    for memory, shown in (((), False), (not_suited, False), (suited, True)):
        decided = decision(memory=memory)
        assert bool(decided.memories) is shown
        assert ("go to toilet 1" in decided.menu.commands) is bool(memory)
        assert decided.menu.best == "go to diningtable 1", "which the manual knows"
