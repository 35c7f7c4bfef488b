"""A manual's `quantities`, in a world without any substance: which device to use and when to
measure follows from its lines and the episode's own readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Truth
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, RULES_ONLY, Condition
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.sources import knowledge_of, manual_of
from rpms.play.step import Player
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import find_mistakes
from rpms.worlds.base import Setting
from tests.worlds.waterworks import MANUAL, world

FILLING = world.open(world.tasks("train", Setting())[0], Setting()).reset().observation
GOAL = world.goal(FILLING)
DECIDED = manual_of(world).lore.decided
HAND = (
    ("join hand pump to tank", "You join the hand pump to the tank."),
    ("start hand pump", "The hand pump is on."),
)


def played(number: int, condition: Condition) -> Episode:
    """The episode of one task, by the plans of the manual."""
    mind = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    return play_task(player, world.tasks("train", Setting())[number], Setting())


def after(*steps: tuple[str, str]) -> Belief:
    """The belief after commands and answers."""
    belief = world.update(world.start(GOAL), None, FILLING).deciding(DECIDED, GOAL)
    for command, answer in steps:
        belief = world.update(belief, command, answer).deciding(DECIDED, GOAL)
    return belief


def reading(litres: float) -> tuple[str, str]:
    return ("read tank", f"The gauge shows {litres:g} litres.")


def readings(values: Sequence[float]) -> list[tuple[str, str]]:
    """Readings with a wait before each but the first."""
    wait = ("wait", "Time passes.")
    first, *others = values
    steps = [reading(first)]
    for value in others:
        steps += [wait, reading(value)]
    return steps


def truth(belief: Belief, predicate: str, *names: str) -> Truth:
    return belief.truth(Atom(predicate, names))


@pytest.mark.parametrize("condition", [RULES_ONLY, replace(FULL, enforcement=STRICT)])
def test_a_device_that_cannot_reach_the_bound_is_left_for_one_that_can(condition):
    for number, (weak, strong) in enumerate((("hand pump", "electric pump"), ("tap", "sluice"))):
        episode = played(number, condition)
        commands = [step.command for step in episode.steps]
        assert episode.won
        assert commands.index(f"join {weak} to tank") < commands.index(f"join {strong} to tank")
        assert not any(step.surprises for step in episode.steps[:-1])


def test_while_the_bound_is_far_the_agent_waits_without_measuring():
    commands = [step.command for step in played(0, RULES_ONLY).steps]
    assert "wait wait wait wait" in " ".join(commands)
    assert commands.count("read tank") < commands.count("wait")


def test_two_readings_with_a_device_are_taken_before_time_passes():
    assert truth(after(), "gauged", "tank") is Truth.FALSE, "nothing was read"
    once = after(*HAND, reading(5))
    assert truth(once, "gauged", "tank") is Truth.FALSE
    assert truth(world.update(once, *reading(8)), "gauged", "tank") is Truth.TRUE


def test_a_number_that_may_have_passed_the_bound_is_measured():
    rising = after(*HAND, *readings([25, 40, 55]))
    once = world.update(rising, "wait", "Time passes.")
    assert truth(once, "gauged", "tank") is Truth.TRUE
    twice = world.update(once, "wait", "Time passes.")
    assert truth(twice, "gauged", "tank") is Truth.FALSE, "80 litres may be behind"


def test_a_device_that_slows_down_before_the_bound_is_spent():
    slow = after(*HAND, *readings([5, 20, 30, 37, 41, 44]))
    assert truth(slow, "fills", "hand pump", "tank") is Truth.FALSE
    assert truth(slow, "fills", "electric pump", "tank") is Truth.TRUE
    steady = after(*HAND, *readings([5, 10, 15, 20]))
    assert truth(steady, "fills", "hand pump", "tank") is Truth.TRUE


def test_the_bound_is_reached_from_below_or_from_above():
    assert truth(after(), "full", "tank") is Truth.UNKNOWN
    assert truth(after(reading(79)), "full", "tank") is Truth.FALSE
    assert truth(after(reading(80)), "full", "tank") is Truth.TRUE
    assert truth(after(reading(80)), "low", "tank") is Truth.TRUE
    assert truth(after(reading(81)), "low", "tank") is Truth.FALSE


def test_without_the_manuals_line_nothing_is_known_of_levels():
    undecided = world.update(world.start(GOAL), None, FILLING)
    assert truth(undecided, "fills", "hand pump", "tank") is Truth.UNKNOWN


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("direction: up", "direction: upwards", "direction: should be `up` or `down`"),
        ("wait: 4", "wait: 0", "wait: should be 1 to 1,000 ticks"),
        ("wait: 4", "waits: 4", "waits"),
        ("at: joined(pump, tank)", "at: joined(pump, bucket)", "'bucket' is no variable"),
        ("at: joined(pump, tank)", "at: gauged(tank)", "gauged is told by the quantity level"),
        ("fact: fills(pump, tank)", "fact: full(tank)", "write a fact about a device and tank"),
        ("at_most: low(tank)", "at_most: full(tank)", "full is told by the quantity level"),
        ("at_most: low(tank)", "at_most: not low(tank)", "write a fact over variables"),
        ("current: gauged(tank)", "current: guaged(tank)", "unknown predicate 'guaged'"),
        ("on: [on(valve)]", "on: [on(valve), on(pump)]", "'pump' is no variable"),
    ],
)
def test_a_mistake_in_a_quantity_is_told_with_its_line(old, new, problem):
    text = MANUAL.replace(old, new, 1)
    (mistake, *_) = find_mistakes(ManualText("manual.yaml", text))
    assert problem in str(mistake)
    assert new in text.splitlines()[(mistake.line or 0) - 1]
