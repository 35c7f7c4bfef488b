"""`rpms play`: watch one episode, step by step."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rpms.cli import choices
from rpms.cli.human import HumanModel, Left
from rpms.cli.resources import model_options
from rpms.cli.screen import complain, make_console
from rpms.cli.step_screen import infeasible_line, said, show_step
from rpms.core.acting.enforcement import GuardMode
from rpms.core.episode import Ending, Episode, Step
from rpms.core.errors import InputError
from rpms.core.rules import ActiveRules
from rpms.foreign.shown import one_line
from rpms.models.catalogue import open_model
from rpms.models.providers import Backend, parse_model_name
from rpms.play.episode import Play, play
from rpms.play.methods import NOTHING, Earlier
from rpms.play.plan import lend, plan_run
from rpms.play.reading import Reads
from rpms.play.seat import Seat
from rpms.play.settings import Settings
from rpms.store.answers import FolderOfAnswers
from rpms.store.packed_answers import open_answers
from rpms.worlds.base import REQUEST, World
from rpms.worlds.registry import find_world


def play_one(
    *,
    world: str,
    task: str | None,
    variation: int | None,
    data: Path | None,
    engine: str,
    model: str,
    base_url: str | None,
    option: list[str] | None,
    goal: str | None,
    prompt: bool,
    rules: bool,
    verbose: bool,
    settings: Settings,
) -> None:
    """`rpms play`, once its options are read."""
    found = find_world(world)
    settings, note = _with_or_without_memory(settings, found)
    condition, method = settings.condition_value(), settings.method(found)
    choices.refuse_choosing_without_menu(condition.enforcement, model)
    setting = settings.setting(found, choices.make_setting(found, data, engine, option))
    split = settings.split or found.splits[0]
    chosen = choices.named_task(found, lambda given: found.tasks(split, given), setting, task, variation)
    if goal is not None:
        if not goal.strip():
            raise InputError("--goal is empty: say what is wanted, or leave it out")
        chosen = replace(chosen, source={**chosen.source, REQUEST: " ".join(goal.split())})
    terms = choices.terms_of(settings, found, model, base_url)
    terms["memory"], terms["overlap"] = choices.memory_of(settings, found, model), True
    reached, reader = model_options(base_url, settings), settings.reader or ""
    console = make_console()
    person = HumanModel(console, found) if parse_model_name(model).provider.backend is Backend.HUMAN else None
    answering = person or open_model(model, reached, open_answers=FolderOfAnswers)
    open_reader = partial(open_model, reader, reached, open_answers=open_answers)
    terms["open_reader"] = open_reader
    reads = Reads.by(reader, open_reader, answering, person.ask_goal if person is not None else None)
    plan = plan_run(found, model, lend(answering), split=split, tasks=[chosen], setting=setting, **terms)
    if note:
        complain(note)
    choices.note_knowledge(settings, found, model, base_url)
    choices.note_idle_parts(found, condition.enforcement)
    choices.note_free_actions(condition.enforcement, model)
    brought = NOTHING
    result: Episode | None = None
    try:
        for trial in range(method.trials):
            seat = Seat(replace(plan, trial=trial), answering, reads=reads)
            if result is not None:
                brought = seat.reflect(chosen, Earlier.of(result, str(result.ending), brought.carried))
            with closing(found.open(chosen, setting)) as game:
                episode = seat.begin(chosen, game, brought)
                result = _attempt(console, episode, person, prompt=prompt, rules=rules, verbose=verbose)
            _show_end(console, result)
            if result.won:
                break
    except Left:
        complain(f"left after {len(episode.steps)} steps")
        return
    finally:
        answering.close()
    if result is not None and result.ending in (Ending.MODEL_ERROR, Ending.WORLD_ERROR):
        raise typer.Exit(1)


def _attempt(
    console: Console, episode: Play, person: HumanModel | None, *, prompt: bool, rules: bool, verbose: bool
) -> Episode:
    """Play to the end, and show every step."""
    goal, mind = episode.goal, episode.mind
    task = Text.assemble(goal.text or "unknown goal", "\n", (episode.episode_id, "dim"), overflow="fold")
    console.print(Panel(task, title=Text(episode.world.name), title_align="left"))
    _show_rules(console, mind.manual.active(goal.type, goal.object), whole=rules)
    for line in mind.carried:
        console.print(Text(f"  carried: {one_line(line.strip(' -'))}", style="magenta"))
    advising = mind.enforcement.guard is GuardMode.ADVISE
    advice = ""
    if person is not None:
        person.observation = lambda: episode.told

    def show(step: Step) -> None:
        nonlocal advice
        if person is not None:
            _show_command(console, step)
            return
        show_step(console, step, prompt=prompt, told=advice, verbose=verbose)
        advice = step.advice if advising else ""

    return play(episode, show)


def _with_or_without_memory(settings: Settings, world: World) -> tuple[Settings, str]:
    """Play without memory, with a note, if no condition was asked for and there is none."""
    if settings.condition is not None or settings.memory is not None or not settings.condition_value().memory:
        return settings, ""
    try:
        settings.memory_file(world)
    except InputError:
        note = "note: there is no memory, so the condition is rules-only; --memory gives one"
        return replace(settings, condition="rules-only"), note
    return settings, ""


def _show_rules(console: Console, active: ActiveRules, *, whole: bool) -> None:
    counts = f"{len(active.universal)} universal, {len(active.domain)} domain, {len(active.environment)} actions"
    console.print(
        Text(f"active rules: {counts}" if active.rules or active.environment else "active rules: none", style="dim")
    )
    if whole:
        for rule in active.rules:
            console.print(Text(f"  [{rule.id}] {rule.text}", style="dim"))


def _show_command(console: Console, step: Step) -> None:
    """Result of a person's command; the person has seen the rest."""
    if step.command and step.command != step.action:
        console.print(Text(f"  as {step.command}{': ' + step.replaced if step.replaced else ''}", style="dim"))
    if (line := infeasible_line(step)) is not None:
        console.print(Text.assemble("  ", line))


def _show_end(console: Console, episode: Episode) -> None:
    if episode.steps:
        console.print()
        console.print(said(episode.steps[-1].result))
    style = "bold green" if episode.won else "bold red"
    error = f": {episode.error}" if episode.error else ""
    steps = len(episode.steps)
    counts = f"{steps} step{'' if steps == 1 else 's'}, {episode.infeasible} infeasible, score {episode.score:g}"
    console.print(Text(f"{episode.ending}{error} ({counts})", style=style))
