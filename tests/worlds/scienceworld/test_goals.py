"""All thirty tasks, read from their descriptions."""

import os
from collections import Counter

import pytest

from rpms.core.goal import UNKNOWN_GOAL, GoalSignature
from rpms.worlds.scienceworld.bridge import Simulator
from rpms.worlds.scienceworld.goals import Branch, parse_goal
from rpms.worlds.scienceworld.jvm import shared_jvm
from rpms.worlds.scienceworld.procedures import procedure
from rpms.worlds.scienceworld.tasks import KINDS

_STATE = "First, focus on the substance. Then, take actions that will cause it to change its state of matter."
DESCRIPTIONS = {
    "find-animal": "find a(n) animal. First, focus on the thing. Then, move it to the red box in the living room.",
    "find-living-thing": (
        "find a(n) living thing. First, focus on the thing. Then, move it to the green box in the kitchen."
    ),
    "find-non-living-thing": (
        "find a(n) non-living thing. First, focus on the thing. Then, move it to the red box in the workshop."
    ),
    "find-plant": "find a(n) plant. First, focus on the thing. Then, move it to the purple box in the bathroom.",
    "use-thermometer": (
        "measure the temperature of unknown substance B, which is located around the living room. First, focus "
        "on the thermometer. Next, focus on the unknown substance B. If the unknown substance B temperature is "
        "above -50.0 degrees celsius, place it in the red box. If the unknown substance B temperature is below "
        "-50.0 degrees celsius, place it in the green box. The boxes are located around the bathroom."
    ),
    "measure-melting-point-known-substance": (
        "measure the melting point of chocolate, which is located around the kitchen. First, focus on the "
        "thermometer. Next, focus on the chocolate. If the melting point of chocolate is above 150.0 degrees "
        "celsius, focus on the blue box. If the melting point of chocolate is below 150.0 degrees celsius, focus "
        "on the orange box. The boxes are located around the kitchen."
    ),
    "measure-melting-point-unknown-substance": (
        "measure the melting point of solid unknown substance C, which is located around the kitchen. First, "
        "focus on the thermometer. Next, focus on the solid unknown substance C. If the melting point of solid "
        "unknown substance C is above 150.0 degrees celsius, focus on the orange box. If the melting point of "
        "solid unknown substance C is below 150.0 degrees celsius, focus on the yellow box. The boxes are "
        "located around the kitchen."
    ),
    "boil": "boil ice cream. For compounds without a boiling point, combusting the substance is also acceptable. "
    + _STATE,
    "melt": "melt water. " + _STATE,
    "freeze": "freeze orange juice. " + _STATE,
    "change-the-state-of-matter-of": "change the state of matter of lead. " + _STATE,
    "chemistry-mix": (
        "use chemistry to create the substance 'salt water'. A recipe and some of the ingredients might be found "
        "near the workshop. When you are done, focus on the salt water."
    ),
    "chemistry-mix-paint-secondary-color": (
        "use chemistry to create green paint. When you are done, focus on the green paint."
    ),
    "chemistry-mix-paint-tertiary-color": (
        "use chemistry to create violet-red paint. When you are part-way done, focus on the intermediate "
        "(secondary color) paint you created.  When you are completely done, focus on the violet paint."
    ),
    "grow-plant": (
        "grow a apple plant from seed. Seeds can be found in the kitchen. First, focus on a seed. Then, make "
        "changes to the environment that grow the plant until it reaches the reproduction life stage."
    ),
    "grow-fruit": (
        "grow a orange. This will require growing several plants, and them being crosspollinated to produce "
        "fruit.  Seeds can be found in the bedroom. To complete the task, focus on the grown orange."
    ),
    "identify-life-stages-1": "focus on the 4 life stages of the blue jay, starting from earliest to latest.",
    "identify-life-stages-2": (
        "focus on the life stages of the apple plant, starting from earliest to latest. The plants are located outside."
    ),
    "inclined-plane-determine-angle": (
        "determine which of the two inclined planes (C, B) has the shallowest angle. After completing your "
        "experiment, focus on the inclined plane with the shallowest angle."
    ),
    "inclined-plane-friction-named-surfaces": (
        "determine which of the two inclined planes (paper, cloth) has the most friction. After completing your "
        "experiment, focus on the inclined plane with the most friction."
    ),
    "inclined-plane-friction-unnamed-surfaces": (
        "determine which of the two inclined planes (unknown material C, unknown material H) has the least "
        "friction. After completing your experiment, focus on the inclined plane with the least friction."
    ),
    "lifespan-longest-lived": (
        "find the animal with the longest life span.  The animals are in the 'outside' location.  Focus on the "
        "animal with the longest life span."
    ),
    "lifespan-shortest-lived": (
        "find the animal with the shortest life span.  The animals are in the 'outside' location.  Focus on the "
        "animal with the shortest life span."
    ),
    "lifespan-longest-lived-then-shortest-lived": (
        "find the animal with the longest life span, then the shortest life span. First, focus on the animal "
        "with the longest life span.  Then, focus on the animal with the shortest life span. The animals are in "
        "the 'outside' location."
    ),
    "mendelian-genetics-known-plant": (
        "determine whether tall plant height is a dominant or recessive trait in the pea plant. If the trait is "
        "dominant, focus on the red box. If the trait is recessive, focus on the green box."
    ),
    "mendelian-genetics-unknown-plant": (
        "determine whether blue seed color is a dominant or recessive trait in the unknown E plant. If the trait "
        "is dominant, focus on the red box. If the trait is recessive, focus on the green box."
    ),
    "power-component": (
        "turn on the electric motor. First, focus on the electric motor. Then, create an electrical circuit that "
        "powers it on."
    ),
    "power-component-renewable-vs-nonrenewable-energy": (
        "turn on the red light bulb by powering it using a nonrenewable power source. First, focus on the red "
        "light bulb. Then, create an electrical circuit that powers it on."
    ),
    "test-conductivity": (
        "determine if metal fork is electrically conductive. The metal fork is located around the kitchen. "
        "First, focus on the metal fork. If it is electrically conductive, place it in the red box. If it is "
        "electrically nonconductive, place it in the green box."
    ),
    "test-conductivity-of-unknown-substances": (
        "determine if unknown substance B is electrically conductive. The unknown substance B is located around "
        "the workshop. First, focus on the unknown substance B. If it is electrically conductive, place it in "
        "the blue box. If it is electrically nonconductive, place it in the orange box."
    ),
}
OPENINGS = {task: f"Your task is to {text}\n\nThis room is called the hallway." for task, text in DESCRIPTIONS.items()}


