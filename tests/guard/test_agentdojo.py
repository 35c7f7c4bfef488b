"""AgentDojo judges the guard: a few of its tasks, replayed without a model."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.guard import find_tool_mistakes
from rpms.guard.tool_manuals import find_likely_mistakes

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
needs_agentdojo = pytest.mark.skipif(
    importlib.util.find_spec("agentdojo") is None, reason="agentdojo is not installed"
)


@pytest.mark.parametrize("suite", ["banking", "slack", "workspace", "travel"])
def test_the_policies_are_sound(suite):
    text = (BENCHMARKS / "agentdojo_policies" / f"{suite}.yaml").read_text()
    assert find_tool_mistakes((f"{suite}.yaml", text)) == []
    assert find_likely_mistakes((f"{suite}.yaml", text)) == []


@needs_agentdojo
def test_attacks_that_succeed_without_the_guard_fail_with_it_if_questions_are_refused():
    command = [sys.executable, str(BENCHMARKS / "agentdojo.py"), "--suite", "slack", "--users", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250)
    found = re.findall(r"slack \| ([a-z ]+) \| (\d+) of (\d+), .*? \| (\d+) of 2", done.stdout)
    attacks = {mode: (int(won), int(tried)) for mode, won, tried, _ in found}
    assert attacks["unguarded"] == (10, 10)  # 5 for each task, injection_task_5 among them
    assert attacks["questions refused"] == (0, 10)
    refused = {mode: int(tasks) for mode, _, _, tasks in found}
    assert refused["unguarded"] == refused["questions approved"] == 0
