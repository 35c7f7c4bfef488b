"""`rpms play`: watch one episode, step by step."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from rpms.cli import options
from rpms.core.advise import Advice
from rpms.core.arbitration import Arbitration
from rpms.core.belief import Situation
from rpms.core.condition import compose
from rpms.core.decide import Decision
from rpms.core.enforcement import GuardMode
from rpms.core.episode import Ending, Episode, Step
from rpms.core.errors import InputError
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Fate
from rpms.core.voice import memory_line, situation_lines
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions, open_model
from rpms.play.episode import Play, play
from rpms.play.setup import knowledge_of
from rpms.store.answers import FolderOfAnswers
from rpms.worlds.registry import find_world

_STYLES = {Fate.KEPT: "green", Fate.WARNED: "yellow", Fate.DROPPED: "red"}


def play_one(
    world: options.WorldName,
    task: Annotated[str | None, typer.Option(help="A task's number, name or id; the first by default.")] = None,
    variation: Annotated[int | None, typer.Option(help="Of --task NAME, in ScienceWorld.")] = None,
    split: options.SplitName = None,
    data: options.DataFolder = None,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    base_url: options.BaseUrl = None,
    condition: options.ConditionName = "full",
    arbitration: options.ArbitrationMode = Arbitration.HARD_SOFT,
    state_filter: options.StateFilter = True,
    layout: options.LayoutName = "cached",
    memory: options.MemoryFile = None,
    preset: options.PresetName = "paper",
    enforce: options.Enforce = None,
    steps: options.Steps = None,
    option: options.WorldOptions = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="Show each prompt in full.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Show the active rules at the start.")] = False,
) -> None:
    """Play one task and show every step: observation, belief, rules, memories with verdicts, action."""
    found = find_world(world)
    if steps is not None and steps < 1:
        raise InputError(f"a budget of {steps} steps leaves nothing to do")
    enforcement = options.make_enforcement(preset, enforce)
    options.refuse_choosing_without_menu(enforcement, model)
    setting = options.make_setting(found, data, engine, option)
    chosen = options.named_task(
        found, lambda given: found.tasks(split or found.splits[0], given), setting, task, variation
    )
    knowledge = knowledge_of(found)
    chosen_condition = options.make_condition(
        condition,
        arbitration,
        state_filter=state_filter,
        layout=layout,
        enforcement=enforcement,
    )
    options.note_idle_parts(found, chosen_condition.enforcement)
    options.note_free_actions(chosen_condition.enforcement, model)
    mind = compose(
        chosen_condition, knowledge, options.make_memory(memory or options.embedded_memory(found, split), found)
    )
    console = Console(highlight=False, emoji=False)
    answering = open_model(model, ModelOptions(base_url=base_url), open_answers=FolderOfAnswers)
    game = found.open(chosen, setting)
    try:
        episode = Play(
            found,
            game,
            chosen,
            mind,
            answering,
            Decoding(max_tokens=found.max_tokens),
            steps or found.step_budget,
        )
        console.print(
            Panel(Text(episode.goal.text or "unknown goal"), title=f"{found.name}: {chosen.id}", title_align="left")
        )
        _show_rules(console, mind.manual.active(episode.goal.type, episode.goal.object), whole=rules)
        advising = mind.enforcement.guard is GuardMode.ADVISE
        advice = ""

        def show(step: Step) -> None:
            nonlocal advice
            _show(console, step, prompt=prompt, told=advice)
            advice = step.advice if advising else ""

        result = play(episode, show)
    finally:
        game.close()
        answering.close()
    _show_end(console, result)
    if result.ending in (Ending.MODEL_ERROR, Ending.WORLD_ERROR):
        raise typer.Exit(1)


def _show_rules(console: Console, active: ActiveRules, *, whole: bool) -> None:
    counts = f"{len(active.universal)} universal, {len(active.domain)} domain, {len(active.environment)} actions"
    console.print(
        Text(f"active rules: {counts}" if active.rules or active.environment else "active rules: none", style="dim")
    )
    if whole:
        for rule in active.rules:
            console.print(Text(f"  [{rule.id}] {rule.text}", style="dim"))


def _show(console: Console, step: Step, *, prompt: bool, told: str) -> None:
    decision = step.decision
    console.print()
    console.rule(Text(f"step {step.number}", style="bold"), align="left", style="dim")
    console.print(_said(f"{step.observation} ({told})" if told else step.observation))
    console.print(_belief(decision))
    for candidate in decision.candidates:
        fate = candidate.verdict.fate
        reason = f" — {candidate.verdict.reason}" if candidate.verdict.reason else ""
        line = " ".join(memory_line(candidate).split("\n    [WARNING")[0].split())
        console.print(
            Text(
                f"  memory {candidate.entry.id} [{fate}] {candidate.score:.2f} {line}{reason}",
                style=_STYLES.get(fate, "dim"),
            )
        )
    _show_advice(console, decision.advice)
    if prompt:
        for block in decision.prompt.blocks:
            console.print(
                Panel(Text(block.text), title=f"{block.part}, {block.tokens} tokens", title_align="left", style="dim")
            )
    if step.thought:
        console.print(Text(f"  thought: {step.thought}", style="italic"))
    for command, reason in step.refusals:
        console.print(Text(f"  refused: {command or '(no action)'} — {reason}, asked again", style="yellow"))
    if step.replaced:
        console.print(Text(f"  replaced: {step.action or '(no action)'} — {step.replaced}", style="yellow"))
    console.print(Text(f"> {step.command or '(no action)'}", style="bold cyan"))
    if step.plan:
        console.print(Text(f"  plan: {' ← '.join(step.plan)}", style="dim"), soft_wrap=True)
    if step.infeasible:
        console.print(Text(f"  infeasible{': ' + step.objection if step.objection else ''}", style="red"))


def _show_advice(console: Console, advice: Advice) -> None:
    for line in advice.guidance:
        console.print(Text(f"  guidance: {line.strip(' -')}", style="magenta"))
    if advice.notice:
        console.print(Text(f"  notice: {advice.notice}", style="yellow"))
    for item in advice.menu.items:
        console.print(Text(f"  menu: {item.command}{f' — {item.reason}' if item.reason else ''}", style="dim"))


def _said(observation: str) -> Text:
    return Text(observation.strip("\n").expandtabs(4))


def _belief(decision: Decision) -> Group:
    lines = [Text(f"  {line}", style="blue") for line in decision.belief.lines()]
    sub_goal = decision.progress.text.replace("_", " ")
    lines.append(Text(f"  sub-goal: {sub_goal} ({decision.progress.percent}%)", style="blue"))
    lines.extend(
        Text(f"  rule {line.strip(' -')}", style="magenta")
        for line in situation_lines(decision.rules, Situation(decision.belief, decision.goal))
    )
    return Group(*lines)


def _show_end(console: Console, episode: Episode) -> None:
    if episode.steps:
        console.print()
        console.print(_said(episode.steps[-1].result))
    style = "bold green" if episode.won else "bold red"
    error = f": {episode.error}" if episode.error else ""
    counts = f"{len(episode.steps)} steps, {episode.infeasible} infeasible, score {episode.score:g}"
    console.print(Text(f"{episode.ending}{error} ({counts})", style=style))
