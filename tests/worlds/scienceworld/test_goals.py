"""All thirty tasks, read from their descriptions."""

import os
from collections import Counter

import pytest
from laboratory import DESCRIPTIONS, goal

from rpms.logic.goal import UNKNOWN_GOAL, GoalSignature
from rpms.play.sources import manual_of
from rpms.worlds.jvm.bridge import Simulator
from rpms.worlds.jvm.process import shared_jvm
from rpms.worlds.scienceworld.tasks import KINDS, parse_goal
from rpms.worlds.scienceworld.world import PROGRAM, world


@pytest.mark.parametrize("task", KINDS)
def test_every_task_is_known_by_its_description(task):
    read = goal(task)
    assert (read.task, read.object, read.type) == (task, task, KINDS[task].family)
    assert read.text == f"Your task is to {DESCRIPTIONS[task]}"
    assert read.target
    purpose = manual_of(world).active(read.type, read.object).purpose
    assert purpose is not None
    assert purpose.staged
    assert GoalSignature.parse(str(read.signature)) == read.signature


def test_the_signature_is_the_papers():
    assert str(goal("melt").signature) == "F3:melt:water"
    assert str(goal("find-animal").signature) == "F1:find-animal:animal:red box"


def test_thresholds_and_branches_of_conditional_tasks():
    read = goal("use-thermometer")
    assert (read.target, read.place, read.box_room, read.bound) == (
        "unknown substance B", "living room", "bathroom", -50.0,
    )  # fmt: skip
    assert read.branches == (("above", "red box"), ("below", "green box"))
    assert ("below", "orange box") in goal("measure-melting-point-known-substance").branches
    assert ("recessive", "green box") in goal("mendelian-genetics-known-plant").branches
    assert ("conductive", "red box") in goal("test-conductivity").branches


def test_what_else_the_sentences_say():
    assert goal("chemistry-mix-paint-tertiary-color").intermediate == "violet paint"
    assert goal("inclined-plane-determine-angle").candidates == (
        "inclined plane C",
        "inclined plane B",
    )
    assert goal("inclined-plane-friction-unnamed-surfaces").candidates == (
        "inclined plane with a unknown material C surface",
        "inclined plane with a unknown material H surface",
    )
    trait = goal("mendelian-genetics-unknown-plant")
    assert (trait.target, trait.criterion, trait.trait) == ("unknown E plant", "blue", "seed color")
    assert goal("power-component-renewable-vs-nonrenewable-energy").source == "nonrenewable"
    assert (goal("grow-fruit").target, goal("grow-fruit").place) == ("orange", "bedroom")
    assert (goal("find-plant").box, goal("find-plant").box_room) == ("purple box", "bathroom")


@pytest.mark.parametrize(
    "text",
    ["", "Your task is to", "Your task is to dance.", "a" * 5_000, "Your task is to boil " * 500],
)
def test_what_fits_no_template_is_unknown(text):
    read = parse_goal(text)
    assert read.type == UNKNOWN_GOAL
    assert manual_of(world).active(read.type, read.object).purpose is None


@pytest.mark.skipif(
    not os.environ.get("RPMS_SLOW"), reason="loads every train and dev variation: set RPMS_SLOW=1"
)
@pytest.mark.timeout(3_600)
def test_every_description_of_train_and_dev():
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    read = Counter()
    simulator = Simulator(shared_jvm(PROGRAM))
    for name, kind in KINDS.items():
        for variation in (*kind.variations("train"), *kind.variations("dev")):
            simulator.call("load", name, variation, "", False)
            found = parse_goal(simulator.text("getTaskDescription"))
            assert found.task == name
            read[name] += 1
    simulator.close()
    assert sum(read.values()) == sum(kind.train + kind.dev for kind in KINDS.values())
