"""Statistics of results: Wilson and bootstrap intervals, McNemar's test, Holm's correction, power.

Rates are fractions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rpms.play.success_rate import wilson

ALPHA = 0.05
"""The level of every test and, as 1 - ALPHA, of every interval: the paper's."""
RESAMPLES = 10_000
"""Bootstrap resamples: the ends of an interval settle to about a hundredth of its width."""
SEED = 2026
"""Seed of the bootstrap: a report over the same episodes prints the same numbers."""
POWER = 0.8
"""The chance of a significant result that `pairs_for_power` asks for: the usual choice."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its 95 % interval."""

    estimate: float
    low: float
    high: float
    method: str = ""

    def times(self, scale: float) -> Self:
        return replace(
            self, estimate=scale * self.estimate, low=scale * self.low, high=scale * self.high
        )


def success_rate(successes: int, trials: int) -> Interval:
    """A success rate with its Wilson interval."""
    low, high = wilson(successes, trials)
    return Interval(successes / trials if trials else math.nan, low, high, "Wilson")


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of two conditions on the same tasks."""

    gained: int
    """n01: lost under the first condition, won under the second."""
    lost: int
    """n10: won under the first, lost under the second."""
    exact: float
    """The two-sided exact p-value: the one to report."""
    corrected: float
    """The p-value of χ² with continuity correction: what the paper prints under the name of the
    exact one."""

    @property
    def discordant(self) -> int:
        return self.gained + self.lost


def mcnemar(gained: int, lost: int) -> McNemar:
    """Test whether wins and losses that only one condition has are equally likely to be
    either's.
    """
    pairs = gained + lost
    if not pairs:
        return McNemar(0, 0, 1.0, 1.0)
    exact = min(1.0, 2 * _ways_with_at_most(min(gained, lost), pairs) / 2**pairs)
    chi2 = max(0, abs(gained - lost) - 1) ** 2 / pairs
    corrected = math.erfc(math.sqrt(chi2 / 2))
    return McNemar(gained, lost, exact, corrected)


def _ways_with_at_most(heads: int, tosses: int) -> int:
    """Number of sequences of tosses with at most so many heads: a sum of binomial coefficients,
    each made of the one before.
    """
    ways = 1
    total = 1
    for fewer in range(heads):
        ways = ways * (tosses - fewer) // (fewer + 1)
        total += ways
    return total


LEAST_DISCORDANT = math.ceil(1 - math.log2(ALPHA))
"""Fewest discordant pairs with which an exact test can be significant at all: all one way."""


def pairs_for_power(gained: int, lost: int) -> int | None:
    """Discordant pairs that such a split needs to be significant, by the normal approximation;
    None if even.
    """
    pairs = gained + lost
    if not pairs or gained == lost:
        return None
    share = max(gained, lost) / pairs
    alpha_z = _NORMAL.inv_cdf(1 - ALPHA / 2)
    power_z = _NORMAL.inv_cdf(POWER)
    needed = ((alpha_z / 2 + power_z * math.sqrt(share * (1 - share))) / (share - 0.5)) ** 2
    return max(math.ceil(needed), LEAST_DISCORDANT)


class _Means(NamedTuple):
    """Means that resamples have, in ascending order, and the share of resamples with each."""

    values: NDArray[np.float64]
    shares: NDArray[np.float64]

    def share_below(self, mean: float) -> float:
        """Share of the resamples below a mean; half of those equal to it count."""
        below = self.shares[self.values < mean].sum()
        equal = self.shares[self.values == mean].sum()
        return float(below + equal / 2)

    def quantile(self, tail: float) -> float:
        """The least mean that such a share of the resamples does not exceed."""
        place = int(np.searchsorted(np.cumsum(self.shares), tail - _ROUNDING))
        return float(self.values[min(place, self.values.size - 1)])


_MOST_SUMS = 2_000_000
"""Sums of a resample up to which all of them are counted: scores of 0 to 100 on 10,000 tasks."""
_ROUNDING = 1e-12
"""Error of sums of shares that does not count."""


def paired_bootstrap(differences: Sequence[float], *, resamples: int = RESAMPLES) -> Interval:
    """The mean of differences by task with its bootstrap interval: BCa, or percentiles where it
    is undefined.

    Of whole numbers, wins and scores, it is the bootstrap of all resamples there are. One of
    thousands drawn at random has bounds that differ by a task from seed to seed.
    """
    values = np.sort(np.asarray(differences, dtype=float))
    if not values.size:
        return Interval(math.nan, math.nan, math.nan, "none")
    mean = math.fsum(differences) / values.size
    if np.all(values == values[0]):
        return Interval(mean, mean, mean, "all differences are equal")
    whole = bool(np.all(values == np.round(values)))
    countable = whole and (values[-1] - values[0]) * values.size <= _MOST_SUMS
    means = _all_means(values) if countable else _drawn_means(values, resamples)
    below = means.share_below(mean)
    low, high = ALPHA / 2, 1 - ALPHA / 2
    method = "percentile bootstrap"
    if 0 < below < 1:
        method = "BCa bootstrap"
        bias = _NORMAL.inv_cdf(below)
        deviation = values - mean
        acceleration = float(np.sum(deviation**3) / (6 * np.sum(deviation**2) ** 1.5))
        low = _corrected(low, bias, acceleration)
        high = _corrected(high, bias, acceleration)
    return Interval(mean, means.quantile(low), means.quantile(high), method)


def _corrected(tail: float, bias: float, acceleration: float) -> float:
    """A tail of the bootstrap distribution, moved for bias and skewness: Efron's BCa."""
    shifted = bias + _NORMAL.inv_cdf(tail)
    return _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))


