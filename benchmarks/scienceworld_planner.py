"""The planner's score on ScienceWorld, by task, with a reason for every episode below 100.

    # train variations drawn at random
    python benchmarks/scienceworld_planner.py --draw 300 --seed 1
    # others: none that seed 1 drew
    python benchmarks/scienceworld_planner.py --draw 300 --seed 2 --but 1
    # the first dev variations of each task
    python benchmarks/scienceworld_planner.py --per-task 5
    # train variations in which the substance that the goal names has a made-up name
    python benchmarks/scienceworld_planner.py --draw 300 --seed 1 --hide --tasks boil melt freeze
    # the same for half of the substances, drawn by the seed; twelve variations at a time
    python benchmarks/scienceworld_planner.py --draw 300 --seed 1 --hide half --jobs 12

A draw takes as many variations from each of the 30 tasks as from any other; where a small task has
no more, the rest comes from the others. Test variations cannot be drawn. The game is played as in
every run: no simplifications, 100 steps, and a focus on the wrong thing ends it at -100, which
counts as -100 in the mean.

`--hide` gives the substance that the goal names a made-up name in all texts, so that nothing which
anybody wrote of a substance by its name can help. It does so in the tasks where a substance is
heated, cooled, measured or mixed. Plants, animals and the like keep their names, since what such a
goal asks for is told by the name alone; so do paints, whose colours say of what they are mixed, and
unknown substances, whose names are the simulator's inventions already. Water, ice and steam keep
theirs too, by which alone the simulator tells their state. The mean of the variations with a
made-up name is printed beside the mean of all.

`--out` keeps the whole course of each episode below 100 as text. `--jobs` plays in as many
processes, each with a simulator of its own (half a gigabyte).
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
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
    ScienceGoal,
    kind_named,
    list_tasks,
    parse_goal,
    task_at,
)
from rpms.worlds.scienceworld.world import ScienceWorldGame, world

ALL_TASKS = (*PAPER_TASKS, *ELECTRICAL_TASKS)
MADE_UP = "zorbium"
"""The name of a hidden substance."""
NAMED_BY_STATE = ("water", "ice", "steam")
"""Substances that keep their names."""
SUBSTANCE_TASKS = (
    "boil",
    "melt",
    "freeze",
    "change-the-state-of-matter-of",
    "use-thermometer",
    "measure-melting-point-known-substance",
    "chemistry-mix",
)
"""The tasks whose goal names a substance to heat, cool, measure or mix."""


@dataclass(frozen=True)
class Terms:
    """What every variation is played with; a process is sent it."""

    condition: str
    hide: str
    """`all` or `half` of the substances that goals name; empty for none."""
    seed: int

    def hides(self, goal: ScienceGoal) -> bool:
        """True if what a goal names is a substance that goes by the made-up name."""
        name = goal.target
        if not self.hide or goal.task not in SUBSTANCE_TASKS:
            return False
        if name in NAMED_BY_STATE or name.startswith("unknown substance"):
            return False
        return self.hide == "all" or random.Random(f"{self.seed}/{name}").random() < 0.5


@dataclass(frozen=True)
class Played:
    """What is told of an episode."""

    task: Task
    hidden: str
    """The substance that had a made-up name; empty if none had."""
    score: float
    won: bool
    steps: int
    reason: str
    course: str


class HiddenSubstance(ScienceWorldGame):
    """A variation in which the substance that the goal names may have a made-up name."""

    name = ""

    def __init__(self, task: Task, terms: Terms) -> None:
        super().__init__(task.type, int(task.id.rpartition("/")[2]))
        self.terms = terms

    def reset(self) -> Outcome:
        """The opening, from which the name is read."""
        self.name = ""
        opening = super().reset()
        goal = parse_goal(opening.observation)
        if self.terms.hides(goal):
            self.name = goal.target
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


@functools.cache
def planner(condition: str) -> Player:
    """The planner; made once in each process."""
    mind = compose(named_condition(condition), knowledge_of(world), EpisodicMemory())
    return Player(world, mind, PolicyModel("planner", follow_plan), Decoding())


def play_variation(task: Task, terms: Terms) -> Played:
    """Play a variation to its end."""
    player = planner(terms.condition)
    hidden = ""
    if terms.hide:
        with closing(HiddenSubstance(task, terms)) as game:
            episode = play(Play(player, game, task, world.step_budget))
            hidden = game.name
    else:
        episode = play_task(player, task, Setting())
    lost = episode.score < 100
    return Played(
        task,
        hidden,
        episode.score,
        episode.won,
        len(episode.steps),
        reason(episode) if lost else "",
        course(episode) if lost else "",
    )


def play_all(tasks: Sequence[Task], terms: Terms, jobs: int) -> Iterator[Played]:
    """Play variations, several at a time; in the order of the tasks."""
    if jobs == 1:
        for task in tasks:
            yield play_variation(task, terms)
        return
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=fresh) as processes:
        yield from processes.map(play_variation, tasks, [terms] * len(tasks))


def read_options() -> argparse.Namespace:
    """The options of the command line."""
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
    parser.add_argument(
        "--hide",
        nargs="?",
        const="all",
        default="",
        choices=("all", "half"),
        help="made-up names for all substances that goals name, or for half of them",
    )
    parser.add_argument("--jobs", type=int, default=1, help="variations played at a time")
    return parser.parse_args()


def chosen_tasks(options: argparse.Namespace) -> list[Task]:
    """The variations that the options name."""
    names = options.tasks or ALL_TASKS
    if any("/" in name for name in names):
        tasks = [task_at(name.partition("/")[0], int(name.partition("/")[2])) for name in names]
        if any(task.split == "test" for task in tasks):
            raise SystemExit("test variations are not played here")
        return tasks
    if options.draw:
        tasks = drawn(options.draw, [*options.but, options.seed], ALL_TASKS)
        return [task for task in tasks if task.type in names]
    return list_tasks(options.split, options.per_task, names)


def print_row(name: str, group: Sequence[Played]) -> None:
    """A row of the table: mean, wins and steps of some episodes."""
    mean = sum(one.score for one in group) / len(group)
    won = sum(one.won for one in group)
    steps = sum(one.steps for one in group) / len(group)
    print(f"{name:<50} {len(group):>8} {mean:>6.1f} {won:>5} {steps:>6.1f}")


def main() -> None:
    """Play and print."""
    options = read_options()
    terms = Terms(options.condition, options.hide, options.seed)
    every: list[Played] = []
    by_task: dict[str, list[Played]] = defaultdict(list)
    for played in play_all(chosen_tasks(options), terms, options.jobs):
        every.append(played)
        by_task[played.task.type].append(played)
        if not played.reason:
            continue
        named = f" ({played.hidden} as {MADE_UP})" if played.hidden else ""
        print(f"  {played.task.id}{named}: {played.reason}", flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            file = options.out / f"{played.task.id.replace('/', '-')}.txt"
            file.write_text(played.course, encoding="utf-8")
    print(f"\n{'task':<50} {'episodes':>8} {'mean':>6} {'won':>5} {'steps':>6}")
    for name, group in by_task.items():
        print_row(name, group)
    made_up = [one for one in every if one.hidden]
    if made_up:
        names = sorted({one.hidden for one in made_up})
        print_row(f"with a made-up name ({len(names)} substances)", made_up)
    print_row("all", every)


if __name__ == "__main__":
    main()
