"""Epochs: the tasks of a run played again, and how much single runs of a model differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb
from pathlib import Path
from typing import TypeVar

from rpms.play.design import NamedModel, RunDesign
from rpms.store.runs import EPOCHS, begun_folders

_Result = TypeVar("_Result")


def epoch_folders(run: Path) -> tuple[Path, ...]:
    """The folders of a run's epochs: the run itself, then later ones up to the first that is
    missing.
    """
    return (run, *begun_folders(partial(_epoch_folder, run), 2))


def _epoch_folder(run: Path, number: int) -> Path:
    return run if number == 1 else run / EPOCHS / str(number)


def epoch_design(design: RunDesign, number: int) -> RunDesign:
    """The design of an epoch: the same tasks, another seed for a model that samples, and a record
    of its own.
    """
    if number == 1:
        return design
    decoding = design.decoding
    open_model = design.open_model
    if decoding.seed is not None:
        decoding = replace(decoding, seed=decoding.seed + number - 1)
    if isinstance(open_model, NamedModel) and open_model.record is not None:
        open_model = replace(open_model, record=open_model.record / f"epoch-{number}")
    return replace(design, epoch=number, decoding=decoding, open_model=open_model)


def run_epochs(
    design: RunDesign, out: Path, epochs: int, run_one: Callable[[RunDesign, Path], _Result]
) -> tuple[_Result, ...]:
    """Run every epoch of a design, one after the other, by a function that runs one in a folder."""
    found: list[_Result] = []
    for number in range(1, epochs + 1):
        found.append(run_one(epoch_design(design, number), _epoch_folder(out, number)))
    return tuple(found)


@dataclass(frozen=True)
class Agreement:
    """Agreement of epochs, over the tasks that were played in all of them."""

    wins: tuple[int, ...]
    """Number of epochs in which each such task was won."""
    epochs: int
    rates: tuple[float, ...]
    """Success by epoch, over the same tasks."""
    missing: int = 0
    """Tasks that an epoch lacks."""

    @property
    def tasks(self) -> int:
        return len(self.wins)

    @property
    def mean(self) -> float:
        return sum(self.rates) / len(self.rates)

    def pass_hat(self, k: int) -> float:
        """pass^k: how likely k attempts at a task, drawn from its epochs without putting back, are
        all won.

        >>> Agreement((3, 1, 0), 3, (0.0, 0.0, 0.0)).pass_hat(2)  # (1 + 0 + 0) / 3
        0.3333333333333333
        """
        if not self.tasks:
            return 0.0
        all_won = sum(comb(won, k) for won in self.wins)
        return all_won / (comb(self.epochs, k) * self.tasks)

    @property
    def flip_rate(self) -> float:
        """Probability that two epochs of a task end differently, one won and one not."""
        pairs = comb(self.epochs, 2) * self.tasks
        if not pairs:
            return 0.0
        return sum(won * (self.epochs - won) for won in self.wins) / pairs

    @property
    def flipped(self) -> int:
        """Tasks that were won in some epochs and not in others."""
        return sum(0 < won < self.epochs for won in self.wins)

    def text(self) -> str:
        rates = ", ".join(f"{rate:.1%}" for rate in self.rates)
        passes = ", ".join(f"pass^{k} {self.pass_hat(k):.1%}" for k in range(1, self.epochs + 1))
        flips = f"flip rate {self.flip_rate:.1%}, {self.flipped} of {self.tasks} tasks flipped"
        return f"{self.epochs} epochs: success {rates}; {passes}; {flips}"


def agreement(epochs: Sequence[Mapping[str, bool]]) -> Agreement | None:
    """Compare epochs, each a table of tasks and whether they were won; None for fewer than two, or
    without a common task.
    """
    if len(epochs) < 2:
        return None
    every: set[str] = set().union(*epochs)
    in_all = every.intersection(*epochs)
    shared = [task for task in epochs[0] if task in in_all]
    if not shared:
        return None
    wins = dict.fromkeys(shared, 0)
    rates: list[float] = []
    for epoch in epochs:
        won = 0
        for task in shared:
            wins[task] += epoch[task]
            won += epoch[task]
        rates.append(won / len(shared))
    missing = len(every) - len(shared)
    return Agreement(tuple(wins.values()), len(epochs), tuple(rates), missing)
