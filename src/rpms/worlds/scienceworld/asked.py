"""Steps that a goal's sentence asks for, in its own words and order, and which of them the texts have shown done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rpms.core.goal import GoalStep
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.known import ScienceKnown

_MADE: Final = ("chemistry-mix", "grow-fruit")
"""Tasks, by how their names begin, that end with a focus on what was made."""
_DETERMINE: Final = ("inclined-plane", "mendelian-genetics", "identify-life-stages")
"""Tasks of one step, as far as their sentence tells."""


def steps_asked(belief: ScienceKnown) -> tuple[GoalStep, ...]:
    """The steps of the goal's sentence; none where no template fits it."""
    goal = belief.goal
    return tuple(_steps(goal, belief)) if isinstance(goal, ScienceGoal) and goal.task else ()


def _steps(goal: ScienceGoal, belief: ScienceKnown) -> Iterator[GoalStep]:
    task, target = goal.task, goal.target
    focused = len(belief.focused)
    if task.startswith("find-"):
        yield GoalStep("find", target, done=focused > 0)
        yield GoalStep("move", f"{target} to {goal.box}")
    elif goal.type == "F2":
        yield GoalStep("find", "thermometer", done=_seen("thermometer", belief))
        yield GoalStep("focus_on", "thermometer", done=focused > 0)
        yield GoalStep("find", target, done=focused > 0 and _seen(target, belief))
        yield GoalStep("focus_on", target, done=focused > 1)
        yield GoalStep("measure", target)
    elif task.startswith(_MADE):
        verb = "grow" if task.startswith("grow") else "create"
        for number, thing in enumerate(filter(None, (goal.intermediate, target)), start=1):
            yield GoalStep(verb, thing, done=_seen(thing, belief))
            yield GoalStep("focus_on", thing, done=focused >= number)
    elif task == "grow-plant":
        yield GoalStep("find", "seed", done=_seen("seed", belief))
        yield GoalStep("focus_on", "seed", done=focused > 0)
        yield GoalStep("grow", target)
    elif task.startswith("lifespan"):
        for number, span in enumerate(goal.criterion.split(", then "), start=1):
            yield GoalStep("find", f"animal with the {span} life span", done=focused >= number)
    elif task.startswith(_DETERMINE):
        about = {
            "identify-life-stages": "life stages of the ",
            "mendelian-genetics": f"{goal.criterion} {goal.trait} in ",
        }
        verb = "focus_on" if task.startswith("identify") else "determine"
        yield GoalStep(
            verb, next((f"{words}{target}" for stem, words in about.items() if task.startswith(stem)), target)
        )
    elif task.startswith("power-component"):
        yield GoalStep("turn_on", target)
    else:  # boil, melt, freeze, change the state of matter, test conductivity: focus on it first
        yield GoalStep("find", target, done=_seen(target, belief))
        yield GoalStep("focus_on", target, done=focused > 0)
        yield GoalStep("determine" if task.startswith("test") else task.replace("-", "_"), target)


def _seen(name: str, belief: ScienceKnown) -> bool:
    """True if something of a name was seen anywhere."""
    return any(f" {name} " in f" {each} " for each in belief.last_seen)
