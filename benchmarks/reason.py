"""What planning costs: milliseconds a step, beside all that a step decides.

    python benchmarks/reason.py [--data DIR] [--world NAME]... [--games N]

Plays games with the plans themselves, then plans again in every state that came up, three times, and keeps the fastest
of the three: the processor's time, not the clock's. `decide` is a whole step with rules and memory, of which planning
is a part; the ratio says how large a part.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from rpms.core.belief import Belief, Situation
from rpms.core.condition import FULL, compose
from rpms.core.decide import Mind, decide
from rpms.core.errors import RPMSError
from rpms.core.goal import Goal
from rpms.core.planning.reason import plan_for
from rpms.core.recall import EpisodicMemory
from rpms.models.policy import follow_plan
from rpms.play.setup import knowledge_of
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

State = tuple[Goal, Belief, str | None, str]
"""A goal, the belief before, the action and the observation."""


def states_of(world: World, mind: Mind, task: Task, setting: Setting) -> Iterator[State]:
    """The states of one game, played by its plans."""
    game = world.open(task, setting)
    try:
        outcome = game.reset()
        goal = world.goal(outcome.observation)
        belief, action = world.start(goal), None
        for _ in range(world.step_budget):
            yield goal, belief, action, outcome.observation
            decision = decide(mind, goal, belief, action, outcome.observation, ())
            belief, action = decision.belief, world.command(follow_plan(decision)[1], decision.belief).text
            outcome = game.step(action)
            if outcome.done or outcome.won:
                return
    finally:
        game.close()


def fastest(work: Callable[[], object]) -> float:
    """Milliseconds of processor time, the least of three."""
    times = []
    for _ in range(3):
        begun = time.thread_time()
        work()
        times.append(1e3 * (time.thread_time() - begun))
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", action="append")
    parser.add_argument("--data", type=Path, help="ALFWorld's games; the embedded ones by default")
    parser.add_argument("--games", type=int, default=24)
    options = parser.parse_args()
    print("| world | states | plan: median ms | 95% | worst | decide: median ms | plan / decide |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.world or ("alfworld", "scienceworld"):
        world = find_world(name)
        split = "valid_seen" if options.data and name == "alfworld" else world.splits[0]
        setting = Setting(data=options.data)
        mind = compose(FULL, knowledge_of(world), EpisodicMemory(world=name))
        plans, decisions = [], []
        try:
            tasks = world.tasks(split, setting)
            for task in tasks[:: max(1, len(tasks) // options.games)]:
                for goal, prior, action, observation in list(states_of(world, mind, task, setting)):
                    situation = Situation(world.update(prior, action, observation), goal)
                    rules = mind.adviser.plans.active(goal.type, goal.object, goal.destination)
                    plans.append(fastest(lambda rules=rules, situation=situation: plan_for(rules, situation)))
                    step = (mind, goal, prior, action, observation, ())
                    decisions.append(fastest(lambda step=step: decide(*step)))
        except RPMSError as error:
            print(f"| {name} | not measured: {error} | | | | | |")
            continue
        plans.sort()
        cells = (median(plans), plans[int(0.95 * len(plans))], plans[-1], median(decisions))
        numbers = " | ".join(f"{cell:.2f}" for cell in cells)
        print(f"| {name} | {len(plans)} | {numbers} | {median(plans) / median(decisions):.2f} |", flush=True)


if __name__ == "__main__":
    main()
