"""TextWorldExpress: what the planner wins, by game, and steps a second beside the package's own
interface.

    python examples/textworld_express/benchmark.py --per-game 100
    python examples/textworld_express/benchmark.py --per-game 100 --manual learned.yaml     the same with a manual of one's own
    python examples/textworld_express/benchmark.py --speed

The games are made with the default parameters, or those that `--option` names as for `rpms run`.
Plans come from the manual alone: with `--manual` from that file instead of the world's. Of games
that can be lost for good, `lost` counts those; all others that were not won ran out of steps or
plans.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

from textworld_express_world.games import FOLDS, GAMES, list_tasks, parse_choice, task_at
from textworld_express_world.world import PROGRAM, ExpressGame, world

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import named_condition
from rpms.paper.episode import Ending
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Setting, Task
from rpms.worlds.jvm.process import find_java, shared_jvm

WALKED = 5
"""Games of each kind that are timed, by their gold paths."""
ROUNDS = 20


def table(options: argparse.Namespace) -> None:
    """Play games of each kind and print what was won."""
    knowledge = knowledge_of(world)
    if options.manual:
        knowledge = replace(knowledge, manual=read_manual(manual_text(options.manual)))
    mind = compose(named_condition("rules-only"), knowledge, EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    setting = Setting(options={"game": options.option} if options.option else {})

    print(
        f"{'game':<14} {'episodes':>8} {'won':>5} {'%':>6} {'lost':>5} {'score':>6} {'steps':>6} {'ms':>6}  not won"
    )
    for name in parse_choice(options.option or "").games:
        began = time.perf_counter()
        played = [
            play_task(player, task, setting, options.steps)
            for task in list_tasks(options.split, [name])[options.skip :][: options.per_game]
        ]
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
    """Print what a step costs over the same gold paths: the package's own interface beside this
    one, by turns.

    Steps a second are of the fastest walk of each path. On a busy machine that is still chance, and
    the processor time of Python and Java together, after a round to warm up, is what to compare.
    """
    os.environ["PATH"] = os.pathsep.join(
        (str(Path(find_java(PROGRAM)).parent), os.environ.get("PATH", ""))
    )
    from textworld_express import TextWorldExpressEnv  # noqa: PLC0415 - starts a JVM, and needs Java on PATH

    env = TextWorldExpressEnv(envStepLimit=1_000)
    theirs = Side(env._gateway.java_process.pid)  # noqa: SLF001
    print(f"load average {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    print(f"{'':<14} {'steps a second':^27}  {'ms of processor time a step':^27}")
    print(
        f"{'game':<14} {'package':>9} {'rpms':>9} {'ratio':>7}  {'package':>9} {'rpms':>9} {'ratio':>7}"
    )
    for name in GAMES:
        tasks = [task_at(name, seed) for seed in range(WALKED)]
        paths = {task.id: _gold(task) for task in tasks}
        ours = Side(shared_jvm(PROGRAM).pid)
        theirs.clear()
        for number in range(ROUNDS):
            for task in tasks:
                seed = int(task.source["seed"])
                env.reset(seed=seed, gameFold=task.split, gameName=name, gameParams="")
                theirs.walk(task.id, env.step, paths[task.id], warm=number > 0)
                with ExpressGame(task) as game:
                    game.reset()
                    ours.walk(task.id, game.step, paths[task.id], warm=number > 0)
        steps = sum(map(len, paths.values()))
        fast = [steps / sum(side.fastest.values()) for side in (theirs, ours)]
        cost = [1_000 * side.spent / (steps * (ROUNDS - 1)) for side in (theirs, ours)]
        print(
            f"{name:<14} {fast[0]:>9.0f} {fast[1]:>9.0f} {fast[1] / fast[0]:>7.2f}"
            f"  {cost[0]:>9.2f} {cost[1]:>9.2f} {cost[0] / cost[1]:>7.2f}",
            flush=True,
        )
    env.close()


class Side:
    """One of the two interfaces, timed."""

    def __init__(self, java: int) -> None:
        self.java = java
        self.clear()

    def clear(self) -> None:
        self.fastest: dict[str, float] = {}
        self.spent = 0.0

    def walk(
        self, name: str, step: Callable[[str], object], path: tuple[str, ...], *, warm: bool
    ) -> None:
        spent, began = self._processor_time(), time.perf_counter()
        for command in path:
            step(command)
        self.fastest[name] = min(self.fastest.get(name, inf), time.perf_counter() - began)
        self.spent += self._processor_time() - spent if warm else 0.0

    def _processor_time(self) -> float:
        """Seconds that Python and its JVM have computed, where /proc tells."""
        try:
            fields = (
                Path(f"/proc/{self.java}/stat")
                .read_text(encoding="utf-8")
                .rpartition(")")[2]
                .split()
            )
        except OSError:
            return time.process_time()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _gold(task: Task) -> tuple[str, ...]:
    with ExpressGame(task) as game:
        return game.gold_path()


def main() -> None:
    """Play, or time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--per-game", type=int, default=20, help="seeds of each game, in order (default 20)"
    )
    parser.add_argument(
        "--skip", type=int, default=0, help="seeds of each game that are left out first"
    )
    parser.add_argument("--split", choices=("dev", "train"), default="dev")
    parser.add_argument(
        "--steps", type=int, default=world.step_budget, help="steps an episode may take"
    )
    parser.add_argument("--option", help="games and parameters, such as coin,numLocations=5")
    parser.add_argument(
        "--manual",
        type=Path,
        help="a manual to plan with instead of the world's, such as a learned one",
    )
    parser.add_argument("--speed", action="store_true", help="steps a second instead of games won")
    options = parser.parse_args()
    if options.per_game < 1 or not 0 <= options.skip < len(FOLDS[options.split]):
        parser.error(f"--per-game and --skip leave none of the {len(FOLDS[options.split])} seeds")
    if options.speed:
        speed()
    else:
        table(options)


if __name__ == "__main__":
    main()
