"""Conditions compared two by two, and the interaction of rules and memory, paired by task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from rpms.paper.arbitration import Arbitration
from rpms.report.comparison import (
    SHARED,
    Cells,
    Comparison,
    comparable,
    first_cell,
    paired,
    same_memory,
    terms_of,
)
from rpms.report.outcomes import Results
from rpms.report.statistical_tests import (
    Interval,
    McNemar,
    additive_expectation,
    holm,
    mcnemar,
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
    """The reason why it shows nothing, and the evidence that it would take."""
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
    found: dict[str, Contrast] = {}
    for pair in _pairs(comparison):
        name = f"{pair.second.name} vs. {pair.first.name}"
        if name not in found:
            found[name] = _contrast(pair)
    adjusted = holm({name: contrast.test.exact for name, contrast in found.items()})
    return tuple(replace(contrast, adjusted=adjusted[name]) for name, contrast in found.items())


class _Pair(NamedTuple):
    """Two conditions that are compared: the second is held against the first."""

    first: Results
    second: Results


def _pairs(comparison: Comparison) -> Iterator[_Pair]:
    """The pairs of conditions that are compared; some may come twice."""
    for baseline, rules, memory, full in comparison.ablations:
        for other in (rules, memory, full):
            yield _Pair(baseline, other)
        yield _Pair(rules, full)
        yield _Pair(memory, full)
    yield from _soft_pairs(comparison)
    yield from _filter_pairs(comparison)
    yield from _memory_pairs(comparison)
    part_pairs = list(_part_pairs(comparison))
    yield from part_pairs
    reference = next(chain(*comparison.ablations, comparison), None)
    if reference is not None:
        # a part of the user's own was compared with its twin
        compared = {reference.name, *(pair.second.name for pair in part_pairs)}
        for other in comparison:
            if other.name not in compared:
                yield _Pair(reference, other)


def _soft_pairs(comparison: Comparison) -> Iterator[_Pair]:
    """Appendix G's pairs: Rules-only against Baseline, and soft-only arbitration against the
    other three cells. Of several groups that may be compared, the first with such a condition.
    """
    for alike in comparable(comparison):
        soft = next(filter(_is_soft, alike), None)
        if soft is not None:
            yield from _pairs_with_soft(alike, soft)
            return


def _pairs_with_soft(alike: Sequence[Results], soft: Results) -> Iterator[_Pair]:
    baseline = first_cell(alike, "baseline")
    memory = first_cell(alike, "memory-only")
    rules = first_cell(alike, "rules-only")
    if baseline is not None and rules is not None:
        yield _Pair(baseline, rules)
    for cell in (baseline, memory, rules):
        if cell is not None:
            yield _Pair(cell, soft)


def _is_soft(results: Results) -> bool:
    """True for rules, memory and state filter with arbitration that only warns."""
    on = all(map(results.switches.get, ("rules", "memory", "state_filter")))
    return on and results.switches.get("arbitration") == Arbitration.SOFT


def _filter_pairs(comparison: Comparison) -> Iterator[_Pair]:
    """Conditions that differ in nothing but the state filter: with it, and without."""
    for alike in comparable(comparison):
        for with_it in alike:
            if not with_it.switches.get("state_filter"):
                continue
            unfiltered = {**with_it.switches, "state_filter": False}
            for other in alike:
                if other.switches == unfiltered and same_memory(with_it, other):
                    yield _Pair(with_it, other)


def _memory_pairs(comparison: Comparison) -> Iterator[_Pair]:
    """The belief alone against what a memory adds to it, in each form."""
    with_memory = [cells.memory for cells in comparison.ablations]
    belief_alone: list[Results] = []
    for results in comparison.memory_parts:
        if results.memory_entries:
            with_memory.append(results)
        else:
            belief_alone.append(results)
    for first in belief_alone:
        for second in with_memory:
            yield _Pair(first, second)


def _part_pairs(comparison: Comparison) -> Iterator[_Pair]:
    """Conditions that differ in nothing but a part of the user's own: without it, and with."""
    usual: dict[str, Results] = {}
    for results in comparison:
        if not results.protocol.get("parts"):
            usual[_terms_beside_parts(results)] = results
    for results in comparison:
        twin = usual.get(_terms_beside_parts(results))
        if results.protocol.get("parts") and twin is not None:
            yield _Pair(twin, results)


def _terms_beside_parts(results: Results) -> str:
    return terms_of(results, results.switches, *SHARED, "memory")


def _contrast(pair: _Pair) -> Contrast:
    """Test two conditions on the tasks that both played."""
    rows = paired(*pair)
    gained = lost = 0
    success: list[float] = []
    score: list[float] = []
    for first, second in rows:
        gained += second.won and not first.won
        lost += first.won and not second.won
        success.append(float(second.won) - float(first.won))
        score.append(second.floored - first.floored)
    test = mcnemar(gained, lost)
    return Contrast(
        pair.first.name,
        pair.second.name,
        pairs=len(rows),
        test=test,
        success=paired_bootstrap(success),
        score=paired_bootstrap(score),
        warning=power_warning(test),
        provisional=pair.first.going or pair.second.going,
    )


def interaction_of(cells: Cells, *, by_score: bool = False) -> Interval:
    """D - (B + C - A), paired by task over what all four were to play."""
    values: list[float] = []
    for rows in paired(*cells):
        scores = [row.floored if by_score else float(row.won) for row in rows]
        baseline, rules, memory, full = scores
        values.append(full - additive_expectation(baseline, rules, memory))
    return paired_bootstrap(values)
