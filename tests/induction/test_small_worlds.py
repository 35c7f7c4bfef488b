"""Three small worlds, written from the docs alone, are learned by experiment: what is unknown before
a step counts neither for nor against anything.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.logic.rules import RuleManual
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import choose_manual, knowledge_of, manual_of
from rpms.play.step import Player
from rpms.worlds.base import Setting, World
from tests.induction.small_worlds import corridor, post_office, vending

STEPS = 1_800
STEPS_FOR_PAIRS = 4_000
"""Needs of which one of two has to hold are found by trials in many states."""


def games_won(world: World, manual: RuleManual) -> int:
    """How many of the test games the planner wins with a manual."""
    mind = compose(RULES_ONLY, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    player = Player(world, mind, open_model("planner"), Decoding(max_tokens=world.max_tokens))
    won = 0
    for task in world.tasks("test", Setting()):
        game = world.open(task, Setting())
        won += play(Play(player, game, task, world.step_budget)).ending == "won"
        game.close()
    return won


def learned_manual(world: World, out: Path, steps: int = STEPS) -> RuleManual:
    tasks = tuple(world.tasks("train", Setting()))
    learn_rules(
        RulesPlan(world, tasks, split="train", exploring=Exploring(steps=steps, seed=0)), out
    )
    return manual_of(world, choose_manual(out))


@pytest.fixture(scope="module")
def vending_manual(tmp_path_factory: pytest.TempPathFactory) -> RuleManual:
    return learned_manual(vending.world, tmp_path_factory.mktemp("vending") / "manual.yaml")


@pytest.mark.parametrize(
    ("world", "steps"), [(corridor.world, STEPS), (post_office.world, STEPS_FOR_PAIRS)]
)
def test_a_learned_manual_wins_nearly_what_a_written_one_wins(
    world: World, steps: int, tmp_path: Path
) -> None:
    by_hand = games_won(world, manual_of(world))
    assert by_hand == 12
    learned = learned_manual(world, tmp_path / "manual.yaml", steps)
    assert games_won(world, learned) >= 0.8 * by_hand


def test_a_machine_with_hidden_stock_and_one_coin_is_learned(vending_manual: RuleManual) -> None:
    assert games_won(vending.world, manual_of(vending.world)) == 12
    assert games_won(vending.world, vending_manual) >= 10


def test_what_a_slot_gives_is_what_was_seen_in_it(vending_manual: RuleManual) -> None:
    learned = vending_manual
    gives = [each for each in learned.lore.processes if "press <slot>" in each.syntax]
    needs = {str(clause) for process in gives for clause in process.preconditions}
    assert "stocks(slot, item)" in needs
    switch = next(each for each in learned.actions if "switch on <machine>" in each.syntax)
    assert [str(effect) for effect in switch.effects] == ["on(machine)"]
