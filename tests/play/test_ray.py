"""A real Ray cluster plays the same episodes, though it is stopped once and then loses a node."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rpms.logic.errors import FileError, InputError, ModelUnavailable
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.on_ray import _OPEN, OnRay, _Opened, _play, travelling
from rpms.play.run import run
from rpms.worlds.registry import find_world
from tests.play.corridor import task, world

ROOT = Path(__file__).parents[2]
NODES, EPISODES, DEATHS = (3, 24, 5) if "RPMS_SLOW" in os.environ else (2, 12, 2)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_cluster_that_is_stopped_and_loses_a_node_gives_the_same_episodes(tmp_path):
    pytest.importorskip("ray", reason="needs the extra `ray`")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.play.on_a_cluster",
            str(tmp_path / "cluster"),
            str(NODES),
            str(EPISODES),
            str(DEATHS),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        },
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
    )
    told = [line[3:] for line in done.stdout.splitlines() if line.startswith("=> ")]
    assert len(told) == 5, done.stderr[-2000:]
    left = (
        rf"stopped; (\d+) of {EPISODES} episodes are done, and the same command goes on from there"
    )
    stopped = re.fullmatch(left, told[0])
    assert stopped is not None
    assert 4 <= int(stopped[1]) < EPISODES
    assert told[1] == f"{EPISODES} done, {EPISODES} won, {NODES} nodes"
    assert (
        told[2]
        == f"world error, lost {DEATHS} times with the process that played it (WorkerCrashedError)"
    )
    assert told[3:] == ["won, done", "won, done"]

    from tests.play.on_a_cluster import make_plan  # noqa: PLC0415  imports Ray

    run(make_plan(PolicyModel("planner", follow_plan), EPISODES), tmp_path / "here", 2)
    cluster, here = ({file.name: file.read_bytes() for file in (tmp_path / place / "episodes").iterdir()}
                     for place in ("cluster", "here"))  # fmt: skip
    assert cluster == here


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_line_says_what_to_install(tmp_path):
    with pytest.raises(InputError, match=r"rpms\[ray\]"):
        run(
            design_run(world, "m", lend(PolicyModel("m", follow_plan)), memory=EpisodicMemory()),
            tmp_path,
            runner=OnRay(),
        )


def test_an_installed_world_travels_by_name_and_any_other_as_it_is():
    alfworld = find_world("alfworld")
    assert travelling(alfworld) == (find_world, ("alfworld",))
    assert travelling(world) == world.__reduce_ex__(4)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelUnavailable("no key"), ModelUnavailable),
        (FileError("m.gguf", 3, "is cut off"), InputError),
    ],
)
def test_errors_for_people_survive_the_way_back(monkeypatch, error, kind):
    class Seat:
        def play(self, task):
            raise error

    monkeypatch.setitem(_OPEN, "run", _Opened(None, Seat()))
    refused = pickle.loads(pickle.dumps(_play(("run", None), task("a"))))
    assert type(refused) is kind
    assert str(refused).endswith(str(error))
