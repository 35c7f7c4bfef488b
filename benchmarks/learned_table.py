"""One table of what learned manuals are worth, over seeds and worlds: `learn_rules.py --seeds 0-9
--jobs 16 …`.

With `--steps`, each world is learned with those steps; games of TextWorldExpress share them. Every
job learns one manual in a process of its own and plays games that were not explored. Rows are kept
in `OUT/table.jsonl` as they come, and a second run goes on from there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from learn_rules import check_guard, learned_with, play_all

from rpms.logic.errors import InputError
from rpms.play.sources import choose_manual, manual_of
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

WORLDS = ("alfworld", "textworld", "express", "science", "small")
ALFWORLD_STEPS = (20_000, 5_000)
TEXTWORLD_STEPS = 8_000
EXPRESS_STEPS = 20_000
SCIENCE_STEPS = 40_000
SMALL_STEPS = 6_000
SMALL = ("vending", "corridor", "post_office")
"""The worlds of `tests/induction/small_worlds`, by the names that they have themselves."""
MOST_GAMES = {"textworld-express": 25, "scienceworld": 100}
FEW_SEEDS = 3
"""Seeds of the worlds that take long."""


class Job(NamedTuple):
    """One manual to learn."""

    world: str
    kind: str
    """The game of TextWorldExpress; nothing elsewhere."""
    steps: int
    seed: int

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.world, self.kind, f"{self.steps:,} steps")))


def chosen_worlds(args: argparse.Namespace) -> list[str]:
    """The worlds that were asked for; of those that nobody named, all that can be opened."""
    if not args.worlds:
        without = {"alfworld": args.data, "textworld": args.textworld}
        return [name for name in WORLDS if without.get(name, True)]
    worlds: list[str] = args.worlds.split(",")
    for name in worlds:
        if name not in WORLDS:
            raise InputError(f"--worlds: no {name!r}; there are: {', '.join(WORLDS)}")
    if "alfworld" in worlds and not args.data:
        raise InputError("--worlds alfworld needs --data DIR, the folder of its games")
    if "textworld" in worlds and not args.textworld:
        raise InputError("--worlds textworld needs --textworld examples/textworld")
    return worlds


def chosen_games(only: str | None) -> tuple[list[str], int]:
    """The games of TextWorldExpress to learn, and how many there are in all."""
    tasks = find_world("textworld-express").tasks("train", Setting())
    games = sorted({task.type for task in tasks})
    chosen = only.split(",") if only else games
    for name in chosen:
        if name not in games:
            raise InputError(f"--only: no game {name!r}; there are: {', '.join(games)}")
    return chosen, len(games)


def world_of(job: Job) -> World:
    """The world of a job: a small one is a module of this clone's tests, others are installed."""
    if job.world not in SMALL:
        return find_world(job.world)
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    world: World = importlib.import_module(f"tests.induction.small_worlds.{job.world}").world
    return world


