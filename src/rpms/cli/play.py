"""`rpms play`: watch one episode, step by step."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from rpms.cli import options
from rpms.cli.human import HumanModel, Left
from rpms.cli.options import model_options
from rpms.cli.panels import takes_options
from rpms.cli.play_screen import infeasible_line, said, show_step
from rpms.cli.screen import complain, make_console
from rpms.cli.setting_options import SettingOptions
from rpms.cli.shared_options import (
    BaseUrlOption,
    DataOption,
    EngineOption,
    ModelOption,
    WorldArgument,
    WorldOptions,
)
from rpms.foreign.shown import one_line
from rpms.logic.counting import counted
from rpms.logic.errors import InputError
from rpms.models.base import Model
from rpms.models.catalogue import Backend, parse_model_name
from rpms.models.windows import context_window
from rpms.paper.beyond import Surprise
from rpms.paper.enforcement import GuardMode
from rpms.paper.episode import Ending, Episode, Step
from rpms.play.design import NamedModel, RunDesign, lend
from rpms.play.methods import NOTHING, Earlier, Reflection
from rpms.play.seats import Play, Seat, play
from rpms.play.settings import Settings
from rpms.play.understanding import Reads
from rpms.worlds.base import REQUEST, Task, World
from rpms.worlds.registry import find_world


@takes_options(SettingOptions, without=("limit", "per_task", "sample"))
def main(
    given: SettingOptions,
    world: WorldArgument,
    task: Annotated[
        str | None, typer.Option(help="A task's number, type, name or id; by default the first.")
    ] = None,
    variation: Annotated[
        int | None,
        typer.Option(
            help="Which variation of --task NAME in ScienceWorld, or seed in TextWorldExpress."
        ),
    ] = None,
    data: DataOption = None,
    engine: EngineOption = "native",
    model: ModelOption = "planner",
    base_url: BaseUrlOption = None,
    option: WorldOptions = None,
    goal: Annotated[
        str | None,
        typer.Option(
            help="What is wanted, in your own words, in place of the task's goal.", metavar="TEXT"
        ),
    ] = None,
    show_prompts: Annotated[
        bool, typer.Option("--show-prompts", help="Show each prompt in full.")
    ] = False,
    rules: Annotated[
        bool, typer.Option("--rules", help="Show the active rules at the start.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show rejected memories too, and nothing shortened."),
    ] = False,
) -> None:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts,
    action.
    """
    found = find_world(world)
    asked = given.read()
    settings = _with_or_without_memory(asked, found)
    options.require_menu(settings.condition_value().enforcement, model)
    setting = settings.setting(found, options.make_setting(found, data, engine, option))
    chosen = options.named_task(found, settings.split or found.splits[0], setting, task, variation)
    if goal is not None:
        chosen = _with_request(chosen, goal)
    console = make_console()
    window = context_window(model, settings.context, base_url)
    named = NamedModel(model, model_options(base_url))
    answering = _open_model(named, console, found)
    design = settings.design(
        found,
        model,
        lend(answering),
        window.tokens,
        tasks=[chosen],
        setting=setting,
        memory=options.memory_of(settings, found, model),
        overlap=True,
    )
    if settings.condition != asked.condition:
        complain("note: there is no memory, so the condition is rules-only; --memory gives one")
    options.note_knowledge(settings, design, window)
    watched = _Watched(
        console,
        design,
        answering,
        _reads(settings.reader or "", named, answering),
        partial(show_step, console, prompts=show_prompts, verbose=verbose),
        rules=rules,
        own_goal=goal is not None,
    )
    try:
        result = watched.play()
    except Left:
        played = watched.steps_played
        complain(f"left after {counted(played, 'step')}")
        return
    finally:
        answering.close()
    if result is not None and result.ending in (Ending.MODEL_ERROR, Ending.WORLD_ERROR):
        raise typer.Exit(1)


def _open_model(named: NamedModel, console: Console, world: World) -> Model:
    """The model that plays: a person at this terminal, or the one of a name."""
    if parse_model_name(named.name).provider.backend is Backend.HUMAN:
        return HumanModel(console, world)
    return named()


def _reads(reader: str, named: NamedModel, answering: Model) -> Reads:
    """The readers of requests; a person who plays is asked about a goal that none can read."""
    ask_goal = answering.ask_goal if isinstance(answering, HumanModel) else None
    return Reads.by(reader, replace(named, name=reader), answering, ask_goal)


def _with_request(task: Task, goal: str) -> Task:
    """The task, asked for in a person's words."""
    if not goal.strip():
        raise InputError("--goal is empty: say what is wanted, or leave it out")
    return replace(task, source={**task.source, REQUEST: " ".join(goal.split())})


