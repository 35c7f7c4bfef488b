"""Cost of a report, or an export: 1,000 episodes in under 30 s and 1 GB, and how time grows to
10,000.

    python benchmarks/report.py [--most 10000] [--slips 0] [--export]

Episodes are real ones of builtin games, played to their step budget or won, each under many names.
With `--slips 0` they are as short as the planner's.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rpms.models.base import Answer, Request
from rpms.models.policy import follow_plan
from rpms.paper.condition import CONDITIONS
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.episodes import content_text, packed, unpacked
from rpms.store.protocol import Protocol
from rpms.store.runs import EPISODES, PROTOCOL, TIMINGS, RunFolder
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WANTED_SECONDS, WANTED_MEGABYTES = 30, 1024


@dataclass
class Wanderer:
    """The planner, with so many useless steps before each of its own, so that episodes are long."""

    slips: int
    name = "wanderer"

    def __post_init__(self) -> None:
        self._world = find_world("alfworld")
        self._asked = 0

    def answer(self, request: Request) -> Answer:
        assert request.decision is not None
        self._asked += 1
        thought, action = follow_plan(request.decision)
        return Answer(
            f"Thought: {thought}\nAction: {'examine the void' if self._asked % (self.slips + 1) else action}"
        )

    def close(self) -> None:
        """Nothing is held."""


def make_runs(folder: Path, episodes: int, slips: int) -> None:
    """Four conditions, each with a quarter of the episodes."""
    world, each = find_world("alfworld"), episodes // len(CONDITIONS)
    tasks = world.tasks("builtin", Setting())[::4]
    for name, condition in CONDITIONS.items():
        model = Wanderer(slips)
        design = design_run(
            world,
            model.name,
            lend(model),
            split="builtin",
            tasks=tasks,
            condition=condition,
            step_budget=40,
            memory=EpisodicMemory(),
        )
        run(design, folder / "played" / name)
        played = RunFolder(folder / "played" / name)
        bodies = [(task.id, json.loads(unpacked(played.file(task.id)))) for task in tasks]
        names = tuple(f"{bodies[number % len(bodies)][0]}/{number}" for number in range(each))
        copied = RunFolder(folder / name)
        (copied.folder / EPISODES).mkdir(parents=True)
        (copied.folder / PROTOCOL).write_text(Protocol(names, played.protocol.settings).text())
        for number, renamed in enumerate(names):
            body = bodies[number % len(bodies)][1]
            body["row"]["task"] = renamed
            file = copied.file(renamed)
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(packed(content_text(body)))
        timings = list(played.timings().values())
        lines = (asdict(timings[n % len(timings)]) | {"task": task} for n, task in enumerate(names))
        (copied.folder / TIMINGS).write_text("\n".join(map(json.dumps, lines)))


def report(folder: Path, out: Path, as_table: bool) -> None:
    """Write one report or export and print what it cost, as JSON: run in a process of its own."""
    start = time.perf_counter()
    runs = [folder / name for name in CONDITIONS]
    if as_table:
        from rpms.report.export import export  # noqa: PLC0415  imports are part of the cost

        export(runs, "csv", out)
    else:
        from rpms.report.pages import write_report  # noqa: PLC0415

        write_report(runs, out)
    seconds, cpu = time.perf_counter() - start, time.process_time()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file()) / 1e6
    print(json.dumps({"seconds": seconds, "cpu": cpu, "megabytes": megabytes, "size": size}))


def measure(episodes: int, slips: int, as_table: bool) -> dict[str, float]:
    """Make the runs, then report on them in a fresh process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder, episodes, slips)
        command = [sys.executable, __file__, "--report", str(folder), str(folder / "report")]
        command += ["--export"] if as_table else []
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return {"episodes": episodes, **json.loads(done.stdout)}


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--slips", type=int, default=2)
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--report", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.report:
        report(*arguments.report, arguments.export)
        return
    print(
        f"{'episodes':>9} {'seconds':>9} {'of CPU':>8} {'ms/episode':>11} {'peak MB':>9} {'written MB':>11}"
    )
    found = []
    for episodes in sorted({1_000, arguments.most}):
        row = measure(episodes, arguments.slips, arguments.export)
        each = 1000 * row["cpu"] / row["episodes"]
        times = f"{row['episodes']:9.0f} {row['seconds']:9.1f} {row['cpu']:8.1f} {each:11.2f}"
        print(f"{times} {row['megabytes']:9.0f} {row['size']:11.1f}", flush=True)
        found.append(row)
    first, last = found[0], found[-1]
    fine = first["seconds"] < WANTED_SECONDS and first["megabytes"] < WANTED_MEGABYTES
    print(
        f"1,000 episodes in under {WANTED_SECONDS} s and {WANTED_MEGABYTES} MB: {'yes' if fine else 'NO'}"
    )
    if last is not first:
        episodes, cpu = last["episodes"] / first["episodes"], last["cpu"] / first["cpu"]
        print(f"{episodes:.0f} times the episodes take {cpu:.1f} times the CPU time")


if __name__ == "__main__":
    main()
