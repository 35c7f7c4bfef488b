"""The same tasks played several times over: single runs of hosted models differ, and this is by how much.

The first epoch is the run itself; later ones are runs of their own in its folder, `epochs/2`, `epochs/3` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from typing import TypeVar

from rpms.foreign.files import is_there
from rpms.models.providers import NO_LLM, Backend, backend_of
from rpms.play.methods import METHODS, REACT
from rpms.play.plan import NamedModel, RunPlan
from rpms.play.run import MakeEngine, run
from rpms.play.seat import Threads
from rpms.store.runs import EPOCHS, PROTOCOL, RunFolder, RunSummary

Outcome = TypeVar("Outcome")


def epoch_folders(run: Path) -> tuple[Path, ...]:
    """The folders of a run's epochs, itself first; later ones as far as they are there without a gap."""
    found = [run]
    while is_there(run / EPOCHS / str(len(found) + 1) / PROTOCOL):
        found.append(run / EPOCHS / str(len(found) + 1))
    return tuple(found)


def epoch_plan(plan: RunPlan, number: int) -> RunPlan:
    """The plan of an epoch: the same tasks, another seed for a model that samples, and a record of its own."""
    if number == 1:
        return plan
    decoding, open_model = plan.decoding, plan.open_model
    if decoding.seed is not None:
        decoding = replace(decoding, seed=decoding.seed + number - 1)
    if isinstance(open_model, NamedModel) and open_model.record is not None:
        open_model = replace(open_model, record=open_model.record / f"epoch-{number}")
    return replace(plan, epoch=number, decoding=decoding, open_model=open_model)


def run_epochs(
    plan: RunPlan, out: Path, epochs: int, run_one: Callable[[RunPlan, Path], Outcome]
) -> tuple[Outcome, ...]:
    """Run every epoch of a plan, one after the other, by a function that runs one in a folder."""
    return tuple(
        run_one(epoch_plan(plan, number), out if number == 1 else out / EPOCHS / str(number))
        for number in range(1, epochs + 1)
    )


@dataclass(frozen=True)
class Agreement:
    """Agreement of epochs, over the tasks that were played in all of them."""

    wins: tuple[int, ...]
    """Of each such task, in how many epochs it was won."""
    epochs: int
    rates: tuple[float, ...]
    """Success by epoch, over the same tasks."""
    left_out: int = 0
    """Tasks that an epoch lacks."""

    @property
    def tasks(self) -> int:
        return len(self.wins)

    @property
    def mean(self) -> float:
        return sum(self.rates) / len(self.rates)

    def pass_hat(self, k: int) -> float:
        """pass^k: how likely k attempts at a task, drawn from its epochs without putting back, are all won.

        >>> Agreement((3, 1, 0), 3, (0.0, 0.0, 0.0)).pass_hat(2)  # (1 + 0 + 0) / 3
        0.3333333333333333
        """
        ways = comb(self.epochs, k)
        return sum(comb(won, k) for won in self.wins) / (ways * self.tasks) if self.tasks else 0.0

    @property
    def flip_rate(self) -> float:
        """Probability that two epochs of a task end differently, one won and one not."""
        pairs = comb(self.epochs, 2) * self.tasks
        return sum(won * (self.epochs - won) for won in self.wins) / pairs if pairs else 0.0

    @property
    def flipped(self) -> int:
        """Tasks that were won in some epochs and not in others."""
        return sum(0 < won < self.epochs for won in self.wins)

    def text(self) -> str:
        """In one line."""
        rates = ", ".join(f"{rate:.1%}" for rate in self.rates)
        passes = ", ".join(f"pass^{k} {self.pass_hat(k):.1%}" for k in range(1, self.epochs + 1))
        flips = f"flip rate {self.flip_rate:.1%}, {self.flipped} of {self.tasks} tasks flipped"
        return f"{self.epochs} epochs: success {rates}; {passes}; {flips}"


def agreement(epochs: Sequence[Mapping[str, bool]]) -> Agreement | None:
    """Compare epochs, each by task whether it was won; None for fewer than two, or none with a task in common."""
    if len(epochs) < 2:
        return None
    every = dict.fromkeys(task for epoch in epochs for task in epoch)
    shared = [task for task in every if all(task in epoch for epoch in epochs)]
    if not shared:
        return None
    wins = tuple(sum(epoch[task] for epoch in epochs) for task in shared)
    rates = tuple(sum(epoch[task] for task in shared) / len(shared) for epoch in epochs)
    return Agreement(wins, len(epochs), rates, len(every) - len(shared))


def won_by_task(folder: RunFolder) -> dict[str, bool]:
    """Wins among the finished episodes of a run, by task."""
    return {row.task: row.won for row in folder.rows()}


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
