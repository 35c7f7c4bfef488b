"""A world of one corridor, for tests of runs: its games can be slow, break down, or never end,
as their ids say.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rpms.logic.belief import Belief, StateSignature
from rpms.logic.errors import WorldError
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Command, Outcome, Setting, Task, World

MANUAL = """
world: corridor
predicates:
  at: {args: [room], yes: you are in <room>, no: you are not in <room>, exclusive: always}
  next: {args: [room], yes: <room> is the next one, no: <room> is not the next one}
  found: {args: [room], yes: <room> was found, no: <room> was not found}
goals:
  walk: {over: {room: destination}, holds: [found(room)]}
environment:
  go: {syntax: go to <room>, preconditions: [next(room)], effects: [at(room)], observes: [found(_)]}
"""


@dataclass(frozen=True, slots=True)
class CorridorBelief(Belief):
    location: str | None = None
    last_seen: Mapping[str, str] = field(default_factory=dict)

    @property
    def ahead(self) -> str:
        return f"room {int((self.location or 'room 0').split()[1]) + 1}"

    @property
    def names(self) -> Mapping[str, Sequence[str]]:
        return {"room": (self.ahead,)}

    def called(self, word: str) -> Sequence[str]:
        return (word,)

    def truth(self, atom: Atom, /) -> Truth:
        here, (room,) = self.location == atom.args[0], atom.args
        if atom.predicate == "next":
            return Truth.of(room == self.ahead)
        return (
            Truth.of(here or None)
            if atom.predicate == "found"
            else Truth.of(here if self.location else None)
        )

    def signature(self) -> StateSignature:
        return StateSignature.of(holding=self.holding)

    def lines(self) -> tuple[str, ...]:
        return (
            f"In: {self.location or 'somewhere'}",
            *(f"Seen: {name} in {at}" for name, at in self.last_seen.items()),
        )


class CorridorGame:
    def __init__(self, task: Task) -> None:
        self.task = task
        self.room = 0
        self.rooms = int(task.source.get("rooms", "3"))

    def reset(self) -> Outcome:
        if self.task.type == "no start":
            raise WorldError("the door is jammed")
        return Outcome(f"You are in room 0. Your task is to: go to room {self.rooms}.")

    def step(self, command: str) -> Outcome:
        time.sleep(float(self.task.source.get("seconds", "0")))
        if self.task.type == "breaks" and self.room == 1:
            raise WorldError("the floor gave way")
        if command != f"go to room {self.room + 1}":
            return Outcome("Nothing happens.")
        self.room += 1
        won = self.room == self.rooms
        return Outcome(
            f"You are in room {self.room}. You see a lamp {self.room}.",
            float(won),
            won=won,
            done=won,
        )

    def admissible(self) -> tuple[str, ...]:
        return (f"go to room {self.room + 1}",)

    def close(self) -> None:
        pass


class Corridor(World):
    name = "corridor"
    splits = ("short", "empty")
    step_budget = 20
    max_tokens = 64
    wording = Wording("You walk along a corridor.", "Action: go to room 1")

    def tasks(self, split: str, setting: Setting) -> list[Task]:
        return (
            []
            if split == "empty"
            else [task(f"corridor {number}", number % 5 + 1) for number in range(12)]
        )

    def open(self, task: Task, setting: Setting) -> CorridorGame:
        if task.type == "no game":
            raise WorldError("there is no such corridor")
        return CorridorGame(task)

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("corridor.yaml", MANUAL),)

    def goal(self, opening: str) -> Goal:
        return Goal(
            "walk",
            "room",
            "",
            opening.rpartition("go to ")[2].strip("."),
            opening.partition("task is to: ")[2],
        )

    def start(self, goal: Goal) -> CorridorBelief:
        return CorridorBelief()

    def update(
        self, belief: CorridorBelief, action: str | None, observation: str
    ) -> CorridorBelief:
        if not observation.startswith("You are in "):
            return belief
        room = observation.removeprefix("You are in ").partition(".")[0]
        lamp = observation.partition("You see a ")[2].strip(".")
        seen = {**belief.last_seen, lamp: room} if lamp else belief.last_seen
        return replace(belief, location=room, last_seen=seen)

    def command(self, action: str, belief: CorridorBelief) -> Command:
        return Command(action.strip())

    def infeasible(self, observation: str) -> bool:
        return observation.startswith("Nothing happens")

    def contradictions(self, belief: CorridorBelief, game: CorridorGame) -> tuple[str, ...]:
        if game.task.type == "unknowable" and game.room == 2:
            raise WorldError("the simulator does not say what is true")
        return ()


def task(name: str, rooms: int = 3, type_: str = "walk", seconds: float = 0.0) -> Task:
    return Task(name, "short", type_, {"rooms": str(rooms), "seconds": str(seconds)})


world = Corridor()
