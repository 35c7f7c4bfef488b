"""The planner's score on ScienceWorld, by task, with a reason for every episode below 100.

    # train variations drawn at random
    python benchmarks/scienceworld_planner.py --draw 300 --seed 1
    # others: none that seed 1 drew
    python benchmarks/scienceworld_planner.py --draw 300 --seed 2 --but 1
    # the first dev variations of each task
    python benchmarks/scienceworld_planner.py --per-task 5
    # train variations in which the substance to heat or cool has a made-up name
    python benchmarks/scienceworld_planner.py --draw 300 --seed 1 --hide --tasks boil melt freeze

A draw takes as many variations from each of the 30 tasks as from any other; where a small task has
no more, the rest comes from the others. Test variations cannot be drawn. The game is played as in
every run: no simplifications, 100 steps, and a focus on the wrong thing ends it at -100, which
counts as -100 in the mean. `--hide` gives the substance that the goal names a made-up name in all
texts, so that nothing which anybody wrote of a substance by its name can help; water, ice and steam
keep theirs, by which alone the simulator tells their state. `--out` keeps the whole course of each episode below 100 as text.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS, named_condition
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play, play_task
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome, Setting, Task
from rpms.worlds.scienceworld.tasks import (
    ELECTRICAL_TASKS,
    PAPER_TASKS,
    kind_named,
    list_tasks,
    task_at,
)
from rpms.worlds.scienceworld.world import ScienceWorldGame, world

ALL_TASKS = (*PAPER_TASKS, *ELECTRICAL_TASKS)
MADE_UP = "zorbium"
"""The name of a hidden substance."""
NAMED_BY_STATE = ("water", "ice", "steam")
"""Substances that keep their names."""


class HiddenSubstance(ScienceWorldGame):
    """A variation in which the substance that the goal names has a made-up name."""

    name = ""

    def reset(self) -> Outcome:
        """The opening, from which the name is read."""
        self.name = ""
        opening = super().reset()
        target = world.goal(opening.observation).signature.state
        self.name = "" if target in NAMED_BY_STATE else target
        return self._hidden(opening)

    def step(self, action: str) -> Outcome:
        """A command with the made-up name, answered with it."""
        return self._hidden(super().step(_renamed(action, MADE_UP, self.name)))

    def _hidden(self, outcome: Outcome) -> Outcome:
        return replace(outcome, observation=_renamed(outcome.observation, self.name, MADE_UP))


def _renamed(text: str, name: str, other: str) -> str:
    """A text with another name in place of one."""
    return re.sub(rf"\b{re.escape(name)}\b", other, text) if name and other else text


def drawn(count: int, seeds: Sequence[int], names: Sequence[str] = ALL_TASKS) -> list[Task]:
    """Train variations of the last seed's draw, none of which an earlier seed's had; equally
    many of each task.
    """
    pools = {name: set(kind_named(name).variations("train")) for name in names}
    chosen: list[tuple[str, int]] = []
    for seed in seeds:
        chosen = []
        order = {
            name: random.Random(f"{seed}/{name}").sample(sorted(pool), len(pool))
            for name, pool in pools.items()
        }
        while len(chosen) < count and any(order.values()):
            chosen += [(name, order[name].pop()) for name in names if order[name]][
                : count - len(chosen)
            ]
        for name, variation in chosen:
            pools[name].discard(variation)
    return [
        task_at(name, variation)
        for name, variation in sorted(chosen, key=lambda each: names.index(each[0]))
    ]


def play_hidden(player: Player, task: Task) -> Episode:
    """Play a variation with a made-up name for its substance."""
    game = HiddenSubstance(task.type, int(task.id.rpartition("/")[2]))
    try:
        return play(Play(player, game, task, world.step_budget))
    finally:
        game.close()


def reason(episode: Episode) -> str:
    """An episode's ending, its sub-goal then, the step since which the score stood still, and
    the last answer.
    """
    last = episode.steps[-1]
    stood = next(step.number for step in episode.steps if step.score == last.score or step is last)
    said = " ".join(last.result.split())[:90]
    return (
        f"{episode.score:.0f}, {episode.ending} at step {last.number} ({stood}); {last.decision.progress.text!r}; "
        f"> {last.command}: {said} {episode.error}"
    )


def course(episode: Episode) -> str:
    """The whole of an episode, as text."""
    lines = [episode.task, episode.goal]
    for step in episode.steps:
        lines += [
            f"\n[{step.number}] {step.decision.progress.text} ({step.score:.0f}) {' <- '.join(step.plan)}"
        ]
        lines += [f"> {step.command}", step.result]
    return "\n".join(lines)


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draw", type=int, help="train variations to draw, over all tasks")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument(
        "--but", type=int, nargs="*", default=[], help="seeds whose draws of this size are left out"
    )
    parser.add_argument(
        "--per-task", type=int, default=3, help="variations of each task, in order (default 3)"
    )
    parser.add_argument("--split", choices=("dev", "train"), default="dev", help="of --per-task")
    parser.add_argument("--condition", choices=tuple(CONDITIONS), default="rules-only")
    parser.add_argument("--tasks", nargs="*", help="only these tasks, or variations such as boil/3")
    parser.add_argument("--out", type=Path, help="folder for the courses of episodes below 100")
    parser.add_argument("--hide", action="store_true", help="made-up names for substances")
    options = parser.parse_args()
    mind = compose(named_condition(options.condition), knowledge_of(world), EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())

    names = options.tasks or ALL_TASKS
    if any("/" in name for name in names):
        tasks = [task_at(name.partition("/")[0], int(name.partition("/")[2])) for name in names]
        if any(task.split == "test" for task in tasks):
            parser.error("test variations are not played here")
    elif options.draw:
        tasks = drawn(options.draw, [*options.but, options.seed], ALL_TASKS)
        tasks = [task for task in tasks if task.type in names]
    else:
        tasks = list_tasks(options.split, options.per_task, names)
    by_task: dict[str, list[Episode]] = defaultdict(list)
    for task in tasks:
        played = play_hidden(player, task) if options.hide else play_task(player, task, Setting())
        by_task[task.type].append(played)
        if played.score < 100:
            print(f"  {task.id}: {reason(played)}", flush=True)
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"{task.id.replace('/', '-')}.txt").write_text(
                    course(played), encoding="utf-8"
                )
    print(f"\n{'task':<50} {'episodes':>8} {'mean':>6} {'won':>5} {'steps':>6}")
    every = [one for group in by_task.values() for one in group]
    for name, group in (*by_task.items(), ("all", every)):
        mean = sum(one.score for one in group) / len(group)
        steps = sum(len(one.steps) for one in group) / len(group)
        print(
            f"{name:<50} {len(group):>8} {mean:>6.1f} {sum(one.won for one in group):>5} {steps:>6.1f}"
        )


if __name__ == "__main__":
    main()
