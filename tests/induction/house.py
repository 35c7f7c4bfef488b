"""A house whose commands are calls and name no rooms, with a score for parts of a task: a note
says what to take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

REFUSED = "That does not work."
ROOMS = ("cellar", "kitchen", "hall", "attic")
THINGS = ("apple", "pear", "plum", "fig", "nut", "leek")
WAYS = {"up": 1, "down": -1}
_PREDICATES = """\
world: house
predicates:
  at: {args: [room], yes: you are in the <room>, no: you are not in the <room>, exclusive: always}
  leads: {args: [room, way, other], yes: "<way> of <room> is <other>", no: "<way> of <room> is not <other>"}
  with: {args: [room, thing], yes: <thing> is in the <room>, no: <thing> is not in the <room>}
  near: {args: [thing], yes: <thing> is near, no: <thing> is not near, exclusive: with}
  holding: {args: [thing], yes: you hold <thing>, no: you do not hold <thing>}
  wanted: {args: [thing], yes: <thing> is wanted, no: <thing> is not wanted}
"""


@dataclass
class HouseGame:
    """One above another, four rooms with six things and a note.

    Each thing that the note names scores; others lose.
    """

    seed: int
    holding: list[str] = field(default_factory=list)

    def reset(self) -> Outcome:
        dice = Random(self.seed)
        self.where = {thing: dice.choice(ROOMS) for thing in THINGS}
        self.wanted = dice.sample(THINGS, 2)
        self.room, self.read, self.holding = dice.choice(ROOMS), False, []
        return Outcome(self._told("Take what the note wants."))

    def _told(self, answer: str) -> str:
        facts = [
            f"{'' if room == self.room else 'not '}{name}({room})"
            for room in ROOMS
            for name in ("at", "near")
        ]
        for place, room in enumerate(ROOMS):
            for way, change in WAYS.items():
                facts.append(f"not leads({room}, {way}, _)")
                if 0 <= place + change < len(ROOMS):
                    facts.append(f"leads({room}, {way}, {ROOMS[place + change]})")
        facts += ["not wanted(_)"] if self.read else []
        for thing, room in self.where.items():
            held = thing in self.holding
            facts += [f"not with(_, {thing})"] + ([] if held else [f"with({room}, {thing})"])
            facts.append(f"{'' if not held and room == self.room else 'not '}near({thing})")
            facts.append(f"{'' if held else 'not '}holding({thing})")
            facts += [f"wanted({thing})"] if self.read and thing in self.wanted and not held else []
        return f"{answer}|{';'.join(facts)}"

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome(self._told(REFUSED), self._score)
        name = command.partition('"')[2].rstrip('")')
        if command.startswith("move"):
            self.room = ROOMS[ROOMS.index(self.room) + WAYS[name]]
        elif command.startswith("take"):
            self.holding.append(name)
            if name not in self.wanted:
                return Outcome(self._told("Wrong!"), 0.0, done=True)
        else:
            self.read = True
        won = self._score == 1
        return Outcome(self._told("Done."), self._score, won, won)

    @property
    def _score(self) -> float:
        return sum(thing in self.wanted for thing in self.holding) / 2

    def admissible(self) -> tuple[str, ...]:
        place = ROOMS.index(self.room)
        ways = [way for way, change in WAYS.items() if 0 <= place + change < len(ROOMS)]
        near = [
            thing
            for thing, room in self.where.items()
            if room == self.room and thing not in self.holding
        ]
        return (
            *(f'move(way="{way}")' for way in ways),
            *(f'take(thing="{thing}")' for thing in near),
            "read_note()",
        )

    def close(self) -> None:
        pass


class House(World):
    """The World of it."""

    name = "house"
    splits = ("train", "dev")
    wording = Wording("", "")
    step_budget = 30

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        first = 1_000 * self.splits.index(split)
        return tuple(
            Task(f"{split}-{seed}", split, "fetch", {"seed": str(seed)})
            for seed in range(first, first + 300)
        )

    def open(self, task: Task, _setting: Setting) -> Game:
        return HouseGame(int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("fetch")

    def start(self, _goal: Goal) -> Belief:
        return FactBelief().learn(room=ROOMS, other=ROOMS, way=WAYS, thing=THINGS)

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        return belief.learn(*observation.partition("|")[2].split(";"))

    def infeasible(self, observation: str) -> bool:
        return observation.startswith(REFUSED)

    def manual(self) -> Any:
        return (("house", _PREDICATES),)
