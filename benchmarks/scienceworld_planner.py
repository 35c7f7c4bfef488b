"""The planner's score on ScienceWorld, by task: the first variations of each of the 30 tasks, on dev or train.

    python benchmarks/scienceworld_planner.py --per-task 5

The game is played as in every run: no simplifications, 100 steps, and a focus on the wrong thing ends it at -100, which
counts as -100 in the average. Plans come from the manual alone; `ms` is what one takes, at the median.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from rpms.core.belief import Situation
from rpms.core.condition import CONDITIONS, compose, named_condition
from rpms.core.episode import Episode
from rpms.core.planning.reason import plan_for
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
from rpms.worlds.base import Setting, Task
from rpms.worlds.scienceworld.tasks import ELECTRICAL_TASKS, PAPER_TASKS, list_tasks
from rpms.worlds.scienceworld.world import world


def plan_ms(played: list[Episode]) -> list[float]:
    """What a plan took in milliseconds, at every step of some episodes, made anew."""
    taken = []
    for step in (step for one in played for step in one.steps):
        decision = step.decision
        situation = Situation(decision.belief.but(), decision.goal)  # type: ignore[attr-defined]
        start = time.perf_counter()
        plan_for(decision.schemas, situation)
        taken.append(1_000 * (time.perf_counter() - start))
    return taken


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--per-task", type=int, default=3, help="variations of each task, in order (default 3)")
    parser.add_argument("--split", choices=("dev", "train"), default="dev")
    parser.add_argument("--condition", choices=tuple(CONDITIONS), default="rules-only")
    parser.add_argument("--tasks", nargs="*", help="only these tasks")
    options = parser.parse_args()
    mind = compose(named_condition(options.condition), knowledge_of(world), EpisodicMemory())
    model = PolicyModel("planner", follow_plan)

    def episode(task: Task) -> Episode:
        game = world.open(task, Setting())
        try:
            return play(Play(world, game, task, mind, model, Decoding(), world.step_budget))
        finally:
            game.close()

    averages, taken = [], []
    print(f"{'task':<46} {'episodes':>8} {'average':>8} {'steps':>6} {'ms':>6}  below 100", flush=True)
    for name in options.tasks or (*PAPER_TASKS, *ELECTRICAL_TASKS):
        played = [episode(task) for task in list_tasks(options.split, options.per_task, [name])]
        plans = plan_ms(played)
        taken += plans
        average = sum(one.score for one in played) / len(played)
        steps = sum(len(one.steps) for one in played) / len(played)
        short = ", ".join(f"{one.task.rpartition('/')[2]}: {one.score:.0f}" for one in played if one.score < 100)
        print(f"{name:<46} {len(played):>8} {average:>8.1f} {steps:>6.1f} {median(plans):>6.1f}  {short}", flush=True)
        averages.append((average, len(played)))
    episodes = sum(count for _, count in averages)
    by_episode = sum(average * count for average, count in averages) / episodes
    by_task = sum(average for average, _ in averages) / len(averages)
    print(f"{'average over tasks':<46} {episodes:>8} {by_task:>8.1f}")
    print(f"{'average over episodes':<46} {episodes:>8} {by_episode:>8.1f}")
    print(
        f"a plan: {median(taken):.1f} ms at the median, {sorted(taken)[int(0.95 * len(taken))]:.1f} ms for 95% of steps"
    )


if __name__ == "__main__":
    main()
