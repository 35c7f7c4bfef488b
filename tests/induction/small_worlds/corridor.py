"""A corridor of rooms with doors between them, some locked; tags on the keys say which they fit."""

import re
from collections.abc import Sequence
from random import Random

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

ROOMS = ("porch", "hall", "study", "vault")
DOORS = ("red door", "green door", "blue door")
KEYS = ("iron key", "brass key", "bone key")
REFUSED = "It does not work."

_MANUAL = """\
world: corridor
predicates:
  at: {args: [room], yes: you are in the <room>, no: you are not in the <room>, exclusive: always}
  joins: {args: [door, room, other], yes: "<door> leads from <room> to <other>", no: "<door> does not lead from <room> to <other>"}
  beside: {args: [door, room], yes: <door> is a door of the <room>, no: <door> is no door of the <room>}
  open: {args: [door], yes: <door> is open, no: <door> is shut}
  locked: {args: [door], yes: <door> is locked, no: <door> is not locked}
  fits: {args: [key, door], yes: <key> fits <door>, no: <key> does not fit <door>}
  in: {args: [key, room], yes: <key> is in the <room>, no: <key> is not in the <room>}
  holding: {args: [key], yes: you hold <key>, no: you do not hold <key>}
goals:
  reach:
    over: {room: destination}
    holds: [at(room)]
  bring:
    over: {key: object, room: destination}
    holds: ["in(key, room)"]
  shut:
    over: {door: object}
    holds: [not open(door)]
environment:
  go:
    syntax: go through <door>
    plan: [open(door)]
    preconditions: [open(door)]
  take:
    syntax: take <key> from <room>
    preconditions: [at(room), "in(key, room)"]
    effects: [holding(key), "not in(key, room)"]
    observes: ["fits(key, _)"]
  drop:
    syntax: drop <key> in <room>
    preconditions: [at(room), holding(key)]
    effects: ["in(key, room)", not holding(key)]
  unlock:
    syntax: unlock <door> in <room> with <key>
    preconditions: [at(room), "beside(door, room)", locked(door), holding(key), "fits(key, door)"]
    effects: [not locked(door)]
  open:
    syntax: open <door> in <room>
    preconditions: [at(room), "beside(door, room)", not locked(door), not open(door)]
    effects: [open(door)]
  shut:
    syntax: shut <door> in <room>
    preconditions: [at(room), "beside(door, room)", open(door)]
    effects: [not open(door)]
processes:
  walk:
    command: go through <door>
    needs: [at(room), "joins(door, room, other)", open(door)]
    effects: [at(other)]
    observes: ["in(_, other)"]
"""


class CorridorGame:
    """One episode; its number decides where things are and what is wanted."""

    def __init__(self, number: int) -> None:
        self.number = number

    def reset(self) -> Outcome:
        dice = Random(self.number)
        self.room = "porch"
        self.fits = dict(zip(dice.sample(KEYS, 3), DOORS, strict=True))
        self.locked = dice.sample(DOORS, dice.choice((1, 2)))
        self.open = [door for door in DOORS if door not in self.locked and dice.random() < 0.5]
        self.held: list[str] = []
        self.keys = {}
        for key, door in self.fits.items():  # a key lies before the first locked door
            before = [DOORS.index(each) for each in (*self.locked, door)]
            self.keys[key] = ROOMS[dice.randint(0, min(before))]
        self.duty = ("reach", "bring", "shut")[self.number % 3]
        self.target = dice.choice(ROOMS[1:])
        self.key = dice.choice([key for key, room in self.keys.items() if room != self.target])
        self.door = dice.choice(DOORS)
        if self.duty == "shut":
            self.open = sorted({*self.open, self.door})
            self.locked = [door for door in self.locked if door != self.door]
        duties = {
            "reach": f"reach the {self.target}",
            "bring": f"bring the {self.key} to the {self.target}",
            "shut": f"shut the {self.door}",
        }
        rooms = ", ".join(ROOMS)
        return Outcome(f"{self._here()} Rooms: {rooms}.\nYour task is to: {duties[self.duty]}.")

    def _doors(self) -> dict[str, str]:
        """The doors of this room, by where they lead."""
        place = ROOMS.index(self.room)
        found = {}
        if place:
            found[DOORS[place - 1]] = ROOMS[place - 1]
        if place < len(DOORS):
            found[DOORS[place]] = ROOMS[place + 1]
        return found

    def _here(self) -> str:
        doors = []
        for door, other in self._doors().items():
            state = "open" if door in self.open else "locked" if door in self.locked else "shut"
            doors.append(f"{door} to the {other} ({state})")
        keys = [key for key, room in self.keys.items() if room == self.room]
        return f"You are in the {self.room}. Doors: {', '.join(doors)}. Keys: {', '.join(keys) or 'none'}."

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome(REFUSED)
        verb, *_ = command.split()
        door = next((each for each in DOORS if each in command), "")
        key = next((each for each in KEYS if each in command), "")
        said = f"You {command}."
        match verb:
            case "go":
                self.room = self._doors()[door]
                said = self._here()
            case "take":
                self.keys[key] = ""
                self.held.append(key)
                said += f" Its tag says: {self.fits[key]}."
            case "drop":
                self.keys[key] = self.room
                self.held.remove(key)
            case "unlock":
                self.locked.remove(door)
            case "open":
                self.open.append(door)
            case "shut":
                self.open.remove(door)
        won = {
            "reach": self.room == self.target,
            "bring": self.keys[self.key] == self.target,
            "shut": self.door not in self.open,
        }[self.duty]
        return Outcome(said, float(won), won=won, done=won)

    def admissible(self) -> tuple[str, ...]:
        here = self.room
        commands = []
        for door in self._doors():
            if door in self.open:
                commands += [f"go through {door}", f"shut {door} in {here}"]
            elif door in self.locked:
                commands += [
                    f"unlock {door} in {here} with {key}"
                    for key in self.held
                    if self.fits[key] == door
                ]
            else:
                commands.append(f"open {door} in {here}")
        commands += [f"take {key} from {here}" for key, room in self.keys.items() if room == here]
        commands += [f"drop {key} in {here}" for key in self.held]
        return tuple(sorted(commands))

    def close(self) -> None:
        """Nothing is held."""


