"""Proof that a game can be won: the shortest plan to its goal, checked action by action."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from rpms.core.errors import WorldError
from rpms.worlds.alfworld.engine import NOTHING_HAPPENS, GameFile
from rpms.worlds.alfworld.games.domain import Dialect
from rpms.worlds.alfworld.games.goals import GameGoal
from rpms.worlds.alfworld.games.problem import Fact


class Unprovable(WorldError):
    """No plan was found, or the plan did not win when it was played."""


def names(facts: Iterable[Fact]) -> dict[str, str]:
    """Give every id the name players see: within a word, the ids are sorted and numbered downwards."""
    words: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for thing in fact[1:]:
            word, bar, rest = thing.lower().partition("_bar_")
            if bar:
                words[word + ("basin" if "basin" in rest else "")].add(thing)
    named: dict[str, str] = {}
    for word, ids in words.items():
        ordered = sorted(ids, key=str.lower)
        named |= {thing: f"{word} {len(ordered) - place}" for place, thing in enumerate(ordered)}
    return named


class _Room:
    """Constants of a game, indexed for the planner."""

    def __init__(self, facts: Sequence[Fact], goal: GameGoal) -> None:
        self.goal = goal
        self.names = names(facts)
        self.location: dict[str, str] = {}
        self.receptacles: dict[str, list[str]] = defaultdict(list)
        self.objects: dict[str, list[str]] = defaultdict(list)
        self.type: dict[str, str] = {}
        self.facts = frozenset(facts)
        for name, *arguments in facts:
            if name == "receptacleAtLocation":
                self.location[arguments[0]] = arguments[1]
            elif name in ("receptacleType", "objectType"):
                of_type = self.receptacles if name == "receptacleType" else self.objects
                of_type[arguments[1].removesuffix("Type")].append(arguments[0])
                self.type[arguments[0]] = arguments[1]

    def start(self) -> str:
        return next(fact[2] for fact in self.facts if fact[0] == "atLocation")

    def homes(self) -> dict[str, list[str]]:
        inside: dict[str, list[str]] = defaultdict(list)
        for name, *arguments in sorted(self.facts):
            if name == "inReceptacle":
                inside[arguments[0]].append(arguments[1])
        return inside


class _Player:
    """One attempt: does what it is told where the domain allows it, goes where it must, and notes the commands."""

    def __init__(self, room: _Room, dialect: Dialect) -> None:
        self._room, self._dialect = room, dialect
        self.commands: list[str] = []
        self._at = room.start()
        self._open: set[str] = set()
        self._inside = {thing: set(homes) for thing, homes in room.homes().items()}
        self._held: str | None = None
        self._done: set[Fact] = {fact for fact in room.facts if fact[0] in ("isClean", "isHot", "isCool")}
        self.won = self._wins()

    def _require(self, holds: bool) -> None:
        if not holds:
            raise Unprovable(f"the domain refuses a step after {self.commands}")

    def _do(self, command: str) -> None:
        if not self.won:
            self.commands.append(command)
            self.won = self._wins()

    def _go(self, receptacle: str) -> None:
        if self._at != self._room.location[receptacle]:
            self._at = self._room.location[receptacle]
            self._do(f"go to {self._room.names[receptacle]}")

    def _reach_into(self, receptacle: str) -> None:
        self._go(receptacle)
        if ("openable", receptacle) in self._room.facts and receptacle not in self._open:
            self._open.add(receptacle)
            self._do(f"open {self._room.names[receptacle]}")

    def take(self, thing: str, receptacle: str) -> None:
        self._require(("pickupable", thing) in self._room.facts and self._held is None)
        self._require(receptacle in self._inside[thing])
        self._reach_into(receptacle)
        self._inside[thing].remove(receptacle)
        self._held = thing
        self._do(f"take {self._room.names[thing]} from {self._room.names[receptacle]}")

    def put(self, thing: str, receptacle: str) -> None:
        fits = ("canContain", self._room.type[receptacle], self._room.type[thing])
        self._require(fits in self._room.facts and self._held == thing)
        self._reach_into(receptacle)
        self._inside[thing].add(receptacle)
        self._held = None
        form = "put {} in/on {}" if self._dialect == "0.3" else "move {} to {}"
        self._do(form.format(self._room.names[thing], self._room.names[receptacle]))

    def treat(self, thing: str, appliance: str) -> None:
        treatment = self._room.goal.treatment
        assert treatment is not None
        self._require((treatment.able, thing) in self._room.facts and self._held == thing)
        self._go(appliance)
        self._done.add((treatment.done, thing))
        self._done.discard(({"isHot": "isCool", "isCool": "isHot"}.get(treatment.done, ""), thing))
        self._do(f"{treatment.verb} {self._room.names[thing]} with {self._room.names[appliance]}")

    def use(self, lamp: str, receptacle: str) -> None:
        self._require(("toggleable", lamp) in self._room.facts and receptacle in self._inside[lamp])
        self._go(receptacle)
        self._done.add(("isToggled", lamp))
        self._do(f"use {self._room.names[lamp]}")

    def _wins(self) -> bool:
        room, goal = self._room, self._room.goal
        if goal.in_light:
            lit = any(
                ("isToggled", lamp) in self._done and any(room.location[r] == self._at for r in self._inside[lamp])
                for lamp in room.objects[goal.receptacle]
            )
            return lit and self._held in room.objects[goal.object]
        ready = [
            thing
            for thing in room.objects[goal.object]
            if goal.treatment is None
            or {(goal.treatment.able, thing), (goal.treatment.done, thing)} <= (room.facts | self._done)
        ]
        return any(
            sum(place in self._inside.get(thing, ()) for thing in ready) >= goal.wanted
            for place in room.receptacles[goal.receptacle]
        )


def _attempts(room: _Room, dialect: Dialect) -> Iterator[_Player]:
    """Play every choice of objects, where to take them, appliance and end that could lead to the goal."""
    goal, homes = room.goal, room.homes()
    takeable = [thing for thing in room.objects[goal.object] if ("pickupable", thing) in room.facts]
    takes = [[(thing, home) for home in homes.get(thing, ())] for thing in takeable]
    appliances: list[str | None] = [None]
    if goal.treatment is not None:
        appliances = list(room.receptacles[goal.treatment.appliance])
    if goal.in_light:
        ends = [(lamp, home) for lamp in room.objects[goal.receptacle] for home in homes.get(lamp, ())]
    else:
        ends = [("", receptacle) for receptacle in room.receptacles[goal.receptacle]]
    for chosen in permutations(takes, goal.wanted):
        for pairs, appliance, (lamp, end) in product(product(*chosen), appliances, ends):
            player = _Player(room, dialect)
            for thing, home in pairs:
                player.take(thing, home)
                if appliance is not None:
                    player.treat(thing, appliance)
                if goal.in_light:
                    player.use(lamp, end)
                else:
                    player.put(thing, end)
            yield player


def plan(facts: Sequence[Fact], goal: GameGoal, dialect: Dialect) -> tuple[str, ...]:
    """Find a shortest way to the goal, as commands; raises `Unprovable` if there is none.

    Each object is fetched, treated and placed in turn, going and opening only where needed; the goal is checked after
    every step.
    """
    room = _Room(facts, goal)
    best: tuple[str, ...] | None = None
    for player in _attempts(room, dialect):
        if player.won and (best is None or len(player.commands) < len(best)):
            best = tuple(player.commands)
    if best is None:
        raise Unprovable(f"no way to: {goal.text}")
    if not best:
        raise Unprovable(f"won before the first step: {goal.text}")
    return best


def replay(name: str, game: Mapping[str, Any], commands: Sequence[str]) -> None:
    """Play the commands in the engine; raises `Unprovable` unless each does something and exactly the last one wins."""
    engine = GameFile.from_data(dict(game), name).engine
    state = engine.start
    for number, command in enumerate(commands, 1):
        if engine.won(state):
            raise Unprovable(f"{name}: won before {command!r}, command {number} of {len(commands)}")
        state, observation = engine.step(state, command)
        if observation == NOTHING_HAPPENS:
            raise Unprovable(f"{name}: nothing happens on {command!r}")
    if not engine.won(state):
        raise Unprovable(f"{name}: the walkthrough does not win")
