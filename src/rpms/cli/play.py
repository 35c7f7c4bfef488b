"""`rpms play`: watch one episode, step by step."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rpms.cli import options
from rpms.cli.human import HumanModel, Left
from rpms.cli.options import model_options
from rpms.cli.screen import complain, make_console
from rpms.foreign.shown import one_line
from rpms.logic.belief import Situation
from rpms.logic.errors import InputError
from rpms.models.catalogue import Backend, parse_model_name
from rpms.models.windows import context_window
from rpms.paper.decide import Decision
from rpms.paper.enforcement import GuardMode
from rpms.paper.episode import Ending, Episode, Step
from rpms.paper.verdict import Candidate, Fate
from rpms.paper.wording import memory_line, situation_lines
from rpms.play.methods import NOTHING, Earlier
from rpms.play.plan import NamedModel, lend
from rpms.play.seats import Play, Seat, play
from rpms.play.settings import Settings
from rpms.play.understanding import NO_GOAL, Reads
from rpms.store.runs import CUT
from rpms.worlds.base import REQUEST, World
from rpms.worlds.registry import find_world


def main(
    settings: Settings,
    world: str,
    task: str | None = None,
    variation: int | None = None,
    data: Path | None = None,
    engine: str = "native",
    model: str = "planner",
    base_url: str | None = None,
    option: list[str] | None = None,
    goal: str | None = None,
    show_prompts: bool = False,
    rules: bool = False,
    verbose: bool = False,
) -> None:
    """Play one task and watch every step: observation, belief, rules, memories with verdicts,
    action.
    """
    found = find_world(world)
    asked, settings = settings, _with_or_without_memory(settings, found)
    options.require_menu(settings.condition_value().enforcement, model)
    setting = settings.setting(found, options.make_setting(found, data, engine, option))
    chosen = options.named_task(found, settings.split or found.splits[0], setting, task, variation)
    if goal is not None:
        if not goal.strip():
            raise InputError("--goal is empty: say what is wanted, or leave it out")
        chosen = replace(chosen, source={**chosen.source, REQUEST: " ".join(goal.split())})
    named, reader = NamedModel(model, model_options(base_url)), settings.reader or ""
    console, window = make_console(), context_window(model, settings.context, base_url)
    person = (
        HumanModel(console, found)
        if parse_model_name(model).provider.backend is Backend.HUMAN
        else None
    )
    answering = person or named()
    reads = Reads.by(
        reader,
        replace(named, name=reader),
        answering,
        person.ask_goal if person is not None else None,
    )
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
    brought = NOTHING
    result: Episode | None = None
    try:
        for trial in range(plan.method.trials):
            seat = Seat(replace(plan, trial=trial), answering, reads=reads)
            if result is not None:
                brought = seat.reflect(
                    chosen, Earlier.of(result, str(result.ending), brought.carried)
                )
            with closing(found.open(chosen, setting)) as game:
                episode = seat.begin(chosen, game, brought)
                if goal is not None and result is None:
                    complain(
                        "note: the game decides what is won, by its own goal:"
                        f" {one_line(episode.games_own)}"
                    )
                shown = partial(show_step, console, prompts=show_prompts, verbose=verbose)
                result = _attempt(console, episode, person, shown, rules=rules)
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
    console: Console,
    episode: Play,
    person: HumanModel | None,
    show_step: Callable[..., None],
    *,
    rules: bool,
) -> Episode:
    """Play to the end, and show every step."""
    goal, mind = episode.goal, episode.player.mind
    task = Text.assemble(
        goal.text or "unknown goal", "\n", (episode.episode_id, "dim"), overflow="fold"
    )
    console.print(Panel(task, title=Text(episode.player.world.name), title_align="left"))
    active = mind.manual.active(goal.type, goal.object)
    counts = (
        f"{len(active.universal)} universal, {len(active.domain)} domain, {len(active.environment)}"
        " actions"
    )
    lines = [f"active rules: {counts if active.rules or active.environment else 'none'}"]
    lines += [f"  [{rule.id}] {rule.text}" for rule in active.rules if rules]
    console.print(Text("\n".join(lines), style="dim"))
    for line in mind.carried:
        console.print(Text(f"  carried: {one_line(line.strip(' -'))}", style="magenta"))
    advising = mind.beyond.enforcement.guard is GuardMode.ADVISE
    advice = ""
    if person is not None:
        person.observation = lambda: episode.told

    def show(step: Step) -> None:
        nonlocal advice
        if person is not None:  # a person has seen the rest
            if step.command and step.command != step.action:
                console.print(
                    Text(
                        f"  as {step.command}{': ' + step.replaced if step.replaced else ''}",
                        style="dim",
                    )
                )
            for line in infeasible_line(step):
                console.print(Text.assemble("  ", line))
            return
        show_step(step, told=advice)
        advice = step.advice if advising else ""

    return play(episode, show)


def _with_or_without_memory(settings: Settings, world: World) -> Settings:
    """The same, or others without memory if no condition was asked for and there is none."""
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
    steps = len(episode.steps)
    counts = (
        f"{steps} step{'' if steps == 1 else 's'}, {episode.counts['infeasible']} infeasible, score"
        f" {episode.score:g}"
    )
    console.print(Text(f"{episode.ending}{error} ({counts})", style=style))


_STYLES = {Fate.KEPT: "green", Fate.WARNED: "yellow", Fate.DROPPED: "red"}
_UNFOLD = "--verbose shows all"


@dataclass(frozen=True)
class ScreenPart:
    """Some lines of a step that belong together, each as long as it is."""

    lines: Sequence[Text]
    indent: int = 2
    least: int = 1
    """To how few lines of the screen it may be folded."""
    each: int | None = None
    """Most lines of the screen that one of its lines takes."""


def show_step(console: Console, step: Step, *, prompts: bool, told: str, verbose: bool) -> None:
    """Print a step; on a terminal so that it fits, unless all is to be shown."""
    seen = f"{step.observation} ({told})" if told else step.observation
    observed = ScreenPart(list(said(seen).split("\n", allow_blank=True)), 0, 3)
    title = f"step {step.number} "
    rule = Text.assemble((title, "bold"), ("─" * (console.width - len(title)), "dim"))
    before = [ScreenPart([Text(""), rule], 0, 2), observed, *_known(step.decision, verbose=verbose)]
    readings = [note for note in step.notes if note.startswith(NO_GOAL)]
    readings += step.readings.lines() if step.readings is not None else ()
    before.append(ScreenPart([Text(line, style="cyan") for line in readings]))
    after = list(_done(step))
    if prompts:
        _print(console, before, None)
        for title, text in step.decision.prompt.sections():
            console.print(Panel(Text(text), title=Text(title), title_align="left", style="dim"))
        _print(console, after, None)
        return
    _print(
        console,
        [*before, *after],
        console.height - 1 if console.is_terminal and not verbose else None,
    )


def said(observation: str) -> Text:
    """The world's text."""
    return Text(observation.strip("\n").expandtabs(4))