_HERE = re.compile(r"You are in the ([a-z]+)\. Doors: (.*?)\. Keys: ([a-z, ]+)\.")
_DOOR = re.compile(r"([a-z]+ door) to the ([a-z]+) \((open|locked|shut)\)")
_ROOMS = re.compile(r"Rooms: ([a-z, ]+)\.")
_TASK = re.compile(r"Your task is to: (.+)\.")
_REACH = re.compile(r"reach the ([a-z]+)")
_BRING = re.compile(r"bring the ([a-z]+ key) to the ([a-z]+)")
_SHUT = re.compile(r"shut the ([a-z]+ door)")
_TAKEN = re.compile(r"You take ([a-z]+ key) from ([a-z]+)\. Its tag says: ([a-z]+ door)\.")
_DROPPED = re.compile(r"You drop ([a-z]+ key) in ([a-z]+)\.")
_TURNED = re.compile(r"You (unlock|open|shut) ([a-z]+ door) in")
_AFTER = {"unlock": "not locked", "open": "open", "shut": "not open"}
_STATES = {
    "open": ("open", "not locked"),
    "locked": ("not open", "locked"),
    "shut": ("not open", "not locked"),
}


class CorridorWorld(World):
    """The World of a corridor."""

    name = "corridor"
    splits: tuple[str, ...] = ("train", "test")
    wording = Wording(instruction="Find your way.", example="No example.")
    step_budget = 40

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("corridor/manual.yaml", _MANUAL),)

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        numbers = range(60) if split == "train" else range(1000, 1012)
        return [Task(f"{split}-{each}", split, "task", {"number": str(each)}) for each in numbers]

    def open(self, task: Task, _setting: Setting) -> Game:
        return CorridorGame(int(task.source["number"]))

    def goal(self, opening: str) -> Goal:
        match = _TASK.search(opening)
        text = match[1] if match else ""
        if found := _REACH.fullmatch(text):
            return Goal("reach", destination=found[1], text=text)
        if found := _BRING.fullmatch(text):
            return Goal("bring", found[1], destination=found[2], text=text)
        if found := _SHUT.fullmatch(text):
            return Goal("shut", found[1], text=text)
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        if match := _ROOMS.search(observation):
            rooms = match[1].split(", ")
            belief = belief.learn("not holding(_)", room=rooms, other=rooms, door=DOORS, key=KEYS)
        if match := _HERE.match(observation):
            return self._look(belief, match)
        if match := _TAKEN.match(observation):
            key, door = match.group(1, 3)
            return belief.learn(
                f"holding({key})",
                f"not in({key}, _)",
                f"not fits({key}, _)",
                f"fits({key}, {door})",
            )
        if match := _DROPPED.match(observation):
            return belief.learn(f"not holding({match[1]})", f"in({match[1]}, {match[2]})")
        if match := _TURNED.match(observation):
            return belief.learn(f"{_AFTER[match[1]]}({match[2]})")
        return belief

    def _look(self, belief: FactBelief, match: re.Match[str]) -> FactBelief:
        room = match[1]
        keys = [key for key in match[3].split(", ") if key != "none"]
        facts = ["not at(_)", f"at({room})", f"not in(_, {room})"]
        facts += [f"in({key}, {room})" for key in keys]
        facts += [f"not joins(_, {room}, _)", f"not beside(_, {room})"]
        for door, other, state in _DOOR.findall(match[2]):
            facts += [f"joins({door}, {room}, {other})", f"joins({door}, {other}, {room})"]
            facts += [f"beside({door}, {room})", f"beside({door}, {other})"]
            facts += [f"{fact}({door})" for fact in _STATES[state]]
        return belief.learn(*facts)

    def infeasible(self, observation: str) -> bool:
        return observation == REFUSED


world = CorridorWorld()
