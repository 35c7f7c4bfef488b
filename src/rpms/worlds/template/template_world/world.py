"""The lighthouse as a World: its knowledge in one place.

What to do in it is nowhere written: the manual says it.
"""

import re
from collections.abc import Sequence

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.base import Game, Setting, Task, World, read_wording

from .belief import update
from .game import REFUSED, TemplateGame, tasks

_LAMP = re.compile(r"Your duty: ((light) the ([a-z ]+) lamp)\.")
_BRING = re.compile(r"Your duty: (bring the ([a-z ]+) to the ([a-z ]+))\.")


class TemplateWorld(World):
    """The World of a lighthouse."""

    name = "template"
    splits: tuple[str, ...] = ("train", "test")
    wording = read_wording(__package__)
    step_budget = 30

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(
                f"{self.name} has no split {split!r}; choose one of {', '.join(self.splits)}"
            )
        return tasks(split)

    def open(self, task: Task, _setting: Setting) -> Game:
        return TemplateGame(int(task.source["number"]))

    def goal(self, opening: str) -> Goal:
        if match := _LAMP.search(opening):
            return Goal(match[2], destination=match[3], text=match[1])
        if match := _BRING.search(opening):
            return Goal("bring", match[2], destination=match[3], text=match[1])
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        return update(belief, observation)

    def infeasible(self, observation: str) -> bool:
        return observation == REFUSED

    def contradictions(self, belief: FactBelief, game: TemplateGame) -> tuple[str, ...]:
        return belief.contradicted_by(game.facts())


world = TemplateWorld()