def goal(task):
    return parse_goal(OPENINGS[task])


@pytest.mark.parametrize("task", KINDS)
def test_every_task_is_known_by_its_description(task):
    read = goal(task)
    assert (read.task, read.object, read.type) == (task, task, KINDS[task].family)
    assert read.text == f"Your task is to {DESCRIPTIONS[task]}"
    assert read.target
    assert len(procedure(read)) >= 2
    assert GoalSignature.parse(str(read.signature)) == read.signature


def test_the_signature_is_the_papers():
    assert str(goal("melt").signature) == "F3:melt:water"
    assert str(goal("find-animal").signature) == "F1:find-animal:animal:red box"


def test_thresholds_and_branches_of_conditional_tasks():
    read = goal("use-thermometer")
    assert (read.target, read.place, read.box_room, read.threshold) == (
        "unknown substance B", "living room", "bathroom", -50.0,
    )  # fmt: skip
    assert read.branches == (Branch("above", "red box", "place"), Branch("below", "green box", "place"))
    assert goal("measure-melting-point-known-substance").branch("below") == Branch("below", "orange box", "focus")
    assert goal("mendelian-genetics-known-plant").branch("recessive").box == "green box"
    assert goal("test-conductivity").branch("conductive") == Branch("conductive", "red box", "place")


def test_what_else_the_sentences_say():
    assert goal("chemistry-mix-paint-tertiary-color").intermediate == "violet paint"
    assert goal("identify-life-stages-1").stages == 4
    assert goal("inclined-plane-determine-angle").candidates == ("inclined plane C", "inclined plane B")
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
    "text", ["", "Your task is to", "Your task is to dance.", "a" * 5_000, "Your task is to boil " * 500]
)
def test_what_fits_no_template_is_unknown(text):
    read = parse_goal(text)
    assert read.type == UNKNOWN_GOAL
    assert procedure(read) == ()


@pytest.mark.skipif(not os.environ.get("RPMS_SLOW"), reason="loads every train and dev variation: set RPMS_SLOW=1")
@pytest.mark.timeout(3_600)
def test_every_description_of_train_and_dev():
    pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
    read = Counter()
    simulator = Simulator(shared_jvm(), timeout_s=60)
    for name, kind in KINDS.items():
        for variation in (*kind.variations("train"), *kind.variations("dev")):
            simulator.call("load", name, variation, "", False)
            found = parse_goal(simulator.text("getTaskDescription"))
            assert found.task == name
            read[name] += 1
    simulator.close()
    assert sum(read.values()) == sum(kind.train + kind.dev for kind in KINDS.values())
