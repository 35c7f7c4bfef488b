"""The end of a run on the screen: success, refused actions, tokens and cost."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console

from rpms.logic.facts import grouped
from rpms.paper.episode import Usage
from rpms.play.meter import spending
from rpms.play.success_rate import wilson
from rpms.play.trials import Trials
from rpms.report.table import TableCell, grid
from rpms.store.episodes import EpisodeRow
from rpms.store.run_summaries import CutAnswers, MemoryShown, RunSummary, lack_of_room
from rpms.store.runs import RunFolder
from rpms.worlds.base import games_won

_ERRORS_SHOWN = 3


def trial_lines(trials: Trials) -> list[str]:
    """Each trial apart, and the best of all: what is above them is the first trial alone."""
    lines: list[str] = []
    for number, each in enumerate(trials.summaries):
        as_above = "" if number else ", as above"
        lines.append(f"trial {number}: {each.won} of {each.total} won{as_above}")
    best = trials.best
    low, high = wilson(best.won, best.total)
    rate = f"{best.won / best.total:.1%}, 95% interval {low:.1%} to {high:.1%}"
    of_all = f"best of all trials: {best.won} of {best.total} won ({rate})"
    tokens = sum((each.usage for each in trials.summaries), start=Usage())
    if tokens.prompt_tokens:
        of_all += (
            f"; all trials took {tokens.prompt_tokens:,} prompt and {tokens.completion_tokens:,}"
            " completion tokens"
        )
    return [*lines, of_all, f"as a run of its own: {trials.best_folder}"]


def print_summary(console: Console, summary: RunSummary, folder: RunFolder) -> None:
    """Success overall and by type, steps, infeasible actions; tokens and cost where a model has
    used any.
    """
    by_type = grouped((row.type, row) for row in summary.rows)
    table: list[Sequence[str | TableCell]] = []
    for name, rows in sorted(by_type.items()):
        table.append((name, *_cells(rows)))
    if len(by_type) != 1:
        table.append([TableCell(text, strong=True) for text in ("all", *_cells(summary.rows))])
    console.print(grid(("type", "won", "success", "score", "steps", "infeas."), table))
    low, high = wilson(summary.won, summary.done)
    interval = f"95% interval {low:.1%} to {high:.1%}"
    endings = ", ".join(f"{count} {ending}" for ending, count in summary.endings.most_common())
    console.print(f"{summary.done} of {summary.total} episodes: {endings}; {interval}")
    lines = (
        *_counts(summary),
        *_memory_shown(summary, folder),
        *_warnings(summary),
        *spending_lines(*spending(folder, summary.rows), summary.won),
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    _print_errors(console, summary)


def _warnings(summary: RunSummary) -> Iterator[str]:
    """Prompts that did not fit, and answers that were cut."""
    for words in lack_of_room(summary.rows):
        yield f"WARNING: {words}"
    cut = CutAnswers.of(summary.rows)
    if cut.count:
        yield f"{'WARNING: ' if cut.too_many else ''}{cut.numbers} {cut.words}"


def _print_errors(console: Console, summary: RunSummary) -> None:
    """Print the first few errors, each once, and how many more there are."""
    errors = list(dict.fromkeys(row.error for row in summary.rows if row.error))
    for error in errors[:_ERRORS_SHOWN]:
        console.print(f"error: {error}", markup=False, soft_wrap=True)
    more = len(errors) - _ERRORS_SHOWN
    if more > 0:
        console.print(f"and {more} other errors; the episode files have them")


def _counts(summary: RunSummary) -> Iterator[str]:
    """Counts above zero: games won in all their sentences, refused actions, re-asks, replaced
    actions.
    """
    games = games_won((row.task, row.won) for row in summary.rows)
    if games:
        won = f"{games.in_every} of {games.total} won in every sentence"
        yield f"games: {won}, {games.in_some} in at least one"
    steps = summary.steps
    refused = foreseeable = reasks = replaced = 0
    for row in summary.rows:
        refused += row.infeasible
        foreseeable += row.foreseeable
        reasks += row.reasks
        replaced += row.replaced
    if refused:
        yield f"infeasible: {refused:,} of {steps:,} actions, {foreseeable:,} of them foreseeable"
    if reasks:
        yield f"re-asks: {reasks:,} ({reasks / max(1, steps):.2f} a step)"
    if replaced:
        yield f"replaced: {replaced:,} of {steps:,} actions were not the model's own"


def _memory_shown(summary: RunSummary, folder: RunFolder) -> Iterator[str]:
    """Steps in which a run with a memory had any of it in the prompt."""
    memory = folder.protocol.settings.get("memory")
    shown = MemoryShown.of(summary.rows)
    if isinstance(memory, Mapping) and memory.get("entries") and shown.steps:
        yield f"memory: in the prompt in {shown.numbers} steps"


def spending_lines(usage: Usage, cost: float | None, won: int) -> list[str]:
    """Tokens, cost and time of a run in words; empty without an LLM."""
    if not usage.prompt_tokens and not usage.completion_tokens:
        return []
    asked = f"{usage.prompt_tokens:,} prompt ({usage.cached_tokens:,} cached)"
    wrote = f"{usage.completion_tokens:,} completion; {usage.seconds:,.1f} s of model time"
    lines = [f"tokens: {asked}, {wrote}"]
    if cost is not None:
        each = f", ${cost / won:,.4f} a task solved" if won else ""
        lines.append(f"cost: ${cost:,.4f}{each}")
    return lines


def _cells(rows: Sequence[EpisodeRow]) -> list[str]:
    count = len(rows)
    if not count:
        return ["0/0", "-", "-", "-", "-"]
    won = sum(row.won for row in rows)
    steps = sum(row.steps for row in rows)
    score = sum(row.score for row in rows) / count
    refused = "-"
    if steps:
        refused = f"{sum(row.infeasible for row in rows) / steps:.1%}"
    return [f"{won}/{count}", f"{won / count:.1%}", f"{score:.2f}", f"{steps / count:.1f}", refused]
