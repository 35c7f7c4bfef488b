"""The learning curve: conditions by how much memory each had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rpms.report.outcomes import Comparison, Results, comparable


@dataclass(frozen=True, slots=True)
class LearningRound:
    """A point of the learning curve."""

    name: str
    entries: int
    results: Mapping[str, Results]
    """By series, such as Mem-only and Rules+Mem."""


MEMORY_SERIES = "Mem-only"
RULES_SERIES = "Rules+Mem"


def rounds(comparison: Comparison) -> tuple[LearningRound, ...]:
    """The learning curve in a comparison: its plain conditions by how much memory each had.

    Empty unless some condition was run with two memories of different size. Round 0 is the same without memory.
    """
    for group in comparable(comparison):
        points: dict[int, dict[str, Results]] = {}
        for results in group:
            switches = results.switches
            if results.memory_entries is None or not switches.get("state_filter", True):
                continue
            series = RULES_SERIES if switches.get("rules") else MEMORY_SERIES
            entries = results.memory_entries if switches.get("memory") else 0
            points.setdefault(entries, {}).setdefault(series, results)
        if len([entries for entries in points if entries]) > 1:
            return _numbered(points)
    return ()


def _numbered(points: Mapping[int, Mapping[str, Results]]) -> tuple[LearningRound, ...]:
    return tuple(
        LearningRound("R0 (no mem)" if not entries else f"R{number}", entries, points[entries])
        for number, entries in enumerate(sorted(points), start=0 if 0 in points else 1)
    )
