"""One model under one condition of a study, as a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rpms.paper.recall import EpisodicMemory
from rpms.play.design import OpenModel, RunDesign
from rpms.play.meter import Meter
from rpms.play.run import Listener, MakeRunner
from rpms.play.seats import Threads
from rpms.play.settings import Settings
from rpms.store.expel_material import Experience
from rpms.store.price import Price
from rpms.store.run_summaries import RunSummary
from rpms.study.studies import Case, Choice, Learning
from rpms.worlds.base import Setting, World


@dataclass(frozen=True)
class Means:
    """Means of running a study, beside its file."""

    world: World
    setting: Setting
    open_model: Callable[[str], OpenModel]
    learn: Callable[[Learning, str, Path], Mapping[int, Path]]
    """Learns the missing rounds with a model, into a file, and returns the snapshots by round;
    `rpms.learning.rounds` does."""
    window: Callable[[str, Settings], int] = lambda _model, _settings: 0
    """Tokens of a model's context window; 0 for no limit."""
    workers: int | None = None
    runner: MakeRunner = Threads
    listener: Callable[[str], Listener] = lambda _: Listener()
    """Makes a listener for a run, from words for the run."""
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    """Prices by model; kept with its runs."""
    gather: Callable[[Sequence[Path], RunDesign], Experience] | None = None
    """Draws from runs what ExpeL plays with, with the model of their design:
    `rpms.learning.insights` does."""
    meter: Meter | None = None
    """Counts against the limits of this call, over all its runs."""
    epochs: int = 1
    """Times that each run is played; the table shows the first."""
    editions: dict[str, Mapping[str, str]] | None = None
    """Editions of the games by choice of tasks, where they are looked at once: an estimate makes
    a thousand designs in a moment. A study that plays for hours looks anew for each run."""

    def edition(self, choice: Choice, design: RunDesign) -> Mapping[str, str] | None:
        """The edition of a design's games, if editions are looked at once for all; else None."""
        if self.editions is None:
            return None
        key = repr(choice)
        if key not in self.editions:
            self.editions[key] = self.world.edition(design.tasks, design.setting)
        return self.editions[key]


@dataclass(frozen=True)
class Result:
    """One model under one condition: a run, which several conditions may share."""

    model: str
    case: Case
    design: RunDesign
    folder: Path
    summary: RunSummary


def design_cell(
    choice: Choice, case: Case, model: str, means: Means, memory: EpisodicMemory
) -> RunDesign:
    """The run of one condition; if it has several trials, the first."""
    design = case.settings.design(
        means.world,
        model,
        means.open_model(model),
        means.window(model, case.settings),
        split=choice.settings.split,
        tasks=choice.tasks(means.world, means.setting),
        condition=case.condition,
        memory=memory,
        setting=choice.setting(means.world, means.setting),
        step_budget=choice.settings.steps,
        method=case.method(means.world),
    )
    return replace(design, edition=means.edition(choice, design))


def design_round(learning: Learning, number: int, model: str, means: Means) -> RunDesign:
    """A round of learning as a run. Of later rounds, it is the design as far as it is known before
    anything is learned.
    """
    case = Case("learning", replace(learning.settings, condition=learning.condition_name(number)))
    return design_cell(learning.choice, case, model, means, EpisodicMemory(world=means.world.name))
