"""A room to tidy up: things score where such things belong, which no text tells; half as much
while they are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from tests.induction.seeded import seeded_tasks

REFUSED = "You cannot do that."
PLACES = ("shelf", "hook", "box", "drawer")
_SORTS = ("cup plate bowl", "hat coat scarf", "ball doll kite", "fork knife spoon")
HOMES = {sort: place for place, sorts in zip(PLACES, _SORTS, strict=True) for sort in sorts.split()}
STRANGE = {"vase": "hook", "lamp": "drawer"}
"""What only other tasks have than those that are learned from."""
COLOURS = {"train": ("red", "blue", "green"), "dev": ("white", "black")}
_PREDICATES = """\
world: tidy
predicates:
  holding: {args: [thing], yes: you hold <thing>, no: you do not hold <thing>}
  in: {args: [thing, place], yes: <thing> is in the <place>, no: <thing> is not in the <place>}
  is_a: {args: [thing, sort], yes: <thing> is a <sort>, no: <thing> is no <sort>}
"""


@dataclass
class TidyGame:
    """Two things that lie about.

    Nothing says whether a thing was put where it belongs but the score.
    """

    seed: int
    split: str

    def reset(self) -> Outcome:
        dice = Random(self.seed)
        sorts = dice.sample(sorted(HOMES | (STRANGE if self.split == "dev" else {})), 2)
        self.where = {f"{dice.choice(COLOURS[self.split])} {sort}": "floor" for sort in sorts}
        return Outcome(self._told("Tidy up."))

    def _told(self, answer: str) -> str:
        facts = []
        for thing, where in self.where.items():
            facts += [
                f"not in({thing}, _)",
                *([f"in({thing}, {where})"] if where in PLACES else []),
            ]
            facts.append(f"{'' if where == 'hand' else 'not '}holding({thing})")
        return f"{answer}|{';'.join(facts)}|{';'.join(self.where)}"

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome(self._told(REFUSED), self._score)
        if command.startswith("take "):
            self.where[command[5:]] = "hand"
        else:
            thing, _, place = command[4:].partition(" in ")
            self.where[thing] = place
        won = self._score == 1
        return Outcome(self._told("Done."), self._score, won, won)

    @property
    def _score(self) -> float:
        homes = HOMES | STRANGE
        return sum(
            {homes[thing.split()[1]]: 0.5, "hand": 0.25}.get(where, 0.0)
            for thing, where in self.where.items()
        )

    def admissible(self) -> tuple[str, ...]:
        held = [thing for thing, where in self.where.items() if where == "hand"]
        takes = [f"take {thing}" for thing in self.where if thing not in held]
        return (*takes, *(f"put {thing} in {place}" for thing in held for place in PLACES))

    def close(self) -> None:
        pass


class Tidy(World):
    """The World of it."""

    name = "tidy"
    splits = ("train", "dev")
    wording = Wording("", "")
    step_budget = 20

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        return seeded_tasks(split, "tidy", 200)

    def open(self, task: Task, _setting: Setting) -> Game:
        return TidyGame(int(task.source["seed"]), task.split)

    def goal(self, _opening: str) -> Goal:
        return Goal("tidy")

    def start(self, _goal: Goal) -> Belief:
        sorts = (*HOMES, *STRANGE)
        every = [
            f"is_a({colour} {sort}, {sort})"
            for some in COLOURS.values()
            for colour in some
            for sort in sorts
        ]
        return FactBelief().learn("not is_a(_, _)", *every, place=PLACES, sort=sorts)

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        _, facts, things = observation.split("|")
        return belief.learn(*facts.split(";"), thing=things.split(";"))

    def infeasible(self, observation: str) -> bool:
        return observation.startswith(REFUSED)

    def manual(self) -> Any:
        return (("tidy", _PREDICATES),)
