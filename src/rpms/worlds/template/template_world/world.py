"""The lighthouse as a World: its knowledge in one place. What to do in it is nowhere written: the manual says it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rpms.core.belief import Belief, FactBelief
from rpms.core.errors import InputError
from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.core.wording import Wording
from rpms.worlds.base import Game, Setting, Task, World

from .belief import update
from .game import REFUSED, TemplateGame, tasks

INSTRUCTION = """\
You keep a lighthouse and have a duty. At each turn you are told what happened and answer with a short thought and one \
command, in this form:
Thought: your reasoning
Action: your next command
The commands are: go to {room}, take {thing} from {room}, put {thing} in {room}, fill {room} lamp, light {room} lamp. \
A lamp is filled with the oil can and lit with matches. What cannot be done is answered "You cannot do that."."""

EXAMPLE = """\
Here is an example.
You are in the attic. You see: nothing. The lamp is lit. Rooms: attic, hall.
Your duty: bring the spyglass to the attic.
Thought: The spyglass may be in the hall.
Action: go to hall
Obs: You are in the hall. You see: spyglass. The lamp is empty.
Action: take spyglass from hall
Obs: You take spyglass from hall.
Action: go to attic
Obs: You are in the attic. You see: nothing. The lamp is lit.
Action: put spyglass in attic
Obs: You put spyglass in attic.
The example ends here. Now your duty:"""

_LAMP = re.compile(r"Your duty: ((light) the ([a-z ]+) lamp)\.")
_BRING = re.compile(r"Your duty: (bring the ([a-z ]+) to the ([a-z ]+))\.")


class TemplateWorld(World):
    """The World of a lighthouse."""

    name = "template"
    splits: tuple[str, ...] = ("train", "test")
    wording = Wording(INSTRUCTION, EXAMPLE)
    step_budget = 30

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"{self.name} has no split {split!r}; choose one of {', '.join(self.splits)}")
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
