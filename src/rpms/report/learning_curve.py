"""The learning curve: success by the size of memory, from the conditions of a comparison."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rpms.report.comparison import Comparison, comparable
from rpms.report.outcomes import Results


@dataclass(frozen=True, slots=True)
class LearningRound:
    """A point of the learning curve."""

    name: str
    entries: int
    results: Mapping[str, Results]
    """The runs by series, such as Mem-only and Rules+Mem."""


MEMORY_SERIES = "Mem-only"
RULES_SERIES = "Rules+Mem"


def rounds(comparison: Comparison) -> tuple[LearningRound, ...]:
    """The learning curve: plain conditions by size of memory; empty unless one was run with two
    sizes.
    """
    for group in comparable(comparison):
        points = _by_size_of_memory(group)
        if len(points.keys() - {0}) < 2:
            continue
        curve: list[LearningRound] = []
        for number, entries in enumerate(sorted(points), start=0 if 0 in points else 1):
            name = f"R{number}" if entries else "R0 (no mem)"
            curve.append(LearningRound(name, entries, points[entries]))
        return tuple(curve)
    return ()


def _by_size_of_memory(group: Iterable[Results]) -> dict[int, dict[str, Results]]:
    """Plain conditions by the entries of their memory, then by series."""
    points: dict[int, dict[str, Results]] = {}
    for results in group:
        switches = results.switches
        if results.memory_entries is None or not switches.get("state_filter", True):
            continue
        series = RULES_SERIES if switches.get("rules") else MEMORY_SERIES
        entries = results.memory_entries if switches.get("memory") else 0
        points.setdefault(entries, {}).setdefault(series, results)
    return points
