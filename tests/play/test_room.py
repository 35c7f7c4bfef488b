"""Nothing leaves a prompt unsaid: history gives way first, knowledge last, and what is missing
is told.
"""

from __future__ import annotations

import json

import pytest

from rpms.models.policy import FunctionModel
from rpms.paper.compose import compose
from rpms.paper.episode import Episode
from rpms.paper.prompt import Part, prompt_limit
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.report.page_data import episode_data
from rpms.store.episodes import episode_text, file_name, packed, read_episode
from rpms.store.files import write_whole
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

THOUGHT = (
    "I think about what was seen, what it means for the task, and where to go from here; " * 12
)
"""Longer than any limit of its own would have left it."""


def rambling(commands: tuple[str, ...]) -> FunctionModel:
    said = iter(range(10_000))
    return FunctionModel(
        lambda _: f"Thought: {THOUGHT}\nAction: {commands[next(said) % len(commands)]}"
    )


def played(
    world, number: int, settings: Settings, commands: tuple[str, ...], steps: int
) -> Episode:
    task = world.tasks(settings.split or world.splits[0], Setting())[number]
    decoding = settings.decoding(world)
    knowledge = knowledge_of(
        world, settings.sources(world, settings.context or 0), decoding.max_tokens
    )
    mind = compose(settings.condition_value(), knowledge, EpisodicMemory(world=world.name))
    game = world.open(task, Setting())
    try:
        return play(Play(Player(world, mind, rambling(commands), decoding), game, task, steps))
    finally:
        game.close()


@pytest.mark.parametrize("manual", ["paper", "complete"])
def test_every_prompt_of_a_hundred_step_scienceworld_episode_holds_tier_2(manual):
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    world = find_world("scienceworld")
    wandering = (
        "look around",
        "open door to hallway",
        "go to hallway",
        "inventory",
        "open door to kitchen",
        "wait1",
    )
    shown = {}
    for condition in ("baseline", "rules-only", "full"):
        settings = Settings.read(
            {"condition": condition, "manual": manual, "context": 8_192, "split": "train"}
        )
        episode = played(world, 0, settings, wandering, 100)
        assert len(episode.steps) == 100
        limit = prompt_limit(8_192, world.max_tokens)
        prompts = [step.decision.prompt for step in episode.steps]
        assert max(prompt.tokens for prompt in prompts) <= limit
        if condition != "baseline":
            first = next(block for block in prompts[0].blocks if block.part is Part.DOMAIN)
            assert all(first in prompt.blocks for prompt in prompts)
        assert episode.counts["shortened"] > 50
        assert episode.counts["crowded"] == 0
        shown[condition] = [
            [block.items for block in prompt.blocks if block.part is Part.HISTORY]
            for prompt in prompts
        ]
    assert shown["baseline"] == shown["rules-only"] == shown["full"], (
        "no condition loses history before another"
    )
    assert THOUGHT.strip() in str(shown["full"][99])


def test_a_window_too_small_for_the_rules_is_said_on_the_page_and_in_the_row(tmp_path):
    world = find_world("alfworld")
    settings = Settings.read(
        {"condition": "rules-only", "manual": "complete", "context": 1_400, "max_tokens": 100}
    )
    episode = played(world, 0, settings, ("look", "inventory"), 6)
    assert episode.counts["crowded"] == 6
    last = episode.steps[-1].decision.prompt
    assert last.crowded
    assert {part for part, _ in last.no_room} >= {Part.HISTORY, Part.DOMAIN}
    history = next(block for block in last.blocks if block.part is Part.HISTORY)
    assert len(history.items) == 1, "all of the history but the opening goes before any rule does"
    file = tmp_path / file_name(episode.task)
    write_whole(file, packed(episode_text(episode)))
    record = read_episode(file)
    assert (record.row.crowded, record.row.shortened) == (6, episode.counts["shortened"])
    assert record.steps[-1].extras["no_room"]["rules.domain"] > 0
    assert '"rules.domain": ' in json.dumps(episode_data(record)["parts"])
    assert record.prompt(6).no_room == last.no_room
