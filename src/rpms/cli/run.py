"""`rpms run`: play a split and keep every episode."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rpms.cli import options
from rpms.cli.options import Resources
from rpms.cli.screen import complain, make_console
from rpms.core.acting.enforcement import preset
from rpms.core.errors import InputError
from rpms.core.proportion import wilson
from rpms.models.catalogue import parse_parameter
from rpms.models.windows import context_window
from rpms.play.epochs import Trials, agreement, play_controls, run_epochs, run_trials
from rpms.play.knob_values import worded
from rpms.play.limits import Spending, spending
from rpms.play.plan import RunPlan
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.settings import Settings
from rpms.play.tasks import TaskPart
from rpms.store.episodes import EpisodeRow
from rpms.store.runs import RunFolder, RunSummary, lack_of_room
from rpms.worlds.base import game_of
from rpms.worlds.registry import find_world

_ERRORS_SHOWN = 3


def run_split(
    *,
    world: str,
    out: Path | None,
    engine: str,
    model: str,
    parameter: list[str] | None,
    epochs: int,
    stuck_after: int,
    retry_errors: bool,
    option: list[str] | None,
    part: str,
    resources: Resources,
    settings: Settings,
) -> None:
    """`rpms run`, once its options are read."""
    found = find_world(world)
    condition = settings.condition_value()
    options.refuse_choosing_without_menu(condition.enforcement, model)
    player = resources.player()
    try:
        dealt = TaskPart.read(part)
    except ValueError as error:
        raise InputError(f"--part {error}") from None
    tasks, setting = settings.tasks(found, options.make_setting(found, resources.data, engine, option), dealt.of_list)
    opened = resources.model(model, world, settings)
    plan = settings.plan(
        found,
        model,
        opened,
        context_window(model, settings.context, resources.base_url).tokens,
        tasks=tasks,
        setting=setting,
        memory=options.memory_of(settings, found, model),
        decoding=replace(settings.decoding(found), extra=tuple(map(parse_parameter, parameter or ()))),
        stuck_after=stuck_after,
    )
    split = settings.split or found.splits[0]
    out = out or default_folder(world, split if dealt.of == 1 else f"{split}-{part}", model, settings)
    known = (None if resources.price else RunFolder(out).price()) or resources.price_of(model)
    meter = resources.meter({model: known})
    resources.check(opened, begun=RunFolder(out).begun)
    options.note_knowledge(settings, found, model, resources.base_url)
    options.note_idle_mask(settings, plan.memory)
    options.note_idle_parts(found, condition.enforcement)
    options.note_free_actions(condition.enforcement, model)
    console = make_console()

    def listen(trial: int) -> Listener:
        if trial:
            console.print(f"trial {trial}, of the tasks not won so far")
        return progress(console, known)

    def run_one(plan: RunPlan, folder: Path) -> Trials:
        if epochs > 1:
            console.print(f"epoch {plan.epoch} of {epochs}", markup=False)
        trials = run_trials(
            plan, folder, resources.workers, listen, retry_errors=retry_errors, engine=player, price=known, meter=meter
        )
        print_summary(console, trials.summaries[0], spending(RunFolder(folder)))
        for line in trial_lines(trials) if plan.method.question else ():
            console.print(line, markup=False, soft_wrap=True)
        return trials

    try:
        summaries = [trials.summaries[0] for trials in run_epochs(plan, out, epochs, run_one)]
        controls = play_controls(plan, out, resources.workers, player)
    except Interrupted as stop:
        complain(f"rpms: {stop}")
        raise typer.Exit(130) from None
    if agreed := agreement([{row.task: row.won for row in summary.rows} for summary in summaries]):
        console.print(agreed.text(), markup=False, soft_wrap=True)
    _caveats(console, plan, controls)
    console.print(f"episodes are in {out}", markup=False, soft_wrap=True)
    if any(summary.rows and all(row.failed for row in summary.rows) for summary in summaries):
        raise typer.Exit(1)


def _caveats(console: Console, plan: RunPlan, controls: Mapping[str, RunSummary]) -> None:
    """Say what others win from the same menus, and that tasks were among those learned from."""
    for name, each in controls.items():
        console.print(f"from such menus {name} won {each.won} of {each.total}", markup=False)
    if plan.overlap:
        shared = f"{len(plan.overlap)} of {len(plan.tasks)} tasks"
        console.print(f"WARNING: the memory was learned from {shared} that were played", markup=False, soft_wrap=True)


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


_NO_PART_OF_A_NAME = ("condition", "preset", "split", "memory", "task", "steps", "trials")
"""Settings that stand in a folder's name otherwise, or not at all: a run of other tasks there is refused."""


