"""Plays runs on a Ray cluster of two nodes, or more, on this machine.

One is stopped, gone on with, and loses a node; in another, one episode kills every process that
plays it.

    python -m tests.play.on_a_cluster FOLDER NODES EPISODES DEATHS

Its own process, since Ray changes much of the one it runs in.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.memory import Origin, SuccessSnippet
from rpms.paper.recall import EpisodicMemory
from rpms.play import runners
from rpms.play.design import design_run, lend
from rpms.play.on_ray import OnRay
from rpms.play.run import Interrupted, Listener, run
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")


class Slow:
    """The planner, slow enough that a node dies in the middle of its episodes."""

    def __init__(self, seconds: float, where: Path) -> None:
        self.seconds, self.where = seconds, where

    def __call__(self, request) -> str:
        time.sleep(self.seconds)
        (self.where / f"{os.getpid()}-{ray.get_runtime_context().get_node_id()}").touch()
        thought, action = follow_plan(request.decision)
        return f"Thought: {thought}\nAction: {action}"


def deadly(request) -> str:
    """A model that is the death of the process that asks it about the first task."""
    if request.episode == WORLD.tasks("builtin", Setting())[0].id:
        os._exit(1)
    return f"Action: {follow_plan(request.decision)[1]}"


def make_plan(model, limit: int | None = None):
    goal = GoalSignature("pick_and_place_simple", "book", "", "desk")
    origins = frozenset({Origin("earlier", 1)})
    entry = SuccessSnippet(
        goal, StateSignature.of(holding=()), "find", ("go to desk 1",), origins=origins, id="s1"
    )
    memory = EpisodicMemory([entry], "alfworld")
    return design_run(WORLD, "planner", lend(model), split="builtin", memory=memory, limit=limit)


class Killer(Listener):
    """Does something terrible after the fourth episode."""

    def __init__(self, deed) -> None:
        self.deed, self.count = deed, 0

    def finished(self, row, usages, file) -> None:
        self.count += 1
        if self.count == 4:
            self.deed()


PATIENT = {
    "health_check_timeout_ms": 300_000,  # by default 10 s, which a busy machine may well take
    "health_check_period_ms": 1_000,
    "health_check_failure_threshold": 3,
}
"""A node that is slow is not taken for dead; one that is dead refuses at once."""


def main(folder: Path, nodes: int, episodes: int, deaths: int) -> None:
    runners.LOSSES = deaths - 1
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "_system_config": PATIENT},
    )
    victim = cluster.add_node(num_cpus=nodes - 1)
    for _ in range(nodes - 2):
        cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes(timeout=120)
    where = folder.with_name("processes")
    where.mkdir(exist_ok=True)
    design = make_plan(FunctionModel(Slow(0.06, where), "planner"), episodes)
    deeds = {
        "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT),
        "kill": lambda: cluster.remove_node(victim, allow_graceful=False),
    }
    try:
        for deed in deeds.values():
            try:
                summary = run(design, folder, None, Killer(deed), runner=OnRay(cluster.address))
            except Interrupted as stopped:
                sys.stdout.write(f"=> {stopped}\n")
            else:
                used = {file.name.partition("-")[2] for file in where.iterdir()}
                sys.stdout.write(f"=> {summary.done} done, {summary.won} won, {len(used)} nodes\n")
        dying = make_plan(FunctionModel(deadly, "deadly"), 3)
        for row in run(dying, folder.with_name("dying"), runner=OnRay(cluster.address)).rows:
            sys.stdout.write(f"=> {row.ending}, {row.error or 'done'}\n")
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
