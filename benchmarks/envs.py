"""Steps a second of ALFWorld by the form in which others use it, and what live games cost, beside
the original engine.

    python benchmarks/envs.py [--data DIR] [--split NAME] [--steps N] [--games 1,16,256,4096]
[--form NAME]

A policy draws among the admissible commands, which every form lists at every step, save where it
says "text alone"; an episode has 50 steps. All games of the split are read before the clock starts,
as in a loop that trains over the same games; --split train has 3,553, so that of 4,096 live games
nearly each is another one. Rates are by the wall clock and, since other work on the machine adds to
that, by the processor. Each form runs in a process of its own; memory is what that process grows
by. The original plays where it is installed: by this Python, or by the one that
RPMS_TEXTWORLD_PYTHON names.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rpms.envs.alfworld import AlfredTWEnv
from rpms.envs.env_episodes import Episodes
from rpms.worlds.alfworld.games.listing import load_task
from rpms.worlds.alfworld.games.make import make_games

EPISODE = 50
CONFIG = {
    "general": {"training_method": "dqn"},
    "rl": {"training": {"max_nb_steps_per_episode": EPISODE}},
}
OPENENV_MOST = 256
"""Sessions; each is a thread of the server and two sockets of this machine."""

Play = Callable[[int], None]
"""Takes at least so many steps."""


def in_process(games: int, args: argparse.Namespace) -> Play:
    """The engine behind `Episodes`, one game after the other."""
    episodes = [opened(args) for _ in range(games)]
    dice = random.Random(0)
    for place, each in enumerate(episodes):
        each.start(each.tasks[place % len(each.tasks)])

    def play(steps: int) -> None:
        done = 0
        while done < steps:
            for each in episodes:
                commands = each.admissible()
                if each.step(commands[int(dice.random() * len(commands))]).done:
                    each.start(each.tasks[done % len(each.tasks)])
            done += games

    return play


def text_alone(games: int, args: argparse.Namespace) -> Play:
    """The same for a policy that reads the texts and never asks what is admissible."""
    episodes = [opened(args) for _ in range(games)]
    for place, each in enumerate(episodes):
        each.start(each.tasks[place % len(each.tasks)])
    known = [each.admissible() for each in episodes]

    def play(steps: int) -> None:
        done = 0
        while done < steps:
            for commands, each in zip(known, episodes, strict=True):
                if each.step(commands[done % len(commands)]).done:
                    each.start(each.task)
            done += games

    return play


def drop_in(games: int, args: argparse.Namespace) -> Play:
    """ALFWorld's own calls on the native engine, infos and all."""
    folder = str(Path(args.data) / "json_2.1.1" / args.split)
    config = {**CONFIG, "dataset": {"eval_id_data_path": folder, "num_eval_games": -1}}
    env = AlfredTWEnv(config, "eval_in_distribution").init_env(games)
    return batched(env, games, lambda infos: infos["admissible_commands"])


def gym_one(games: int, args: argparse.Namespace) -> Play:
    import gymnasium  # noqa: PLC0415

    import rpms.envs.gym  # noqa: F401, PLC0415

    made = {"split": args.split, "data": args.data, "admissible": True, "max_steps": EPISODE}
    envs = [gymnasium.make("rpms/ALFWorld-v0", **made) for _ in range(games)]
    listed = [env.reset(seed=place)[1]["admissible_commands"] for place, env in enumerate(envs)]
    dice = random.Random(0)

    def play(steps: int) -> None:
        done = 0
        while done < steps:
            for place, env in enumerate(envs):
                commands = listed[place]
                _, _, over, cut, info = env.step(commands[int(dice.random() * len(commands))])
                listed[place] = (env.reset()[1] if over or cut else info)["admissible_commands"]
            done += games

    return play


