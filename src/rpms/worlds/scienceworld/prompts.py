"""The texts of ScienceWorld's prompts: the fixed ones are the same under all conditions."""

from __future__ import annotations

from rpms.core.belief import Belief
from rpms.core.goal import Goal, Progress
from rpms.core.prompt import Part
from rpms.worlds.base import read_wording

HEADINGS = {
    Part.UNIVERSAL: "[RULES - Tier 1: Universal Principles]",
    Part.DOMAIN: "[RULES - Tier 2: Domain (this family and task)]",
    Part.ENVIRONMENT: "[RULES - Tier 3: Environment (ScienceWorld)]\n  What an action names must be here or carried.",
    Part.SITUATION: "[RULES - Now]",
    Part.GOAL: "",
    Part.BELIEF: "[Current State]",
    Part.MEMORY: "[Past Experience - Learned from History]",
}
"""Those of Appendix D. The goal's own line is its heading."""


def objective(_goal: Goal, progress: Progress) -> tuple[str, ...]:
    """The goal block: the current sub-goal in words, `[Current Objective] find water`."""
    step = progress.sub_goal.replace("_", " ")
    return (f"[Current Objective] {step} {progress.target}".rstrip(),)


def state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block, with the progress pointer in its first line."""
    first, *more = belief.lines()
    return (f"  {first}  Progress: step {progress.done}", *(f"  {line}" for line in more))


def paper_state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block as Appendix D prints it: room, inventory and the progress pointer on one line."""
    carrying = ", ".join(belief.holding) or "nothing"
    return (f"  Room: {belief.location or 'unknown'}  Carrying: {carrying}  Progress: step {progress.done}",)


WORDING = read_wording(
    __package__, headings=HEADINGS, goal=objective, belief=state, brief=paper_state, assumed=frozenset({"here"})
)
