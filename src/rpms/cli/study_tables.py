"""Tables of a study in the terminal: its results, and the cost estimated before it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text

from rpms.core.proportion import wilson
from rpms.core.usage import Price
from rpms.play.epochs import CONTROLS, FOLDER
from rpms.report.table import TableCell, grid
from rpms.store.runs import RunFolder
from rpms.study.estimate import Estimate
from rpms.study.run import Result


def _mean(numbers: Sequence[int]) -> str:
    return f"{sum(numbers) / len(numbers):.1f}" if numbers else "-"


def _won_from_menus(control: str, result: Result) -> str:
    folder = RunFolder(result.folder / FOLDER / control)
    return f"{(found := folder.summary()).won}/{found.total}" if folder.begun else "-"


Columns = Mapping[str, Callable[[Result], str]]
_WON: Columns = {
    "rules": lambda result: "ON" if result.case.condition.rules else "OFF",
    "mem.": lambda result: "ON" if result.case.condition.memory else "OFF",
    "entries": lambda result: str(len(result.plan.memory)) if result.case.condition.memory else "-",
    "won": lambda result: f"{result.summary.won}/{result.summary.total}",
    "success": lambda result: f"{result.summary.won / result.summary.total:.1%}",
    "95% interval": lambda result: "–".join(
        f"{100 * end:.1f}" for end in wilson(result.summary.won, result.summary.total)
    ),
}
"""A task that was not played counts as not won."""
_WAY: Columns = {
    "steps": lambda result: _mean([row.steps for row in result.summary.rows]),
    "if won": lambda result: _mean([row.steps for row in result.summary.rows if row.won]),
    "infeas.": lambda result: f"{result.summary.infeasible / steps:.1%}" if (steps := result.summary.steps) else "-",
}
_SCORES: Columns = {
    "score ≥ 0": lambda result: f"{sum(row.floored for row in result.summary.rows) / result.summary.total:.1f}",
    "raw score": lambda result: f"{sum(row.score for row in result.summary.rows) / result.summary.total:.1f}",
}
_MENUS: Columns = {name.removeprefix("menu-"): partial(_won_from_menus, name) for name in CONTROLS}
"""Wins from the same menus, at random and by their best entry."""


def results_table(results: Sequence[Result]) -> RenderableType:
    """The conditions of each model: switches, success, steps, infeasible actions; scores in a table below."""
    shown: list[RenderableType] = []
    for model in dict.fromkeys(result.model for result in results):
        of_model = [result for result in results if result.model == model]
        scored = any(row.score not in (0.0, 1.0) for result in of_model for row in result.summary.rows)
        menus = _MENUS if any("-" not in cell(result) for result in of_model for cell in _MENUS.values()) else {}
        parts = (_WON, {**_WAY, **_SCORES, **menus}) if scored else ({**_WON, **_WAY, **menus},)
        for number, columns in enumerate(parts):
            rows = [(result.case.name, *(cell(result) for cell in columns.values())) for result in of_model]
            table = grid(("condition", *columns), rows, "" if number else model)
            shown += [Text(), table] if number else [table]
        unlearned = [each.case.name for each in of_model if each.case.condition.memory and not len(each.plan.memory)]
        if unlearned:
            shown.append(Text(f"nothing was learned: {', '.join(unlearned)} played with an empty memory"))
    return Group(*shown)


def estimates_table(estimates: Sequence[Estimate], prices: Mapping[str, Price | None]) -> RenderableType:
    """Table of the episodes, tokens and US dollars still to come, with a sum."""
    one = len({each.model for each in estimates}) == 1
    rows: list[Sequence[str | TableCell]] = []
    for each in estimates:
        usage, by = each.usage, "another run" if each.shared else "episodes" if each.measured else "guess"
        what = each.what if one else f"{each.model}, {each.what}"
        tokens = (usage.prompt_tokens, usage.completion_tokens) if each.left else (0, 0)
        rows.append(
            (what, f"{each.left} of {each.episodes}", *_amounts(*tokens, each.cost(prices.get(each.model))), by)
        )
    left = [each for each in estimates if each.left]
    costs = [each.cost(prices.get(each.model)) for each in left]
    read, written = (sum(getattr(each.usage, f"{kind}_tokens") for each in left) for kind in ("prompt", "completion"))
    paid = None if None in costs else sum(filter(None, costs))
    whole = ("all", str(sum(each.left for each in left)), *_amounts(read, written, paid), "")
    rows.append([TableCell(text, strong=True) for text in whole])
    return grid(("run", "to play", "tokens read", "written", "US$", "by"), rows)


def _amounts(read: int, written: int, cost: float | None) -> tuple[str, ...]:
    return f"{read:,}", f"{written:,}", "unknown" if cost is None else f"{cost:.2f}"
