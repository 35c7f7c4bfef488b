"""Guidance, menu and compact rules of ALFWorld, from texts and on the embedded games."""

from __future__ import annotations

from statistics import median

import pytest

from rpms.models.base import Decoding
from rpms.models.policy import menu_best, menu_random
from rpms.paper.compose import compose
from rpms.paper.condition import Condition
from rpms.paper.decide import Decision, decide
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending
from rpms.paper.recall import EpisodicMemory
from rpms.planning.extension import COMPACT
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
KNOWLEDGE = knowledge_of(WORLD)
MIND = compose(Condition(enforcement=STRICT), KNOWLEDGE, EpisodicMemory())
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a countertop 1, a diningtable 1, a fridge 1, "
    "a microwave 1, and a sinkbasin 1.\n\nYour task is to: heat some egg and put it in diningtable."
)
GOAL = WORLD.goal(ROOM)


def decision(*turns: tuple[str, str]) -> Decision:
    """The decision after some turns."""
    belief, action, observation = WORLD.start(GOAL), None, ROOM
    for command, answer in turns:
        belief, action, observation = WORLD.update(belief, action, observation), command, answer
    return decide(MIND, GOAL, belief, action, observation, ())


def now(*turns: tuple[str, str]) -> str:
    return decision(*turns).advice.guidance[0].removeprefix("  Now: ")


TO_FRIDGE = ("go to fridge 1", "You arrive at loc 3. The fridge 1 is closed.")
OPEN = (
    "open fridge 1",
    "You open the fridge 1. The fridge 1 is open. In it, you see a egg 2, and a lettuce 1.",
)
TAKE = ("take egg 2 from fridge 1", "You pick up the egg 2 from the fridge 1.")
TO_MICROWAVE = ("go to microwave 1", "You arrive at loc 5. The microwave 1 is closed.")
HEAT = ("heat egg 2 with microwave 1", "You heat the egg 2 using the microwave 1.")
TO_TABLE = ("go to diningtable 1", "You arrive at loc 9. On the diningtable 1, you see nothing.")
WAY = (TO_FRIDGE, OPEN, TAKE, TO_MICROWAVE, HEAT, TO_TABLE)
WORDS = (
    "go to diningtable 1 to look for egg",
    "go to diningtable 1 to look for egg",
    "take egg 2 from fridge 1, then heat egg 2 with microwave 1",
    "go to microwave 1, then heat egg 2 with microwave 1",
    "heat egg 2 with microwave 1",
    "go to diningtable 1, then put egg 2 in/on diningtable 1",
    "put egg 2 in/on diningtable 1",
)


@pytest.mark.parametrize("done", range(7))
def test_what_comes_next_is_said_as_far_as_it_is_certain_and_ranks_highest(done):
    decided = decision(*WAY[:done])
    assert decided.advice.guidance[0] == f"  Now: {WORDS[done]}"
    assert WORDS[done].startswith(decided.menu.best)


def test_the_likeliest_place_comes_first_and_every_entry_says_what_it_is_for():
    entries = {item.command: item for item in decision(TO_FRIDGE).menu.items}
    assert entries["go to diningtable 1"].rank == 0, (
        "an egg is likelier there than in a fridge that is still closed"
    )
    assert {item.reason for item in entries.values()} == {"look for egg"}
    holding = {item.command: item.reason for item in decision(TO_FRIDGE, OPEN, TAKE).menu.items}
    assert holding["go to microwave 1"] == "then heat egg 2 with microwave 1"


@pytest.mark.parametrize("done", range(7))
def test_nobody_looks_for_a_place_since_the_opening_names_them_all(done):
    assert not any(
        "diningtable" in item.reason.partition("look for ")[2]
        for item in decision(*WAY[:done]).menu.items
    )


def test_what_was_seen_elsewhere_is_where_to_go():
    assert now(TO_FRIDGE, OPEN, TO_TABLE).startswith(
        "go to fridge 1, then take egg 2 from fridge 1"
    )


def test_what_is_not_needed_is_to_be_put_down():
    lettuce = ("take lettuce 1 from fridge 1", "You pick up the lettuce 1 from the fridge 1.")
    assert now(TO_FRIDGE, OPEN, lettuce).startswith(
        "put lettuce 1 in/on fridge 1, then take egg 2 from fridge 1"
    )


def test_rules_are_those_of_what_is_to_be_done_now():
    shown = []
    for turns in ((), (TO_FRIDGE, OPEN, TAKE)):
        decided = decision(*turns)
        shown.append(
            {rule.id for rule in decided.rules.rules if not rule.when} - set(decided.left_out)
        )
    searching, heating = shown
    assert "D-LOC-001" in searching
    assert not any(name.startswith("D-LOC") for name in heating)


def test_the_best_entry_wins_and_what_prompts_inject_is_brief():
    tasks = WORLD.tasks("builtin", Setting())
    injected = []
    for model, some in ((menu_best("menu-best"), tasks), (menu_random("menu-random"), tasks[::6])):
        for task in some:
            episode = play(
                Play(Player(WORLD, MIND, model, Decoding()), WORLD.open(task, Setting()), task, 50)
            )
            injected += [
                sum(block.tokens for block in step.decision.prompt.injected())
                for step in episode.steps
            ]
            assert not any(step.refusals for step in episode.steps)
            assert episode.ending is Ending.WON or model.name == "menu-random"
    assert median(injected) <= COMPACT
