"""Whole episodes, pages, tables and manuals are the same as when expected.json was written."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing.context import BaseContext

import pytest

from rpms.cli.app import COMMANDS, imported
from tests.golden.record import CASES, HERE, differences, record_all
from tests.golden.record import COMMANDS as HELPED

FAST = [name for name, case in CASES.items() if case.fast]
LOADED = ["tests.golden.record", "rpms.cli.app", "rpms.cli.study", "rpms.report.pages"]
"""What most cases import first."""


@cache
def _context() -> BaseContext:
    """Makes a new process for each case, as `make golden` does; where one can be forked, from a
    process that has imported modules, and nothing else.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LOADED)
    return context


def _differences(name: str) -> list[str]:
    return differences([name], record_all([name], HERE / "recorded", jobs=1))


@pytest.mark.parametrize("name", FAST)
def test_a_recording_is_the_same_to_the_byte(name: str):
    """Play the case anew in a process of its own."""
    with ProcessPoolExecutor(1, _context()) as pool:
        found = pool.submit(_differences, name).result()
    assert not found, (
        f"The new texts are in {HERE / 'recorded' / name}. To see the difference, record the commit before "
        "into another folder and compare the two; tests/golden/README.md says how."
    )


def test_the_help_of_every_command_is_kept():
    kept = {name: set(below.split()) for name, below in HELPED.items() if name}
    there = {}
    for name, known in COMMANDS.items():
        there[name] = set(getattr(imported(name, known), "commands", ()))
    others = {name: below for name, below in kept.items() if name not in there}
    assert {**there, **others} == kept
