"""The paper stands behind its own door: neither importing it nor playing by it loads anything past
it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PAST = ("rpms.planning", "rpms.induction", "rpms.reading", "rpms.guard")
SOURCE = Path(__file__).parents[2] / "src" / "rpms" / "paper"

LOADED = f"""
import sys
print([name for name in sys.modules if name.startswith({PAST!r})])
"""

EVERY_MODULE = f"""
from importlib import import_module
for name in {sorted(file.stem for file in SOURCE.glob("*.py"))!r}:
    import_module("rpms.paper" if name == "__init__" else f"rpms.paper.{{name}}")
"""

TOLD_AGENT = """
import rpms
from rpms.models.policy import FunctionModel
answers = iter(["go to cabinet 1", "open cabinet 1", "open cabinet 1", "take mug 9 from cabinet 1", "nonsense"])
agent = rpms.Agent("alfworld", FunctionModel(lambda _: f"Action: {next(answers)}", plans=False), memory, "full", preset="paper")
agent.reset("put a mug in desk.")
said = [
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, and a desk 1.\\n\\n"
    "Your task is to: put a mug in desk.",
    "You arrive at cabinet 1. The cabinet 1 is closed.",
    "You open the cabinet 1. The cabinet 1 is open. In it, you see a mug 1.",
    "Nothing happens.",
    "Nothing happens.",
]
for text in said:
    agent.act(text)
assert agent.outcome(won=False, observation="Nothing happens.")
agent.close()
"""

TOLD_RUN = """
import sys
from rpms.cli import main
sys.argv = ["rpms", "run", "alfworld", "--model", f"scripted/{script}", "--limit", "2", "--steps", "3",
            "--preset", "paper", "--memory", memory, "--overlap", "allow", "--split", "builtin", "--out", out]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def loaded(program: str, **given: object) -> list[str]:
    """Modules past the paper that a program has loaded by its end, in a process of its own."""
    named = "".join(f"{name} = {str(value)!r}\n" for name, value in given.items())
    done = subprocess.run(
        [sys.executable, "-c", named + program + LOADED],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1].replace("'", '"'))


@pytest.fixture
def memory() -> str:
    from rpms.worlds.alfworld import world  # noqa: PLC0415

    return world.embedded_memory()


def test_importing_the_paper_loads_nothing_past_it():
    assert loaded(EVERY_MODULE) == []


def test_an_agent_told_by_the_paper_loads_nothing_past_it(memory):
    assert loaded(TOLD_AGENT, memory=memory) == []


def test_a_run_told_by_the_paper_loads_nothing_past_it(memory, tmp_path):
    script = tmp_path / "script.txt"
    script.write_text("look\ngo to desk 1\nopen desk 1\n")
    assert loaded(TOLD_RUN, memory=memory, script=script, out=tmp_path / "run") == []
    assert (tmp_path / "run" / "results.jsonl").exists() or list((tmp_path / "run").iterdir())


def test_a_told_step_runs_through_logic_the_paper_and_its_world_alone():
    benchmark = SOURCE.parents[2] / "benchmarks" / "told_step.py"
    done = subprocess.run(
        [sys.executable, str(benchmark)], capture_output=True, text=True, check=True
    )
    deciding, _, whole = done.stdout.partition("the whole step")
    assert "paper/decide.py" in deciding
    assert rooms(deciding) == {"logic", "paper", "worlds"}
    assert rooms(whole) == {"logic", "paper", "worlds", "models", "play"}


def rooms(listing: str) -> set[str]:
    return {line.strip().partition("/")[0] for line in listing.splitlines() if line[:2] == "  "}


def test_the_planner_loads_planning():
    plans = TOLD_AGENT.replace(
        'FunctionModel(lambda _: f"Action: {next(answers)}", plans=False)', '"planner"'
    ).replace("assert agent.outcome", "agent.outcome")
    assert "rpms.planning.search" in loaded(plans, memory="none")
