"""Learning in ScienceWorld, on the simulator itself."""

from __future__ import annotations

import pytest

from rpms.learning.rounds import LearningDesign, learn
from rpms.models.policy import ScriptedModel
from rpms.paper.episode import Ending
from rpms.paper.memory import CriticalFailure, FailureLesson, SuccessSnippet, VerifiedSchema
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.sources import ManualChoice, Sources
from rpms.store.episodes import read_episode
from rpms.store.memories import read_memory
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)

WAY = (
    "look around",
    "open door to kitchen",
    "go to kitchen",
    "open door to outside",
    "go to outside",
    "look around",
)


def test_the_wrong_focus_is_a_critical_failure_and_the_right_one_a_success(tmp_path):
    world = find_world("scienceworld")
    setting = Setting(options={"per_task": "1", "tasks": "find-animal,find-non-living-thing"})
    actions = (*WAY, "fly home", "focus on dove egg", "pick up dove egg", "inventory")
    script = ScriptedModel("script", [f"Action: {action}" for action in actions])
    play = design_run(
        world,
        "script",
        lend(script),
        split="train",
        setting=setting,
        step_budget=len(actions),
        memory=EpisodicMemory(),
        sources=Sources(
            ManualChoice("complete")
        ),  # its procedures tell the focus from the search before it
    )
    (result,) = learn(LearningDesign(play, 1), tmp_path / "memory.jsonl")
    assert Ending.LOST in {row.ending for row in result.summary.rows}
    entries = read_memory(result.file, "scienceworld").entries
    (critical,) = (entry for entry in entries if isinstance(entry, CriticalFailure))
    assert critical.failed_action == "focus on dove egg"
    assert critical.goal_signature.object == "find-non-living-thing"
    assert critical.failure_message == "score = -100, terminated"
    assert critical.retrieval_weight == 2.0
    assert critical.corrective_rule.startswith("it ended the task for good")
    snippets = {
        entry.sub_goal_type: entry for entry in entries if isinstance(entry, SuccessSnippet)
    }
    assert snippets["focus_on"].actions[-1] == "focus on dove egg"
    assert snippets["focus_on"].goal_signature.object == "find-animal"
    # "fly home" is no action of the world, so that no precondition of it was missing
    assert not [entry for entry in entries if isinstance(entry, FailureLesson)]
    assert not [
        o
        for entry in entries
        if isinstance(entry, VerifiedSchema)
        for o in entry.origins & critical.origins
    ]


STUDIO = (
    "open door to art studio",
    "go to art studio",
    "look around",
    "pick up jug",
    "pick up wood cup",
)
ASK = ("pick up cup", "0")
PAINT = (
    "pour blue paint into jug",
    "pour yellow paint into jug",
    "mix jug",
    "focus on green paint",
)


def test_a_question_is_no_lesson_and_its_answer_by_number_no_advice(tmp_path):
    world = find_world("scienceworld")
    setting = Setting(options={"per_task": "1", "tasks": "chemistry-mix-paint-secondary-color"})
    script = ScriptedModel("script", [f"Action: {action}" for action in (*STUDIO, *ASK, *PAINT)])
    design = LearningDesign(
        design_run(
            world, "script", lend(script), split="train", setting=setting, memory=EpisodicMemory()
        ),
        1,
    )
    (result,) = learn(design, tmp_path / "memory.jsonl")
    (episode,) = (read_episode(file) for file in tmp_path.glob("**/episodes/*.json.gz"))
    asked = [step.command for step in episode.steps if step.result.startswith("Ambiguous request")]
    assert asked == ["pick up cup"]
    entries = read_memory(result.file, "scienceworld").entries
    assert not [
        entry
        for entry in entries
        if isinstance(entry, FailureLesson) and entry.failed_action in asked
    ]
    done = [
        action for entry in entries if isinstance(entry, SuccessSnippet) for action in entry.actions
    ]
    assert not [action for action in done if action.isdecimal()]
    assert set(asked) <= set(done)


def learned_painting(folder, *actions):
    """The entries of one episode of painting, played by a script."""
    world = find_world("scienceworld")
    setting = Setting(options={"per_task": "1", "tasks": "chemistry-mix-paint-secondary-color"})
    script = ScriptedModel("script", [f"Action: {action}" for action in actions])
    play = design_run(
        world,
        "script",
        lend(script),
        split="train",
        setting=setting,
        step_budget=len(actions),
        memory=EpisodicMemory(),
    )
    (result,) = learn(LearningDesign(play, 1), folder / "memory.jsonl")
    return read_memory(result.file, "scienceworld").entries


def test_a_critical_failure_by_an_options_number_is_that_option(tmp_path):
    entries = learned_painting(tmp_path, *STUDIO, "focus on wood cup", "1")
    (critical,) = (entry for entry in entries if isinstance(entry, CriticalFailure))
    assert critical.failed_action == "focus on wood cup (in art studio)"


def test_what_an_action_only_may_do_is_not_told(tmp_path):
    actions = (*STUDIO, "move jug to table", "open large cupboard", "look around")
    entries = learned_painting(tmp_path, *actions)
    schemas = {entry.action_type: entry for entry in entries if isinstance(entry, VerifiedSchema)}
    assert schemas["move"].effects == ("the object is in the place",)
    assert schemas["open"].effects == ("the object is open",)
