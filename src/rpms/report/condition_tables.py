"""Tables with a line for each condition: steps, endings, actions, fates of memories, tests,
epochs.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap
from operator import attrgetter
from statistics import mean
from typing import Any, NamedTuple, Self

from rpms.logic.errors import FileError
from rpms.paper.episode import Ending
from rpms.paper.verdict import Fate
from rpms.play.epochs import Agreement
from rpms.report.comparison import Comparison
from rpms.report.contrasts import Contrast, contrasts
from rpms.report.notes import omissions
from rpms.report.outcomes import Results, condition_label
from rpms.report.statistical_tests import ALPHA, Interval, success_rate
from rpms.report.table import DASH, Table, TableCell, TableLine, groups, line
from rpms.store.episodes import CandidateRecord, EpisodeRow


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


class Column(NamedTuple):
    """A column of numbers."""

    value: Callable[[Any], float | None]
    form: Callable[[float], str] = "{:.1f}".format
    best: Callable[[Iterable[Any]], float] | None = None
    """`max` or `min`, where the best of several is marked."""


Columns = Mapping[str, Column | Callable[[Any], str | TableCell | None]]
"""Columns by their headings: numbers, or functions that give texts; None for an unknown value."""


def method(results: Results) -> str:
    """The condition."""
    return results.title


def won(results: Results) -> str:
    """Wins of all tasks."""
    return f"{results.won}/{len(results)}"


def interval(results: Results) -> str:
    """The Wilson interval of the success rate, in per cent."""
    found = success_rate(results.won, len(results))
    return f"[{percent(found.low)}, {percent(found.high)}]"


SUCCESS = Column(lambda results: results.rate, percent, max)


def lines_of(rows: Iterable[Any], columns: Columns) -> list[TableLine]:
    """A line for each row, with a dash for each unknown value."""
    rows = list(rows)
    by_column: list[list[TableCell | str]] = []
    for column in columns.values():
        if isinstance(column, Column):
            by_column.append(_numbers(column, rows))
        else:
            by_column.append([column(row) or DASH for row in rows])
    return list(starmap(line, zip(*by_column, strict=True)))


def _numbers(column: Column, rows: list[Any]) -> list[TableCell | str]:
    """The cells of a column of numbers, the best of them marked."""
    numbers = [column.value(row) for row in rows]
    measured = {number for number in numbers if number is not None}
    best = column.best(measured) if column.best and len(measured) > 1 else None
    cells: list[TableCell | str] = []
    for number in numbers:
        if number is None:
            cells.append(DASH)
        else:
            cells.append(TableCell(column.form(number), number == best))
    return cells


def where_known(rows: Iterable[Any], columns: Mapping[str, Column]) -> dict[str, Column]:
    """The columns that have a value in some row."""
    rows = list(rows)
    found: dict[str, Column] = {}
    for name, column in columns.items():
        if any(column.value(row) is not None for row in rows):
            found[name] = column
    return found


def by_condition(
    name: str,
    caption: str,
    comparison: Comparison,
    columns: Columns,
    rows: Iterable[Any] | None = None,
) -> Table:
    """A table with a line for each condition, or for other rows."""
    lines = lines_of(comparison if rows is None else rows, columns)
    return Table(name, caption, tuple(columns), groups(lines), omissions(comparison))


def efficiency_table(comparison: Comparison) -> Table:
    """Average steps over all and over won episodes: the paper's Table 6.

    Missing episodes have no steps to count.
    """
    columns: Columns = {
        "Condition": method,
        "Avg. steps (all)": Column(lambda results: mean_steps(results.played), best=min),
        "Avg. steps (succ.)": Column(
            lambda results: mean_steps([row for row in results if row.won]), best=min
        ),
    }
    return by_condition("efficiency", "Average steps.", comparison, columns)


def mean_steps(rows: Sequence[EpisodeRow]) -> float | None:
    """Average steps of some episodes."""
    return mean(row.steps for row in rows) if rows else None


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
    endings = [_count_endings(results) for results in comparison]
    measured: list[TableLine] = []
    for ending, label in _FAILURE_LABELS.items():
        counts = [each[ending] for each in endings]
        if any(counts) or ending == Ending.OUT_OF_STEPS:
            measured.append(line(label, *map(str, counts)))
    failed = [str(len(results) - results.won) for results in comparison]
    return Table(
        "failures",
        "How failed episodes ended.",
        ("Failure mode", *map(method, comparison)),
        groups(measured, [line("Total failed", *failed)]),
        omissions(comparison),
    )


def _count_endings(results: Results) -> Counter[str]:
    """Episodes by how they ended; a missing one has no ending."""
    return Counter("" if row.missing else row.ending for row in results)


def action_table(comparison: Comparison) -> Table:
    """Infeasible actions (P1), drift (P2) and the cost of steps: argued in the paper, not
    tabulated there.
    """
    seconds = where_known(
        comparison, {"Seconds": Column(lambda results: results.seconds_a_step, _digits)}
    )
    costs = where_known(comparison, {"Cost ($)": Column(lambda results: results.cost, _digits)})
    caption = "Infeasible actions, state drift (each per 100 steps) and tokens"
    caption += " and seconds a step" if seconds else " a step"
    if costs:
        costs["$ a solved task"] = Column(_cost_a_win, _digits)
        caption += "; cost in US dollars"
    columns: Columns = {
        "Condition": method,
        "Steps": lambda each: str(each.total("steps")),
        **_counts_a_step(comparison),
        **seconds,
        **costs,
    }
    table = by_condition("actions", f"{caption}.", comparison, columns)
    return replace(table, notes=(_SECONDS, *table.notes)) if seconds else table


def _counts_a_step(comparison: Comparison) -> dict[str, Column]:
    """Columns of counts by step; some are shown only if there is something to count."""
    columns: dict[str, Column] = {}
    for name, heading in {**_RATES, **_TOKENS}.items():
        if name in _IF_ANY and not any(results.total(name) for results in comparison):
            continue
        form = "{:.1f}".format if name in _RATES else "{:.0f}".format
        columns[heading] = Column(partial(a_step, name), form)
    return columns


def _cost_a_win(results: Results) -> float | None:
    if results.cost is None or not results.won:
        return None
    return results.cost / results.won


_RATES = {
    "infeasible": "Infeasible",
    "foreseeable": "Foreseeable",
    "repeated_failures": "Repeated",
    "contradictions": "Contradictions",
    "reasks": "Re-asks",
    "replaced": "Replaced",
    "truncated": "Cut answers",
    "surprises": "Surprises",
}
_TOKENS = {
    "prompt_tokens": "Prompt tok.",
    "cached_tokens": "Cached tok.",
    "completion_tokens": "Answer tok.",
}
_IF_ANY = ("reasks", "replaced", "truncated", "surprises", "cached_tokens")
_SECONDS = (
    "Seconds are those of the clock: episodes played at once wait for each other, and other"
    " machines differ."
)


def a_step(name: str, results: Results) -> float | None:
    """A number of all rows per 100 steps; of tokens per step, where any were counted."""
    total = results.total(name)
    steps = results.total("steps")
    if not steps:
        return None
    if name in _RATES:
        return 100 * total / steps
    return total / steps if total else None


def _digits(value: float) -> str:
    """Three digits, of small numbers as well."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def significance_table(comparison: Comparison) -> Table:
    """Every pair of conditions, tested: exact McNemar, Holm's correction, and the paper's χ²
    beside them.
    """
    found = contrasts(comparison)
    scored = comparison.scored
    gain = attrgetter("score") if scored else attrgetter("success")
    scale = 1 if scored else 100
    columns: Columns = {
        "Comparison": lambda each: (
            f"{condition_label(each.second)} vs. {condition_label(each.first)}"
        ),
        "Pairs": lambda each: str(each.pairs),
        "n01/n10": lambda each: f"{each.test.gained}/{each.test.lost}",
        "Δ": lambda each: points(gain(each).estimate, scale) if each.pairs else None,
        "95% interval": lambda each: range_of(gain(each), scale) if each.pairs else None,
        "p exact": lambda each: p_value(each.test.exact),
        "p Holm": lambda each: TableCell(p_value(each.adjusted), strong=each.adjusted <= ALPHA),
        "p χ² corr.": lambda each: p_value(each.test.corrected),
    }
    unit = "points of score, negatives as 0," if scored else "percentage points"
    caption = f"Paired by task. Δ in {unit} with its bootstrap interval."
    table = by_condition("significance", caption, comparison, columns, found)
    return replace(table, notes=(*_notes_on(found), *table.notes))


