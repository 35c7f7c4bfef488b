"""A step on the screen of `rpms play`, folded so that it fits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from rpms.logic.belief import Situation
from rpms.logic.counting import counted
from rpms.paper.beyond import Advice
from rpms.paper.decide import Decision
from rpms.paper.episode import Step
from rpms.paper.verdict import Candidate, Fate
from rpms.paper.wording import memory_line, situation_lines
from rpms.play.understanding import NO_GOAL
from rpms.store.run_summaries import CUT

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


def _styled(lines: Iterable[str], style: str) -> list[Text]:
    return [Text(line, style=style) for line in lines]


def show_step(console: Console, step: Step, *, prompts: bool, advice: str, verbose: bool) -> None:
    """Print a step; on a terminal so that it fits, unless all is to be shown."""
    before = [
        _heading(step, console.width),
        _observed(step, advice),
        *_known(step.decision, verbose=verbose),
        ScreenPart(_styled(_reading_lines(step), "cyan")),
    ]
    after = list(_done(step))
    if prompts:
        _print(console, before, None)
        for title, text in step.decision.prompt.sections():
            console.print(Panel(Text(text), title=Text(title), title_align="left", style="dim"))
        _print(console, after, None)
        return
    has_to_fit = console.is_terminal and not verbose
    _print(console, [*before, *after], console.height - 1 if has_to_fit else None)


def _heading(step: Step, width: int) -> ScreenPart:
    """The step's number, and a line across the screen."""
    title = f"step {step.number} "
    across = "─" * (width - len(title))
    rule = Text.assemble((title, "bold"), (across, "dim"))
    return ScreenPart([Text(""), rule], indent=0, least=2)


def _observed(step: Step, advice: str) -> ScreenPart:
    """The world's text, and the advice that the guard added to it."""
    seen = f"{step.observation} ({advice})" if advice else step.observation
    lines = said(seen).split("\n", allow_blank=True)
    return ScreenPart(list(lines), indent=0, least=3)


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
    rule_lines = [f"rule {line.strip(' -')}" for line in rules]
    yield ScreenPart(_styled(decision.belief.lines(), "blue"), least=4)
    yield ScreenPart(_styled([sub_goal], "blue"), each=1)
    yield ScreenPart(_styled(rule_lines, "magenta"))
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
        yield ScreenPart(_styled([folded], "dim"), each=1)


def _advised(advice: Advice, *, verbose: bool) -> Iterator[ScreenPart]:
    """Guidance, notice and menu, if there are any."""
    guidance = [f"guidance: {line.strip(' -')}" for line in advice.guidance]
    yield ScreenPart(_styled(guidance, "magenta"))
    if advice.notice:
        yield ScreenPart(_styled([f"notice: {advice.notice}"], "yellow"))
    menu: list[str] = []
    for item in advice.menu.items:
        why = f" — {item.reason}" if item.reason else ""
        menu.append(f"menu: {item.command}{why}")
    yield ScreenPart(_styled(menu, "dim"), least=2, each=None if verbose else 1)


def _memory(candidate: Candidate) -> Text:
    fate = candidate.verdict.fate
    reason = f" — {candidate.verdict.reason}" if candidate.verdict.reason else ""
    line = " ".join(memory_line(candidate).split("\n    [WARNING")[0].split())
    text = f"memory {candidate.entry.id} [{fate}] {candidate.score:.2f} {line}{reason}"
    return Text(text, style=_STYLES.get(fate, "dim"))


def rejected(decision: Decision) -> str:
    """Count of recalled memories that are not shown, by reason; empty for none."""
    fates: Counter[Fate] = Counter()
    for candidate in decision.candidates:
        fate = candidate.verdict.fate
        if not fate.shown:
            fates[fate] += 1
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
    """The model's thought and action, and what was refused or replaced on the way to it."""
    if step.thought:
        thought = " ".join(step.thought.split())
        yield ScreenPart(_styled([f"thought: {thought}"], "italic"))
    refused: list[str] = []
    for command, reason in step.refusals:
        refused.append(f"refused: {_named(command)} — {reason}, asked again")
    if step.replaced:
        refused.append(f"replaced: {_named(step.action)} — {step.replaced}")
    yield ScreenPart(_styled(refused, "yellow"))
    yield ScreenPart(_styled([f"> {_named(step.command)}"], "bold cyan"), indent=0)
    if step.plan:
        plan = " ← ".join(step.plan)
        yield ScreenPart(_styled([f"plan: {plan}"], "dim"))
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
    """The lines, wrapped to the width of the screen; continuations are indented further."""
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
    """Blocks shortened until together they are no higher than that; none goes below its least
    height.
    """
    heights = _fitting_heights([len(block) for block in blocks], least, height)
    folded: list[list[Text]] = []
    for block, kept in zip(blocks, heights, strict=True):
        hidden = len(block) - kept + 1  # the last line that is kept says how many are not
        if hidden > 1:
            first = block[0].plain
            indent = first[: len(first) - len(first.lstrip())]
            more = Text(f"{indent}… {hidden} more lines; {_UNFOLD}", style="dim")
            folded.append([*block[: kept - 1], more])
        else:
            folded.append(block)
    return folded


def _fitting_heights(heights: Sequence[int], least: Sequence[int], most: int) -> list[int]:
    """Heights that together are at most so high, if they can be: the longest gives way first."""
    fitting = list(heights)
    while sum(fitting) > most:
        spare = [max(0, height - few) for height, few in zip(fitting, least, strict=True)]
        if not any(spare):
            break
        longest = spare.index(max(spare))
        fitting[longest] -= 1
    return fitting
