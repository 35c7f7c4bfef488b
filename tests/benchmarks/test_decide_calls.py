"""`decide.py --doubt --calls`: what steps under doubt cost, however busy a machine is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_steps_under_doubt_are_counted_in_calls():
    ran = subprocess.run(
        [sys.executable, ROOT / "benchmarks/decide.py", "--doubt", "--calls", "--passes", "1",
         "--games", "1", "--world", "alfworld"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    heading, _, *lines = ran.stdout.splitlines()
    assert "above 10" in heading
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[1] for row in table] == ["trusting", "sound", "misread goal", "five faults"]
    for world, _, won, steps, *ratios, dumps in table:
        assert world == "alfworld"
        assert won in ("0 of 1", "1 of 1")
        assert int(steps) > 0
        assert len(ratios) == 4
        assert not dumps  # a time, which is not told in calls
    trusting, sound = table[:2]
    assert trusting[2:5] == ["1 of 1", sound[3], "1.0"]
    assert sound[2] == "1 of 1"
    assert float(sound[5]) <= 10  # the slowest hundredth, in trusting steps
