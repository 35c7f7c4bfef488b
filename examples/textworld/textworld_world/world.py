"""TextWorld as a World: its knowledge in one place.

What to do in it is nowhere written: the manual says it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.errors import InputError
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Setting, Task, World

from .belief import update
from .game import TextWorldGame
from .games import SPLITS, tasks
from .goals import read_goal

INSTRUCTION = """\
You play a text adventure and have one thing to do. At each turn you are told what happened and answer with a short \
thought and one command, in this form:
Thought: your reasoning
Action: your next command
The commands are: look, inventory, go {direction}, open {place}, close {place}, unlock {place} with {key}, \
lock {place} with {key}, take {thing}, take {thing} from {place}, put {thing} on {place}, insert {thing} into {place}, \
drop {thing}, eat {thing}, examine {thing}."""

EXAMPLE = """\
Here is an example.
Your objective is to put the spoon on the shelf.

-= Cellar =-
You are in a cellar. You see a shelf. But there isn't a thing on it.
There is a closed hatch leading north.
Thought: The spoon is not here. The hatch is closed.
Action: open hatch
Obs: You open the hatch.
Action: go north
Obs: -= Scullery =-
You are in a scullery. There is an open hatch leading south.
There is a spoon on the floor.
Action: take spoon
Obs: You pick up the spoon from the ground.
Action: go south
Obs: -= Cellar =-
You are in a cellar. You see a shelf. But there isn't a thing on it.
There is an open hatch leading north.
Action: put spoon on shelf
Obs: You put the spoon on the shelf.
The example ends here. Now your game:"""

_REFUSED = re.compile(
    r"You can't|You have to|You need to|You haven't|You aren't|You don't|Can't see|That's (?:already|not)|That doesn't"
    r"|It's (?:un)?locked at the moment|First you would|The .+ is welded shut|I only understood|I didn't understand"
)
_CERTAIN = ("at", "closed", "locked", "holding", "in", "floor")


class TextWorldWorld(World):
    """The World of TextWorld's generated games."""

    name = "textworld"
    splits: tuple[str, ...] = tuple(SPLITS)
    wording = Wording(INSTRUCTION, EXAMPLE)
    step_budget = 80

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(
                f"{self.name} has no split {split!r}; choose one of {', '.join(self.splits)}"
            )
        return tasks(split)

    def open(self, task: Task, _setting: Setting) -> Game:
        return TextWorldGame(task.source["kind"], int(task.source["seed"]))

    def goal(self, opening: str) -> Goal:
        return read_goal(opening)

    def start(self, goal: Goal) -> Belief:
        """A goal may name the key: `lock the chest with the latchkey`."""
        if not goal.state:
            return FactBelief()
        key, lock = [goal.state], goal.object
        return FactBelief().learn(
            f"not fits(_, {lock})", f"fits({goal.state}, {lock})", key=key, thing=key
        )

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        return update(belief, action, observation)

    def infeasible(self, observation: str) -> bool:
        return _REFUSED.match(observation) is not None

    def contradictions(self, belief: FactBelief, game: TextWorldGame) -> tuple[str, ...]:
        known = {atom: holds for atom, holds in belief.known.items() if atom.predicate in _CERTAIN}
        return FactBelief(known).contradicted_by(game.facts())

    def not_installed(self) -> str:
        return "" if find_spec("textworld") else "TextWorld: pip install textworld"


world = TextWorldWorld()
