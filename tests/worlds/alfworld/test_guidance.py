"""Guidance, menu and compact rules of ALFWorld, from texts and on the embedded games."""

from __future__ import annotations

import pytest

from rpms.core.belief import Situation
from rpms.core.condition import Condition, compose
from rpms.core.enforcement import STRICT
from rpms.core.episode import Ending
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.controls import menu_best, menu_random
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
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
RULES = KNOWLEDGE.manual.active(GOAL.type, GOAL.object)


def after(*turns: tuple[str, str]):
    belief = WORLD.update(WORLD.start(GOAL), None, ROOM)
    for command, answer in turns:
        belief = WORLD.update(belief, command, answer)
    return belief


def now(*turns: tuple[str, str]) -> str:
    return KNOWLEDGE.guide(Situation(after(*turns), GOAL), RULES, (), ())[0].removeprefix("  Now: ")


def best(*turns: tuple[str, str]) -> str:
    suggestions = KNOWLEDGE.suggest(Situation(after(*turns), GOAL), RULES, ())
    return max(suggestions, key=lambda item: item.relevance).command


TO_FRIDGE = ("go to fridge 1", "You arrive at loc 3. The fridge 1 is closed.")
OPEN = ("open fridge 1", "You open the fridge 1. The fridge 1 is open. In it, you see a egg 2, and a lettuce 1.")
TAKE = ("take egg 2 from fridge 1", "You pick up the egg 2 from the fridge 1.")
TO_MICROWAVE = ("go to microwave 1", "You arrive at loc 5. The microwave 1 is closed.")
HEAT = ("heat egg 2 with microwave 1", "You heat the egg 2 using the microwave 1.")
TO_TABLE = ("go to diningtable 1", "You arrive at loc 9. On the diningtable 1, you see nothing.")
WAY = (TO_FRIDGE, OPEN, TAKE, TO_MICROWAVE, HEAT, TO_TABLE)
WORDS = (
    "look for egg; likeliest unsearched places: ",
    "look for egg; you are at fridge 1, which is closed and not searched: open it",
    "egg 2 is here: take it from fridge 1",
    "you hold egg 2: go to microwave 1, to heat egg 2 there",
    "you hold egg 2 and are at microwave 1: heat egg 2 here",
    "you hold egg 2: go to diningtable 1, to put egg 2 there",
    "you hold egg 2 and are at diningtable 1: put egg 2 here",
)
COMMANDS = (*(command for command, _ in WAY[1:]), "put egg 2 in/on diningtable 1")


@pytest.mark.parametrize("done", range(7))
def test_what_is_needed_is_said_from_where_the_agent_is(done):
    assert now(*WAY[:done]).startswith(WORDS[done])


@pytest.mark.parametrize("done", range(1, 7))
def test_what_is_needed_ranks_highest(done):
    assert best(*WAY[:done]) == COMMANDS[done - 1]


def test_what_was_seen_elsewhere_is_where_to_go():
    assert now(TO_FRIDGE, OPEN, TO_TABLE) == "egg 2 is in/on fridge 1: go there"
    assert best(TO_FRIDGE, OPEN, TO_TABLE) == "go to fridge 1"


def test_what_is_not_needed_is_to_be_put_down():
    lettuce = ("take lettuce 1 from fridge 1", "You pick up the lettuce 1 from the fridge 1.")
    assert now(TO_FRIDGE, OPEN, lettuce).endswith("put lettuce 1 down, which is not needed, here")


def test_rules_are_those_of_the_sub_goal():
    shown = {}
    for turns in ((), (TO_FRIDGE, OPEN, TAKE)):
        progress = WORLD.progress(GOAL, after(*turns))
        narrow = KNOWLEDGE.focus(RULES, progress)
        shown[progress.sub_goal] = ({rule.group for rule in narrow.rules}, {item.name for item in narrow.environment})
    searching, heating = shown["find_object"], shown["heat_object"]
    assert "search_strategy" in searching[0] - heating[0]
    assert "verification" in heating[0] - searching[0]
    assert (searching[1], heating[1]) == ({"go", "open", "take"}, {"go", "heat"})


def test_the_best_entry_wins_and_no_prompt_is_longer_than_it_may_be():
    tasks = WORLD.tasks("builtin", Setting())
    for model, some in ((menu_best("menu-best"), tasks), (menu_random("menu-random"), tasks[::6])):
        for task in some:
            episode = play(Play(WORLD, WORLD.open(task, Setting()), task, MIND, model, Decoding(), 50))
            assert all(sum(block.tokens for block in step.decision.prompt.injected()) <= 800 for step in episode.steps)
            assert not any(step.refusals for step in episode.steps)
            assert episode.ending is Ending.WON or model.name == "menu-random"
