"""TextWorldExpress: what the planner wins, by game, and steps a second beside the package's own interface.

    python benchmarks/textworld_express.py --per-game 100
    python benchmarks/textworld_express.py --per-game 100 --manual learned.yaml     the same with a manual of one's own
    python benchmarks/textworld_express.py --speed

The games are made with the default parameters, or those that `--option` names as for `rpms run`. Plans come from the
manual alone: with `--manual` from that file instead of the world's. Of games that can be lost for good, `lost` counts
those; all others that were not won ran out of steps or plans.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

from rpms.core.condition import compose, named_condition
from rpms.core.episode import Ending, Episode
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
from rpms.store.manuals import manual_text, read_manual
from rpms.worlds.base import Setting, Task
from rpms.worlds.jvm.process import find_java
from rpms.worlds.textworld_express.games import GAMES, list_tasks, parse_choice, task_at
from rpms.worlds.textworld_express.program import PROGRAM
from rpms.worlds.textworld_express.simulator import ExpressGame
from rpms.worlds.textworld_express.world import world

WALKED = 8
"""Games of each kind that are timed, by their gold paths."""
ROUNDS = 12


def table(options: argparse.Namespace) -> None:
    """Play games of each kind and print what was won."""
    knowledge = knowledge_of(world)
    if options.manual:
        knowledge = replace(knowledge, manual=read_manual(manual_text(options.manual)))
    mind = compose(named_condition("rules-only"), knowledge, EpisodicMemory())
    model = PolicyModel("planner", follow_plan)
    setting = Setting(options={"game": options.option} if options.option else {})

    def episode(task: Task) -> Episode:
        game = world.open(task, setting)
        try:
            return play(Play(world, game, task, mind, model, Decoding(), options.steps))
        finally:
            game.close()

    print(f"{'game':<14} {'episodes':>8} {'won':>5} {'%':>6} {'lost':>5} {'score':>6} {'steps':>6} {'ms':>6}  not won")
    for name in parse_choice(options.option or "").games:
        began = time.perf_counter()
        played = [episode(task) for task in list_tasks(options.split, [name])[: options.per_game]]
        steps = sum(len(one.steps) for one in played)
        each_ms = 1_000 * (time.perf_counter() - began) / max(steps, 1)
        won = sum(one.ending is Ending.WON for one in played)
        lost = sum(one.ending is Ending.LOST for one in played)
        score = sum(one.score for one in played) / len(played)
        missed = [one.task.rpartition("/")[2] for one in played if one.ending is not Ending.WON]
        print(
            f"{name:<14} {len(played):>8} {won:>5} {100 * won / len(played):>6.1f} {lost:>5} {score:>6.3f}"
            f" {steps / len(played):>6.1f} {each_ms:>6.1f}  {', '.join(missed[:8])}",
            flush=True,
        )


def speed() -> None:
    """Print steps a second over the same gold paths: the package's own interface beside this one.

    Each path is walked many times by turns, and its fastest walk counts: on a busy machine the others time the others.
    """
    os.environ["PATH"] = os.pathsep.join((str(Path(find_java(PROGRAM)).parent), os.environ.get("PATH", "")))
    from textworld_express import TextWorldExpressEnv  # noqa: PLC0415 - only once this folder is off the path

    env = TextWorldExpressEnv(envStepLimit=1_000)
    print(f"load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    print(f"{'game':<14} {'package':>9} {'rpms':>9} {'ratio':>6}   steps a second")
    for name in GAMES:
        tasks = [task_at(name, seed) for seed in range(WALKED)]
        paths = {task.id: _gold(task) for task in tasks}
        theirs, ours = dict.fromkeys(paths, inf), dict.fromkeys(paths, inf)
        for _ in range(ROUNDS):
            for task in tasks:
                seed = int(task.source["seed"])
                env.reset(seed=seed, gameFold=task.split, gameName=name, gameParams="")
                theirs[task.id] = min(theirs[task.id], _walk(env.step, paths[task.id]))
                with ExpressGame(task) as game:
                    game.reset()
                    ours[task.id] = min(ours[task.id], _walk(game.step, paths[task.id]))
        steps = sum(map(len, paths.values()))
        package, mine = steps / sum(theirs.values()), steps / sum(ours.values())
        print(f"{name:<14} {package:>9.0f} {mine:>9.0f} {mine / package:>6.2f}", flush=True)
    env.close()


def _gold(task: Task) -> tuple[str, ...]:
    with ExpressGame(task) as game:
        return game.gold_path()


def _walk(step: Callable[[str], object], path: tuple[str, ...]) -> float:
    began = time.perf_counter()
    for command in path:
        step(command)
    return time.perf_counter() - began


def main() -> None:
    """Play, or time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--per-game", type=int, default=20, help="seeds of each game, in order (default 20)")
    parser.add_argument("--split", choices=("dev", "train"), default="dev")
    parser.add_argument("--steps", type=int, default=world.step_budget, help="steps an episode may take")
    parser.add_argument("--option", help="games and parameters, such as coin,numLocations=5")
    parser.add_argument(
        "--manual", type=Path, help="a manual to plan with instead of the world's, such as a learned one"
    )
    parser.add_argument("--speed", action="store_true", help="steps a second instead of games won")
    options = parser.parse_args()
    # This file has the package's name, and its folder is where Python would look for it first.
    sys.path = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]
    if options.speed:
        speed()
    else:
        table(options)


if __name__ == "__main__":
    main()
