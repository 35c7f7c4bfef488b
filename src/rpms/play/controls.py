"""Controls of a run: who chooses from the same menus without a model."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rpms.models.catalogue import NO_LLM, Backend, backend_of
from rpms.play.design import NamedModel, RunDesign
from rpms.play.methods import METHODS, REACT
from rpms.play.run import MakeRunner, run
from rpms.play.seats import Threads
from rpms.store.run_summaries import RunSummary

CONTROLS = ("menu-random", "menu-best")
FOLDER = "controls"
"""The folder of a run that holds its controls, one run each."""


def control_designs(design: RunDesign) -> Mapping[str, RunDesign]:
    """The controls of a design, by name; none if there is no menu, or if no language model chooses
    from it.
    """
    menu = design.condition.enforcement.menu and design.condition.informed
    if not menu or design.trial or backend_of(design.model_name) in NO_LLM - {Backend.REPLAY}:
        return {}
    designs: dict[str, RunDesign] = {}
    for name in CONTROLS:
        designs[name] = replace(
            design, keep={}, method=METHODS[REACT], model_name=name, open_model=NamedModel(name)
        )
    return designs


def play_controls(
    design: RunDesign, folder: Path, workers: int | None = None, runner: MakeRunner = Threads
) -> Mapping[str, RunSummary]:
    """Play the missing episodes of a run's controls; there are none if there is nothing to control
    for.
    """
    summaries: dict[str, RunSummary] = {}
    for name, control in control_designs(design).items():
        summaries[name] = run(control, folder / FOLDER / name, workers, runner=runner)
    return summaries