def _all_means(values: NDArray[np.float64]) -> _Means:
    """Means of all resamples of whole numbers: a sum's distribution is that of one draw,
    convolved with itself.
    """
    size = values.size
    least = int(values[0])
    of_one_draw = np.bincount((values - least).astype(np.int64)) / size
    span = (of_one_draw.size - 1) * size + 1
    of_all_draws = np.fft.rfft(of_one_draw, span) ** size
    shares = np.fft.irfft(of_all_draws, span)
    sums = np.arange(span) + least * size
    return _Means(sums / size, np.clip(shares, 0.0, None))


def _drawn_means(values: NDArray[np.float64], resamples: int) -> _Means:
    """Means of resamples that are drawn at random."""
    sums = _resampled(*np.unique(values, return_counts=True), resamples)
    means, counts = np.unique(sums / values.size, return_counts=True)
    return _Means(means, counts / resamples)


def ratio_bootstrap(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
    """A ratio of sums, such as a rate over steps, with its percentile bootstrap interval, drawn
    in pairs.
    """
    whole = math.fsum(wholes)
    if not whole:
        return Interval(math.nan, math.nan, math.nan, "none")
    estimate = math.fsum(parts) / whole
    every_pair = np.array([parts, wholes], dtype=float)
    pairs, counts = np.unique(every_pair, axis=1, return_counts=True)
    sums_of_parts, sums_of_wholes = _resampled(pairs.T, counts, RESAMPLES).T
    defined = sums_of_wholes > 0
    ratios = sums_of_parts[defined] / sums_of_wholes[defined]
    low, high = np.quantile(ratios, [ALPHA / 2, 1 - ALPHA / 2])
    return Interval(estimate, float(low), float(high), "percentile bootstrap")


def _resampled(
    distinct: NDArray[np.float64], counts: NDArray[np.int64], resamples: int
) -> NDArray[np.float64]:
    """Sums of resamples, drawn as counts of each distinct value: few of them, however many
    tasks.
    """
    rng = np.random.default_rng(SEED)
    size = int(counts.sum())
    # so many numbers are held in memory at once
    rows = max(1, 2_000_000 // counts.size)
    sums: list[NDArray[np.float64]] = []
    for start in range(0, resamples, rows):
        drawn = rng.multinomial(size, counts / size, size=min(rows, resamples - start))
        sums.append(drawn @ distinct)
    return np.concatenate(sums)


def interaction(
    baseline: Sequence[float],
    rules: Sequence[float],
    memory: Sequence[float],
    full: Sequence[float],
) -> Interval:
    """D - (B + C - A), paired by task: above 0 rules and memory help each other, below 0 they
    hinder each other.
    """
    by_task: list[float] = []
    for a, b, c, d in zip(baseline, rules, memory, full, strict=True):
        by_task.append(float(d) - additive_expectation(float(a), float(b), float(c)))
    return paired_bootstrap(by_task)


def additive_expectation(baseline: float, rules: float, memory: float) -> float:
    """B + C - A: what both together would reach if their gains simply added up."""
    return rules + memory - baseline


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-values of several comparisons by Holm's step-down method, in the order given."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def power_warning(test: McNemar) -> str:
    """Reason why a comparison shows nothing, with the evidence it would need; empty if it shows
    something.
    """
    if test.exact <= ALPHA:
        return ""
    if test.discordant < LEAST_DISCORDANT:
        return (
            f"too few discordant pairs to show anything: {test.discordant}, and"
            f" {LEAST_DISCORDANT} is the least at which any result could be significant"
        )
    needed = pairs_for_power(test.gained, test.lost)
    if needed is None:
        return f"evenly split: {test.gained} against {test.lost}"
    return (
        f"a {test.gained}/{test.lost} split would need about {needed} discordant pairs; there are"
        f" {test.discordant}"
    )
