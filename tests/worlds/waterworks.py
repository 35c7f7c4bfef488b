"""A tank that pumps fill and valves empty, up or down to a number of litres.

What a pump can do, nobody is told: the hand pump leaks and comes to rest half way. The world reads
the gauge; all else about levels is in its manual.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

PUMPS = ("hand pump", "electric pump")
VALVES = ("tap", "sluice")
REFUSED = "That does not work."
WAIT = 4
"""Ticks of one wait; every other command takes one."""

MANUAL = """\
world: waterworks
predicates:
  joined: {args: [device, tank], yes: <device> is joined to <tank>, no: <device> is not joined to <tank>}
  on: {args: [device], yes: <device> is on, no: <device> is off}
  gauged: {args: [tank], yes: the level of <tank> is known, no: the level of <tank> has to be read}
  fills: {args: [pump, tank], yes: <pump> is the one to fill <tank>, no: <pump> is not to fill <tank>}
  drains: {args: [valve, tank], yes: <valve> is the one to empty <tank>, no: <valve> is not to empty <tank>}
  full: {args: [tank], yes: <tank> is full enough, no: <tank> is not full enough}
  low: {args: [tank], yes: <tank> is empty enough, no: <tank> is not empty enough}
quantities:
  level:
    of: tank
    wait: 4
    current: gauged(tank)
    at_least: full(tank)
    at_most: low(tank)
    drives:
      - fact: fills(pump, tank)
        direction: up
        devices: [hand pump, electric pump]
        at: joined(pump, tank)
        on: [on(pump)]
      - fact: drains(valve, tank)
        direction: down
        devices: [tap, sluice]
        at: joined(valve, tank)
        on: [on(valve)]
goals:
  fill: {over: {x: object}, holds: [full(x)]}
  empty: {over: {x: object}, holds: [low(x)]}
environment:
  join: {syntax: join <device> to <tank>, effects: ["joined(device, tank)"]}
  start: {syntax: start <device>, preconditions: [not on(device)], effects: [on(device)]}
  read: {syntax: read <tank>}
  wait: {syntax: wait}
processes:
  gauge: {command: read <tank>, effects: [gauged(tank)]}
  fill:
    command: wait
    needs: ["fills(pump, tank)", "joined(pump, tank)", on(pump), gauged(tank)]
    effects: [full(tank)]
    steps: 5
  empty:
    command: wait
    needs: ["drains(valve, tank)", "joined(valve, tank)", on(valve), gauged(tank)]
    effects: [low(tank)]
    steps: 5
"""


@dataclass
class Waterworks:
    """One tank, at a level, to be brought to another."""

    level: float
    bound: float
    joined: str = ""
    on: frozenset[str] = frozenset()

    def reset(self) -> Outcome:
        way = "fill the tank up" if self.bound > self.level else "empty the tank down"
        here = ", ".join((*PUMPS, *VALVES))
        return Outcome(f"Here are: {here}.\nYour task is to: {way} to {self.bound:g} litres.")

    def step(self, command: str) -> Outcome:
        said = self._do(command)
        for _ in range(WAIT if command == "wait" else 1):
            self._flow()
        return said

    def _do(self, command: str) -> Outcome:
        device = command.partition(" ")[2].removesuffix(" to tank")
        if command == "wait":
            return Outcome("Time passes.")
        if command == "read tank":
            rising = self.bound > 50
            won = self.level >= self.bound if rising else self.level <= self.bound
            return Outcome(f"The gauge shows {self.level:.0f} litres.", float(won), won, done=won)
        if device in (*PUMPS, *VALVES) and command == f"join {device} to tank":
            self.joined = device
            return Outcome(f"You join the {device} to the tank.")
        if device in (*PUMPS, *VALVES) and command == f"start {device}":
            self.on |= {device}
            return Outcome(f"The {device} is on.")
        return Outcome(REFUSED)

    def _flow(self) -> None:
        if self.joined not in self.on:
            return
        match self.joined:
            case "hand pump":  # it leaks the more, the fuller the tank is
                self.level = 55 - (55 - self.level) * exp(-0.06)
            case "electric pump":
                self.level += 0.8
            case "tap":
                self.level = 30 - (30 - self.level) * exp(-0.06)
            case "sluice":
                self.level -= 0.8

    def admissible(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        """Nothing is held."""


_TASK = re.compile(r"Your task is to: ((fill|empty) the tank (?:up|down) to (\d+) litres)\.")
_SHOWN = re.compile(r"The gauge shows (-?\d+) litres\.")
_JOINED = re.compile(r"You join the (.+) to the tank\.")
_ON = re.compile(r"The (.+) is on\.")


class WaterworksWorld(World):
    """The World of the tank."""

    name = "waterworks"
    splits: tuple[str, ...] = ("train",)
    wording = Wording(instruction="Mind the tank.", example="No example.")
    step_budget = 60

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("waterworks/manual.yaml", MANUAL),)

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        return [Task("fill", split, "fill"), Task("empty", split, "empty")]

    def open(self, task: Task, _setting: Setting) -> Game:
        return Waterworks(5, 80) if task.id == "fill" else Waterworks(95, 20)

    def goal(self, opening: str) -> Goal:
        said = _TASK.search(opening)
        if said is None:
            return Goal(UNKNOWN_GOAL, text=opening)
        return Goal(said[2], "tank", text=said[1], bound=float(said[3]))

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        if action is None:
            return belief.learn(
                "not joined(_, tank)", "not on(_)",
                tank=["tank"], pump=PUMPS, valve=VALVES, device=(*PUMPS, *VALVES),
            )  # fmt: skip
        if shown := _SHOWN.fullmatch(observation):
            belief = belief.measured("level", "tank", float(shown[1]))
        elif joined := _JOINED.fullmatch(observation):
            belief = belief.learn("not joined(_, tank)", f"joined({joined[1]}, tank)")
        elif on := _ON.fullmatch(observation):
            belief = belief.learn(f"on({on[1]})")
        return belief.but(clock=belief.clock + (WAIT if action == "wait" else 1))

    def infeasible(self, observation: str) -> bool:
        return observation == REFUSED


world = WaterworksWorld()
