"""Numbers as tables print them."""

from __future__ import annotations

from collections.abc import Iterable

from rpms.report.statistics import Interval, success_rate
from rpms.report.table import TableCell


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