def _notes_on(found: Sequence[Contrast]) -> Iterator[str]:
    for contrast in found:
        if contrast.warning:
            yield f"{contrast.name}: {contrast.warning}."
    if any(contrast.provisional for contrast in found):
        yield (
            "Provisional: a run is still going, and only tasks that both conditions have played are"
            " paired."
        )


class _Epochs(NamedTuple):
    """A condition that was played several times."""

    condition: str
    agreed: Agreement


def epochs_table(comparison: Comparison) -> Table:
    """Success by epoch, pass^k and flip rate of every condition that was played more than once."""
    found: list[_Epochs] = []
    notes: list[str] = []
    for results in comparison:
        if results.agreement is None:
            continue
        found.append(_Epochs(results.title, results.agreement))
        if results.agreement.missing:
            lacking = f"{results.agreement.missing} tasks that an epoch lacks"
            notes.append(f"{results.title}: {lacking} are left out of this table.")
    columns: dict[str, Any] = {
        "Condition": lambda row: row.condition,
        "Epochs": lambda row: str(row.agreed.epochs),
        "Mean": lambda row: percent(row.agreed.mean),
        "Range": lambda row: f"{percent(min(row.agreed.rates))}–{percent(max(row.agreed.rates))}",
    }
    for k in range(2, max(row.agreed.epochs for row in found) + 1):
        columns[f"pass^{k}"] = partial(_pass_hat, k)
    columns["Flip rate"] = lambda row: percent(row.agreed.flip_rate)
    columns["Flipped"] = lambda row: f"{row.agreed.flipped}/{row.agreed.tasks}"
    return Table(
        "epochs",
        "The same tasks played several times. pass^k: how likely k attempts at a task are all won."
        " Flip rate: how likely two attempts at a task end differently. In per cent; all other"
        " tables are of the first epoch.",
        tuple(columns),
        groups(lines_of(found, columns)),
        tuple(notes),
    )


