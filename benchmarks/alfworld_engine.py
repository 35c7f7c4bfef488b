"""Cost of the native ALFWorld engine, beside the real one in the same run if that is installed.

    python benchmarks/alfworld_engine.py [--data DIR] [--games N] [--steps N] [--textworld-steps N]

Prints load time, steps a second with the list of admissible commands made at every step, and memory
a live game; times by the wall clock and, since other work on the machine adds to that, by the
processor. Games come from --data, $ALFWORLD_DATA, or else the package's own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import time
import tracemalloc
from pathlib import Path

from rpms.worlds.alfworld.engine.gamefile import load_engine
from rpms.worlds.alfworld.game import NativeGame, TextWorldGame, textworld_available
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids
from rpms.worlds.base import Game

REFERENCE_LOAD_MS = 2600.0
REFERENCE_STEP_MS = 100.0
"""Known time of the real engine, for machines without it."""

MAX_EPISODE = 50


def find_games(data: str | None, wanted: int, scratch: Path) -> tuple[list[Path], str]:
    """Game files spread evenly over a folder, or the package's own written out, and where they
    are from.
    """
    folder = data or os.environ.get("ALFWORLD_DATA")
    if folder:
        found = sorted(Path(folder).rglob("game.tw-pddl"))
        if not found:
            raise SystemExit(f"{folder}: no game.tw-pddl under it")
        return found[:: max(1, len(found) // wanted)][:wanted], folder
    paths = []
    for number, name in enumerate(list(builtin_ids())[:wanted]):
        path = scratch / f"{number}.tw-pddl"
        path.write_text(json.dumps(builtin_game(name)), encoding="utf-8")
        paths.append(path)
    return paths, "the package's builtin games"


def walk(game: Game, steps: int, seed: int) -> float:
    """Seconds for a random walk of that many steps, asking for the admissible commands after
    each.
    """
    dice = random.Random(seed)
    game.reset()
    commands = game.admissible()
    begun = time.perf_counter()
    for number in range(1, steps + 1):
        game.step(dice.choice(commands))
        commands = game.admissible()
        if number % MAX_EPISODE == 0:
            game.reset()
    return time.perf_counter() - begun


def load_ms(paths: list[Path]) -> list[float]:
    """Milliseconds for loading each game; the first, which also reads the shared domain,
    included.
    """
    times = []
    for path in paths:
        begun = time.perf_counter()
        load_engine(path)
        times.append((time.perf_counter() - begun) * 1e3)
    return times


def bytes_a_game(paths: list[Path]) -> float:
    """Memory of a live game that has been played a while, nothing shared between games but the
    package.
    """
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    games = [NativeGame(load_engine(path)) for path in paths]
    for number, game in enumerate(games):
        walk(game, 20, number)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / len(games)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder with game.tw-pddl files")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--steps", type=int, default=2000, help="steps a game")
    parser.add_argument(
        "--textworld-steps", type=int, default=30, help="steps on the real engine, where installed"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        paths, source = find_games(args.data, args.games, Path(scratch))
        print(f"{len(paths)} games from {source}")
        cpu = time.process_time()
        loads = load_ms(paths)
        load_cpu = (time.process_time() - cpu) * 1e3 / len(paths)
        games = [NativeGame(load_engine(path)) for path in paths]
        cpu = time.process_time()
        seconds = sum(walk(game, args.steps, number) for number, game in enumerate(games))
        step_cpu = (time.process_time() - cpu) * 1e3 / (len(games) * args.steps)
        rate = len(games) * args.steps / seconds
        memory = bytes_a_game(paths)
        print(
            f"native     load {statistics.median(loads):8.1f} ms median, {max(loads):.1f} ms worst"
            f" ({load_cpu:.1f} ms of CPU)"
        )
        print(
            f"           step {1e3 / rate:8.4f} ms with admissible commands: {rate:,.0f} steps/s"
            f" ({step_cpu:.4f} ms of CPU)"
        )
        print(f"           live {memory / 1e6:8.3f} MB a game")
        real_load, real_step, label = (
            REFERENCE_LOAD_MS,
            REFERENCE_STEP_MS,
            "as documented; it is not installed here",
        )
        if textworld_available():
            begun = time.perf_counter()
            game = TextWorldGame(paths[0])
            real_load = (time.perf_counter() - begun) * 1e3
            real_step = walk(game, args.textworld_steps, 0) / args.textworld_steps * 1e3
            game.close()
            label = "measured in this run, its process's start included in the load"
        print(f"TextWorld  load {real_load:8.1f} ms, step {real_step:.1f} ms ({label})")
        print(
            f"ratio      load {real_load / statistics.median(loads):8,.0f} x, step {real_step * rate / 1e3:,.0f} x"
        )


if __name__ == "__main__":
    main()
