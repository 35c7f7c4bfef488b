"""Cost of the runner: a step's overhead, episodes a second by workers, and the memory of a long
run.

    python benchmarks/run.py [--episodes 1000] [--entries 449]
    python benchmarks/run.py --processes 1,2 [--episodes 3553] [--data DIR --split train]

Episodes are the builtin games under the full condition, with a memory. The model answers at once
with what the planner would say, so that all that is left is the runner's own: belief, retrieval,
arbitration, prompt, record and write. The simulator, and the comparison of each belief with the
simulator's truth that measures drift, are timed apart.

With `--processes`, the planner plays as many episodes with each of these numbers of processes as
`rpms run alfworld --model planner --manual complete --memory none` would, games taken again under
other names where there are fewer.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from decide import entries

from rpms.models.base import Answer, Model, Request
from rpms.models.policy import FunctionModel, ScriptedModel, follow_plan
from rpms.paper.episode import Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, RunDesign, design_run, lend
from rpms.play.run import Listener, run
from rpms.play.runners import InProcesses
from rpms.play.settings import Settings
from rpms.store.episodes import EpisodeRow
from rpms.store.run_summaries import RunSummary
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from rpms.worlds.registry import find_world

OWN = "runner: belief, retrieval, prompt, record, write"


class Clock:
    """Adds up what is spent where: seconds by the wall, and seconds of this thread's CPU."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Any, *arguments: Any) -> Any:
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return function(*arguments)
        finally:
            self.wall[name] += time.perf_counter() - wall
            self.cpu[name] += time.thread_time() - cpu


class TimedGame:
    """A game whose time is counted."""

    def __init__(self, game: Game, clock: Clock) -> None:
        self.game, self.clock = game, clock

    def reset(self) -> Outcome:
        return self.clock.timed("simulator: reset and step", self.game.reset)

    def step(self, command: str) -> Outcome:
        return self.clock.timed("simulator: reset and step", self.game.step, command)

    def close(self) -> None:
        self.game.close()


class TimedWorld:
    """A world whose simulators and drift checks are counted apart."""

    def __init__(self, world: World, clock: Clock) -> None:
        self.world, self.clock = world, clock

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def open(self, task: Task, setting: Setting) -> TimedGame:
        return TimedGame(
            self.clock.timed("simulator: load the game", self.world.open, task, setting), self.clock
        )

    def contradictions(self, belief: Any, game: TimedGame) -> tuple[str, ...]:
        return self.clock.timed("drift check", self.world.contradictions, belief, game.game)


class TimedModel:
    """A model whose time is counted."""

    def __init__(self, model: Model, clock: Clock) -> None:
        self.model, self.clock, self.name = model, clock, model.name

    def answer(self, request: Request) -> Answer:
        return self.clock.timed("model", self.model.answer, request)

    def close(self) -> None:
        self.model.close()


def play(
    design: RunDesign, workers: int, listener: Listener | None = None
) -> tuple[RunSummary, float]:
    """Run a design in a fresh folder; the numbers and the seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        summary = run(design, Path(folder, "run"), workers, listener)
        return summary, time.perf_counter() - start


def copies(tasks: Sequence[Task], count: int) -> list[Task]:
    """As many tasks as wanted, each with an id of its own."""
    again = ((number, task) for number in itertools.count() for task in tasks)
    return [
        replace(task, id=f"{task.id} {number}") for number, task in itertools.islice(again, count)
    ]


def script(world: World, memory: EpisodicMemory, tasks: Sequence[Task]) -> dict[str, list[str]]:
    """The planner's answer at each step of each task."""
    said: dict[str, list[str]] = defaultdict(list)

    def answer(request: Request) -> str:
        thought, action = follow_plan(request.decision)
        said[request.episode].append(f"Thought: {thought}\nAction: {action}")
        return said[request.episode][-1]

    play(design_run(world, "planner", lend(FunctionModel(answer)), memory=memory, tasks=tasks), 1)
    return said


def answers_of(said: dict[str, list[str]], tasks: Sequence[Task]) -> ScriptedModel:
    """A model that answers at once; each copy of a task has the answers of the first."""
    first = {task.source["builtin"]: said[task.id] for task in tasks if task.id in said}
    return ScriptedModel("scripted", (), {task.id: first[task.source["builtin"]] for task in tasks})


class Resident(Listener):
    """Notes the resident memory as episodes finish."""

    def __init__(self, at: Sequence[int]) -> None:
        self.at, self.count, self.seen = set(at), 0, {}

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:
        del row, usages, file
        self.count += 1
        if self.count in self.at:
            gc.collect()
            self.seen[self.count] = resident()


def resident() -> float:
    """MiB now; where the system does not say, the most so far."""
    try:
        return (
            int(Path("/proc/self/statm").read_text().split()[1])
            * os.sysconf("SC_PAGE_SIZE")
            / 2**20
        )
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
            2**20 if sys.platform == "darwin" else 2**10
        )


