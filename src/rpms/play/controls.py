"""Controls of a run with a menu: a random choice from the same menus, and always the best entry.

They are played beside the run, with the same tasks, memory and condition, and cost no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rpms.models.providers import NO_LLM, Backend, backend_of
from rpms.play.answering import NamedModel
from rpms.play.methods import METHODS, REACT
from rpms.play.plan import RunPlan
from rpms.play.run import MakeEngine, run
from rpms.play.threads import Threads
from rpms.store.runs import RunSummary

CONTROLS = ("menu-random", "menu-best")
FOLDER = "controls"
"""The folder of a run that holds its controls, one run each."""


def control_plans(plan: RunPlan) -> Mapping[str, RunPlan]:
    """The controls of a plan, by name; none where there is no menu, or where no LLM chooses from it."""
    menu = plan.condition.enforcement.menu and plan.condition.informed
    if not menu or plan.trial or backend_of(plan.model_name) in NO_LLM - {Backend.REPLAY}:
        return {}
    alike = replace(plan, keep={}, method=METHODS[REACT])
    return {name: replace(alike, model_name=name, open_model=NamedModel(name, plan.world.name)) for name in CONTROLS}


def play_controls(
    plan: RunPlan, folder: Path, workers: int | None = None, engine: MakeEngine = Threads
) -> Mapping[str, RunSummary]:
    """Play what is missing of a run's controls; none where there is nothing to control for."""
    return {
        name: run(control, folder / FOLDER / name, workers, engine=engine)
        for name, control in control_plans(plan).items()
    }
