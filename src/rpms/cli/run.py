"""`rpms run`: play a split and keep every episode."""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rpms.cli import options
from rpms.cli.knobs import with_settings
from rpms.cli.screen import complain, make_console
from rpms.core.enforcement import preset
from rpms.core.prompt import Layout
from rpms.core.proportion import wilson
from rpms.models.accounting import parse_price, price_of
from rpms.models.catalogue import ModelOptions, parse_parameter
from rpms.play.answering import NamedModel
from rpms.play.epochs import agreement, run_epochs
from rpms.play.plan import RunPlan, plan_run
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.settings import Settings
from rpms.play.spending import Spending, price_kept, spending
from rpms.play.trials import Trials, run_trials
from rpms.store.episodes import EpisodeRow
from rpms.store.runs import RunFolder, RunSummary
from rpms.worlds.registry import find_world

_ERRORS_SHOWN = 3
_FIGURES = 50
"""How wide the columns of figures are: what is left is for the names of types, broken at hyphens."""


@with_settings()
def run_split(
    world: options.WorldName,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder; one that exists is continued. By default one in runs, named by the options."
        ),
    ] = None,
    data: options.DataFolder = None,
    engine: Annotated[
        str, typer.Option(help="native, or the original simulator; `ray` plays on a Ray cluster (native,ray).")
    ] = "native",
    model: options.ModelName = "planner",
    base_url: options.BaseUrl = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Episodes at once; by default one, or on a cluster as many as it has CPUs.", min=1),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, and ask nothing twice.")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option(help="A provider's own decoding parameter, NAME=VALUE.", show_default=False)
    ] = None,
    price: Annotated[str | None, typer.Option(help="US dollars a million tokens: IN,OUT[,CACHED].")] = None,
    epochs: options.Epochs = 1,
    max_cost: options.MaxCost = None,
    max_requests: options.MaxRequests = None,
    max_time: options.MaxTime = None,
    stuck_after: Annotated[int, typer.Option(help="End after so many equal failures in a row; 0: never.", min=0)] = 0,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Play again what a model or world error ended.")
    ] = False,
    option: options.WorldOptions = None,
    *,
    settings: Settings,
) -> None:
    """Play the tasks of a split and keep every episode; the same command again goes on where it stopped."""
    found = find_world(world)
    condition = settings.condition_value()
    options.refuse_choosing_without_menu(condition.enforcement, model)
    simulator, played_by = options.play_on(engine)
    tasks, setting = settings.tasks(found, options.make_setting(found, data, simulator, option))
    plan = plan_run(
        found,
        model,
        NamedModel(model, world, model_options(base_url, settings), record.absolute() if record else None),
        split=settings.split,
        tasks=tasks,
        condition=condition,
        memory=options.memory_of(settings, found, model),
        setting=setting,
        decoding=replace(settings.decoding(found), extra=tuple(map(parse_parameter, parameter or ()))),
        step_budget=settings.steps,
        sources=options.sources_of(settings, found, model, base_url),
        stuck_after=stuck_after,
        seed=settings.seed or 0,
        method=settings.method(found),
    )
    out = out or default_folder(world, settings.split or found.splits[0], model, settings)
    known = parse_price(price) if price else price_kept(RunFolder(out)) or price_of(model)
    meter = options.make_meter(max_cost, max_requests, max_time, {model: known})
    options.note_knowledge(settings, found, model, base_url)
    options.note_idle_mask(settings, plan.memory)
    options.note_idle_parts(found, condition.enforcement)
    options.note_free_actions(condition.enforcement, model)
    console = make_console()

    def listen(trial: int) -> Listener:
        if trial:
            console.print(f"trial {trial}, of what is lost so far")
        return progress(console, known)

    def run_one(plan: RunPlan, folder: Path) -> Trials:
        if epochs > 1:
            console.print(f"epoch {plan.epoch} of {epochs}", markup=False)
        trials = run_trials(
            plan, folder, workers, listen, retry_errors=retry_errors, engine=played_by, price=known, meter=meter
        )
        print_summary(console, trials.summaries[0], spending(RunFolder(folder)))
        for line in trial_lines(trials) if plan.method.question else ():
            console.print(line, markup=False, soft_wrap=True)
        return trials

    try:
        summaries = [trials.summaries[0] for trials in run_epochs(plan, out, epochs, run_one)]
    except Interrupted as stop:
        complain(f"rpms: {stop}")
        raise typer.Exit(130) from None
    if agreed := agreement([{row.task: row.won for row in summary.rows} for summary in summaries]):
        console.print(agreed.text(), markup=False, soft_wrap=True)
    console.print(f"episodes are in {out}", markup=False, soft_wrap=True)
    if any(summary.rows and all(row.failed for row in summary.rows) for summary in summaries):
        raise typer.Exit(1)


def trial_lines(trials: Trials) -> list[str]:
    """Each trial apart, and the best of all: what is above them is the first trial alone."""
    lines = [
        f"trial {number}: {each.won} of {each.total} won" + ("" if number else ", as above")
        for number, each in enumerate(trials.summaries)
    ]
    best = trials.best
    low, high = wilson(best.won, best.total)
    won = f"{best.won} of {best.total} won ({best.won / best.total:.1%}, 95% interval {low:.1%} to {high:.1%})"
    tokens = trials.usage
    spent = f"; all trials took {tokens.prompt_tokens:,} prompt and {tokens.completion_tokens:,} completion tokens"
    asked = spent if tokens.prompt_tokens else ""
    return [*lines, f"best of all trials: {won}{asked}", f"as a run of its own: {trials.best_folder}"]


