"""Junk: found for a stated reason, pruned by a policy, and never lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rpms.learning.inventory import Junk, find_junk
from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.paper.memory import CriticalFailure, FailureLesson, Origin, SuccessSnippet, merge
from rpms.play.sources import manual_of
from rpms.store.memories import freeze, read_memory, read_quarantine, write_memory
from rpms.store.protocol import Protocol
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]
WORLD = find_world("alfworld")
HEAT = GoalSignature("pick_heat_then_place_in_recep", "mug", "", "cabinet")


def snippet(*actions: str, evidence: int = 1, goal: GoalSignature = HEAT) -> SuccessSnippet:
    origins = frozenset(Origin("e", number) for number in range(evidence))
    return SuccessSnippet(
        goal, StateSignature.parse("holding=mug 1"), "heat_object", actions, origins=origins
    )


GOOD = snippet("go to microwave 1", "heat mug 1 with microwave 1", evidence=5)
LIKE = snippet("go to microwave 1", "heat mugs 1 with microwave 1")
WRONG = snippet(
    "go to fridge 1",
    "heat mug 1 with fridge 1",
    goal=GoalSignature("pick_heat_then_place_in_recep", "cup"),
)
OTHERS = [
    snippet(f"go to {place} 1", f"open {place} 1", evidence=2)
    for place in ("microwave", "cabinet", "fridge")
]


def junk(*entries, runs=()):
    found = find_junk(merge(entries), WORLD, manual_of(WORLD), WORLD.retrieval, runs)
    return {(remark.junk, remark.entry.actions[-1]) for remark in found}


def test_what_says_the_same_with_less_evidence_is_a_near_duplicate():
    assert junk(GOOD, LIKE) == {(Junk.DUPLICATE, "heat mugs 1 with microwave 1")}


def test_lessons_about_different_things_are_no_duplicates_however_alike_their_words():
    said = "the lamp of the {} was not filled, and a lamp that is not filled cannot be lit by anybody at all"
    kitchen, cellar = (
        FailureLesson(
            HEAT, StateSignature.parse("holding=mug 1"), f"light {room} lamp", said.format(room)
        )
        for room in ("kitchen", "kitchenette")
    )
    again = replace(kitchen, corrective_rule=said.format("kitchens"))
    found = find_junk(merge([kitchen, cellar, again]), WORLD, manual_of(WORLD), WORLD.retrieval, ())
    assert [remark.entry.failed_action for remark in found if remark.junk is Junk.DUPLICATE] == [
        "light kitchen lamp"
    ]


def test_what_three_of_the_same_goal_and_hand_precede_is_always_below_them():
    assert junk(GOOD, *OTHERS[:2]) == set()
    found = junk(GOOD, *OTHERS)
    assert len(found) == 1
    assert {kind for kind, _ in found} == {Junk.BELOW}


def test_what_is_said_of_another_sub_goal_is_not_below_them():
    assert junk(GOOD, *OTHERS[:2], replace(OTHERS[2], sub_goal_type="put_object")) == set()


def test_what_the_manual_rules_out_in_any_room_is_against_it():
    assert junk(GOOD, WRONG) == {(Junk.CONTRADICTED, "heat mug 1 with fridge 1")}


def test_putting_a_thing_down_is_not_against_a_manual_that_wants_it_heated_first():
    assert junk(snippet("go to cabinet 1", "put mug 1 in/on cabinet 1")) == set()


def test_critical_failures_are_no_junk():
    critical = CriticalFailure(HEAT, StateSignature.parse(""), "heat mug 1 with fridge 1", "never")
    assert find_junk([critical], WORLD, manual_of(WORLD), WORLD.retrieval) == ()


def test_the_memory_that_the_planner_learned_holds_nothing_against_the_manual():
    file = Path(WORLD.embedded_memory())
    found = find_junk(read_memory(file).entries, WORLD, manual_of(WORLD), WORLD.retrieval)
    assert Junk.CONTRADICTED not in {remark.junk for remark in found}


@pytest.fixture
def memory(tmp_path):
    file = tmp_path / "memory.jsonl"
    write_memory(file, merge([GOOD, LIKE, WRONG, *OTHERS]), "alfworld")
    freeze(file)
    return file


def test_a_policy_prunes_what_it_names_and_keeps_it_beside(memory, tmp_path, rpms: Rpms):
    out = tmp_path / "pruned.jsonl"
    ran = rpms("memory", "junk", memory, "--prune", "duplicate,contradicted", "--out", out)
    assert "near-duplicate: 1" in ran.out
    assert "never recalled: unknown without runs" in ran.out
    assert {item.reason.partition(":")[0] for item in read_quarantine(out)} == {
        "near-duplicate",
        "against the manual",
    }
    both = merge(read_memory(out).entries, [item.entry for item in read_quarantine(out)])
    assert both == merge(read_memory(memory).entries)


def test_mistakes_are_one_line(memory, tmp_path, rpms: Rpms):
    assert "go together" in rpms("memory", "junk", memory, "--prune", "all").line
    assert (
        "did you mean"
        in rpms(
            "memory", "junk", memory, "--prune", "duplicates", "--out", tmp_path / "x.jsonl"
        ).line
    )


def test_runs_of_another_world_tell_nothing_of_a_memory(memory, tmp_path, rpms: Rpms):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "protocol.json").write_text(
        Protocol(("a",), {"world": "else\x1b[31mwhere"}).text()
    )
    told = rpms("memory", "junk", memory, tmp_path / "run").line
    assert "a memory of alfworld, but" in told
    assert "\x1b" not in told