def gym_vector(games: int, args: argparse.Namespace) -> Play:
    import gymnasium  # noqa: PLC0415

    import rpms.envs.gym  # noqa: F401, PLC0415

    made = {"split": args.split, "data": args.data, "admissible": True, "max_steps": EPISODE}
    envs = gymnasium.make_vec("rpms/ALFWorld-v0", num_envs=games, **made)
    state = {"infos": envs.reset(seed=0)[1]}
    dice = random.Random(0)

    def play(steps: int) -> None:
        for _ in range(-(-steps // games)):
            listed = state["infos"]["admissible_commands"]
            *_, state["infos"] = envs.step(
                [each[int(dice.random() * len(each))] for each in listed]
            )

    return play


def openenv(games: int, args: argparse.Namespace) -> Play:
    """A server in a process of its own, and as many clients here as games."""
    from rpms.envs.openenv import WorldsClient  # noqa: PLC0415

    command = [
        sys.executable,
        "-m",
        "rpms",
        "envs",
        "serve",
        "alfworld",
        "--port",
        "0",
        "--sessions",
        str(games + 1),
    ]
    server = subprocess.Popen([*command, "--data", args.data], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split(" at ")[1].split(",")[0]

    async def one(place: int, steps: int) -> None:
        dice = random.Random(place)
        async with WorldsClient(url) as env:
            start = {
                "world": "alfworld",
                "split": args.split,
                "admissible": True,
                "max_steps": EPISODE,
            }
            result = await env.reset(seed=place, **start)
            for _ in range(steps):
                if result.done:
                    result = await env.reset(seed=place, **start)
                result = await env.step(dice.choice(result.observation.admissible_commands))

    async def all_of_them(steps: int) -> None:
        await asyncio.gather(*(one(place, max(1, steps // games)) for place in range(games)))

    def play(steps: int) -> None:
        asyncio.run(all_of_them(steps))

    play.close = server.kill
    return play


def batched(env: Any, games: int, listed: Callable[[Any], Any]) -> Play:
    """A loop over an environment with the original's calls."""
    state = {"infos": env.reset()[1]}
    dice = random.Random(0)

    def play(steps: int) -> None:
        for _ in range(-(-steps // games)):
            commands = [each[int(dice.random() * len(each))] for each in listed(state["infos"])]
            _, _, dones, state["infos"] = env.step(commands)
            if all(dones):
                state["infos"] = env.reset()[1]

    return play


def opened(args: argparse.Namespace) -> Episodes:
    return Episodes("alfworld", args.split, data=args.data, max_steps=EPISODE)


FORMS: dict[str, Callable[[int, argparse.Namespace], Play]] = {
    "in process": in_process,
    "in process, text alone": text_alone,
    "ALFWorld's calls": drop_in,
    "Gymnasium": gym_one,
    "Gymnasium, vectorised": gym_vector,
    "OpenEnv over loopback": openenv,
}

ORIGINAL = """
import json, os, random, sys, time, types
folder, steps = sys.argv[1], int(sys.argv[2])
sys.argv[1:] = []
import alfworld.agents
# its own __init__ imports the visual half too
package = types.ModuleType("alfworld.agents.environment")
package.__path__ = [os.path.join(os.path.dirname(alfworld.agents.__file__), "environment")]
sys.modules[package.__name__] = package
from alfworld.agents.environment.alfred_tw_env import AlfredInfos, AlfredDemangler
import resource, textworld, textworld.gym
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
infos = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
files = [os.path.join(place, "game.tw-pddl") for place, _, names in os.walk(folder) if "game.tw-pddl" in names][:4]
name = textworld.gym.register_games(files, infos, batch_size=1, max_episode_steps=50,
                                    wrappers=[AlfredDemangler(shuffle=False), AlfredInfos])
env = textworld.gym.make(name)
start = time.perf_counter()
_, told = env.reset()
load = time.perf_counter() - start
dice = random.Random(0)
start, cpu = time.perf_counter(), time.process_time()
for _ in range(steps):
    *_, told = env.step([dice.choice(told["admissible_commands"][0])])
wall, cpu = time.perf_counter() - start, time.process_time() - cpu
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([load, steps / wall, steps / cpu, grown / 1024]))
"""


def resident_mb() -> float:
    """Memory of this process now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def measure(form: str, games: int, args: argparse.Namespace) -> dict[str, float]:
    """One form with so many live games, in this process."""
    play = FORMS[form](1, args)
    play(1)  # imports, lists of tasks
    getattr(play, "close", lambda: None)()
    before = resident_mb()
    for task in opened(args).tasks:
        load_task(task)
    play = FORMS[form](games, args)
    try:
        play(games)
        start, cpu = time.perf_counter(), time.process_time()
        play(args.steps)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        taken = -(-args.steps // games) * games
        return {"wall": taken / wall, "cpu": taken / cpu, "memory": resident_mb() - before}
    finally:
        getattr(play, "close", lambda: None)()


def apart(form: str, games: int, args: argparse.Namespace) -> dict[str, float]:
    """The same in a process of its own."""
    command = [
        sys.executable,
        __file__,
        "--one",
        form,
        "--games",
        str(games),
        "--steps",
        str(args.steps),
    ]
    command += ["--data", args.data, "--split", args.split]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{form}, {games} games: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def original(args: argparse.Namespace) -> str:
    """A row of the original engine."""
    python = os.environ.get("RPMS_TEXTWORLD_PYTHON", sys.executable)
    folder = str(Path(args.data) / "json_2.1.1" / args.split)
    command = [python, "-W", "ignore", "-c", ORIGINAL, folder, str(args.original_steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return "the original: not installed here"
    load, wall, cpu, grown = json.loads(done.stdout.splitlines()[-1])
    return f"{'the original':24} {1:6,} {wall:12,.0f} {cpu:12,.0f} {grown:10,.0f}   ({load:.1f} s to load a game)"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("ALFWORLD_DATA", ""), help="made games by default"
    )
    parser.add_argument("--split", default="")
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--games", default="1,16,256,4096")
    parser.add_argument(
        "--form", action="append", choices=FORMS, help="only this one; may be given again"
    )
    parser.add_argument("--original-steps", type=int, default=40)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, int(args.games), args)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        table(args, scratch)


def table(args: argparse.Namespace, scratch: str) -> None:
    if not args.data:
        made = make_games(0, 60, Path(scratch) / "games", split="valid_seen")
        args.data = str(made.folder)
    args.split = args.split or "valid_seen"
    print(f"{'form':24} {'games':>6} {'steps/s wall':>12} {'steps/s CPU':>12} {'MB more':>10}")
    for form in args.form or FORMS:
        for games in map(int, args.games.split(",")):
            if form == "OpenEnv over loopback" and games > OPENENV_MOST:
                continue
            found = apart(form, games, args)
            print(
                f"{form:24} {games:6,} {found['wall']:12,.0f} {found['cpu']:12,.0f} {found['memory']:10,.0f}",
                flush=True,
            )
    print(original(args))


if __name__ == "__main__":
    main()
