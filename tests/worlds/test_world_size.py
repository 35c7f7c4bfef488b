"""`benchmarks/world_size.py`: what is counted as knowledge of tasks, and how."""

from __future__ import annotations

import runpy
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "world_size.py"
SIZE = runpy.run_path(str(PROGRAM))

PYTHON = '''"""About."""

# A comment.
TEXT = """two
lines"""


def f() -> int:
    """What it does,
    at length."""
    return 1  # and why
'''
YAML = """\
# A comment.
goals:
  walk:
    holds: [at(x)]

environment:
  go:
    syntax: go to <place>
    observes: [at(_)]
    plan: [open(place)]
"""


def test_blank_lines_comments_and_docstrings_are_no_code_but_long_texts_are():
    assert SIZE["code_lines"](PYTHON) == 4


def test_of_a_manuals_actions_only_goals_and_what_plans_use_count():
    assert SIZE["task_lines"]("alfworld/environment.yaml", YAML) == 5
    assert SIZE["task_lines"]("scienceworld/procedures.yaml", YAML) == 8
    assert SIZE["task_lines"]("scienceworld/observations.py", PYTHON) == 0
    assert SIZE["task_lines"]("scienceworld/recipes/heat.py", PYTHON) == 4


def test_what_is_printed_is_the_sum_of_the_files():
    said = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.strip("| ").split(" | ") for line in said.splitlines() if line.startswith("| ")][
        2:
    ]
    *counted, (_, total) = rows
    assert sum(int(count) for _, count in counted) == int(total.replace(",", ""))
    named = [path.removesuffix(", for plans") for path, _ in counted]
    now = SIZE["TASKS"][: SIZE["TASKS"].index("alfworld/conditions.py")]
    assert all(any(fnmatch(path, pattern) for path in named) for pattern in now), (
        "a file that moved is counted no more"
    )
