"""Past the paper, in detail: what each default is, what counts as a state and a loop, and what
a limit cuts.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from rpms.logic.goal import Progress
from rpms.paper.beyond import turn_state
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.decide import decide
from rpms.paper.enforcement import PAPER
from rpms.paper.prompt import Budget, Layout, Part, Turn, make_block
from rpms.paper.recall import EpisodicMemory
from rpms.paper.selection import build
from rpms.planning.hints import find_loop, guidance
from rpms.planning.plan_graph import Plan
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, knowledge

BELIEF = KitchenBelief("fridge 1", containers={"fridge 1": False})
FAILING = [Turn("o", "open pen 1", failed=True)] * 2


def test_every_part_of_the_paper_is_off():
    assert asdict(PAPER) == {
        "guard": "off",
        "reasks": 2,
        "replace": False,
        "menu": 0,
        "slack": 0,
        "ranked": True,
        "constrained": "off",
        "guidance": False,
        "loops": False,
        "unstick": False,
        "consistency": "world",
        "judged_by": "entry",
        "adapt": False,
        "compact": False,
        "recent": 0,
        "doubt": False,
    }


@pytest.mark.parametrize("loops", [False, True])
def test_a_loop_is_named_only_where_that_is_on(loops):
    beyond = replace(PAPER, loops=True) if loops else PAPER
    mind = compose(replace(FULL, enforcement=beyond), knowledge(), EpisodicMemory())
    progress = decide(mind, COOL_APPLE, BELIEF, None, "o", ()).progress
    circle = [Turn("o", "look", state=turn_state(BELIEF, progress))] * 2
    for history in (FAILING, circle):
        decision = decide(mind, COOL_APPLE, BELIEF, None, "o", history)
        assert bool(decision.notice) is loops
        assert (Part.NOTICE in {block.part for block in decision.prompt.blocks}) is loops


def visits(*when: int) -> list[Turn]:
    """Turns of which those with a number of `when`, counted back from the present one, were in
    state A.
    """
    return [
        Turn("o", f"go to {n}", state="A" if n in when else f"not A {n}") for n in range(25, 0, -1)
    ]


def test_a_state_that_recurs_only_over_more_than_ten_turns_is_no_loop():
    assert "keep coming back" in find_loop(visits(1, 10), "A")
    for search in (visits(1, 11), visits(8, 16, 24)):
        assert find_loop(search, "A") == ""


START = Progress("find_object", "apple", 0, 3)


@pytest.mark.parametrize("change", [{"sub_goal": "place"}, {"target": "egg"}, {"done": 1}])
def test_what_was_achieved_makes_a_new_state(change):
    before, after = turn_state(BELIEF, START), turn_state(BELIEF, replace(START, **change))
    assert before == turn_state(BELIEF, replace(START))
    assert before != after
    assert find_loop([Turn("o", "look", state=before)] * 2, after) == ""


class Ticking(KitchenBelief):
    """A belief that tells moments apart which its signature does not."""

    fingerprint = "noon"


def test_another_signature_or_another_moment_is_another_state():
    assert turn_state(BELIEF, START) != turn_state(replace(BELIEF, holding=("apple 1",)), START)
    assert turn_state(BELIEF, START) != turn_state(
        Ticking("fridge 1", containers=BELIEF.containers), START
    )


LIMITED = [
    make_block(Part.HISTORY, "", ["h " * 500]),
    make_block(Part.MEMORY, "[Memory]", ["m " * 20]),
    make_block(Part.DOMAIN, "[Domain]", [f"rule {n}: {'d ' * 20}" for n in range(4)]),
    make_block(Part.GOAL, "[Goal]", ["g " * 20]),
    make_block(Part.NOTICE, "[Notice]", ["n " * 20]),
    make_block(Part.MENU, "[Menu]", ["u " * 20]),
]
INJECTED = sum(block.tokens for block in LIMITED[1:])


def test_when_all_injected_blocks_together_are_too_long_domain_rules_go_after_memories():
    memory, domain = LIMITED[1:3]
    limit = INJECTED - memory.tokens - 1
    prompt = build(LIMITED, Layout.CACHED, Budget(injected=limit))
    assert prompt.cut == ((Part.MEMORY, memory.items[0]), (Part.DOMAIN, domain.items[3]))
    assert sum(block.tokens for block in prompt.injected()) <= limit
    for whole in (INJECTED, 0):
        assert build(LIMITED, Layout.CACHED, Budget(injected=whole)).cut == ()


def test_compact_rules_make_room_for_what_always_stays():
    goal = replace(COOL_APPLE, text="look " * 160)
    mind = compose(
        replace(FULL, enforcement=replace(PAPER, compact=True, guidance=True)),
        knowledge(),
        EpisodicMemory(),
    )
    prompt = decide(mind, goal, BELIEF, None, "o", ()).prompt
    assert {part for part, _ in prompt.cut} == {Part.DOMAIN}
    assert "look look" in prompt.text


def test_only_what_worked_was_just_done():
    assert guidance(Plan(), [Turn("o", "open fridge 1")], "") == ("  Just done: open fridge 1",)
    failed = guidance(Plan(), [Turn("o", "open fridge 1", failed=True)], "")
    assert failed == ("  Already failed: open fridge 1",)
    assert guidance(Plan(), [], "") == ()
