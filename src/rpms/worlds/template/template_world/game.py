"""The simulator: a keeper, four rooms with a lamp each, three things to carry.

It knows everything.
"""

from typing import NamedTuple

from rpms.worlds.base import Outcome, Task

ROOMS = ("boathouse", "cellar", "kitchen", "lantern room")
THINGS = ("logbook", "matches", "oil can")
DUTIES = {"light": "light the {} lamp", "bring": "bring the logbook to the {}"}
HAND = "hand"
REFUSED = "You cannot do that."


class Deed(NamedTuple):
    """Something that a command does, by its verb, and what it is about."""

    verb: str
    about: str


NOTHING = Deed("", "")


def tasks(split: str) -> tuple[Task, ...]:
    """Twelve tasks to learn from and six to be judged by; each is made from its number alone."""
    numbers = range(12) if split == "train" else range(12, 18)
    return tuple(
        Task(f"{split}-{number:02}", split, duty_of(number), {"number": str(number)})
        for number in numbers
    )


def duty_of(number: int) -> str:
    """Kind of duty of a task: each in turn."""
    return list(DUTIES)[number % len(DUTIES)]


class TemplateGame:
    """One duty being done. Everything is a matter of its number: there is no chance in it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.duty = duty_of(number)
        self.target = ROOMS[number // len(DUTIES) % 4]
        self.reset()

    def reset(self) -> Outcome:
        number = self.number
        self.room = "boathouse"
        others = [room for room in ROOMS if room != self.target]
        self.things = {
            thing: others[(number // 3 + place) % 3] for place, thing in enumerate(THINGS)
        }
        self.lamps = {
            room: ("filled", "empty", "empty")[(number + place) % 3]
            for place, room in enumerate(ROOMS)
        }
        duty = DUTIES[self.duty].format(self.target)
        return Outcome(f"{self.here()} Rooms: {', '.join(ROOMS)}.\nYour duty: {duty}.")

    def step(self, command: str) -> Outcome:
        verb, what = self.possible().get(command, NOTHING)
        said = f"You {command}."
        burnt = False
        match verb:
            case "go":
                self.room = what
                said = self.here()
            case "take":
                self.things[what] = HAND
            case "put":
                self.things[what] = self.room
            case "fill":
                self.lamps[what] = "filled"
            case "light":
                self.lamps[what] = "lit"
                burnt = self.things["oil can"] == HAND
            case _:
                said = REFUSED
        if burnt:
            return Outcome(f"{said} The oil can catches fire!", done=True)
        won = self.done()
        return Outcome(said, float(won), won=won, done=won)

    def admissible(self) -> tuple[str, ...]:
        return tuple(sorted(self.possible()))

    def close(self) -> None:
        """Nothing is held."""

    def possible(self) -> dict[str, Deed]:
        """Every command that would be obeyed now: the rules of the game."""
        here = self.room
        commands = {f"go to {room}": Deed("go", room) for room in ROOMS if room != here}
        for thing, place in self.things.items():
            if place == here:
                commands[f"take {thing} from {here}"] = Deed("take", thing)
            elif place == HAND:
                commands[f"put {thing} in {here}"] = Deed("put", thing)
        if self.lamps[here] == "empty" and self.things["oil can"] == HAND:
            commands[f"fill {here} lamp"] = Deed("fill", here)
        if self.lamps[here] == "filled" and self.things["matches"] == HAND:
            commands[f"light {here} lamp"] = Deed("light", here)
        return commands

    def done(self) -> bool:
        """True if the duty is done."""
        return {
            "light": self.lamps[self.target] == "lit",
            "bring": self.things["logbook"] == self.target,
        }[self.duty]

    def here(self) -> str:
        """The keeper's view."""
        seen = ", ".join(thing for thing, place in self.things.items() if place == self.room)
        return (
            f"You are in the {self.room}. You see: {seen or 'nothing'}. The lamp is"
            f" {self.lamps[self.room]}."
        )

    def facts(self) -> list[str]:
        """Every true fact, as the manual writes it: for measuring how well a belief keeps up."""
        facts = [f"at({self.room})"]
        facts += [
            f"holding({it})" if place == HAND else f"in({it}, {place})"
            for it, place in self.things.items()
        ]
        facts += [f"filled({room})" for room, lamp in self.lamps.items() if lamp != "empty"]
        return facts + [f"lit({room})" for room, lamp in self.lamps.items() if lamp == "lit"]
