"""Runs that are killed at random moments, again and again, end as if nothing had happened."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world

ROOT = Path(__file__).parents[2]
KILLS = 10 if "RPMS_SLOW" in os.environ else 4
"""In all; the last run is played to its end."""
SEED = None if "RPMS_EXPLORE" in os.environ else 7

GAMES = """
import sys, time
from pathlib import Path
from rpms.models.policy import FunctionModel
from rpms.models.policy import follow_plan
from rpms.play.design import lend, design_run
from rpms.play.run import run
from rpms.paper.recall import EpisodicMemory
from rpms.worlds.registry import find_world

world = find_world("alfworld")

def answer(request):
    time.sleep(0.008)
    thought, action = follow_plan(request.decision)
    return f"Thought: {thought}\\nAction: {action}"

print("begin", flush=True)
design = design_run(world, "planner", lend(FunctionModel(answer, "planner")), split="builtin", memory=EpisodicMemory())
summary = run(design, Path(sys.argv[1]), 2)
print(summary.done, summary.won, flush=True)
"""


def test_killed_runs_lose_nothing_and_count_nothing_twice(tmp_path):
    world = find_world("alfworld")
    model = PolicyModel("planner", follow_plan)
    whole = run(
        design_run(world, "planner", lend(model), split="builtin", memory=EpisodicMemory()),
        tmp_path / "whole",
    )
    dice, kills = random.Random(SEED), 0
    while kills < KILLS:
        folder = tmp_path / f"killed after {kills}"
        kills += _play_and_kill(folder, dice, KILLS - kills, f"{whole.done} {whole.won}\n")
        assert RunFolder(folder).summary() == whole
        assert _episodes(folder) == _episodes(tmp_path / "whole")
        assert (folder / "protocol.json").read_bytes() == (
            tmp_path / "whole" / "protocol.json"
        ).read_bytes()
        assert not list(folder.rglob("*.part"))


def _play_and_kill(folder: Path, dice: random.Random, most: int, told_at_the_end: str) -> int:
    """Start the run again and again until it ends, killing it at random moments; how often it
    was killed.
    """
    kills, seen = 0, set()
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", GAMES, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process.stdout:
            assert process.stdout.readline() == "begin\n"
            if kills < most:
                time.sleep(dice.uniform(0.0, 0.5))
                process.kill()
            told = process.stdout.read()
        process.wait()
        if (folder / "protocol.json").exists():
            rows = RunFolder(folder).summary().rows
            now = {row.task for row in rows}
            assert len(now) == len(rows)
            assert seen <= now, "a finished episode was lost"
            seen = now
        if process.returncode == 0:
            assert told == told_at_the_end
            return kills
        assert process.returncode == -9
        kills += 1


def _episodes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "episodes").iterdir()}
