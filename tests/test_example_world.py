"""The example world, played."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, ScriptedModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS, Condition
from rpms.paper.enforcement import Enforcement, GuardMode
from rpms.paper.episode import Ending
from rpms.paper.memory import SuccessSnippet
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds import registry
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world, world_names
from tests.cli.command import Rpms, rpms
from tests.toolbox import FOLDER, game, register, world

__all__ = ["rpms"]

ROOT = Path(__file__).parents[1]
POINTS = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]
TASKS = [*world.tasks("train", Setting()), *world.tasks("test", Setting())]
FULL = compose(CONDITIONS["full"], knowledge_of(world), EpisodicMemory())
PLANNER = PolicyModel("planner", follow_plan)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch):
    """The example, found by the entry point that its own pyproject.toml declares."""
    points = [
        EntryPoint(name, value, "rpms.worlds") for name, value in POINTS["rpms.worlds"].items()
    ]
    with monkeypatch.context() as patch:
        register(patch, *points)
        yield
    find_world.cache_clear()


def episode(task, model, mind=FULL):
    return play(
        Play(
            Player(world, mind, model, Decoding()),
            world.open(task, Setting()),
            task,
            world.step_budget,
        )
    )


def test_it_is_found_by_its_entry_point(installed):
    assert "toolbox" in world_names()
    assert find_world("toolbox") is world


def test_a_world_of_the_repository_that_is_not_installed_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, rpms: Rpms, tmp_path: Path
):
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints())
    registry.find_world.cache_clear()
    for name, folder in registry.ELSEWHERE.items():
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
        assert list(project["project"]["entry-points"]["rpms.worlds"]) == [name]
        done = rpms("run", name)
        assert done.code == 2
        assert f"pip install ./{folder}, in a clone of RPMS" in done.line
    study = ROOT / "examples" / "tau2_telecom" / "study.yaml"
    assert "pip install ./examples/tau2_telecom" in rpms("study", "check", study).line
    registry.find_world.cache_clear()


def test_an_entry_point_that_leads_nowhere_is_one_line(monkeypatch: pytest.MonkeyPatch):
    register(monkeypatch, EntryPoint("ghost", "no_such_package:world", "rpms.worlds"))
    with pytest.raises(
        InputError, match=r"world 'ghost' \(no_such_package:world\) cannot be loaded"
    ):
        find_world("ghost")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_planner_wins_every_task_under_every_condition(condition: str):
    mind = compose(CONDITIONS[condition], knowledge_of(world), EpisodicMemory())
    for task in TASKS:
        played = episode(task, PLANNER, mind)
        assert (played.ending, played.counts["infeasible"], played.counts["contradictions"]) == (
            Ending.WON,
            0,
            0,
        ), task.id


def test_rules_save_the_planner_steps():
    def steps(condition: str) -> int:
        mind = compose(CONDITIONS[condition], knowledge_of(world), EpisodicMemory())
        return sum(len(episode(task, PLANNER, mind).steps) for task in TASKS)

    assert steps("full") < steps("baseline")


def test_no_two_tasks_are_the_same():
    def layout(number: int) -> str:
        played = game.ToolboxGame(number)
        return (
            f"{played.type} {played.wanted} {sorted(played.locked)} {sorted(played.files.items())}"
        )

    assert len({layout(int(task.source["number"])) for task in TASKS}) == len(TASKS)


def test_a_scripted_model_wins_with_forgiven_form_and_loses_with_nonsense():
    task = next(task for task in TASKS if task.type == "deliver")
    won = episode(task, PLANNER)
    script = [f"Thought: as before\nAction: {step.command.upper()}." for step in won.steps]
    again = episode(task, ScriptedModel("script", script))
    assert again.ending is Ending.WON
    assert [step.command for step in again.steps] == [step.command for step in won.steps]
    assert all(step.repairs for step in again.steps)
    lost = episode(task, ScriptedModel("script", ["Action: dance"] * world.step_budget))
    assert (lost.ending, lost.counts["infeasible"], lost.counts["foreseeable"]) == (
        Ending.OUT_OF_STEPS,
        30,
        30,
    )


def test_the_manual_tells_why_an_action_fails():
    task = next(task for task in TASKS if task.type == "deploy")
    script = [
        "Action: connect to server 1",
        "Action: push config 1 to server 1",
        "Action: start server 1",
    ]
    played = episode(task, ScriptedModel("script", script))
    assert [step.infeasible for step in played.steps] == [False, True, True]
    assert played.steps[1].objection == "config 1 is not in your clipboard"
    assert played.steps[2].objection == "server 1 is running"


def test_the_guard_keeps_every_failure_from_the_game():
    guarded = Condition(enforcement=Enforcement(guard=GuardMode.BLOCK, replace=True, menu=8))
    mind = compose(guarded, knowledge_of(world), EpisodicMemory())
    for task in TASKS[:6]:
        played = episode(task, ScriptedModel("script", ["Action: start signer 1"] * 100), mind)
        assert played.counts["infeasible"] == 0
        assert played.counts["reasks"] == 2 * len(played.steps)


@pytest.mark.parametrize(
    ("actions", "fate"),
    [
        (("connect to depot 1", "pull config 1 from depot 1"), Fate.WARNED),
        (("pull config 1 from depot 1",), Fate.WARNED),
        (("push config 1 to server 1",), Fate.DROPPED),
        (("connect to desk 1", "pull config 1 from depot 1"), Fate.DROPPED),
    ],
)
def test_memories_are_judged_by_the_manual(actions: tuple[str, ...], fate: Fate):
    """One is not connected now, but may be; what pushes unsigned, or leaves first, breaks a
    rule anywhere.
    """
    task = next(task for task in TASKS if task.type == "deploy")
    goal = world.goal(world.open(task, Setting()).reset().observation)
    signature = world.start(goal).signature()
    entry = SuccessSnippet(goal.signature, signature, "find_file", actions, id="success_1")
    mind = compose(
        CONDITIONS["full"], knowledge_of(world), EpisodicMemory([entry], world="toolbox")
    )
    first = episode(task, PLANNER, mind).steps[0]
    assert [candidate.verdict.fate for candidate in first.decision.candidates] == [fate]


def test_the_readme_names_every_file():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for file in (FOLDER / "toolbox_world").iterdir():
        if file.is_file() and file.name != "__init__.py":
            assert f"toolbox_world/{file.name}" in readme


def test_strict_has_all_it_needs_and_what_a_world_lacks_is_said(
    installed, rpms: Rpms, monkeypatch: pytest.MonkeyPatch
):
    assert rpms("play", "toolbox", "--preset", "strict", "--condition", "rules-only").err == ""
    monkeypatch.setattr(type(world), "manual", lambda _self: ())
    assert (
        "note: toolbox: the guard is inert"
        in rpms("play", "toolbox", "--enforce", "guard=block").err
    )


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (("unstick=on", "menu=5"), "unstick does nothing without loops=on"),
        (("unstick=on", "loops=on"), "unstick has no menu to fall back on"),
        (("replace=on", "guard=advise"), "replace does nothing without guard=block"),
        (("ranked=off",), "ranked=off does nothing without a menu"),
    ],
)
def test_a_part_that_does_nothing_without_another_is_said(
    installed, rpms: Rpms, parts: tuple[str, ...], words: str
):
    said = rpms(
        "play",
        "toolbox",
        "--condition",
        "rules-only",
        *(word for part in parts for word in ("--enforce", part)),
    )
    assert said.err.startswith(f"note: toolbox: {words}")
    assert said.err.count("\n") == 1


def test_every_choice_from_the_menu_is_one_that_a_plan_begins_with(installed, rpms: Rpms):
    said = rpms("play", "toolbox", "--model", "menu-best", "--preset", "strict")
    assert "won (" in said.out