def jobs_of(args: argparse.Namespace) -> Iterator[Job]:
    """Every manual of the table, the slowest first."""
    worlds = chosen_worlds(args)
    few = args.seeds[:FEW_SEEDS]
    asked = [int(steps) for steps in args.steps.split(",")] if args.steps else []
    if "science" in worlds:
        yield from (
            Job("scienceworld", "", steps, seed)
            for steps in asked or [SCIENCE_STEPS]
            for seed in few
        )
    if "express" in worlds:
        games, of = chosen_games(args.only)
        shares = [steps // of for steps in asked or [EXPRESS_STEPS]]
        yield from (
            Job("textworld-express", game, share, seed)
            for share in shares
            for game in games
            for seed in few
        )
    if "alfworld" in worlds:
        yield from (
            Job("alfworld", "", steps, seed)
            for steps in asked or ALFWORLD_STEPS
            for seed in args.seeds
        )
    if "textworld" in worlds:
        yield from (
            Job(str(args.textworld), "", steps, seed)
            for steps in asked or [TEXTWORLD_STEPS]
            for seed in few
        )
    if "small" in worlds:
        yield from (
            Job(name, "", steps, seed)
            for name in SMALL
            for steps in asked or [SMALL_STEPS]
            for seed in few
        )


def unpacked(data: Path, out: Path) -> Path:
    """ALFWorld's games laid out as its own download does; a folder that can unpack them itself
    is asked to.
    """
    if not (data / "unpack.py").is_file():
        return data
    place = out / "alfworld"
    if not (place / "json_2.1.1" / "valid_seen").is_dir():
        splits = ("--split", "train", "--split", "valid_seen")
        subprocess.run(
            [sys.executable, str(data / "unpack.py"), str(place), *splits],
            check=True,
            capture_output=True,
        )
    return place


def games_of(
    job: Job, world: World, setting: Setting, games: int, skip: int
) -> tuple[list[Task], dict[str, list[Task]]]:
    """Tasks to explore, and tasks to play by title: none that was explored.

    `skip`: tasks that are left out first.
    """
    train = list(world.tasks("train", setting))
    random.Random(7).shuffle(train)
    if job.world == "alfworld":
        half = len(train) // 2
        return train[:half], {
            "fresh": train[-games:],
            "seen": list(world.tasks("valid_seen", setting))[:games],
        }
    split = "dev" if "dev" in world.splits else "test"
    tasks = list(world.tasks(split, setting))
    if job.world == "scienceworld":
        return train[: len(train) // 2], {
            split: random.Random(7).sample(tasks, min(games, len(tasks)))
        }
    return train, {split: tasks[skip:][:games]}


def work(job: Job, args: argparse.Namespace) -> dict[str, Any]:
    """Learn a manual and play with it."""
    world = world_of(job)
    options = {"game": job.kind} if job.kind else {}
    setting = Setting(data=args.data) if job.world == "alfworld" else Setting(options=options)
    explored, played = games_of(
        job, world, setting, MOST_GAMES.get(job.world, args.games), args.skip
    )
    out = args.out / f"{Path(job.world).name}-{job.kind}-{job.steps}-{job.seed}.yaml"
    result, seconds = learned_with(world, setting, explored, job.steps, out, job.seed)
    manual = manual_of(world, choose_manual(out))
    row: dict[str, Any] = {**job._asdict(), "seconds": round(seconds), "not_won": []}
    row["not_won"] = [line for line in result.played if line.startswith("NOT WON")]
    row["no_goal"] = [goal.type for goal in result.learned.refuted]
    for title, tasks in played.items():
        each = play_all(world, setting, tasks, manual)
        row[title] = {"games": each.games, "won": each.won, "score": round(each.score, 2)}
        if job.world not in ("alfworld", "scienceworld") and job.seed == args.seeds[0]:
            row["hand"] = {
                "games": len(tasks),
                "won": play_all(world, setting, tasks, manual_of(world)).won,
            }
    if job.world == "alfworld":
        used = {task.id for task in (*explored, *played["fresh"])}
        rest = [task for task in world.tasks("train", setting) if task.id not in used]
        random.Random(job.seed).shuffle(rest)
        tally, wrong = check_guard(world, setting, rest, manual, args.checked)
        row["blocked"], row["asked"] = (
            len(wrong),
            sum(tally[key] for key in tally if key[1] == "allowed"),
        )
    return row


def table(args: argparse.Namespace) -> None:
    """Do all jobs, and print the table."""
    wanted = list(jobs_of(args))
    args.out.mkdir(parents=True, exist_ok=True)
    args.data = unpacked(args.data, args.out) if args.data else None
    file = args.out / "table.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    known = {Job(row["world"], row["kind"], row["steps"], row["seed"]) for row in rows}
    left = [job for job in wanted if job not in known]
    # forked: this folder has a module with the name of a package, and is not on the path when a
    # child looks for it
    with multiprocessing.get_context("fork").Pool(args.jobs, maxtasksperchild=1) as pool:
        for row in pool.imap_unordered(_Work(args), left):
            rows.append(row)
            with file.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)
    print("\n".join(lines(rows)))


class _Work:
    """A job's work, as something that can be handed to a process."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    def __call__(self, job: Job) -> dict[str, Any]:
        try:
            return work(job, self.args)
        except Exception as error:  # noqa: BLE001  one row is lost, not the table
            return {**job._asdict(), "error": repr(error)}


def lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table in Markdown: a line for each world, steps and split."""
    yield "| world | played | seeds | worst | median | best | hand-written | blocked wrongly | median seconds |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(
        rows, key=lambda row: (row["world"], row["kind"], -row["steps"], row["seed"])
    ):
        groups.setdefault(
            Job(Path(row["world"]).name, row["kind"], row["steps"], 0).title, []
        ).append(row)
    for title, some in groups.items():
        good = [row for row in some if "error" not in row]
        for split in ("fresh", "seen", "dev", "test"):
            if not good or split not in good[0]:
                continue
            what = "score" if "scienceworld" in title else "won"
            found = sorted(row[split][what] for row in good)
            of = "" if what == "score" else f" of {good[0][split]['games']}"
            hand = str(good[0]["hand"]["won"]) if "hand" in good[0] else ""
            blocked = (
                f"{max(row['blocked'] for row in good)} of {good[0]['asked']}"
                if "blocked" in good[0]
                else ""
            )
            seconds = statistics.median(row["seconds"] for row in good)
            yield (
                f"| {title} | {split} | {len(found)} | {found[0]}{of} | {statistics.median(found):g} | {found[-1]} "
                f"| {hand} | {blocked} | {seconds:.0f} |"
            )
        yield from (
            f"| {title} | seed {row['seed']}: {row['error']} | | | | | | | |"
            for row in some
            if "error" in row
        )
        for row in good:
            yield from (
                f"| {title} | seed {row['seed']}: {line} | | | | | | | |" for line in row["not_won"]
            )
