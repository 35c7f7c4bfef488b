"""Proof that a game can be won: a shortest plan to its goal, played in the engine command by command."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product

from rpms.core.errors import WorldError
from rpms.worlds.alfworld.engine.engine import NOTHING_HAPPENS, GameEngine
from rpms.worlds.alfworld.games.goals import GameGoal
from rpms.worlds.alfworld.games.house import Fact


class Unprovable(WorldError):
    """No plan wins, or the game is won before its first step."""


def plan(engine: GameEngine, facts: Sequence[Fact], goal: GameGoal) -> tuple[str, ...]:
    """Find a shortest way to the goal, as commands; raises `Unprovable` where there is none.

    An attempt fetches each object in turn, treats it, and brings it to its end. The engine refuses to go where one is
    and to open what is open, so no step is wasted; the goal is checked after every step. Of equals the first is taken,
    in the order of the facts.
    """
    attempts = (_played(engine, commands) for commands in _attempts(engine, facts, goal))
    best = min((found for found in attempts if found is not None), key=len, default=None)
    if best is None:
        raise Unprovable(f"no way to: {goal.text}")
    if not best:
        raise Unprovable(f"won before the first step: {goal.text}")
    return best


def _played(engine: GameEngine, commands: Iterable[str]) -> tuple[str, ...] | None:
    """The commands that did something, up to the win; None without one, or where more than going and opening fails."""
    state, done = engine.start, list[str]()
    for command in commands:
        if engine.won(state):
            break
        state, observation = engine.step(state, command)
        if observation != NOTHING_HAPPENS:
            done.append(command)
        elif not command.startswith(("go ", "open ")):
            return None
    return tuple(done) if engine.won(state) else None


def _attempts(engine: GameEngine, facts: Sequence[Fact], goal: GameGoal) -> Iterator[list[str]]:
    """Every choice of objects, where to take them, appliance and end that could lead to the goal, as commands."""
    layout, treatment = engine.layout, goal.treatment
    names = dict(zip(layout.receptacles, layout.receptacle_names, strict=True))
    names |= dict(zip(layout.objects, layout.object_names, strict=True))

    def named(kind: str, of_type: str) -> list[str]:
        return [names[fact[1].lower()] for fact in facts if fact[::2] == (kind, f"{of_type}Type")]

    homes: dict[str, list[str]] = defaultdict(list)
    for thing, place in sorted(fact[1:] for fact in facts if fact[0] == "inReceptacle"):
        homes[names[thing.lower()]].append(names[place.lower()])
    ends = [("", place) for place in named("receptacleType", goal.receptacle)]
    if goal.in_light:
        ends = [(lamp, home) for lamp in named("objectType", goal.receptacle) for home in homes[lamp]]
    appliances = named("receptacleType", treatment.appliance) if treatment is not None else [""]
    takes = [[(thing, home) for home in homes[thing]] for thing in named("objectType", goal.object)]
    put = "put {} in/on {}" if engine.dialect.name == "0.3" else "move {} to {}"
    for chosen in permutations(takes, goal.wanted):
        for pairs, appliance, (lamp, end) in product(product(*chosen), appliances, ends):
            commands: list[str] = []
            for thing, home in pairs:
                commands += [f"go to {home}", f"open {home}", f"take {thing} from {home}"]
                if treatment is not None:
                    commands += [f"go to {appliance}", f"{treatment.verb} {thing} with {appliance}"]
                last = [f"use {lamp}"] if lamp else [f"open {end}", put.format(thing, end)]
                commands += [f"go to {end}", *last]
            yield commands
