"""The planner's score on ScienceWorld, by task: the first variations of each of the paper's 26 tasks, on dev or train.

    python benchmarks/scienceworld_planner.py --per-task 5

The game is played as in every run: no simplifications, 100 steps, and a focus on the wrong thing ends it at -100, which
counts as -100 in the average.
"""

from __future__ import annotations

import argparse
import time

from rpms.core.condition import CONDITIONS, compose, named_condition
from rpms.core.episode import Episode
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
from rpms.worlds.base import Setting, Task
from rpms.worlds.scienceworld.tasks import PAPER_TASKS, list_tasks
from rpms.worlds.scienceworld.world import world


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--per-task", type=int, default=3, help="variations of each task, in order (default 3)")
    parser.add_argument("--split", choices=("dev", "train"), default="dev")
    parser.add_argument("--condition", choices=tuple(CONDITIONS), default="rules-only")
    parser.add_argument("--tasks", nargs="*", help="only these tasks")
    options = parser.parse_args()
    mind = compose(named_condition(options.condition), knowledge_of(world), EpisodicMemory())
    model = PolicyModel("planner", world.planner)

    def episode(task: Task) -> Episode:
        game = world.open(task, Setting())
        try:
            return play(Play(world, game, task, mind, model, Decoding(), world.step_budget))
        finally:
            game.close()

    averages = []
    print(f"{'task':<46} {'episodes':>8} {'average':>8} {'steps':>6} {'s':>6}  below 100", flush=True)
    for name in options.tasks or PAPER_TASKS:
        start = time.perf_counter()
        played = [episode(task) for task in list_tasks(options.split, options.per_task, [name])]
        seconds = time.perf_counter() - start
        average = sum(one.score for one in played) / len(played)
        steps = sum(len(one.steps) for one in played) / len(played)
        short = ", ".join(f"{one.task.rpartition('/')[2]}: {one.score:.0f}" for one in played if one.score < 100)
        print(f"{name:<46} {len(played):>8} {average:>8.1f} {steps:>6.1f} {seconds:>6.1f}  {short}", flush=True)
        averages.append((average, len(played)))
    episodes = sum(count for _, count in averages)
    by_episode = sum(average * count for average, count in averages) / episodes
    by_task = sum(average for average, _ in averages) / len(averages)
    print(f"{'average over tasks':<46} {episodes:>8} {by_task:>8.1f}")
    print(f"{'average over episodes':<46} {episodes:>8} {by_episode:>8.1f}")


if __name__ == "__main__":
    main()
