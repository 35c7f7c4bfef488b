"""Whole episodes, pages, tables and manuals are the same as when expected.json was written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.cli.app import COMMANDS, imported
from tests.golden.record import CASES, HERE
from tests.golden.record import COMMANDS as HELPED

FAST = [name for name, case in CASES.items() if case.fast]


@pytest.mark.parametrize("name", FAST)
def test_a_recording_is_the_same_to_the_byte(name: str):
    """Play the case anew in a process of its own, as `make golden` does."""
    command = [sys.executable, str(HERE / "record.py"), name]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, (
        f"{done.stdout}{done.stderr}\n"
        f"The new texts are in {Path(HERE, 'recorded', name)}. To see the difference, record the commit before "
        "into another folder and compare the two; tests/golden/README.md says how."
    )


def test_the_help_of_every_command_is_kept():
    kept = {name: set(below.split()) for name, below in HELPED.items() if name}
    there = {}
    for name, known in COMMANDS.items():
        there[name] = set(getattr(imported(name, known), "commands", ()))
    others = {name: below for name, below in kept.items() if name not in there}
    assert {**there, **others} == kept
