"""What the ScienceWorld driver costs, beside the package's own `ScienceWorldEnv` in the same run.

    python benchmarks/scienceworld.py

Both play the same commands in rounds taken in turn, so that a busy machine slows both; ratios are the result, times
depend on the machine. Takes one to three minutes.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
import warnings
from pathlib import Path

from rpms.worlds.base import Outcome
from rpms.worlds.scienceworld import jvm
from rpms.worlds.scienceworld.simulator import ScienceWorldGame

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
ROUNDS = 4
GAMES = 5


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

    env_s, our_s, env_starts, our_starts = [], [], [], []
    for number in range(ROUNDS):
        for (name, variation), walk in WALKS.items():
            steps = len(commands(walk))
            started = time.perf_counter()
            env.load(name, variation, "")
            env.reset()
            middle = time.perf_counter()
            for command in commands(walk):
                env.step(command)
            ended = time.perf_counter()
            with ScienceWorldGame(name, variation) as ours:
                our_started = time.perf_counter()
                ours.reset()
                our_middle = time.perf_counter()
                play(ours, walk)
                our_ended = time.perf_counter()
            if number:  # the first round warms both JVMs
                env_s.append((ended - middle) / steps)
                our_s.append((our_ended - our_middle) / steps)
                env_starts.append(middle - started)
                our_starts.append(our_middle - our_started)
    game.close()
    env.close()
    for what, theirs, ours_ in (("step", env_s, our_s), ("later episode's start", env_starts, our_starts)):
        a, b = statistics.fmean(theirs), statistics.fmean(ours_)
        print(f"{what}: env {1000 * a:.1f} ms, rpms {1000 * b:.1f} ms, {a / b:.1f} times as fast")
    by_walk = [
        f"{name} {statistics.fmean(env_s[at :: len(WALKS)]) / statistics.fmean(our_s[at :: len(WALKS)]):.1f}"
        for at, (name, _) in enumerate(WALKS)
    ]
    print(f"steps a second: env {1 / statistics.fmean(env_s):.0f}, rpms {1 / statistics.fmean(our_s):.0f}")
    print(f"ratio by walk: {', '.join(by_walk)}")


def memory() -> None:
    """Print the memory of a JVM and of each game added to it."""
    jvm.shutdown()
    games = []
    sizes = []
    for number in range(GAMES):
        game = ScienceWorldGame("boil", number)
        game.reset()
        play(game, WALKS["boil", 0])
        games.append(game)
        size = resident_mb(jvm.shared_jvm().pid)
        if size is None:
            print("memory: not measured, there is no /proc here")
            break
        sizes.append(size)
    if len(sizes) == GAMES:
        more = (sizes[-1] - sizes[0]) / (GAMES - 1)
        print(f"memory: {sizes[0]:.0f} MB for a JVM with one game, {more:.0f} MB for each further game beside it")
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
    running = [threading.Thread(target=lambda job=job: together.update({job: episode(job)})) for job in jobs]
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
    here = Path(__file__).resolve().parent  # this file has the package's name, and must not be found in its place
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    warnings.simplefilter("ignore")  # ScienceWorldEnv leaves its pipes open
    java = jvm.find_java()
    os.environ["PATH"] = os.pathsep.join((str(Path(java).resolve().parent), os.environ.get("PATH", "")))
    print(f"java: {java}; load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    steps_and_starts()
    memory()
    threads()


if __name__ == "__main__":
    main()
