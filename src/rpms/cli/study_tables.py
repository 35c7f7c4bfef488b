"""Tables of `rpms study run`: its results, and its cost estimated beforehand."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text

from rpms.paper.episode import Usage
from rpms.play.controls import CONTROLS, FOLDER
from rpms.play.display import duration
from rpms.play.settings import NO_MEMORY
from rpms.play.success_rate import wilson
from rpms.report.table import TableCell, grid
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from rpms.study.cells import Result
from rpms.study.estimate import ANSWER, SECONDS, Estimate


def _mean(numbers: Sequence[int]) -> str:
    return f"{sum(numbers) / len(numbers):.1f}" if numbers else "-"


def _won_from_menus(control: str, result: Result) -> str:
    folder = RunFolder(result.folder / FOLDER / control)
    if not folder.begun:
        return "-"
    summary = folder.summary()
    return f"{summary.won}/{summary.total}"


def _interval(result: Result) -> str:
    low, high = wilson(result.summary.won, result.summary.total)
    return f"{100 * low:.1f}–{100 * high:.1f}"


def _refused(result: Result) -> str:
    steps = result.summary.steps
    return f"{result.summary.infeasible / steps:.1%}" if steps else "-"


def _switch(is_on: bool) -> str:
    return "ON" if is_on else "OFF"


def _entries(result: Result) -> str:
    """Entries of the memory."""
    return str(len(result.design.memory)) if result.case.condition.memory else "-"


def _mean_steps(result: Result) -> str:
    return _mean([row.steps for row in result.summary.rows])


def _mean_steps_if_won(result: Result) -> str:
    return _mean([row.steps for row in result.summary.rows if row.won])


def _floored_score(result: Result) -> str:
    """The mean score, with negative ones as 0."""
    scores = [row.floored for row in result.summary.rows]
    return f"{sum(scores) / result.summary.total:.1f}"


def _raw_score(result: Result) -> str:
    scores = [row.score for row in result.summary.rows]
    return f"{sum(scores) / result.summary.total:.1f}"


Columns = Mapping[str, Callable[[Result], str]]
_WON: Columns = {
    "rules": lambda result: _switch(result.case.condition.rules),
    "mem.": lambda result: _switch(result.case.condition.memory),
    "entries": _entries,
    "won": lambda result: f"{result.summary.won}/{result.summary.total}",
    "success": lambda result: f"{result.summary.won / result.summary.total:.1%}",
    "95% interval": _interval,
}
"""A task that was not played counts as not won."""
_WAY: Columns = {
    "steps": _mean_steps,
    "if won": _mean_steps_if_won,
    "infeas.": _refused,
}
_SCORES: Columns = {"score ≥ 0": _floored_score, "raw score": _raw_score}
_MENUS: Columns = {name.removeprefix("menu-"): partial(_won_from_menus, name) for name in CONTROLS}
"""Wins from the same menus, at random and by their best entry."""


def results_table(results: Sequence[Result]) -> RenderableType:
    """The conditions of each model: switches, success, steps, infeasible actions; scores in a
    table below.
    """
    by_model: dict[str, list[Result]] = {}
    for result in results:
        by_model.setdefault(result.model, []).append(result)
    shown: list[RenderableType] = []
    for model, of_model in by_model.items():
        title = model
        for columns in _column_groups(of_model):
            if not title:
                shown.append(Text())
            shown.append(_grid_of(columns, of_model, title))
            title = ""  # only the first table of a model has it
        unlearned = [result.case.name for result in of_model if _is_unlearned(result)]
        if unlearned:
            names = ", ".join(unlearned)
            shown.append(Text(f"nothing was learned: {names} played with an empty memory"))
    return Group(*shown)


def _grid_of(columns: Columns, results: Sequence[Result], title: str) -> RenderableType:
    rows: list[Sequence[str]] = []
    for result in results:
        cells = [cell(result) for cell in columns.values()]
        rows.append((result.case.name, *cells))
    return grid(("condition", *columns), rows, title)


def _column_groups(results: Sequence[Result]) -> list[Columns]:
    """The columns of one table, or of two where episodes have scores between 0 and 1."""
    menus = _MENUS if any(map(_has_controls, results)) else {}
    if any(map(_has_scores, results)):
        return [_WON, {**_WAY, **_SCORES, **menus}]
    return [{**_WON, **_WAY, **menus}]


def _has_controls(result: Result) -> bool:
    return any("-" not in cell(result) for cell in _MENUS.values())


def _has_scores(result: Result) -> bool:
    return any(row.score not in (0.0, 1.0) for row in result.summary.rows)


def _is_unlearned(result: Result) -> bool:
    """True if a condition with a memory found an empty one, though it was to have entries."""
    if not result.case.condition.memory or result.case.settings.memory == NO_MEMORY:
        return False
    return not len(result.design.memory)


def estimates_table(
    estimates: Sequence[Estimate], prices: Mapping[str, Price | None]
) -> RenderableType:
    """Table of the episodes, tokens and US dollars still to come, with a sum."""
    has_one_model = len({each.model for each in estimates}) == 1
    rows: list[Sequence[str | TableCell]] = []
    to_play = 0
    total = Usage()
    costs: list[float | None] = []
    for each in estimates:
        what = each.what if has_one_model else f"{each.model}, {each.what}"
        usage = each.usage if each.left else Usage()
        cost = each.cost(prices.get(each.model))
        rows.append((what, f"{each.left} of {each.episodes}", *_amounts(usage, cost), _basis(each)))
        to_play += each.left
        total += usage
        if each.left:
            costs.append(cost)
    whole = ("all", str(to_play), *_amounts(total, _sum_if_known(costs)), "")
    rows.append([TableCell(text, strong=True) for text in whole])
    return grid(("run", "to play", "tokens read", "written", "US$", "by"), rows)


def _sum_if_known(costs: Iterable[float | None]) -> float | None:
    """The sum of some costs; None if one of them is not known."""
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _basis(estimate: Estimate) -> str:
    """The source of an estimate's numbers."""
    if estimate.shared:
        return "another run"
    return "episodes" if estimate.measured else "guess"


def waiting_time(estimates: Sequence[Estimate], workers: int) -> str:
    """The time that answers still to come will take, in a line."""
    written = sum(each.usage.completion_tokens for each in estimates if not each.shared)
    answers = written // ANSWER
    if not answers:
        return "no language model will be asked: there are no answers to wait for"
    waits = [each.seconds for each in estimates if each.seconds is not None]
    wait = sum(waits) / len(waits) if waits else SECONDS
    basis = "as measured in the first episodes" if waits else "a guess until episodes are played"
    time = f"{duration(answers * wait / workers)} with --workers {workers}"
    return f"about {answers:,} answers: {time}, at {wait:.2g} s an answer, {basis}"


def _amounts(usage: Usage, cost: float | None) -> tuple[str, ...]:
    """Tokens read and written, and US dollars."""
    paid = "unknown" if cost is None else f"{cost:.2f}"
    return f"{usage.prompt_tokens:,}", f"{usage.completion_tokens:,}", paid