def _pass_hat(k: int, row: _Epochs) -> str | None:
    return percent(row.agreed.pass_hat(k)) if k <= row.agreed.epochs else None


_NAME = re.compile(r"\b[a-z]+ \d+\b(?![.%]\d?)|\b(success|failure|schema)_\w+")


def why(candidate: CandidateRecord) -> str:
    """The reason of a verdict without the names and numbers of one case; for a rule, its id and
    the fact.
    """
    if not candidate.rule:
        text = _NAME.sub("…", re.sub(r"`[^`]*`", "", candidate.reason))
        return re.sub(r"\d+(\.\d+)?%?", "…", text).strip(" :;")
    fact = _NAME.sub("…", candidate.fact)
    return f"{candidate.rule}: {fact}" if fact else candidate.rule


def verdict_table(comparison: Comparison) -> Table:
    """Fates of all recalled memories, by kind and reason: one count a step, in each condition."""
    counted = list(map(_Fates.of, comparison))
    total = Counter[_Fate]()
    steps: list[str] = []
    for results, fates in zip(comparison, counted, strict=True):
        total.update(fates.counts)
        steps.append(f"{results.title} has {fates.steps} steps")
    order = [*map(str, Fate)]

    def rank(key: _Fate) -> tuple[str, int, int, str]:
        """Kinds by name, fates in their own order, the most frequent reason first."""
        place = order.index(key.fate) if key.fate in order else len(order)
        return key.kind, place, -total[key], key.reason

    by_kind: dict[str, list[TableLine]] = {}
    for key in sorted(total, key=rank):
        cells = [fates.cell(key) for fates in counted]
        row = line(key.kind.replace("_", " "), key.fate, key.reason or DASH, *cells)
        by_kind.setdefault(key.kind, []).append(row)
    return Table(
        "verdicts",
        "What became of memories that came to mind, counted once a step:"
        f" {'; '.join(steps)}. Shares are of the same kind.",
        ("Kind", "Verdict", "Why", *map(method, comparison)),
        groups(*by_kind.values()),
        omissions(comparison),
        words=3,
    )


class _Fate(NamedTuple):
    """One thing that became of memories of a kind, for one reason."""

    kind: str
    fate: str
    reason: str


@dataclass
class _Fates:
    """Fates of the memories that came to mind under one condition, counted once a step."""

    counts: Counter[_Fate] = field(default_factory=Counter)
    of_kind: Counter[str] = field(default_factory=Counter)
    steps: int = 0

    @classmethod
    def of(cls, results: Results) -> Self:
        found = cls()
        for row in results.played:
            with suppress(FileError):  # its numbers were sound; only the rest of the file is not
                for step in results.run.episode(row.task).steps:
                    found.steps += 1
                    found._count(step.candidates)
        return found

    def _count(self, candidates: Iterable[CandidateRecord]) -> None:
        for candidate in candidates:
            self.counts[_Fate(candidate.kind, candidate.fate, why(candidate))] += 1
            self.of_kind[candidate.kind] += 1

    def cell(self, key: _Fate) -> str:
        """A count, and its share among the memories of the same kind."""
        count = self.counts[key]
        return f"{count} ({count / self.of_kind[key.kind]:.1%})" if count else "0"
