"""The shared texts of every prompt, and the World object."""

import pytest
from household import MANUAL, mind

from rpms.logic.errors import InputError
from rpms.paper.condition import BASELINE, FULL, MEMORY_ONLY, RULES_ONLY
from rpms.paper.decide import decide
from rpms.paper.prompt import Part
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.affordances import category, has, objects, places
from rpms.worlds.base import Setting

OPENING = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a "
    "countertop 1, a fridge 1, and a microwave 1.\n\nYour task is to: put a hot apple in fridge."
)


def prompt(condition):
    goal = world.goal(OPENING)
    return decide(mind(condition), goal, world.start(goal), None, OPENING, ()).prompt


def test_instruction_and_example_are_the_same_under_all_conditions():
    shared = [
        [
            block
            for block in prompt(condition).blocks
            if block.part in (Part.INSTRUCTION, Part.EXAMPLE)
        ]
        for condition in (BASELINE, RULES_ONLY, MEMORY_ONLY, FULL)
    ]
    assert len(shared[0]) == 2
    assert all(blocks == shared[0] for blocks in shared)


def test_the_instruction_names_the_engines_use_and_not_toggle():
    assert "use {obj}" in world.wording.instruction
    assert "toggle" not in world.wording.instruction


def test_every_action_of_the_example_fits_a_schema():
    actions = [
        line.removeprefix("Action: ")
        for line in world.wording.example.splitlines()
        if line.startswith("Action: ")
    ]
    assert len(actions) == 8
    assert all(MANUAL.active("any").instance(action) is not None for action in actions)


def test_the_injected_blocks_read_as_in_the_paper():
    text = prompt(FULL).text
    for line in (
        "[Current State]\n  Holding: nothing",
        "  Type: pick_heat_then_place_in_recep\n  Current sub-goal: find_object - apple\n  Progress: 0%",
        "  - S-002: Hands empty - can pick up an object",
        "  [D-TRANS-003] Sequence: find -> take -> go to tool -> transform -> go to dest -> place.",
    ):
        assert line in text


def test_the_world_lists_and_opens_its_builtin_games():
    tasks = world.tasks("builtin", Setting())
    assert len({task.type for task in tasks}) == 6
    opening = world.open(tasks[0], Setting()).reset().observation
    assert world.goal(opening).type == tasks[0].type


def test_wrong_splits_engines_and_missing_data_are_told(monkeypatch, tmp_path):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(InputError, match="no split 'nowhere'"):
        world.tasks("nowhere", Setting())
    with pytest.raises(InputError, match="ALFWORLD_DATA"):
        world.tasks("valid_seen", Setting())
    with pytest.raises(InputError, match="no engine 'steam'"):
        world.open(world.tasks("builtin", Setting())[0], Setting(engine="steam"))


def test_similar_objects_share_a_category_in_recall():
    similarity = world.retrieval.similarity
    assert similarity.alike("mug", "cup") == similarity.same_category
    assert similarity.alike("mug", "pillow") == 0


def test_kinds_that_merely_sound_alike_are_not_alike_in_recall():
    alike = world.retrieval.similarity.alike
    kinds = sorted({kind for kind in objects() if has("pickupable", kind)} | places())
    assert not [(a, b) for a in kinds for b in kinds if category(a) != category(b) and alike(a, b)]
