"""`rpms play`: watch one episode, step by step."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rpms.cli import options
from rpms.cli.human import HumanModel, Left
from rpms.cli.options import model_options
from rpms.cli.panels import takes_options
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
from rpms.logic.belief import Situation
from rpms.logic.counting import counted
from rpms.logic.errors import InputError
from rpms.models.base import Model
from rpms.models.catalogue import Backend, parse_model_name
from rpms.models.windows import context_window
from rpms.paper.beyond import Advice
from rpms.paper.decide import Decision
from rpms.paper.enforcement import GuardMode
from rpms.paper.episode import Ending, Episode, Step
from rpms.paper.verdict import Candidate, Fate
from rpms.paper.wording import memory_line, situation_lines
from rpms.play.methods import NOTHING, Earlier, Reflection
from rpms.play.plan import NamedModel, RunPlan, lend
from rpms.play.seats import Play, Seat, play
from rpms.play.settings import Settings
from rpms.play.understanding import NO_GOAL, Reads
from rpms.store.runs import CUT
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
    plan = settings.plan(
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
    options.note_knowledge(settings, plan, window)
    watched = _Watched(
        console,
        plan,
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
    plan: RunPlan
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
        """Attempt the task until it is won, as often as the method does; return the last one."""
        result: Episode | None = None
        brought = NOTHING
        for trial in range(self.plan.method.trials):
            seat = Seat(replace(self.plan, trial=trial), self.model, reads=self.reads)
            if result is not None:
                earlier = Earlier.of(result, str(result.ending), brought.carried)
                brought = seat.reflect(self.plan.tasks[0], earlier)
            result = self._attempt(seat, brought)
            _show_end(self.console, result)
            if result.won:
                break
        return result

    def _attempt(self, seat: Seat, brought: Reflection) -> Episode:
        is_first = self.now is None
        task = self.plan.tasks[0]
        with closing(self.plan.world.open(task, self.plan.setting)) as game:
            episode = seat.begin(task, game, brought)
            self.now = episode
            if self.own_goal and is_first:
                decides = one_line(episode.games_own)
                complain(f"note: the game decides what is won, by its own goal: {decides}")
            _show_begin(self.console, episode, rules=self.rules)
            if isinstance(self.model, HumanModel):
                self.model.observation = lambda: episode.shown_text
                return play(episode, partial(_show_outcome, self.console))
            return play(episode, self._shown(episode))

    def _shown(self, episode: Play) -> Callable[[Step], None]:
        """Shows a step, with the advice that the step before it brought."""
        advising = episode.player.mind.beyond.enforcement.guard is GuardMode.ADVISE
        advice = ""

        def show(step: Step) -> None:
            nonlocal advice
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


def _show_outcome(console: Console, step: Step) -> None:
    """Show how a person's command was read, and whether the world took it: they have seen the
    rest.
    """
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
        console.print()
        console.print(said(episode.steps[-1].result))
    style = "bold green" if episode.won else "bold red"
    error = f": {episode.error}" if episode.error else ""
    steps = counted(len(episode.steps), "step")
    counts = f"{steps}, {episode.counts['infeasible']} infeasible, score {episode.score:g}"
    console.print(Text(f"{episode.ending}{error} ({counts})", style=style))


_STYLES = {Fate.KEPT: "green", Fate.WARNED: "yellow", Fate.DROPPED: "red"}
_UNFOLD = "--verbose shows all"


@dataclass(frozen=True)
class ScreenPart:
    """Some lines of a step that belong together, each as long as it is."""

    lines: Sequence[Text]
    indent: int = 2
    least: int = 1
    """The fewest lines of the screen that it may be folded to."""
    each: int | None = None
    """Most lines of the screen that one of its lines takes."""


def show_step(console: Console, step: Step, *, prompts: bool, advice: str, verbose: bool) -> None:
    """Print a step; on a terminal so that it fits, unless all is to be shown."""
    seen = f"{step.observation} ({advice})" if advice else step.observation
    observed = ScreenPart(list(said(seen).split("\n", allow_blank=True)), 0, 3)
    title = f"step {step.number} "
    rule = Text.assemble((title, "bold"), ("─" * (console.width - len(title)), "dim"))
    before = [ScreenPart([Text(""), rule], 0, 2), observed, *_known(step.decision, verbose=verbose)]
    before.append(ScreenPart([Text(line, style="cyan") for line in _reading_lines(step)]))
    after = list(_done(step))
    if prompts:
        _print(console, before, None)
        for title, text in step.decision.prompt.sections():
            console.print(Panel(Text(text), title=Text(title), title_align="left", style="dim"))
        _print(console, after, None)
        return
    has_to_fit = console.is_terminal and not verbose
    _print(console, [*before, *after], console.height - 1 if has_to_fit else None)


def _reading_lines(step: Step) -> list[str]:
    """Lines on how the request was read, or that it names no goal."""
    lines = [note for note in step.notes if note.startswith(NO_GOAL)]
    if step.readings is not None:
        lines += step.readings.lines()
    return lines


def said(observation: str) -> Text:
    """The world's text."""
    return Text(observation.strip("\n").expandtabs(4))


def infeasible_line(step: Step) -> list[Text]:
    """A line for an infeasible action, with the reason if the manual gives one."""
    if not step.infeasible:
        return []
    reason = f": {step.objection}" if step.objection else ""
    return [Text(f"infeasible{reason}", style="red")]


def cut_line(step: Step) -> list[Text]:
    """A line for an answer that was cut, which explains why it has no action, or half of one."""
    return [Text(CUT, style="red")] if step.truncated else []


