"""A study's results in the terminal, without anything installed beside the package itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rpms.core.proportion import wilson
from rpms.core.usage import Price
from rpms.play.epochs import CONTROLS, FOLDER
from rpms.store.runs import RunFolder
from rpms.study.estimate import Estimate
from rpms.study.run import Result

_SWITCH = {True: "ON", False: "OFF"}


_WON = ("rules", "mem.", "entries", "won", "success", "95% interval")
_WAY = ("steps", "if won", "infeas.")
_SCORES = ("score ≥ 0", "raw score")
_MENUS = tuple(name.removeprefix("menu-") for name in CONTROLS)
"""The controls of a run with menus."""


def results_table(results: Sequence[Result]) -> RenderableType:
    """The conditions of each model: switches, success, steps, infeasible actions; scores in a table below."""
    shown: list[RenderableType] = []
    for model in dict.fromkeys(result.cell.model for result in results):
        of_model = [result for result in results if result.cell.model == model]
        scored = any(row.score not in (0.0, 1.0) for result in of_model for row in result.summary.rows)
        menus = (_MENUS,) if any("-" not in each for result in of_model for each in _controls(result)) else ()
        parts = ((_WON,), (_WAY, _SCORES, *menus)) if scored else ((_WON, _WAY, *menus),)
        for number, headings in enumerate(parts):
            table = _table("" if number else model, [heading for part in headings for heading in part])
            for result in of_model:
                cells = (cell for part in headings for cell in _CELLS[part](result))
                table.add_row(Text(result.cell.case.name), *cells)
            shown += [Text(), table] if number else [table]
        played = [result.cell for result in of_model]
        unlearned = [cell.case.name for cell in played if cell.case.condition.memory and not len(cell.plan.memory)]
        if unlearned:
            shown.append(Text(f"nothing was learned: {', '.join(unlearned)} played with an empty memory"))
    return Group(*shown)


def _table(title: str, headings: Iterable[str]) -> Table:
    table = Table(title=Text(title) if title else None, title_justify="left", box=None, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("condition", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _won(result: Result) -> Iterable[str]:
    """A task that was not played counts as not won."""
    condition, summary = result.cell.case.condition, result.summary
    low, high = wilson(summary.won, summary.total)
    yield _SWITCH[condition.rules]
    yield _SWITCH[condition.memory]
    yield str(len(result.cell.plan.memory)) if condition.memory else "-"
    yield f"{summary.won}/{summary.total}"
    yield f"{summary.won / summary.total:.1%}"
    yield f"{100 * low:.1f}–{100 * high:.1f}"


def _way(result: Result) -> Iterable[str]:
    summary = result.summary
    won = [row.steps for row in summary.rows if row.won]
    yield f"{summary.steps / summary.done:.1f}" if summary.done else "-"
    yield f"{sum(won) / len(won):.1f}" if won else "-"
    yield f"{summary.infeasible / summary.steps:.1%}" if summary.steps else "-"


def _scores(result: Result) -> Iterable[str]:
    summary = result.summary
    yield f"{sum(max(row.score, 0.0) for row in summary.rows) / summary.total:.1f}"
    yield f"{sum(row.score for row in summary.rows) / summary.total:.1f}"


def _controls(result: Result) -> Iterable[str]:
    """Wins from the same menus, at random and by their best entry."""
    for name in CONTROLS:
        folder = RunFolder(result.cell.folder / FOLDER / name)
        yield f"{(found := folder.summary()).won}/{found.total}" if folder.begun else "-"


_CELLS = {_WON: _won, _WAY: _way, _SCORES: _scores, _MENUS: _controls}


def estimates_table(estimates: Sequence[Estimate], prices: dict[str, Price | None]) -> RenderableType:
    """Table of the episodes, tokens and US dollars still to come, with a sum."""
    table = Table(box=None, pad_edge=False)
    one = len({each.model for each in estimates}) == 1
    for heading in ("run", "to play", "tokens read", "written", "US$", "by"):
        table.add_column(heading, justify="left" if heading == "run" else "right", no_wrap=True)
    for each in estimates:
        cost = each.cost(prices.get(each.model))
        usage = each.usage
        table.add_row(
            Text(each.what if one else f"{each.model}, {each.what}"),
            f"{each.left} of {each.episodes}",
            f"{usage.prompt_tokens:,}" if each.left else "0",
            f"{usage.completion_tokens:,}" if each.left else "0",
            "unknown" if cost is None else f"{cost:.2f}",
            "another run" if each.shared else "episodes" if each.measured else "guess",
        )
    left = [each for each in estimates if each.left]
    costs = [each.cost(prices.get(each.model)) for each in left]
    known = [cost for cost in costs if cost is not None]
    table.add_row(
        "all",
        str(sum(each.left for each in left)),
        f"{sum(each.usage.prompt_tokens for each in left):,}",
        f"{sum(each.usage.completion_tokens for each in left):,}",
        f"{sum(known):.2f}" if len(known) == len(costs) else "unknown",
        "",
        style="bold",
    )
    return table
