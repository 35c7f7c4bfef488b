"""A maze in which nothing has a name before it is seen, with a sound manual: for tests of doubt."""

from __future__ import annotations

from collections.abc import Sequence

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

MANUAL = """
world: maze
predicates:
  at: {args: [room], exclusive: always}
  here: {args: [thing], exclusive: with}
  with: {args: [room, thing]}
  leads: {args: [room, direction, other]}
  tried: {args: [room, direction]}
  holding: {args: [thing]}
goals:
  fetch: {over: {x: object}, holds: [holding(x)]}
processes:
  walk:
    command: go <direction>
    needs: ["leads(room, direction, other)", at(room)]
    effects: [at(other), here(other)]
  explore:
    command: go <direction>
    needs: ["not tried(room, direction)", at(room)]
    effects: ["tried(room, direction)"]
    observes: ["with(_, _)"]
environment:
  look: {syntax: look}
  go: {syntax: go <direction>}
  take: {syntax: take <thing>, preconditions: [here(thing)], effects: [holding(thing)]}
"""
BACK = {"north": "south", "south": "north", "east": "west", "west": "east"}
MAZES = {
    "row": {"hall": {"east": "yard"}, "yard": {"east": "barn"}, "barn": {"north": "loft"}},
    "cross": {
        "hall": {"north": "attic", "east": "yard", "south": "cellar", "west": "porch"},
        "yard": {"east": "barn"},
        "cellar": {"south": "crypt"},
    },
}
COINS = {"row": "loft", "cross": "crypt"}


def ways_of(maze: str) -> dict[str, dict[str, str]]:
    """Every way, in both directions."""
    ways: dict[str, dict[str, str]] = {}
    for room, exits in MAZES[maze].items():
        for direction, other in exits.items():
            ways.setdefault(room, {})[direction] = other
            ways.setdefault(other, {})[BACK[direction]] = room
    return ways


class MazeGame:
    def __init__(self, maze: str) -> None:
        self.maze, self.ways, self.room = maze, ways_of(maze), "hall"

    def reset(self) -> Outcome:
        self.room = "hall"
        return Outcome(f"Fetch the coin. {self._look()}")

    def _look(self) -> str:
        coin = " A coin is here." if COINS[self.maze] == self.room else ""
        return f"This is the {self.room}. Ways: {', '.join(sorted(self.ways[self.room]))}.{coin}"

    def step(self, command: str) -> Outcome:
        verb, _, rest = command.partition(" ")
        if command == "look":
            return Outcome(self._look())
        if verb == "go" and rest in self.ways[self.room]:
            self.room = self.ways[self.room][rest]
            return Outcome(self._look())
        if command == "take coin" and COINS[self.maze] == self.room:
            return Outcome("You have the coin.", 1.0, won=True, done=True)
        return Outcome("That cannot be done.")

    def admissible(self) -> tuple[str, ...]:
        take = ["take coin"] if COINS[self.maze] == self.room else []
        return tuple(sorted(["look", *take, *(f"go {way}" for way in self.ways[self.room])]))

    def close(self) -> None:
        pass


class Maze(World):
    name = "maze"
    splits: tuple[str, ...] = ("all",)
    step_budget = 30
    wording = Wording("You walk through a maze.", "Action: go north")

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"no split {split}")
        return [Task(maze, split, "fetch") for maze in MAZES]

    def open(self, task: Task, setting: Setting) -> Game:
        return MazeGame(task.id)

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("maze.yaml", MANUAL),)

    def goal(self, opening: str) -> Goal:
        if opening.startswith("Fetch the coin."):
            return Goal("fetch", "coin", text="fetch the coin")
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, goal: Goal) -> Belief:
        return FactBelief().learn(direction=BACK)

    def update(self, belief: FactBelief, action: str | None, observation: str) -> FactBelief:
        if observation == "You have the coin.":
            return belief.learn("holding(coin)", "not here(coin)")
        before, (_, _, told) = belief.location, observation.partition("This is the ")
        room, _, told = told.partition(". Ways: ")
        ways, _, rest = told.partition(".")
        if not ways:
            return belief
        exits = ways.split(", ")
        belief = belief.learn("not at(_)", f"at({room})", "not here(_)", f"not with({room}, _)")
        belief = belief.learn(room=[room], other=[room])
        for way in BACK:
            if way not in exits:
                belief = belief.learn(f"tried({room}, {way})", f"not leads({room}, {way}, _)")
            elif (fact := f"tried({room}, {way})") not in map(str, belief.known):
                belief = belief.learn(f"not {fact}", f"not leads({room}, {way}, _)")
        if before and before != room and action and action.startswith("go "):
            way = action.removeprefix("go ")
            for here, direction, there in ((before, way, room), (room, BACK[way], before)):
                belief = belief.learn(f"tried({here}, {direction})")
                belief = belief.learn(
                    f"not leads({here}, {direction}, _)", f"leads({here}, {direction}, {there})"
                )
        if "coin" in rest:
            belief = belief.learn(f"with({room}, coin)", "here(coin)", thing=["coin"])
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation == "That cannot be done."


world = Maze()