def in_processes(counts: Sequence[int], episodes: int, split: str, data: Path | None) -> None:
    """Print seconds, episodes a second and memory of the planner's run, by the number of
    processes.
    """
    world, setting = find_world("alfworld"), Setting(data)
    settings = Settings.read({"manual": "complete", "memory": "none", "split": split})
    tasks = copies(world.tasks(split, setting), episodes)
    opened, empty = NamedModel("planner"), EpisodicMemory(world=world.name)
    design = settings.design(world, opened.name, opened, tasks=tasks, setting=setting, memory=empty)
    print(
        f"{episodes:,} episodes of {split}; MB of the process that writes, after a tenth, half and all, and of a player"
    )
    print(
        "processes   seconds  a second      x  its processor time  MB 10%   50%   100%  player      won"
    )
    first = 0.0
    for count in counts:
        watch = Resident([episodes // 10, episodes // 2, episodes])
        own = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            summary = run(design, Path(folder, "run"), None, watch, runner=InProcesses(count))
            seconds = time.perf_counter() - begun
        own = time.process_time() - own
        first = first or seconds
        sizes = " ".join(f"{watch.seen[mark]:6.0f}" for mark in sorted(watch.at))
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(
            f"{count:9} {seconds:9.1f} {episodes / seconds:9.1f} {first / seconds:6.2f} {own:19.1f} {sizes}"
            f" {largest:7.0f} {summary.won:8}",
            flush=True,
        )


def main() -> None:
    """Print it all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=1_000)
    parser.add_argument("--entries", type=int, default=449)
    parser.add_argument(
        "--processes", help="play by the planner in so many processes, such as 1,2,16"
    )
    parser.add_argument("--data", type=Path, help="ALFWorld's game files")
    parser.add_argument("--split", default="builtin")
    options = parser.parse_args()
    if options.processes:
        in_processes(
            [int(count) for count in options.processes.split(",")],
            options.episodes,
            options.split,
            options.data,
        )
        return
    world = find_world("alfworld")
    memory = EpisodicMemory(entries(options.entries), "alfworld")
    once = copies(world.tasks("builtin", Setting()), 24)
    said = script(world, memory, once)

    clock = Clock()
    tasks = copies(once, 96)
    model = TimedModel(answers_of(said, [*once, *tasks]), clock)
    design = design_run(
        TimedWorld(world, clock), "scripted", lend(model), memory=memory, tasks=tasks
    )
    cpu = time.process_time()
    summary, seconds = play(design, 1)
    cpu = time.process_time() - cpu
    steps = summary.steps
    clock.wall[OWN] = seconds - sum(clock.wall.values())
    clock.cpu[OWN] = cpu - sum(clock.cpu.values())
    print(f"one worker, {summary.done} episodes, {steps} steps, {options.entries} memory entries")
    print("ms a step: wall     CPU")
    for name in sorted(clock.wall, key=clock.cpu.__getitem__):
        print(
            f"        {1e3 * clock.wall[name] / steps:7.3f} {1e3 * clock.cpu[name] / steps:7.3f}  {name}"
        )
    print(f"        {1e3 * seconds / steps:7.3f} {1e3 * cpu / steps:7.3f}  in all")
    walls, cpus = 1e3 * clock.wall[OWN] / steps, 1e3 * clock.cpu[OWN] / steps
    print(
        f"of the 2 ms wanted the runner's own is {walls / 2:.2f} by the wall, {cpus / 2:.2f} of CPU"
    )

    for name, wait in (("at once", 0.0), ("after 50 ms", 0.05)):
        few = tasks[:48] if not wait else tasks[:16]
        rates: dict[int, float] = {}
        for workers in (1, 2, 4):
            quick = answers_of(said, [*once, *few])

            def answer(
                request: Request, quick: ScriptedModel = quick, wait: float = wait
            ) -> Answer:
                time.sleep(wait)
                return quick.answer(request)

            design = design_run(
                world, "scripted", lend(FunctionModel(answer)), memory=memory, tasks=few
            )
            summary, seconds = play(design, workers)
            rates[workers] = summary.done / seconds
        told = ", ".join(
            f"{workers} workers {rate:.1f} ({rate / rates[1]:.2f}x)"
            for workers, rate in rates.items()
        )
        print(f"episodes a second, the model answers {name}: {told}")

    marks = [options.episodes // 10, options.episodes // 4, options.episodes // 2, options.episodes]
    watch = Resident(marks)
    many = copies(once, options.episodes)
    play(
        design_run(
            world, "scripted", lend(answers_of(said, [*once, *many])), memory=memory, tasks=many
        ),
        1,
        watch,
    )
    told = ", ".join(f"{count}: {size:.1f}" for count, size in watch.seen.items())
    ratio = watch.seen[marks[-1]] / watch.seen[marks[0]]
    print(f"resident MiB after episodes {told}; the last is {ratio:.3f} of the first")


if __name__ == "__main__":
    main()
