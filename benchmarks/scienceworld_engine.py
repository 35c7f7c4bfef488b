"""Cost of the ScienceWorld driver, beside the package's own `ScienceWorldEnv` in the same run.

    python benchmarks/scienceworld_engine.py

Both play the same commands for the same time, in rounds taken in turn, and each command counts with
the shortest of its times, so that the warming of Java and a busy machine matter little; ratios are
the result. Takes two to three minutes.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rpms.worlds.base import Outcome
from rpms.worlds.jvm.process import find_java, shared_jvm, shutdown
from rpms.worlds.scienceworld.world import PROGRAM, ScienceWorldGame

WALKS = {
    # The first commands of gold paths on train variations: a kitchen, a workshop, a greenhouse.
    ("boil", 0): (
        "open door to kitchen | go to kitchen | look around | pick up thermometer | open cupboard | pick up metal pot"
        " | move metal pot to sink | activate sink | deactivate sink | pick up metal pot"
        " | focus on substance in metal pot | move metal pot to stove | activate stove | examine substance in metal pot"
        " | use thermometer in inventory on substance in metal pot | examine substance in metal pot"
    ),
    ("power-component", 0): (
        "open door to workshop | go to workshop | look around | look at table | look at battery | pick up switch"
        " | inventory | wait1 | look around"
    ),
    ("grow-fruit", 0): (
        "open door to greenhouse | go to greenhouse | look around | open bee hive | pick up jug | move jug to sink"
        " | activate sink | deactivate sink | pick up jug | wait | look around | wait1 | look at flower pot 1"
    ),
}
SECONDS_EACH = 40.0
GAMES = 5
Key = TypeVar("Key")


def commands(walk: str) -> list[str]:
    """Split a walk into its commands."""
    return [command.strip() for command in walk.split("|")]


def play(game: ScienceWorldGame, walk: str) -> list[Outcome]:
    """Give a game the commands of a walk."""
    return [game.step(command) for command in commands(walk)]


def resident_mb(pid: int) -> float | None:
    """Return a process's resident memory, where /proc tells it."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def steps_and_starts() -> None:
    """Print the cost of a step and of an episode's start, ours beside the package's."""
    from scienceworld import ScienceWorldEnv  # noqa: PLC0415 - only once this folder is off the path

    started = time.perf_counter()
    env = ScienceWorldEnv("", envStepLimit=1000)
    env.load("boil", 0, "")
    env.reset()
    env_first = time.perf_counter() - started
    started = time.perf_counter()
    game = ScienceWorldGame("boil", 0)
    game.reset()
    our_first = time.perf_counter() - started
    print(f"first episode, with the JVM's start: env {env_first:.2f} s, rpms {our_first:.2f} s")
    print(
        f"edited classes: {'in use' if len(shared_jvm(PROGRAM).class_path) > 1 else 'none, this jar is not known'}"
    )

    env_s: dict[tuple[str, int], float] = {}
    our_s: dict[tuple[str, int], float] = {}
    starts: dict[str, float] = {}
    spent = {"env": 0.0, "rpms": 0.0}
    while min(spent.values()) < SECONDS_EACH:
        side = min(spent, key=lambda name: spent[name])
        round_began = time.perf_counter()
        for (name, variation), walk in WALKS.items():
            began = time.perf_counter()
            if side == "env":
                env.load(name, variation, "")
                env.reset()
                note(starts, side, began)
                time_steps(env.step, name, walk, env_s)
            else:
                with ScienceWorldGame(name, variation) as ours:
                    ours.reset()
                    note(starts, side, began)
                    time_steps(ours.step, name, walk, our_s)
        spent[side] += time.perf_counter() - round_began
    game.close()
    env.close()
    theirs, mine = statistics.fmean(env_s.values()), statistics.fmean(our_s.values())
    print(f"step: env {1000 * theirs:.1f} ms, rpms {1000 * mine:.1f} ms")
    print(
        f"steps a second: env {1 / theirs:.0f}, rpms {1 / mine:.0f}, {theirs / mine:.1f} times as many"
    )
    for name, _ in WALKS:
        ratio = sum(s for (walk, _), s in env_s.items() if walk == name) / sum(
            s for (walk, _), s in our_s.items() if walk == name
        )
        print(f"  {name}: {ratio:.1f} times")
    print(f"a later episode's start: env {starts['env']:.2f} s, rpms {starts['rpms']:.2f} s")


def note(best: dict[Key, float], key: Key, began: float) -> None:
    """Keep the shortest time seen."""
    best[key] = min(best.get(key, float("inf")), time.perf_counter() - began)


def time_steps(
    step: Callable[[str], object], name: str, walk: str, best: dict[tuple[str, int], float]
) -> None:
    """Time each command of a walk."""
    for number, command in enumerate(commands(walk)):
        began = time.perf_counter()
        step(command)
        note(best, (name, number), began)


def memory() -> None:
    """Print the memory of a JVM and of each game added to it."""
    shutdown()
    games = []
    sizes = []
    for number in range(GAMES):
        game = ScienceWorldGame("boil", number)
        game.reset()
        play(game, WALKS["boil", 0])
        games.append(game)
        size = resident_mb(shared_jvm(PROGRAM).pid)
        if size is None:
            print("memory: not measured, there is no /proc here")
            break
        sizes.append(size)
    if len(sizes) == GAMES:
        more = (sizes[-1] - sizes[0]) / (GAMES - 1)
        print(
            f"memory: {sizes[0]:.0f} MB for a JVM with one game, {more:.0f} MB for each further game beside it"
        )
    for game in games:
        game.close()


def threads() -> None:
    """Print whether four games at once say what they say one after another."""
    jobs = [("boil", 0), ("power-component", 0), ("grow-fruit", 0), ("boil", 1)]

    def episode(job: tuple[str, int]) -> list[Outcome]:
        with ScienceWorldGame(*job) as game:
            return [game.reset(), *play(game, WALKS[job[0], 0])]

    started = time.perf_counter()
    alone = {job: episode(job) for job in jobs}
    middle = time.perf_counter()
    together: dict[tuple[str, int], list[Outcome]] = {}
    running = [
        threading.Thread(target=lambda job=job: together.update({job: episode(job)}))
        for job in jobs
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    ended = time.perf_counter()
    print(
        f"four games: one after another {middle - started:.1f} s, in threads {ended - middle:.1f} s,"
        f" transcripts {'the same' if together == alone else 'DIFFERENT'}"
    )


def main() -> None:
    """Run all of it."""
    warnings.simplefilter("ignore")  # ScienceWorldEnv leaves its pipes open
    java = find_java(PROGRAM)
    os.environ["PATH"] = os.pathsep.join(
        (str(Path(java).resolve().parent), os.environ.get("PATH", ""))
    )
    print(f"java: {java}; load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    steps_and_starts()
    memory()
    threads()


if __name__ == "__main__":
    main()