def infeasible_line(step: Step) -> list[Text]:
    """A line for an infeasible action, with the reason if the manual gives one."""
    words = f"infeasible{': ' + step.objection if step.objection else ''}"
    return [Text(words, style="red")] if step.infeasible else []


def cut_line(step: Step) -> list[Text]:
    """A line for an answer that was cut, which explains why it has no action, or half of one."""
    return [Text(CUT, style="red")] if step.truncated else []


def _known(decision: Decision, *, verbose: bool) -> Iterator[ScreenPart]:
    sub_goal = (
        f"sub-goal: {decision.progress.text.replace('_', ' ')} ({decision.progress.percent}%)"
    )
    rules = situation_lines(decision.rules, Situation(decision.belief, decision.goal))
    yield ScreenPart([Text(line, style="blue") for line in decision.belief.lines()], least=4)
    yield ScreenPart([Text(sub_goal, style="blue")], each=1)
    yield ScreenPart([Text(f"rule {line.strip(' -')}", style="magenta") for line in rules])
    shown = [each for each in decision.candidates if verbose or each.verdict.fate.shown]
    yield ScreenPart(
        [_memory(candidate) for candidate in shown], least=3, each=None if verbose else 2
    )
    if not verbose and (folded := rejected(decision)):
        yield ScreenPart([Text(folded, style="dim")], each=1)
    advice = decision.advice
    yield ScreenPart(
        [Text(f"guidance: {line.strip(' -')}", style="magenta") for line in advice.guidance]
    )
    yield ScreenPart([Text(f"notice: {advice.notice}", style="yellow")] if advice.notice else [])
    menu = [
        f"menu: {item.command}{f' — {item.reason}' if item.reason else ''}"
        for item in advice.menu.items
    ]
    yield ScreenPart(
        [Text(line, style="dim") for line in menu], least=2, each=None if verbose else 1
    )