def default_folder(world: str, split: str, model: str, settings: Settings) -> Path:
    """Default folder of a run: the same command finds it again.

    >>> given = Settings.read({"preset": "strict", "enforce": "menu=8", "theta": 0.6})
    >>> default_folder("alfworld", "train", "openai/gpt-4o", given).name
    'alfworld-train-openai-gpt-4o-strict-menu-8-theta-0.6'
    """
    word = partial(worded, between="-", equals="-")
    usual, made = preset(settings.preset or "paper"), settings.condition_value().enforcement
    parts = [f"{name}-{word(value)}" for name, value in vars(made).items() if value != getattr(usual, name)]
    given = {name: value for name, value in settings.given.items() if name not in (*_NO_PART_OF_A_NAME, "enforce")}
    parts += [f"{name}-{word(value)}" for name, value in given.items() if value != getattr(settings.of_preset, name)]
    names = (settings.condition or "full", settings.preset or "paper")
    shown = [name for name in names if name not in ("full", "paper")]
    return Path(
        "runs",
        "-".join(re.sub(r"[^\w.]+", "-", name).strip("-.")[-60:] for name in (world, split, model, *shown, *parts)),
    )


def print_summary(console: Console, summary: RunSummary, spent: Spending) -> None:
    """Success overall and by type, steps, infeasible actions; tokens and cost where a model has used any."""
    by_type: dict[str, list[EpisodeRow]] = defaultdict(list)
    for row in summary.rows:
        by_type[row.type].append(row)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("type", no_wrap=True, overflow="ellipsis")
    for heading in ("won", "success", "score", "steps", "infeas."):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in sorted(by_type):
        table.add_row(Text(name), *_cells(by_type[name]))
    if len(by_type) != 1:
        table.add_row("all", *_cells(list(summary.rows)), style="bold")
    console.print(table)
    low, high = wilson(summary.won, summary.done)
    endings = ", ".join(f"{count} {ending}" for ending, count in summary.endings.most_common())
    console.print(f"{summary.done} of {summary.total} episodes: {endings}; 95% interval {low:.1%} to {high:.1%}")
    lines = (
        *by_game(summary),
        *infeasible(summary),
        *interventions(summary),
        *(f"WARNING: {words}" for words in lack_of_room(summary.rows)),
        *spending_lines(spent),
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    errors = list(dict.fromkeys(row.error for row in summary.rows if row.error))
    for error in errors[:_ERRORS_SHOWN]:
        console.print(f"error: {error}", markup=False, soft_wrap=True)
    if len(errors) > _ERRORS_SHOWN:
        console.print(f"and {len(errors) - _ERRORS_SHOWN} other errors; the episode files have them")


def by_game(summary: RunSummary) -> list[str]:
    """Games won in all their sentences and in some, where each sentence is a task; nothing where none is."""
    games: dict[str, list[bool]] = defaultdict(list)
    for row in summary.rows:
        games[game_of(row.task)].append(row.won)
    if len(games) == len(summary.rows):
        return []
    every, some = sum(map(all, games.values())), sum(map(any, games.values()))
    return [f"games: {every} of {len(games)} won in every sentence, {some} in at least one"]


def infeasible(summary: RunSummary) -> list[str]:
    """Count of refused actions, and of those the manual could have foretold; empty for none."""
    count, foreseeable = summary.infeasible, sum(row.foreseeable for row in summary.rows)
    return [f"infeasible: {count:,} of {summary.steps:,} actions, {foreseeable:,} of them foreseeable"] if count else []


def interventions(summary: RunSummary) -> list[str]:
    """Count of re-asks by the guard, and of actions that were not the model's own."""
    lines = []
    if reasks := sum(row.reasks for row in summary.rows):
        lines.append(f"re-asks: {reasks:,} ({reasks / max(1, summary.steps):.2f} a step)")
    if replaced := sum(row.replaced for row in summary.rows):
        lines.append(f"replaced: {replaced:,} of {summary.steps:,} actions were not the model's own")
    return lines


def spending_lines(spent: Spending) -> list[str]:
    """Tokens, cost and time of a run in words; empty without an LLM."""
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
    won = sum(row.won for row in rows)
    return [
        f"{won}/{count}",
        f"{won / count:.1%}" if count else "-",
        f"{sum(row.score for row in rows) / count:.2f}" if count else "-",
        f"{steps / count:.1f}" if count else "-",
        f"{sum(row.infeasible for row in rows) / steps:.1%}" if steps else "-",
    ]
