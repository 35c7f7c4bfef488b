"""The commands that the table of taught models is made of: in order, and with options that exist."""

import subprocess
import sys
from pathlib import Path

from tests.cli.command import Rpms, rpms  # noqa: F401  a fixture

ROOT = Path(__file__).parents[2]


def test_the_commands_of_the_table_are_printed_in_order_and_known(tmp_path: Path, rpms: Rpms):  # noqa: F811
    ran = subprocess.run(
        [sys.executable, ROOT / "benchmarks/taught.py", "base", "--games", "10", "--seeds", "0,1",
         "--corrected", "--out", tmp_path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.split() for line in ran.stdout.splitlines()]
    training = ["teach train", "study run"]
    one = ["teach pairs", *training, "-n", "teach correct", *training]
    named = [" ".join(line[1:3]) if line[0] == "rpms" else line[1] for line in lines]
    assert named == ["learn alfworld", *one, *one, "table taught"]
    assert not list(tmp_path.iterdir())
    for line in lines[1:8]:
        if line[0] == "rpms":
            told = rpms(*line[1:3], "--help").out
            assert all(word in told for word in line if word.startswith("--")), line
