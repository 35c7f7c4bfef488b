"""A vending machine: switched off at first, its stock hidden until one looks, one coin an episode.

Whoever presses a slot gets what is in it, and the coin is gone: there is one shot.
"""

import re
from collections.abc import Sequence
from random import Random

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

ITEMS = ("crisps", "water", "apple", "chocolate", "gum")
SLOTS = ("slot 1", "slot 2", "slot 3", "slot 4")
REFUSED = "Nothing happens."

_MANUAL = """\
world: vending
predicates:
  on: {args: [machine], yes: the <machine> is on, no: the <machine> is off}
  paid: {args: [machine], yes: a coin is in the <machine>, no: no coin is in the <machine>}
  holding: {args: [thing], yes: you hold the <thing>, no: you do not hold the <thing>}
  lies: {args: [thing], yes: the <thing> lies on the floor, no: the <thing> does not lie on the floor}
  stocks: {args: [slot, item], yes: <slot> has the <item>, no: <slot> does not have the <item>}
goals:
  get:
    over: {thing: object}
    holds: [holding(thing)]
environment:
  pick_up:
    syntax: pick up <thing>
    preconditions: [lies(thing)]
    effects: [holding(thing), not lies(thing)]
  switch_on:
    syntax: switch on <machine>
    preconditions: [not on(machine)]
    effects: [on(machine)]
  insert:
    syntax: insert <thing> into <machine>
    preconditions: [holding(thing), on(machine)]
    effects: [paid(machine), not holding(thing)]
  look:
    syntax: look at <slot>
    observes: ["stocks(slot, _)"]
  press:
    syntax: press <slot>
    preconditions: ['on("machine")', 'paid("machine")']
    effects: ['not paid("machine")']
processes:
  vend:
    command: press <slot>
    needs: ['on("machine")', 'paid("machine")', "stocks(slot, item)"]
    effects: [holding(item)]
"""


class VendingGame:
    """One episode; its number decides the stock and the wish."""

    def __init__(self, number: int) -> None:
        self.number = number

    def reset(self) -> Outcome:
        dice = Random(self.number)
        items = dice.sample(ITEMS, len(SLOTS))
        self.stock = dict(zip(SLOTS, items, strict=True))
        self.wish = dice.choice(items)
        self.on = self.paid = False
        self.coin = "floor"
        return Outcome(
            f"You stand before a machine. It is off. It has {', '.join(SLOTS)}. A coin lies on the"
            f" floor.\nYour task is to: get the {self.wish}."
        )

    def step(self, command: str) -> Outcome:
        slot = command.removeprefix("press ").removeprefix("look at ")
        match command:
            case "pick up coin" if self.coin == "floor":
                self.coin = "hand"
                return Outcome("You pick up the coin.")
            case "switch on machine" if not self.on:
                self.on = True
                return Outcome("The machine hums.")
            case "insert coin into machine" if self.on and self.coin == "hand":
                self.paid = True
                self.coin = "gone"
                return Outcome("The coin drops into the machine.")
            case _ if command.startswith("look at ") and slot in self.stock:
                return Outcome(f"In {slot} you see: {self.stock[slot] or 'nothing'}.")
            case _ if command.startswith("press ") and slot in self.stock and self.paid:
                item = self.stock[slot]
                won = item == self.wish
                return Outcome(f"{slot} gives you the {item}.", float(won), won=won, done=True)
        return Outcome(REFUSED)

    def admissible(self) -> tuple[str, ...]:
        commands = [f"look at {slot}" for slot in SLOTS]
        commands += ["pick up coin"] if self.coin == "floor" else []
        commands += ["switch on machine"] if not self.on else []
        commands += ["insert coin into machine"] if self.on and self.coin == "hand" else []
        commands += [f"press {slot}" for slot in SLOTS if self.paid]
        return tuple(sorted(commands))

    def close(self) -> None:
        """Nothing is held."""


_WISH = re.compile(r"Your task is to: (get the ([a-z]+))\.")
_SEEN = re.compile(r"In (slot \d) you see: ([a-z]+)\.")
_GIVEN = re.compile(r"(slot \d) gives you the ([a-z]+)\.")


class VendingWorld(World):
    """The World of a vending machine."""

    name = "vending"
    splits: tuple[str, ...] = ("train", "test")
    wording = Wording(instruction="Use the machine.", example="No example.")
    step_budget = 20

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("vending/manual.yaml", _MANUAL),)

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        numbers = range(40) if split == "train" else range(1000, 1012)
        return [Task(f"{split}-{each}", split, "get", {"number": str(each)}) for each in numbers]

    def open(self, task: Task, _setting: Setting) -> Game:
        return VendingGame(int(task.source["number"]))

    def goal(self, opening: str) -> Goal:
        match = _WISH.search(opening)
        return Goal("get", match[2], text=match[1]) if match else Goal(UNKNOWN_GOAL, text=opening)

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        if _WISH.search(observation):
            belief = belief.learn(
                "not on(machine)", "not paid(machine)", "not holding(_)", "lies(coin)",
                machine=["machine"], slot=SLOTS, thing=["coin"],
            )  # fmt: skip
        elif observation == "You pick up the coin.":
            belief = belief.learn("holding(coin)", "not lies(coin)")
        elif observation == "The machine hums.":
            belief = belief.learn("on(machine)")
        elif observation == "The coin drops into the machine.":
            belief = belief.learn("paid(machine)", "not holding(coin)")
        elif match := _SEEN.match(observation):
            slot, item = match.groups()
            belief = belief.learn(
                f"not stocks({slot}, _)", f"stocks({slot}, {item})", item=[item], thing=[item]
            )
        elif match := _GIVEN.match(observation):
            slot, item = match.groups()
            belief = belief.learn(
                f"holding({item})", "not paid(machine)", f"not stocks({slot}, _)",
                item=[item], thing=[item],
            )  # fmt: skip
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation == REFUSED


world = VendingWorld()