def model_options(base_url: str | None, settings: Settings) -> ModelOptions:
    """How a model is reached; a file that is opened here is opened with the context window that is given."""
    usual = ModelOptions(base_url=base_url)
    return usual if settings.context is None else replace(usual, context=settings.context)


_NO_PART_OF_A_NAME = (
    "condition",
    "preset",
    "split",
    "memory",
    "limit",
    "task",
    "sample",
    "per_task",
    "steps",
    "trials",
)
"""Settings that stand in a folder's name otherwise, or not at all: a run of other tasks there is refused."""


def default_folder(world: str, split: str, model: str, settings: Settings) -> Path:
    """Where a run goes that was given no folder: the same command finds it again.

    >>> given = Settings.read({"preset": "strict", "enforce": "menu=8", "theta": 0.6})
    >>> default_folder("alfworld", "train", "openai/gpt-4o", given).name
    'alfworld-train-openai-gpt-4o-strict-menu-8-theta-0.6'
    """
    usual, made = preset(settings.preset or "paper"), settings.condition_value().enforcement
    parts = [f"{name}-{_word(value)}" for name, value in vars(made).items() if value != getattr(usual, name)]
    given = {name: value for name, value in settings.given.items() if name not in (*_NO_PART_OF_A_NAME, "enforce")}
    parts += [f"{name}-{_word(value)}" for name, value in given.items() if value != getattr(settings.of_preset, name)]
    names = (settings.condition or "full", settings.preset or "paper")
    shown = [name for name in names if name not in ("full", "paper")]
    return Path(
        "runs",
        "-".join(re.sub(r"[^\w.]+", "-", name).strip("-.")[-60:] for name in (world, split, model, *shown, *parts)),
    )


def _word(value: object) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case Path():
            return value.stem
        case Layout():
            return value.name.lower()
        case Mapping():
            return "-".join(f"{name}-{_word(item)}" for name, item in value.items())
        case tuple():
            return "-".join(map(_word, value))
    return str(value)


def print_summary(console: Console, summary: RunSummary, spent: Spending) -> None:
    """Success overall and by type, steps, infeasible actions; tokens and cost where a model has used any."""
    by_type: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in summary.rows:
        by_type[row.type].append(row)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("type", overflow="fold")
    for heading in ("won", "success", "score", "steps", "infeasible", "foreseeable"):
        table.add_column(heading, justify="right")
    for name in sorted(by_type):
        table.add_row(Text(textwrap.fill(name, max(12, console.width - _FIGURES))), *_cells(by_type[name]))
    if len(by_type) != 1:
        table.add_row("all", *_cells(list(summary.rows)), style="bold")
    console.print(table)
    low, high = wilson(summary.won, summary.done)
    endings = ", ".join(f"{count} {ending}" for ending, count in summary.endings.most_common())
    console.print(f"{summary.done} of {summary.total} episodes: {endings}; 95% interval {low:.1%} to {high:.1%}")
    for line in (*interventions(summary), *lack_of_room(summary), *spending_lines(spent)):
        console.print(line, markup=False, soft_wrap=True)
    errors = list(dict.fromkeys(row.error for row in summary.rows if row.error))
    for error in errors[:_ERRORS_SHOWN]:
        console.print(f"error: {error}", markup=False, soft_wrap=True)
    if len(errors) > _ERRORS_SHOWN:
        console.print(f"and {len(errors) - _ERRORS_SHOWN} other errors; the episode files have them")


def interventions(summary: RunSummary) -> list[str]:
    """How often the guard had the model asked again, and what was not its own."""
    lines = []
    if reasks := sum(row.reasks for row in summary.rows):
        lines.append(f"re-asks: {reasks:,} ({reasks / max(1, summary.steps):.2f} a step)")
    if replaced := sum(row.replaced for row in summary.rows):
        lines.append(f"replaced: {replaced:,} of {summary.steps:,} actions were not the model's own")
    return lines


def lack_of_room(summary: RunSummary) -> list[str]:
    """What prompts left out because the model's context window has no room for it; nothing where all fitted."""
    lines = []
    if crowded := sum(row.crowded for row in summary.rows):
        lines.append(
            f"WARNING: {crowded:,} of {summary.steps:,} prompts left out rules or memories, for which the context "
            "window has no room even without history; their pages say which"
        )
    if shortened := sum(row.shortened for row in summary.rows):
        lines.append(f"{shortened:,} of {summary.steps:,} prompts left out the oldest turns to fit the context window")
    return lines


def spending_lines(spent: Spending) -> list[str]:
    """What a run has taken, in words; nothing for one without an LLM."""
    usage = spent.usage
    if not usage.prompt_tokens and not usage.completion_tokens:
        return []
    asked = f"{usage.prompt_tokens:,} prompt ({usage.cached_tokens:,} cached)"
    lines = [f"tokens: {asked}, {usage.completion_tokens:,} completion; {usage.seconds:,.1f} s of model time"]
    if spent.cost is not None:
        each = spent.cost_per_win
        lines.append(f"cost: ${spent.cost:,.4f}" + (f", ${each:,.4f} a task solved" if each is not None else ""))
    return lines


def _cells(rows: list[EpisodeRow]) -> list[str]:
    count, steps = len(rows), sum(row.steps for row in rows)
    won, infeasible = sum(row.won for row in rows), sum(row.infeasible for row in rows)
    return [
        f"{won}/{count}",
        f"{won / count:.1%}" if count else "-",
        f"{sum(row.score for row in rows) / count:.2f}" if count else "-",
        f"{steps / count:.1f}" if count else "-",
        f"{infeasible} ({infeasible / steps:.1%})" if steps else "0",
        str(sum(row.foreseeable for row in rows)),
    ]
