"""The agent in one file sends, step by step, the prompts that the package sends."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import rpms
from rpms.models.policy import FunctionModel
from rpms.paper.condition import CONDITIONS
from rpms.paper.memory import Kind
from rpms.worlds.alfworld import world
from rpms.worlds.base import Game, Setting, Task

_FILE = Path(__file__).parents[1] / "examples" / "rpms_in_one_file.py"
_GAMES = world.tasks("builtin", Setting())


@pytest.fixture(scope="module")
def one_file() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rpms_in_one_file", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _pair(one_file: ModuleType, condition: str, model):
    """The agent of the file and the package's, with the same function as their model."""
    on = CONDITIONS[condition]
    small = one_file.agent_for(model, rules=on.rules, memory=on.memory)
    asked = FunctionModel(lambda request: model(request.prompt.messages()), plans=False)
    whole = rpms.Agent("alfworld", asked, "embedded" if on.memory else None, condition)
    return small, whole


@pytest.mark.parametrize("condition", CONDITIONS)
def test_it_sends_the_prompts_of_the_package_step_by_step(one_file: ModuleType, condition: str):
    small, whole = _pair(one_file, condition, one_file.obedient)
    steps = 0
    for task in _GAMES[::2]:
        game = world.open(task, Setting())
        outcome = game.reset()
        small.reset(outcome.observation)
        whole.reset(outcome.observation)
        while not outcome.done and len(small.history) < world.step_budget:
            command = small.step(outcome.observation)
            assert command == whole.act(outcome.observation)
            assert small.prompt.messages() == whole.decision.prompt.messages()
            outcome = game.step(command)
            steps += 1
    assert steps > 100


class _Wanderer:
    """Does anything that the game allows, now and then something that it does not."""

    def __init__(self) -> None:
        self.game: Game | None = None

    def __call__(self, messages) -> str:
        assert self.game is not None
        digest = hashlib.blake2b("\n".join(each.content for each in messages[-3:]).encode())
        number = int.from_bytes(digest.digest()[:4], "big")
        allowed = (
            *self.game.admissible(),
            "take fridge 1 from fridge 1",
            "heat mug 1 with fridge 1",
        )
        if number % 11 == 0:
            return "Thought: I do not know what to do."
        return f"Thought: I try something.\nAction: {allowed[number % len(allowed)]}"


def _wander(small, whole, model: _Wanderer, task: Task) -> str:
    """Twenty steps of both agents in one game; the last thing that the game says."""
    model.game = world.open(task, Setting())
    outcome = model.game.reset()
    small.reset(outcome.observation)
    whole.reset(outcome.observation)
    for _ in range(20):
        command = small.step(outcome.observation)
        expected = whole.act(outcome.observation)
        assert small.prompt.messages() == whole.decision.prompt.messages()
        assert command == expected
        outcome = model.game.step(command)
        if outcome.done:
            break
    return outcome.observation


@pytest.mark.parametrize("condition", ["memory-only", "full"])
def test_it_does_so_with_a_memory_that_grows_of_failures_and_from_any_state(
    one_file: ModuleType, condition: str
):
    model = _Wanderer()
    small, whole = _pair(one_file, condition, model)
    fates: set[str] = set()
    for number, task in enumerate(_GAMES):
        last = _wander(small, whole, model, task)
        fates |= {str(each.verdict.fate) for each in whole.decision.candidates}
        whole.outcome(won=False, observation=last, fatal=number % 3 == 0)
        small.memory = whole.memory.entries
    kinds = {entry.kind for entry in small.memory}
    assert {Kind.CRITICAL_FAILURE, Kind.FAILURE, Kind.SUCCESS, Kind.SCHEMA} <= kinds
    assert {"kept", "filtered by state", "crowded out"} <= fates
    assert condition != "full" or {"warned", "dropped"} <= fates


def test_it_is_short_and_takes_its_method_from_logic_and_paper_alone():
    text = _FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 250
    imported = {
        node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
    }
    of_package = {name for name in imported if name and name.startswith("rpms.")}
    elsewhere = {name for name in of_package if not name.startswith(("rpms.logic", "rpms.paper"))}
    files = {"rpms.play.sources", "rpms.store.memories"}
    assert elsewhere == files | {"rpms.worlds.alfworld", "rpms.worlds.base"}
    assert not of_package & {"rpms.paper.decide", "rpms.paper.compose"}


def test_run_as_a_program_it_shows_the_2x2_and_a_prompt():
    said = subprocess.run(
        [sys.executable, _FILE], check=True, capture_output=True, text=True
    ).stdout
    rows = said.splitlines()[:4]
    assert rows[0] == "rules False  memory False  won 0 of 6"
    assert rows[3] == "rules True   memory True   won 6 of 6"
    assert "[Past Experience - Learned from History]" in said
