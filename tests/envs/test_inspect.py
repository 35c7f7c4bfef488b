"""Inspect: a world's tasks as an Inspect task, run with its mock model.

Inspect takes seconds to load: it is, once a test of this file runs, and not in every process that
collects it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from rich.markup import render

from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ModelOutput, StopReason

pytestmark = pytest.mark.filterwarnings("ignore")  # Inspect and what it imports warn of each other


@pytest.fixture(autouse=True)
def nothing_of_other_packages(monkeypatch) -> None:
    """Inspect would import whatever else is registered with it, some of which takes half a
    minute.
    """
    entrypoints = import_module("inspect_ai._util.entrypoints")
    monkeypatch.setattr(entrypoints, "_inspect_ai_eps_loaded_all", True)


def world(**settings: Any) -> Any:
    return import_module("rpms.inspect_registry").world(**settings)


ONE, OTHER = builtin_ids()[0], builtin_ids()[6]


def said(text: str, stop: StopReason = "stop") -> ModelOutput:
    model = import_module("inspect_ai.model")
    output: ModelOutput = model.ModelOutput.from_content("mockllm", text, stop)
    output.usage = model.ModelUsage(
        input_tokens=30, output_tokens=4, total_tokens=34
    )  # else it would count, by a download
    return output


def played(task: dict[str, Any], answers: list[ModelOutput], **options: Any) -> EvalLog:
    """The log of an evaluation of a task in which Inspect's mock model gives these answers."""
    model = import_module("inspect_ai.model").get_model(
        "mockllm/model", custom_outputs=answers, memoize=False
    )
    (log,) = import_module("inspect_ai").eval(
        world(preset="paper", **task), model=model, display="none", **options
    )
    return log


def test_a_task_runs_is_scored_and_is_in_the_log(tmp_path):
    knows = [f"Thought: I know the way.\nAction: {command}" for command in builtin_walkthrough(ONE)]
    answers = [*knows, "Action: dance", *["no idea"] * len(knows)]
    log = played(
        {"task": f"{ONE},{OTHER}", "condition": "rules-only", "steps": len(knows)},
        [said(text) for text in answers],
        log_dir=str(tmp_path),
        max_samples=1,
    )
    assert log.status == "success", log.error
    first, last = log.samples
    assert [first.id, last.id] == [ONE, OTHER]
    assert [sample.scores["done"].value for sample in log.samples] == ["C", "I"]
    assert [sample.scores["score"].value for sample in log.samples] == [1.0, 0.0]
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    assert last.metadata["rpms"] == {
        "ending": "out of steps",
        "error": "",
        "score": 0.0,
        "steps": len(knows),
        "infeasible": len(knows),
        "cut_answers": 0,
    }
    assert "Your task is to" in first.messages[0].text
    assert [message.text for message in first.messages[1::2]] == knows
    assert any(
        "[RULES - CRITICAL" in text for text in first.attachments.values()
    )  # RPMS decides what is asked
    assert first.model_usage["mockllm/model"].input_tokens == 30 * len(knows)


def test_answers_cut_by_inspects_limit_are_counted(tmp_path):
    answers = [said("Thought: I should", "max_tokens"), said("Action: look")]
    log = played(
        {"task": ONE, "condition": "baseline", "steps": len(answers)},
        answers,
        log_dir=str(tmp_path),
    )
    (sample,) = log.samples
    assert sample.metadata["rpms"]["cut_answers"] == 1


def test_a_wrong_setting_is_one_clear_line():
    with pytest.raises(InputError, match="there is no such setting"):
        world(colour="red")
    with pytest.raises(InputError, match="no split 'nope'"):
        world(split="nope")
    with pytest.raises(InputError, match="unknown world") as caught:
        world(name="[red]alfwrld")
    error = import_module("inspect_ai._util.error").PrerequisiteError
    assert isinstance(caught.value, error), "which Inspect's command prints without a traceback"
    assert render(caught.value.message).plain == str(caught.value)
