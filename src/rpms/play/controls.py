"""Controls of a run: who chooses from the same menus without a model."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rpms.models.catalogue import NO_LLM, Backend, backend_of
from rpms.play.methods import METHODS, REACT
from rpms.play.plan import NamedModel, RunPlan
from rpms.play.run import MakeRunner, run
from rpms.play.seats import Threads
from rpms.store.run_summaries import RunSummary

CONTROLS = ("menu-random", "menu-best")
FOLDER = "controls"
"""The folder of a run that holds its controls, one run each."""


def control_plans(plan: RunPlan) -> Mapping[str, RunPlan]:
    """The controls of a plan, by name; none if there is no menu, or if no language model chooses
    from it.
    """
    menu = plan.condition.enforcement.menu and plan.condition.informed
    if not menu or plan.trial or backend_of(plan.model_name) in NO_LLM - {Backend.REPLAY}:
        return {}
    plans: dict[str, RunPlan] = {}
    for name in CONTROLS:
        plans[name] = replace(
            plan, keep={}, method=METHODS[REACT], model_name=name, open_model=NamedModel(name)
        )
    return plans


def play_controls(
    plan: RunPlan, folder: Path, workers: int | None = None, runner: MakeRunner = Threads
) -> Mapping[str, RunSummary]:
    """Play the missing episodes of a run's controls; there are none if there is nothing to control
    for.
    """
    summaries: dict[str, RunSummary] = {}
    for name, control in control_plans(plan).items():
        summaries[name] = run(control, folder / FOLDER / name, workers, runner=runner)
    return summaries
