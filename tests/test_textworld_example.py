"""The TextWorld example: its own tests, run where TextWorld is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "textworld"


@pytest.mark.skipif(find_spec("textworld") is None, reason="needs TextWorld: pip install textworld")
def test_the_example_passes_its_own_tests():
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "tests",
    ]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
