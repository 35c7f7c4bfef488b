"""Conditions compared two by two, and the interaction of rules and memory, paired by task."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from rpms.report.comparison import Cells, ComparedPair, Comparison, paired
from rpms.report.outcomes import Results
from rpms.report.statistical_tests import (
    Interval,
    McNemar,
    holm,
    interaction,
    mcnemar_of,
    paired_bootstrap,
    power_warning,
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two conditions on the same tasks."""

    first: str
    second: str
    pairs: int
    test: McNemar
    success: Interval
    """Second minus first, as a fraction."""
    score: Interval
    """Second minus first, on the world's own scale, negative scores counted as 0."""
    adjusted: float = 1.0
    """The exact p-value after Holm's correction over all contrasts of the comparison."""
    warning: str = ""
    """Reason why it shows nothing, and what it would take."""
    provisional: bool = False
    """A condition is still being played: only what both have played is in it."""

    @property
    def name(self) -> str:
        return f"{self.second} vs. {self.first}"


def contrasts(comparison: Comparison) -> tuple[Contrast, ...]:
    """Test the pairs of the 2x2, Appendix G, the state filter and the parts of Memory-only, a part
    of the user's own against the usual one, and the first condition against every other.

    The tests are corrected for their number.
    """
    pairs = {(pair.first.name, pair.second.name): pair for pair in _pairs(comparison)}
    found = [_contrast(pair.first, pair.second) for pair in pairs.values()]
    adjusted = holm({contrast.name: contrast.test.exact for contrast in found})
    return tuple(replace(contrast, adjusted=adjusted[contrast.name]) for contrast in found)


def _pairs(comparison: Comparison) -> Iterator[ComparedPair]:
    """The pairs of conditions that are compared; some may come twice."""
    for cells in comparison.ablations:
        for other in (cells.rules, cells.memory, cells.full):
            yield ComparedPair(cells.baseline, other)
        yield ComparedPair(cells.rules, cells.full)
        yield ComparedPair(cells.memory, cells.full)
    yield from comparison.soft_pairs
    yield from comparison.filter_pairs
    yield from comparison.memory_pairs
    yield from comparison.part_pairs
    reference = next(chain(*comparison.ablations, comparison), None)
    if reference is not None:
        compared = {pair.second.name for pair in comparison.part_pairs}
        for other in comparison:
            if other.name != reference.name and other.name not in compared:
                yield ComparedPair(reference, other)


def _contrast(first: Results, second: Results) -> Contrast:
    """Test two conditions on the tasks that both played."""
    rows = paired(first, second)
    test = mcnemar_of([one.won for one, _ in rows], [two.won for _, two in rows])
    return Contrast(
        first.name,
        second.name,
        pairs=len(rows),
        test=test,
        success=paired_bootstrap([float(two.won) - float(one.won) for one, two in rows]),
        score=paired_bootstrap([two.floored - one.floored for one, two in rows]),
        warning=power_warning(test),
        provisional=first.going or second.going,
    )


def interaction_of(cells: Cells, *, by_score: bool = False) -> Interval:
    """D - (B + C - A), paired by task over what all four were to play."""
    values: list[list[float]] = [[] for _ in cells]
    for rows in paired(*cells):
        for of_cell, row in zip(values, rows, strict=True):
            of_cell.append(row.floored if by_score else float(row.won))
    return interaction(*values)