@dataclass
class _Watched:
    """One task, shown while it is played."""

    console: Console
    design: RunDesign
    model: Model
    reads: Reads
    show_step: Callable[..., None]
    rules: bool
    own_goal: bool
    """True if the goal was given in words of the user's own."""
    now: Play | None = None
    """The attempt that goes on, or the last one."""

    @property
    def steps_played(self) -> int:
        return len(self.now.steps) if self.now is not None else 0

    def play(self) -> Episode | None:
        """Attempt the task until it is won, at most as often as the method does, and return the
        last attempt.
        """
        result: Episode | None = None
        brought = NOTHING
        for trial in range(self.design.method.trials):
            seat = Seat(replace(self.design, trial=trial), self.model, reads=self.reads)
            if result is not None:
                earlier = Earlier.of(result, str(result.ending), brought.carried)
                brought = seat.reflect(self.design.tasks[0], earlier)
            result = self._attempt(seat, brought)
            _show_end(self.console, result)
            if result.won:
                break
        return result

    def _attempt(self, seat: Seat, brought: Reflection) -> Episode:
        is_first = self.now is None
        task = self.design.tasks[0]
        with closing(self.design.world.open(task, self.design.setting)) as game:
            episode = seat.begin(task, game, brought)
            self.now = episode
            if self.own_goal and is_first:
                decides = one_line(episode.games_own)
                complain(f"note: the game decides what is won, by its own goal: {decides}")
            _show_begin(self.console, episode, rules=self.rules)
            if isinstance(self.model, HumanModel):
                self.model.observation = lambda: episode.shown_text
                return play(episode, partial(_show_outcome, self.console, episode))
            return play(episode, self._shown(episode))

    def _shown(self, episode: Play) -> Callable[[Step], None]:
        """Shows a step, with what surprised in the answer to the step before it and the advice that
        came with that.
        """
        advising = episode.player.mind.beyond.enforcement.guard is GuardMode.ADVISE
        advice = ""

        def show(step: Step) -> None:
            nonlocal advice
            _show_surprises(self.console, episode)
            self.show_step(step, advice=advice)
            advice = step.advice if advising else ""

        return show


def _show_begin(console: Console, episode: Play, *, rules: bool) -> None:
    """Show the task, how many rules are active for it, and what earlier attempts left."""
    goal = episode.goal
    mind = episode.player.mind
    task = Text.assemble(
        goal.text or "unknown goal", "\n", (episode.episode_id, "dim"), overflow="fold"
    )
    console.print(Panel(task, title=Text(episode.player.world.name), title_align="left"))
    active = mind.manual.active(goal.type, goal.object)
    counts = "none"
    if active.rules or active.environment:
        counts = (
            f"{len(active.universal)} universal, {len(active.domain)} domain,"
            f" {len(active.environment)} actions"
        )
    lines = [f"active rules: {counts}"]
    if rules:
        lines += [f"  [{rule.id}] {rule.text}" for rule in active.rules]
    console.print(Text("\n".join(lines), style="dim"))
    for line in mind.carried:
        console.print(Text(f"  carried: {one_line(line.strip(' -'))}", style="magenta"))


def _show_surprises(console: Console, episode: Play) -> None:
    """Show in what the world's answer to the step before differs from what was foretold."""
    for step in episode.steps[-2:-1]:
        _show_each(console, step.surprises)


def _show_each(console: Console, surprises: Iterable[Surprise]) -> None:
    for surprise in surprises:
        line = Text(one_line(str(surprise)), style="yellow")
        console.print(Padding(line, (0, 0, 0, 2)))


def _show_outcome(console: Console, episode: Play, step: Step) -> None:
    """Show how a person's command was read, whether the world took it, and what surprised before:
    they have seen the rest.
    """
    _show_surprises(console, episode)
    if step.command and step.command != step.action:
        why = f": {step.replaced}" if step.replaced else ""
        console.print(Text(f"  as {step.command}{why}", style="dim"))
    for line in infeasible_line(step):
        console.print(Text.assemble("  ", line))


def _with_or_without_memory(settings: Settings, world: World) -> Settings:
    """The settings; without memory if there is none and no condition was asked for."""
    if settings.condition is None and settings.memory is None and settings.condition_value().memory:
        try:
            settings.memory_file(world)
        except InputError:
            return replace(settings, condition="rules-only")
    return settings


def _show_end(console: Console, episode: Episode) -> None:
    if episode.steps:
        last = episode.steps[-1]
        console.print()
        console.print(said(last.result))
        _show_each(console, last.surprises)
    style = "bold green" if episode.won else "bold red"
    error = f": {episode.error}" if episode.error else ""
    steps = counted(len(episode.steps), "step")
    counts = f"{steps}, {episode.counts['infeasible']} infeasible, score {episode.score:g}"
    console.print(Text(f"{episode.ending}{error} ({counts})", style=style))
