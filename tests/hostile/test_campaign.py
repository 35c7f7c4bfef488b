"""A small part of the campaign, with a fixed seed: every kind of input, every kind of work,
every kind of fault.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INPUTS, KILLS = ("420", "12") if os.environ.get("RPMS_SLOW") else ("150", "6")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks")
def test_the_campaign_finds_nothing():
    for needed in ("jinja2", "matplotlib"):
        pytest.importorskip(needed, reason="the extra `report` is not installed")
    words = [
        sys.executable,
        "benchmarks/attack.py",
        "--inputs",
        INPUTS,
        "--kills",
        KILLS,
        "--faults",
        "22",
        "--pages",
        "0",
        "--but",
        "the current folder",  # test_current_folder imports every module, and not only some
        "--seed",
        "7",
        "--minutes",
        "4",
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failures" in done.stdout
