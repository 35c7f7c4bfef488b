"""`rpms run`: play tasks and keep every episode."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rpms.cli import options
from rpms.cli.panels import takes_options
from rpms.cli.resources import Resources
from rpms.cli.run_summary import print_summary, trial_lines
from rpms.cli.screen import make_console, say
from rpms.cli.setting_options import SettingOptions
from rpms.cli.shared_options import (
    EngineOption,
    EpochsOption,
    ModelOption,
    WorldArgument,
    WorldOptions,
)
from rpms.logic.errors import InputError
from rpms.models.catalogue import (
    parse_parameter,
)
from rpms.models.windows import context_window
from rpms.paper.enforcement import PRESETS
from rpms.play.controls import play_controls
from rpms.play.design import RunDesign
from rpms.play.display import progress
from rpms.play.epochs import agreement, run_epochs
from rpms.play.run import Listener, RunOptions
from rpms.play.setting_values import worded
from rpms.play.settings import Settings
from rpms.play.task_choice import read_part
from rpms.play.trials import Trials, run_trials
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world


@takes_options(Resources, SettingOptions)
def main(
    resources: Resources,
    given: SettingOptions,
    world: WorldArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            help=(
                "The run's folder; an existing run is continued. By default one in runs/, named"
                " after the settings."
            )
        ),
    ] = None,
    engine: EngineOption = "native",
    model: ModelOption = "planner",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            help="A decoding parameter of the provider's own.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    epochs: EpochsOption = 1,
    stuck_after: Annotated[
        int,
        typer.Option(help="End an episode after N identical failures in a row; 0 is never.", min=0),
    ] = 0,
    retry_errors: Annotated[
        bool,
        typer.Option(
            "--retry-errors", help="Play episodes again that a model or world error ended."
        ),
    ] = False,
    option: WorldOptions = None,
    part: Annotated[
        str, typer.Option(help="One part of the tasks, dealt like cards: 1/2 is every second one.")
    ] = "1/1",
) -> None:
    """Play the tasks of a split and keep every episode; the same command continues where it
    stopped.
    """
    settings = given.read()
    found = find_world(world)
    options.require_menu(settings.condition_value().enforcement, model)
    player = resources.player()
    dealt = _read_part(part)
    setting = options.make_setting(found, resources.data, engine, option)
    tasks, setting = settings.tasks(found, setting, dealt)
    opened = resources.model(model, settings)
    window = context_window(model, settings.context, resources.base_url)
    extra = tuple(map(parse_parameter, parameter or ()))
    design = settings.design(
        found,
        model,
        opened,
        window.tokens,
        tasks=tasks,
        setting=setting,
        memory=options.memory_of(settings, found, model),
        decoding=replace(settings.decoding(found), extra=extra),
        stuck_after=stuck_after,
    )
    if out is None:
        split = settings.split or found.splits[0]
        played = split if dealt.step == 1 else f"{split}-{part}"
        out = default_folder(world, played, model, settings)
    price = resources.price_of(model)
    if not resources.price:
        price = RunFolder(out).price() or price
    meter = resources.meter({model: price})
    run_options = RunOptions(retry_errors=retry_errors, runner=player, price=price, meter=meter)
    resources.check(opened, begun=RunFolder(out).begun)
    options.note_knowledge(settings, design, window)
    summaries = _play_epochs(design, out, epochs, resources.workers, run_options)
    controls = play_controls(design, out, resources.workers, player)
    say(*_remarks(design, summaries, controls), f"episodes are in {out}")
    if any(_failed_throughout(summary) for summary in summaries):
        raise typer.Exit(1)


def _play_epochs(
    design: RunDesign, out: Path, epochs: int, workers: int | None, run_options: RunOptions
) -> list[RunSummary]:
    """Play a design once an epoch and tell each result; with several trials, the first one's is
    returned.
    """
    console = make_console()

    def listen(trial: int) -> Listener:
        if trial:
            say(f"trial {trial}, of the tasks not won so far")
        return progress(console, run_options.get("price"))

    def run_one(design: RunDesign, folder: Path) -> Trials:
        if epochs > 1:
            say(f"epoch {design.epoch} of {epochs}")
        trials = run_trials(design, folder, workers, listen, **run_options)
        print_summary(console, trials.summaries[0], RunFolder(folder))
        if design.method.question:
            say(*trial_lines(trials))
        return trials

    return [trials.summaries[0] for trials in run_epochs(design, out, epochs, run_one)]


def _read_part(part: str) -> slice:
    try:
        return read_part(part)
    except ValueError as error:
        raise InputError(f"--part {error}") from None


def _remarks(
    design: RunDesign, summaries: Sequence[RunSummary], controls: Mapping[str, RunSummary]
) -> Iterator[str]:
    """Remarks on a run: agreement of its epochs, wins of its controls, and tasks that the memory
    was learned from.
    """
    won_by_epoch: list[dict[str, bool]] = []
    for summary in summaries:
        won_by_epoch.append({row.task: row.won for row in summary.rows})
    agreed = agreement(won_by_epoch)
    if agreed is not None:
        yield agreed.text()
    for name, each in controls.items():
        yield f"{name}, choosing from the same menus, won {each.won} of {each.total}"
    if design.overlap:
        known_tasks = f"{len(design.overlap)} of {len(design.tasks)} tasks that were played"
        yield f"WARNING: the memory was learned from {known_tasks}"


def _failed_throughout(summary: RunSummary) -> bool:
    """True if there are episodes, and every one of them ended with an error."""
    return bool(summary.rows) and all(row.failed for row in summary.rows)


_NO_PART_OF_A_NAME = ("condition", "preset", "split", "memory", "task", "steps", "trials")
"""Settings that stand in a folder's name otherwise, or not at all: a run of other tasks there
is refused."""


def default_folder(world: str, split: str, model: str, settings: Settings) -> Path:
    """Default folder of a run: the same command finds it again.

    >>> given = Settings.read({"preset": "strict", "enforce": "menu=8", "theta": 0.6})
    >>> default_folder("alfworld", "train", "openai/gpt-4o", given).name
    'alfworld-train-openai-gpt-4o-strict-menu-8-theta-0.6'
    """
    named = (settings.condition or "full", settings.preset or "paper")
    unusual_names = [name for name in named if name not in ("full", "paper")]
    unusual = _unusual_values(settings)
    values = [f"{name}-{worded(value, between='-', equals='-')}" for name, value in unusual]
    parts = [world, split, model, *unusual_names, *values]
    return Path("runs", "-".join(map(_part_of_name, parts)))


def _unusual_values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Names and values that are not the preset's: of enforcement, then of other settings."""
    usual = PRESETS[settings.preset or "paper"]
    for name, value in vars(settings.condition_value().enforcement).items():
        if value != getattr(usual, name):
            yield name, value
    for name, value in settings.given.items():
        told_otherwise = name in (*_NO_PART_OF_A_NAME, "enforce")
        if not told_otherwise and value != getattr(settings.of_preset, name):
            yield name, value


def _part_of_name(text: str) -> str:
    """The end of a text, with dashes for what has no place in a folder's name."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.")[-60:]