def _known(decision: Decision, *, verbose: bool) -> Iterator[ScreenPart]:
    progress = decision.progress
    sub_goal = f"sub-goal: {progress.text.replace('_', ' ')} ({progress.percent}%)"
    rules = situation_lines(decision.rules, Situation(decision.belief, decision.goal))
    yield ScreenPart([Text(line, style="blue") for line in decision.belief.lines()], least=4)
    yield ScreenPart([Text(sub_goal, style="blue")], each=1)
    yield ScreenPart([Text(f"rule {line.strip(' -')}", style="magenta") for line in rules])
    yield from _recalled(decision, verbose=verbose)
    yield from _advised(decision.advice, verbose=verbose)


def _recalled(decision: Decision, *, verbose: bool) -> Iterator[ScreenPart]:
    """The memories that the prompt shows, and how many it does not; all of them if verbose."""
    if verbose:
        yield ScreenPart([_memory(each) for each in decision.candidates], least=3)
        return
    shown = [each for each in decision.candidates if each.verdict.fate.shown]
    yield ScreenPart([_memory(each) for each in shown], least=3, each=2)
    folded = rejected(decision)
    if folded:
        yield ScreenPart([Text(folded, style="dim")], each=1)


def _advised(advice: Advice, *, verbose: bool) -> Iterator[ScreenPart]:
    """Guidance, notice and menu, if there are any."""
    guidance = [f"guidance: {line.strip(' -')}" for line in advice.guidance]
    yield ScreenPart([Text(line, style="magenta") for line in guidance])
    if advice.notice:
        yield ScreenPart([Text(f"notice: {advice.notice}", style="yellow")])
    menu: list[Text] = []
    for item in advice.menu.items:
        why = f" — {item.reason}" if item.reason else ""
        menu.append(Text(f"menu: {item.command}{why}", style="dim"))
    yield ScreenPart(menu, least=2, each=None if verbose else 1)


def _memory(candidate: Candidate) -> Text:
    fate = candidate.verdict.fate
    reason = f" — {candidate.verdict.reason}" if candidate.verdict.reason else ""
    line = " ".join(memory_line(candidate).split("\n    [WARNING")[0].split())
    text = f"memory {candidate.entry.id} [{fate}] {candidate.score:.2f} {line}{reason}"
    return Text(text, style=_STYLES.get(fate, "dim"))


def rejected(decision: Decision) -> str:
    """Count of recalled memories that are not shown, by reason; empty for none."""
    every = [each.verdict.fate for each in decision.candidates]
    fates = Counter(fate for fate in every if not fate.shown)
    total = fates.total() + decision.unlisted
    if not total:
        return ""
    reasons = [f"{count} {fate}" for fate, count in fates.most_common()]
    if decision.unlisted:
        reasons.append(f"{decision.unlisted} not listed")
    memories = counted(total, "memory", "memories")
    return f"{memories} not shown: {', '.join(reasons)}; {_UNFOLD}"


def _named(command: str | None) -> str:
    return command or "(no action)"


def _done(step: Step) -> Iterator[ScreenPart]:
    if step.thought:
        yield ScreenPart([Text(f"thought: {' '.join(step.thought.split())}", style="italic")])
    refused: list[str] = []
    for command, reason in step.refusals:
        refused.append(f"refused: {_named(command)} — {reason}, asked again")
    if step.replaced:
        refused.append(f"replaced: {_named(step.action)} — {step.replaced}")
    yield ScreenPart([Text(line, style="yellow") for line in refused])
    yield ScreenPart([Text(f"> {_named(step.command)}", style="bold cyan")], 0)
    if step.plan:
        yield ScreenPart([Text(f"plan: {' ← '.join(step.plan)}", style="dim")])
    yield ScreenPart(cut_line(step))
    yield ScreenPart(infeasible_line(step))


def _print(console: Console, parts: Sequence[ScreenPart], height: int | None) -> None:
    blocks = [_lines(console, part, part.each) for part in parts]
    if height is not None:
        if sum(map(len, blocks)) > height:
            blocks = [_lines(console, part, 1 if part.each else None) for part in parts]
        blocks = _folded(blocks, [part.least for part in parts], height)
    for line in chain.from_iterable(blocks):
        console.print(line, no_wrap=True, overflow="ellipsis", crop=console.is_terminal)


def _lines(console: Console, part: ScreenPart, most: int | None) -> list[Text]:
    """The lines as the screen takes them: what is too long goes on, further in, on the next
    line.
    """
    indent = part.indent
    further = indent + 2 if indent else 0
    found: list[Text] = []
    for line in part.lines:
        wrapped = line.wrap(console, max(20, console.width - further)) or [Text("")]
        shown = wrapped[:most]
        for piece in shown:
            piece.rstrip()
        if len(shown) < len(wrapped):
            shown[-1].truncate(console.width - indent - 3)
            shown[-1].append(" …")
        first, *others = shown
        found.append(Text.assemble(" " * indent, first))
        found += [Text.assemble(" " * further, piece) for piece in others]
    return found


def _folded(blocks: list[list[Text]], least: Sequence[int], height: int) -> list[list[Text]]:
    """Blocks shortened until together they are no higher than that, the longest first; none goes
    below its least height.
    """
    keep = [len(block) for block in blocks]
    while sum(keep) > height:
        spare = [max(0, kept - few) for kept, few in zip(keep, least, strict=True)]
        if not any(spare):
            break
        keep[spare.index(max(spare))] -= 1
    for block, kept in zip(blocks, keep, strict=True):
        left = len(block) - kept + 1
        if left > 1:
            first = block[0].plain
            indent = first[: len(first) - len(first.lstrip())]
            block[kept - 1 :] = [Text(f"{indent}… {left} more lines; {_UNFOLD}", style="dim")]
    return blocks
