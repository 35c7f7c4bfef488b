"""The objective that a prompt names is never one that the task does not mean."""

from __future__ import annotations

import os

import pytest
from laboratory import OPENINGS, after

from rpms.paper.progress import standing_by_sentence
from rpms.worlds.base import Outcome
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.tasks import ELECTRICAL_TASKS, KINDS
from rpms.worlds.scienceworld.world import ScienceWorldGame

KITCHEN = (
    "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta substance called air\n{}"
    "You also see:\n\tA door to the hallway (that is open)\n"
)


def objective(task: str, *lines: str, **named: str) -> str:
    """The objective of a task once a kitchen with some things was seen."""
    sentence = OPENINGS[task].partition("\n")[0]
    for old, new in named.items():
        sentence = sentence.replace(old.replace("_", " "), new)
    sight = KITCHEN.format("".join(f"\t{line}\n" for line in lines))
    progress, _ = standing_by_sentence(after(opening=f"{sentence}\n\n{sight}"))
    return f"{progress.sub_goal} {progress.target}"


@pytest.mark.parametrize(
    ("task", "named", "line", "told"),
    [
        ("grow-fruit", {"orange": "cherry"}, "a cherry seed", "grow cherry"),
        (
            "grow-fruit",
            {"orange": "apple"},
            "a bowl (containing a red apple, an orange)",
            "grow apple",
        ),
        (
            "grow-fruit",
            {"orange": "apple"},
            (
                "a flower pot 1 (containing a apple tree in the reproducing stage. On the apple tree"
                " you see: a red apple, pollen. , soil)"
            ),
            "focus_on apple",
        ),
        ("boil", {"ice_cream": "ice"}, "a substance called ice cream", "find ice"),
        ("boil", {"ice_cream": "ice"}, "a substance called ice", "focus_on ice"),
        ("boil", {"ice_cream": "water"}, "a substance called salt water", "find water"),
        ("boil", {"ice_cream": "tin"}, "a tin cup (containing nothing)", "find tin"),
        ("boil", {"ice_cream": "lead"}, "a lead pipe", "find lead"),
        (
            "boil",
            {"ice_cream": "chocolate"},
            "a substance called liquid chocolate",
            "focus_on choc",
        ),
        ("grow-plant", {}, "a seed jar (containing nothing)", "find apple seed"),
        ("grow-plant", {}, "a seed jar (containing a apple seed)", "focus_on apple seed"),
        ("chemistry-mix", {}, "a substance called water", "create salt water"),
    ],
)
def test_a_thing_is_the_goals_by_its_name_and_not_by_a_part_of_it(task, named, line, told):
    assert objective(task, line, **named).startswith(told)


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (
            "use-thermometer",
            "the temperature of unknown substance B, then place it in the right box",
        ),
        (
            "measure-melting-point-known-substance",
            "the melting point of chocolate, then focus on the right box",
        ),
        (
            "inclined-plane-determine-angle",
            "which inclined plane has the shallowest angle, then focus on it",
        ),
        ("identify-life-stages-2", "life stages of the apple plant, earliest first"),
    ],
)
def test_the_last_objective_says_what_the_sentence_asks_for(task, told):
    assert after(opening=OPENINGS[task]).asked()[-1].target == told


def test_a_source_of_power_that_the_sentence_names_is_in_the_objective():
    belief = after(opening=OPENINGS["power-component-renewable-vs-nonrenewable-energy"])
    (step,) = belief.asked()
    assert step.target == f"red light bulb with a {belief.goal.source} power source"


def test_what_was_focused_on_is_what_is_to_be_moved():
    belief = after(opening=OPENINGS["find-animal"])
    assert belief.asked()[-1].target == "animal to red box"
    found = world.update(belief, "focus on dove egg", "You focus on the dove egg.")
    assert found.asked()[-1].target == "dove egg to red box"


MADE = ("grow-fruit", "chemistry-mix")
"""Beginnings of tasks whose object must be made before it is focused on."""
WALK = (
    *("look around", "open cupboard", "open fridge", "open freezer", "open glass jar"),
    *("activate sink", "look around"),
)


def done(game: ScienceWorldGame, command: str) -> Outcome:
    """The answer to a command; of several things that it may mean, the first is meant."""
    outcome = game.step(command)
    if outcome.observation.startswith("Ambiguous request"):
        return game.step("0")
    return outcome


def misled(task: str, variation: int) -> str:
    """Walk through all rooms twice, make nothing, and focus whenever the objective says so.

    Returns what is wrong with the first objective that the simulator does not reward.
    """
    easy = "teleportAction,openDoors" if task in ELECTRICAL_TASKS else "easy"
    with ScienceWorldGame(task, variation, easy) as game:
        opening = game.reset().observation
        belief = world.update(world.start(world.goal(opening)), None, opening)
        for room in ROOMS * 2:
            for command in (f"teleport to {room}", *WALK):
                before = game.step(command)
                belief = world.update(belief, command, before.observation)
            progress, _ = standing_by_sentence(belief)
            if progress.sub_goal != "focus_on":
                continue
            command = f"focus on {progress.target}"
            if task.startswith(MADE):
                return f"{command}, which nobody has made"
            outcome = done(game, command)
            belief = world.update(belief, command, outcome.observation)
            if outcome.score < before.score:
                return f"{command}: {outcome.score:g} after {before.score:g}"
            if outcome.observation.startswith("You focus on") and outcome.score == before.score:
                return f"{command} earns nothing"
    return ""


QUICK = [
    *[("boil", 4), ("freeze", 0), ("measure-melting-point-known-substance", 32)],
    *[("grow-fruit", 0), ("grow-fruit", 54), ("grow-plant", 36), ("chemistry-mix", 0)],
    *[("use-thermometer", 20), ("chemistry-mix-paint-tertiary-color", 6)],
]
ALL = [
    (kind.name, kind.variations("train")[number * kind.train // 10])
    for kind in KINDS.values()
    for number in range(10 if kind.train >= 10 else 1)
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("task", "variation"), ALL if os.environ.get("RPMS_SLOW") else QUICK)
def test_no_objective_turns_to_focus_before_the_simulator_rewards_it(task, variation):
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    assert not misled(task, variation)
