"""Memories a prompt of the paper's preset shows, and how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rpms
from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.paper.arbitration import Arbitration
from rpms.paper.compose import compose
from rpms.paper.decide import decide
from rpms.paper.memory import FailureLesson, Origin, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.paper.wording import untagged_line
from rpms.play.design import design_run
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.store.memories import parse_memory, read_memory
from rpms.store.memory_entries import record
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
EMBEDDED = read_memory(Path(WORLD.embedded_memory()), "alfworld")
APPLE = "You are in the middle of a room. You see a fridge 1.\n\nYour task is to: put a hot apple in fridge."


def opening(memory: EpisodicMemory, text: str = APPLE, **settings):
    given = Settings.read(settings)
    mind = compose(given.condition_value(), knowledge_of(WORLD, given.sources(WORLD)), memory)
    goal = WORLD.goal(text)
    return decide(mind, goal, WORLD.start(goal), None, text, ())


def lessons(count: int) -> EpisodicMemory:
    goal, state = (
        GoalSignature.parse("pick_heat_then_place_in_recep:apple:hot:fridge"),
        StateSignature(),
    )
    return EpisodicMemory(
        FailureLesson(
            goal,
            state,
            f"open drawer {n}",
            "be there" * 4,
            origins=frozenset({Origin("e", n)}),
            id=f"l{n}",
        )
        for n in range(count)
    )


def test_soft_shows_what_none_shows_and_tags():
    for task in WORLD.tasks("builtin", Setting()):
        game = WORLD.open(task, Setting())
        text = game.reset().observation
        shown = {
            mode: [
                untagged_line(each) for each in opening(EMBEDDED, text, arbitration=mode).memories
            ]
            for mode in (Arbitration.NONE, Arbitration.SOFT)
        }
        assert shown[Arbitration.SOFT] == shown[Arbitration.NONE]


def test_a_schema_is_recalled_by_the_goals_it_was_tried_for():
    cool = VerifiedSchema(
        "cool {object} with fridge 1",
        "cool",
        origins=frozenset({Origin("e", 1)}),
        id="s",
        goals=frozenset({GoalSignature.parse("pick_cool_then_place_in_recep:mug:cool:cabinet")}),
    )
    assert opening(EpisodicMemory([cool])).memories == (), (
        "Appendix D: no entry matches apple:hot:fridge"
    )
    assert [each.entry.id for each in opening(EpisodicMemory([cool]), schemas="any").memories] == [
        "s"
    ]
    cold = APPLE.replace("hot", "cool").replace("apple", "cup").replace("in fridge", "in cabinet")
    assert [each.entry.id for each in opening(EpisodicMemory([cool]), cold).memories] == ["s"]
    assert [
        each.entry.id for each in opening(EpisodicMemory([cool]), preset="strict").memories
    ] == ["s"]


def test_what_a_schema_was_tried_for_is_kept_in_its_file():
    schemas = [entry for entry in EMBEDDED.entries if isinstance(entry, VerifiedSchema)]
    assert all(entry.goals for entry in schemas)
    text = "\n".join(json.dumps(record(entry)) for entry in schemas)
    assert list(parse_memory(Path("m"), text).entries) == schemas


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({}, 3),
        ({"k": 10}, 10),
        ({"k": "failure=10", "warnings": 5}, 5),
        ({"k": "failure=10", "memory_tokens": 60}, 4),
        ({"warnings": 1}, 1),
        ({"k": "failure=10", "examined": 4}, 4),
    ],
)
def test_every_limit_on_memories_can_be_set_and_is_recorded(settings, shown):
    memory = lessons(12)
    assert len(opening(memory, **settings).memories) == shown
    given = Settings.read(settings)
    protocol = design_run(
        WORLD, "m", lambda: None, memory=memory, sources=given.sources(WORLD)
    ).protocol()
    recorded = protocol.settings["retrieval"]
    assert {"warnings", "examined", "memory_tokens", "schemas"} <= recorded.keys()
    for name in settings.keys() - {"k"}:
        assert recorded[name] == settings[name]
    agent = rpms.Agent("alfworld", memory=memory, **settings)
    agent.reset("put a hot apple in fridge.")
    agent.act(APPLE)
    assert len(agent.decision.memories) == shown


def test_an_agent_that_learns_also_knows_what_follows_from_what_it_learned():
    snippet = SuccessSnippet(
        GoalSignature.parse("pick_heat_then_place_in_recep:egg:hot:fridge"),
        StateSignature.parse("holding=none"),
        "take_object",
        ("go to fridge 1", "open fridge 1", "take egg 1 from fridge 1"),
        origins=frozenset({Origin("e", 3)}),
        id="s",
    )
    agent = rpms.Agent("alfworld", memory=EpisodicMemory([snippet], "alfworld"), preset="strict")
    before = agent._player.mind.experience
    agent.reset("put a hot apple in fridge.")
    agent.act(APPLE)
    agent.outcome(won=False, observation="Nothing happens.")
    after = agent._player.mind.experience
    assert after.memory.entries == agent.memory.entries
    planning = agent._player.mind.beyond
    assert planning.whereabouts(after) is not planning.whereabouts(before)


def memory_block(**settings) -> str:
    blocks = opening(EMBEDDED, condition="memory-only", **settings).prompt.blocks
    return next(block.text for block in blocks if block.part is Part.MEMORY)


def needs_in_words() -> set[str]:
    """Every precondition and effect of the manual, as schemas and lessons quote it."""
    found = set()
    for entry in EMBEDDED.entries:
        if isinstance(entry, VerifiedSchema):
            found.update((*entry.preconditions, *entry.effects))
    return found


def test_a_memory_can_be_told_without_the_manuals_words():
    quoted = memory_block()
    observed = memory_block(memory_words="observed")
    assert any(words in quoted for words in needs_in_words())
    assert not any(words in observed for words in needs_in_words())
    assert "Rule:" not in observed
    assert "| worked " in observed


def test_a_lesson_as_observed_says_what_was_done_and_answered():
    entry = FailureLesson(
        GoalSignature.parse("pick_heat_then_place_in_recep:apple:hot:fridge"),
        StateSignature(),
        "take apple 1 from fridge 1",
        "the place must be open before taking",
        failure_message="Nothing happens.",
        origins=frozenset({Origin("e", 1), Origin("f", 2)}),
        id="l",
    )
    shown = opening(EpisodicMemory([entry]), condition="memory-only", memory_words="observed")
    text = next(block.text for block in shown.prompt.blocks if block.part is Part.MEMORY)
    assert "AVOID: take apple 1 from fridge 1\n    Observed: Nothing happens. (2 times)" in text
    assert "must be open" not in text


def test_a_schema_that_never_worked_is_not_told_as_verified():
    goal = GoalSignature.parse("pick_heat_then_place_in_recep:apple:hot:fridge")

    def told(*origins: Origin) -> bool:
        schema = VerifiedSchema(
            "heat {object} with {place}",
            "heat",
            ("you hold the object",),
            ("the object has been heated",),
            origins=frozenset(origins),
            goals=frozenset({goal}),
            id="s",
        )
        blocks = opening(EpisodicMemory([schema]), condition="memory-only").prompt.blocks
        return any("VERIFIED" in block.text for block in blocks)

    assert told(Origin("a", 1), Origin("b", 2, failed=True))
    assert not told(Origin("b", 2, failed=True))
