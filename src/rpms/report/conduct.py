"""Tables of how episodes went: steps, endings, infeasible actions, how sure the differences are, and epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rpms.core.episode import Ending
from rpms.report.contrasts import contrasts, omissions
from rpms.report.outcomes import Comparison, Results, condition_label
from rpms.report.statistics import Interval, success_rate
from rpms.report.table import DASH, Table, TableCell, groups, line
from rpms.store.episodes import EpisodeRow


def percent(fraction: float) -> str:
    """A fraction in per cent with the paper's one decimal."""
    return f"{100 * fraction:.1f}"


def points(difference: float, scale: float = 100) -> str:
    """A difference with its sign; no sign for none."""
    text = f"{scale * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def p_value(value: float) -> str:
    """A p-value with three decimals, as the paper prints them."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def range_of(interval: Interval, scale: float = 100) -> str:
    """An interval's ends, with their signs."""
    return f"[{points(interval.low, scale)}, {points(interval.high, scale)}]"


def rate_range(won: int, total: int) -> str:
    """The Wilson interval of a rate, in per cent."""
    interval = success_rate(won, total)
    return f"[{percent(interval.low)}, {percent(interval.high)}]"


class Best:
    """Marks the best of several values, if one is better than the rest at all."""

    def __init__(self, values: Iterable[float | None], *, lowest: bool = False) -> None:
        known = [value for value in values if value is not None]
        self._best = (min(known) if lowest else max(known)) if len(set(known)) > 1 else None

    def cell(self, value: float | None, text: str) -> TableCell:
        return TableCell(text, strong=value is not None and value == self._best)


class Column(NamedTuple):
    """A column of numbers, one of each condition, whose best is marked."""

    value: Callable[[Results], float | None]
    form: Callable[[float], str] = "{:.1f}".format
    lowest: bool = False
    """True if the lowest is the best."""


SUCCESS = Column(lambda results: results.rate, percent)


def cells(column: Column, rows: Iterable[Results]) -> list[TableCell]:
    """The cells of a column; a dash for what is not known."""
    values = [column.value(results) for results in rows]
    best = Best(values, lowest=column.lowest)
    return [best.cell(value, DASH if value is None else column.form(value)) for value in values]


def by_condition(
    name: str, caption: str, comparison: Comparison, columns: Mapping[str, Column], first: str = "Condition"
) -> Table:
    """A table with a line for each condition."""
    labels = [condition_label(results.name) for results in comparison]
    measured = zip(labels, *(cells(column, comparison) for column in columns.values()), strict=True)
    return Table(name, caption, (first, *columns), groups(line(*each) for each in measured), omissions(comparison))


def efficiency_table(comparison: Comparison) -> Table:
    """Average steps over all and over won episodes: the paper's Table 6. Missing episodes have no steps to count."""
    columns = {
        "Avg. steps (all)": Column(lambda results: _mean_steps(results.played), lowest=True),
        "Avg. steps (succ.)": Column(lambda results: _mean_steps([row for row in results if row.won]), lowest=True),
    }
    return by_condition("efficiency", "Average steps.", comparison, columns)


def _mean_steps(rows: Sequence[EpisodeRow]) -> float | None:
    return sum(row.steps for row in rows) / len(rows) if rows else None


_FAILURE_LABELS = {
    Ending.OUT_OF_STEPS: "Timeout (out of steps)",
    Ending.LOST: "Env-done (wrong)",
    Ending.STUCK: "Stuck",
    Ending.MODEL_ERROR: "Model error",
    Ending.WORLD_ERROR: "World error",
    "": "Missing",
}


def failure_table(comparison: Comparison) -> Table:
    """Endings of failed episodes: the paper's Table 7, with every ending there is."""
    ended = [Counter("" if row.missing else row.ending for row in results) for results in comparison]
    counts = {ending: [each[ending] for each in ended] for ending in _FAILURE_LABELS}
    shown = {ending: row for ending, row in counts.items() if any(row) or ending == Ending.OUT_OF_STEPS}
    measured = [line(_FAILURE_LABELS[ending], *map(str, row)) for ending, row in shown.items()]
    total = [line("Total failed", *(str(len(results) - results.won) for results in comparison))]
    return Table(
        "failures",
        "How failed episodes ended.",
        ("Failure mode", *(condition_label(results.name) for results in comparison)),
        groups(measured, total),
        omissions(comparison),
    )


