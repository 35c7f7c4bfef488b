"""Agreement of the manual's preconditions with ALFWorld's engine, action by action.

    python benchmarks/alfworld_rules.py DATA [DATA ...] [--split train] [--games 200] [--seed 0]

Walks through games (half of each walk follows the planner, half is random) and at each state asks
both sides about commands made of the names known by then: of what the engine allows, how much the
manual would block; of what it refuses, how much the manual recognises. Give one folder for each
dialect to have both in the table. Without a folder the builtin games are walked.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rpms.logic.belief import Situation
from rpms.logic.facts import Truth
from rpms.models.policy import follow_plan
from rpms.paper.compose import compose, extended
from rpms.paper.condition import FULL
from rpms.paper.decide import Mind, decide
from rpms.paper.recall import EpisodicMemory
from rpms.play.sources import knowledge_of
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.base import Setting, Task

STEPS = 30
ASKED = 6
"""Commands of each action that are asked about at a state."""
PUT = {"0.3": ("put", "in/on"), "0.4": ("move", "to")}

Tally = Counter[tuple[str, str, str]]
"""(dialect, action, what) → how many."""


def make_mind() -> Mind:
    """The full condition with an empty memory."""
    return extended(compose(FULL, knowledge_of(world), EpisodicMemory()))


def candidates(belief: AlfworldBelief, dice: random.Random) -> Iterator[tuple[str, str, str]]:
    """Action, command, and the place it names: made of names that the text has shown."""
    objects = sorted(
        {thing for inside in belief.contents.values() for thing in inside} | set(belief.holding)
    )
    objects = objects or ["apple 1"]
    put, into = PUT[belief.dialect or "0.3"]
    for _ in range(ASKED):
        # What is in hand and what is here is asked about as often as everything else together: else
        # all is refused.
        near = [place for place in belief.places if belief.here(place)] or list(belief.places)
        place = dice.choice(near if dice.random() < 0.5 else list(belief.places))
        inside = belief.contents.get(place) or objects
        thing = dice.choice(inside if dice.random() < 0.5 else objects)
        held = belief.hand if belief.hand and dice.random() < 0.7 else thing
        yield "go", f"go to {place}", place
        yield "open", f"open {place}", place
        yield "close", f"close {place}", place
        yield "take", f"take {thing} from {place}", place
        yield "put", f"{put} {held} {into} {place}", place
        for verb in ("heat", "cool", "clean"):
            yield verb, f"{verb} {held} with {place}", place
        yield "use", f"use {thing}", belief.location or ""
        yield "slice", f"slice {thing} with {held}", belief.location or ""
        yield "examine", f"examine {place}", place
        yield "examine", f"examine {held}", belief.location or ""
    yield from (("look", "look", ""), ("inventory", "inventory", ""), ("help", "help", ""))


def walk(task: Task, setting: Setting, mind: Mind, dice: random.Random, tally: Tally) -> None:
    """Walk through one game and count what each side says."""
    game = world.open(task, setting)
    outcome = game.reset()
    goal = world.goal(outcome.observation)
    belief, action = world.start(goal), None
    tally["", "", "games"] += 1
    for _ in range(STEPS):
        decision = decide(mind, goal, belief, action, outcome.observation, ())
        belief = decision.belief
        assert isinstance(belief, AlfworldBelief)
        allowed = frozenset(game.admissible())
        situation = Situation(belief, goal)
        dialect = belief.dialect
        tally["", "", "states"] += 1
        tally["", "", "contradictions"] += len(world.contradictions(belief, game))
        if dialect is not None:
            for name, command, place in candidates(belief, dice):
                instance = decision.rules.instance(command)
                assert instance is not None
                assert instance.schema.name == name
                value = instance.feasible(situation)
                if command in allowed:
                    tally[dialect, name, "allowed"] += 1
                    tally[dialect, name, "blocked"] += value is Truth.FALSE
                else:
                    known = belief.seen | belief.containers.keys()
                    seen = "refused" if not place or place in known else "refused unseen"
                    tally[dialect, name, seen] += 1
                    tally[dialect, name, seen.replace("refused", "recognised")] += (
                        value is Truth.FALSE
                    )
        if outcome.done:
            return
        if dice.random() < 0.5:
            action = world.command(follow_plan(decision)[1], belief).text
        else:
            nonsense = [command for _, command, _ in candidates(belief, dice)]
            action = dice.choice(nonsense if dice.random() < 0.3 else sorted(allowed))
        outcome = game.step(action)


def percent(part: int, whole: int) -> str:
    """A share in words; a dash of nothing."""
    return f"{100 * part / whole:.2f}%" if whole else "-"


def table(tally: Tally) -> Iterator[str]:
    """The lines of a Markdown table, action by action; docs/alfworld.md has the shares
    recognised.
    """
    dialects = sorted({dialect for dialect, _, _ in tally if dialect})
    heads = [
        head
        for d in dialects
        for head in (f"allowed ({d})", "blocked", f"refused ({d})", "recognised")
    ]
    yield f"| action | {' | '.join(heads)} |"
    yield f"| --- |{' ---: |' * len(heads)}"
    actions = list(dict.fromkeys(action for _, action, _ in tally if action))
    for action in (*actions, "all"):
        cells = []
        for dialect in dialects:
            count = {
                what: sum(
                    n
                    for (d, a, w), n in tally.items()
                    if d == dialect and w == what and action in (a, "all")
                )
                for what in ("allowed", "blocked", "refused", "recognised")
            }
            cells += [f"{count['allowed']:,}", percent(count["blocked"], count["allowed"])]
            cells += [f"{count['refused']:,}", percent(count["recognised"], count["refused"])]
        yield f"| {f'`{action}`' if action != 'all' else 'all'} | {' | '.join(cells)} |"


def main() -> None:
    """Walk, count, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--split", default="train")
    parser.add_argument("--games", type=int, default=200, help="games of each folder")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dice, tally, mind = random.Random(args.seed), Tally(), make_mind()
    for folder in args.data or [None]:
        setting = Setting(data=folder)
        tasks = list(world.tasks(args.split if folder else "builtin", setting))
        for task in dice.sample(tasks, min(args.games, len(tasks))):
            walk(task, setting, mind, dice, tally)
    print("\n".join(table(tally)))
    states, drift = tally["", "", "states"], tally["", "", "contradictions"]
    print(
        f"\n{tally['', '', 'games']} games, {states:,} states; {1000 * drift / states:.2f} contradictions per 1,000."
    )


if __name__ == "__main__":
    main()
