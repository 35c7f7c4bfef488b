"""Effect of the state filter and the hard layer on learned memories, by the benchmark of the
arbitration.
"""

from __future__ import annotations

import random
import runpy
from itertools import groupby
from pathlib import Path

import pytest

from rpms.paper.memory import Kind
from rpms.paper.verdict import Fate
from rpms.play.settings import Settings
from rpms.worlds.alfworld import world
from rpms.worlds.base import Setting

BENCHMARK = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "arbitration.py"))
HERE = Setting()
COOLING = "pick_cool_then_place_in_recep"


@pytest.fixture(scope="module")
def tallies():
    """Two games played with the memory of a learner that often puts things into the fridge to
    cool them.
    """
    tasks = world.tasks("builtin", HERE)
    by_type = {kind: list(some) for kind, some in groupby(tasks, key=lambda task: task.type)}
    sources, learner = Settings().sources(world), BENCHMARK["learner"](0.5, 0.0, random.Random(3))
    memory = BENCHMARK["remember"](world, by_type[COOLING], HERE, learner, sources)
    return BENCHMARK["play"](world, HERE, by_type[COOLING][:2], memory, sources).tallies


def test_switching_the_state_filter_off_changes_what_full_shows_in_most_steps(tallies):
    found = tallies["as the paper"]
    assert found.changed > found.steps / 2
    assert (
        found.showing > 0.7 * found.steps
    )  # the hard filter drops what a clumsy learner did against a rule


def dropped(tally) -> set[str]:
    """Why snippets were dropped."""
    return {
        why for kind, fate, why in tally.verdicts if (kind, fate) == (Kind.SUCCESS, Fate.DROPPED)
    }


def test_hard_removes_what_a_rule_forbids_and_names_it_and_nothing_for_the_room_it_is_used_in(
    tallies,
):
    assert dropped(tallies["as the paper"]) == {"D-COOL-001", "D-TRANS-003"}
    assert any(
        why.startswith("E-GO: there is no place") for why in dropped(tallies["judged_by=here"])
    )