def action_table(comparison: Comparison) -> Table:
    """Infeasible actions (P1), drift (P2) and the cost of steps: argued in the paper, not tabulated there."""

    def shown(columns: Mapping[str, str]) -> dict[str, str]:
        """Columns without those that are all zeros and may then be left out."""
        return {
            name: heading
            for name, heading in columns.items()
            if name not in _IF_ANY or any(each.total(name) for each in comparison)
        }

    rates, tokens = shown(_RATES), shown(_TOKENS)
    timed = any(results.seconds_a_step is not None for results in comparison)
    priced = any(results.cost is not None for results in comparison)
    measured = []
    for results in comparison:
        steps = results.total("steps")
        counts = [results.total(name) for name in tokens]
        measured.append(
            line(
                condition_label(results.name),
                str(steps),
                *(f"{100 * results.total(name) / steps:.1f}" if steps else DASH for name in rates),
                *(f"{count / steps:.0f}" if steps and count else DASH for count in counts),
                *((_digits(results.seconds_a_step),) if timed else ()),
                *((_digits(results.cost), _cost_a_win(results)) if priced else ()),
            )
        )
    costs = (*(("Seconds",) if timed else ()), *(("Cost ($)", "$ a solved task") if priced else ()))
    return Table(
        "actions",
        f"Infeasible actions, state drift (each per 100 steps) and tokens{' and seconds' if timed else ''} a step"
        f"{'; cost in US dollars' if priced else ''}.",
        ("Condition", "Steps", *rates.values(), *tokens.values(), *costs),
        groups(measured),
        (*((_SECONDS,) if timed else ()), *omissions(comparison)),
    )


_RATES = {
    "infeasible": "Infeasible",
    "foreseeable": "Foreseeable",
    "repeated_failures": "Repeated",
    "contradictions": "Contradictions",
    "reasks": "Re-asks",
    "replaced": "Replaced",
    "surprises": "Surprises",
}
_TOKENS = {"prompt_tokens": "Prompt tok.", "cached_tokens": "Cached tok.", "completion_tokens": "Answer tok."}
_IF_ANY = ("reasks", "replaced", "surprises", "cached_tokens")
_SECONDS = "Seconds are those of the clock: episodes played at once wait for each other, and other machines differ."


def _digits(value: float | None) -> str:
    """Three digits, of small numbers as well."""
    if value is None:
        return DASH
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _cost_a_win(results: Results) -> str:
    return _digits(results.cost / results.won if results.cost is not None and results.won else None)


def significance_table(comparison: Comparison) -> Table:
    """Every pair of conditions, tested: exact McNemar, Holm's correction, and the paper's χ² beside them."""
    found = contrasts(comparison)
    scored = comparison.scored
    measured = []
    for contrast in found:
        gain = contrast.score if scored else contrast.success
        scale = 1 if scored else 100
        measured.append(
            line(
                f"{condition_label(contrast.second)} vs. {condition_label(contrast.first)}",
                str(contrast.pairs),
                f"{contrast.test.gained}/{contrast.test.lost}",
                points(gain.estimate, scale) if contrast.pairs else DASH,
                range_of(gain, scale) if contrast.pairs else DASH,
                p_value(contrast.test.exact),
                TableCell(p_value(contrast.adjusted), strong=contrast.significant),
                p_value(contrast.test.corrected),
            )
        )
    notes = [f"{contrast.name}: {contrast.warning}." for contrast in found if contrast.warning]
    if any(contrast.provisional for contrast in found):
        notes.append("Provisional: a run is still going, and only tasks that both conditions have played are paired.")
    return Table(
        "significance",
        f"Paired by task. Δ in {'points of score, negatives as 0,' if scored else 'percentage points'} with its "
        "bootstrap interval.",
        ("Comparison", "Pairs", "n01/n10", "Δ", "95% interval", "p exact", "p Holm", "p χ² corr."),
        groups(measured),
        (*notes, *omissions(comparison)),
    )


def epochs_table(comparison: Comparison) -> Table:
    """Success by epoch, pass^k and flip rate of every condition that was played more than once."""
    found = [(results, results.agreement) for results in comparison if results.agreement is not None]
    most = max(agreed.epochs for _, agreed in found)
    lines = [
        line(
            condition_label(results.name),
            str(agreed.epochs),
            percent(agreed.mean),
            f"{percent(min(agreed.rates))}–{percent(max(agreed.rates))}",
            *(percent(agreed.pass_hat(k)) if k <= agreed.epochs else DASH for k in range(2, most + 1)),
            percent(agreed.flip_rate),
            f"{agreed.flipped}/{agreed.tasks}",
        )
        for results, agreed in found
    ]
    left_out = [
        f"{condition_label(results.name)}: {agreed.left_out} tasks that an epoch lacks are left out of this table."
        for results, agreed in found
        if agreed.left_out
    ]
    return Table(
        "epochs",
        "The same tasks played several times. pass^k: how likely k attempts at a task are all won. Flip rate: how "
        "likely two attempts at a task end differently. In per cent; all other tables are of the first epoch.",
        ("Condition", "Epochs", "Mean", "Range", *(f"pass^{k}" for k in range(2, most + 1)), "Flip rate", "Flipped"),
        groups(lines),
        tuple(left_out),
    )
