"""What goes by a made-up name in ScienceWorld's benchmark: substances to heat, cool, measure or mix."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rpms.worlds.scienceworld.tasks import KINDS, ScienceGoal, parse_goal

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "scienceworld_planner.py"

MELT_LEAD = "Your task is to melt lead. First, focus on the substance."
MELT_WATER = "Your task is to melt water. First, focus on the substance."
MIX_JAM = (
    "Your task is to use chemistry to create the substance 'jam'. A recipe and some of the"
    " ingredients might be found near the kitchen."
)
MIX_PAINT = "Your task is to use chemistry to create green paint."
MEASURE_UNKNOWN = (
    "Your task is to measure the temperature of unknown substance B, which is located around the"
    " kitchen. First, focus on the thermometer. If the unknown substance B temperature is above"
    " 10.0 degrees celsius, place it in the red box. If the temperature is below 10.0 degrees"
    " celsius, place it in the blue box. The boxes are located around the bathroom."
)
GROW_PLANT = "Your task is to grow a apple plant from seed. Seeds can be found in the kitchen."
LIFESPAN = (
    "Your task is to find the animal with the longest life span. The animals are in the 'outside'"
    " location. Focus on the animal."
)


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scienceworld_planner", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("sentence", "target", "hidden"),
    [
        (MELT_LEAD, "lead", True),
        (MIX_JAM, "jam", True),
        (MELT_WATER, "water", False),
        (MIX_PAINT, "green paint", False),
        (MEASURE_UNKNOWN, "unknown substance B", False),
        (GROW_PLANT, "apple", False),
        (LIFESPAN, "longest", False),
    ],
)
def test_substances_alone_have_a_made_up_name(
    benchmark: ModuleType, sentence: str, target: str, hidden: bool
):
    goal = parse_goal(sentence)
    assert goal.target == target
    assert benchmark.Terms("rules-only", "all", 1).hides(goal) is hidden
    assert benchmark.Terms("rules-only", "", 1).hides(goal) is False


def test_half_of_the_substances_is_drawn_by_the_seed(benchmark: ModuleType):
    goals = [ScienceGoal("F3", task="melt", target=f"metal {number}") for number in range(200)]
    first = [benchmark.Terms("rules-only", "half", 1).hides(goal) for goal in goals]
    again = [benchmark.Terms("rules-only", "half", 1).hides(goal) for goal in goals]
    other = [benchmark.Terms("rules-only", "half", 2).hides(goal) for goal in goals]
    assert first == again != other
    assert 70 < sum(first) < 130


def test_the_tasks_of_substances_exist(benchmark: ModuleType):
    assert set(benchmark.SUBSTANCE_TASKS) <= KINDS.keys()