def _memory(candidate: Candidate) -> Text:
    fate = candidate.verdict.fate
    reason = f" — {candidate.verdict.reason}" if candidate.verdict.reason else ""
    line = " ".join(memory_line(candidate).split("\n    [WARNING")[0].split())
    text = f"memory {candidate.entry.id} [{fate}] {candidate.score:.2f} {line}{reason}"
    return Text(text, style=_STYLES.get(fate, "dim"))


def rejected(decision: Decision) -> str:
    """Count of recalled memories that are not shown, by reason; empty for none."""
    fates = Counter(
        each.verdict.fate for each in decision.candidates if not each.verdict.fate.shown
    )
    if not (total := fates.total() + decision.unlisted):
        return ""
    reasons = [f"{count} {fate}" for fate, count in fates.most_common()]
    reasons += [f"{decision.unlisted} not listed"] if decision.unlisted else []
    return (
        f"{total} {'memory' if total == 1 else 'memories'} not shown: {', '.join(reasons)};"
        f" {_UNFOLD}"
    )


def _done(step: Step) -> Iterator[ScreenPart]:
    if step.thought:
        yield ScreenPart([Text(f"thought: {' '.join(step.thought.split())}", style="italic")])
    refused = [
        f"refused: {command or '(no action)'} — {reason}, asked again"
        for command, reason in step.refusals
    ]
    if step.replaced:
        refused.append(f"replaced: {step.action or '(no action)'} — {step.replaced}")
    yield ScreenPart([Text(line, style="yellow") for line in refused])
    yield ScreenPart([Text(f"> {step.command or '(no action)'}", style="bold cyan")], 0)
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
    for line in (line for block in blocks for line in block):
        console.print(line, no_wrap=True, overflow="ellipsis", crop=console.is_terminal)


def _lines(console: Console, part: ScreenPart, most: int | None) -> list[Text]:
    """The lines as the screen takes them: what is too long goes on, further in, on the next
    line.
    """
    found: list[Text] = []
    for line in part.lines:
        indent = part.indent
        wrapped = line.wrap(console, max(20, console.width - indent - (2 if indent else 0))) or [
            Text("")
        ]
        for number, piece in enumerate(wrapped[:most]):
            piece.rstrip()
            if most is not None and number + 1 == most < len(wrapped):
                piece.truncate(console.width - indent - 3)
                piece.append(" …")
            found.append(Text.assemble(" " * (indent + (2 if indent and number else 0)), piece))
    return found


def _folded(blocks: list[list[Text]], least: Sequence[int], height: int) -> list[list[Text]]:
    """Blocks that together are no higher than that, as far as their least heights allow; the
    longest give way first.
    """
    keep = [len(block) for block in blocks]
    while sum(keep) > height:
        spare = [max(0, kept - few) for kept, few in zip(keep, least, strict=True)]
        if not any(spare):
            break
        keep[spare.index(max(spare))] -= 1
    for block, kept in zip(blocks, keep, strict=True):
        if (left := len(block) - kept + 1) > 1:
            first = block[0].plain
            indent = first[: len(first) - len(first.lstrip())]
            block[kept - 1 :] = [Text(f"{indent}… {left} more lines; {_UNFOLD}", style="dim")]
    return blocks
