"""A model of the user's own is `module:name`: an object, a class or a function, told on its line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rpms import Agent
from rpms.logic.errors import InputError
from rpms.models.catalogue import open_model, parse_model_name
from rpms.models.policy import FunctionModel
from rpms.parts import Seams
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.memories import read_frozen
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.cli.command import rpms
from tests.own_world import new

__all__ = ["new", "rpms"]

_MODELS = """
from rpms.parts import Answer

def looks(request):
    assert request.prompt.messages()[0].role == "system"
    return "Thought: none.\\nAction: look"

class Counts:
    name = "counts"

    def __init__(self):
        self.asked = 0

    def answer(self, request):
        self.asked += 1
        return Answer(f"Action: go to cabinet {self.asked}")

    def close(self):
        pass

def fails(request):
    return "Action: " + request.nothing

def counts_to_three(request):
    return 3

class Half:
    name = "half"

answer_to_all = 42
"""

RUN = (
    "run",
    "alfworld",
    "--split",
    "builtin",
    "--limit",
    1,
    "--steps",
    3,
    "--condition",
    "baseline",
)


@pytest.fixture(autouse=True)
def my_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_models.py").write_text(_MODELS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("my_models", None)


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("looks", ["look", "look", "look"]),
        ("Counts", ["go to cabinet 1", "go to cabinet 2", "go to cabinet 3"]),
    ],
)
def test_a_model_in_the_present_folder_plays(rpms, name, commands, processes):
    ran = rpms(*RUN, "--model", f"my_models:{name}", "--processes", processes, "--out", "run")
    assert ran.code == 0, ran.err
    record = RunFolder(Path("run"))
    assert record.protocol.settings["model"] == f"my_models:{name}"
    steps = record.episode(record.protocol.tasks[0]).steps
    assert [step.command for step in steps] == commands


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my_models:fails", "the model my_models:fails failed at my_models.py:22: AttributeError"),
        ("my_models:counts_to_three", "the model my_models:counts_to_three answered 3; a model"),
        ("my_models:Half", "my_models:Half is no model: it has no answer; give an object with"),
        ("my_models:answer_to_all", "my_models:answer_to_all is no model: it has no name"),
        ("my_models:nothing", "my_models:nothing cannot be loaded: AttributeError"),
        ("no_such:model", "no_such:model cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_an_error_in_a_model_of_ones_own_is_one_line(rpms, name, words):
    ran = rpms(*RUN, "--model", name, "--out", "run")
    assert ran.code != 0
    assert words in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err


def test_the_whole_agent_takes_it_too():
    with Agent("alfworld", "my_models:looks", condition="baseline") as agent:
        opening = "You are in the middle of a room.\n\nYour task is to: put an apple in fridge."
        agent.reset(opening)
        assert agent.act(opening) == "look"


def test_no_name_imports_anything_before_the_model_is_opened():
    assert str(parse_model_name("my_models:looks")) == "my_models:looks"
    assert "my_models" not in sys.modules
    open_model("my_models:looks").close()
    assert "my_models" in sys.modules


@pytest.mark.parametrize(
    "lines",
    [
        "models: ['my_models:looks']",
        "reader: 'my_models:looks'",
        "learn: {model: 'my_models:looks'}",
    ],
)
def test_a_study_names_no_model_that_is_code(rpms, lines):
    conditions = "conditions: {baseline: }"
    text = f"title: t\nworld: alfworld\nsplit: builtin\n{lines}\n{conditions}\n"
    Path("study.yaml").write_text(text, encoding="utf-8")
    ran = rpms("study", "check", "study.yaml")
    assert ran.code == 2
    assert "a study runs no code of its own: add --parts" in ran.err
    assert "my_models" not in sys.modules
    assert rpms("study", "check", "study.yaml", "--parts", "my_models").code == 0, ran.err


def test_the_docs_say_so_first(rpms):
    assert rpms("docs", "own", "model").out.startswith(
        "docs/change_the_method.md: A model of your own"
    )


def test_nobody_is_told_to_learn_from_a_split_for_tests(rpms, new):
    ran = rpms("run", new, "--model", "my_models:looks", "--out", "run")
    assert "Learn one with" in ran.err
    assert "--split test" not in ran.err


def test_a_plan_takes_parts_as_functions():
    world = find_world("alfworld")
    memory = read_frozen(Path(world.embedded_memory()), world.name)

    def nothing(goal, situation, entries, texts):
        return []

    def takes_too_little(goal):
        return []

    model = FunctionModel(lambda _: "Action: look", "looks", plans=False)
    given = {"split": "builtin", "limit": 1, "memory": memory, "step_budget": 2}
    design = design_run(world, "looks", lend(model), parts=Seams(retriever=nothing), **given)
    assert run(design, Path("run")).done == 1
    record = RunFolder(Path("run"))
    assert not any(step.candidates for step in record.episode(record.protocol.tasks[0]).steps)
    with pytest.raises(InputError, match=r"parts is a dict: give Seams\(retriever=…\)"):
        design_run(world, "looks", lend(model), parts={"retriever": nothing}, **given)
    with pytest.raises(InputError, match="takes_too_little takes"):
        design_run(world, "looks", lend(model), parts=Seams(retriever=takes_too_little), **given)
