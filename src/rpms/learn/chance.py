"""The randomisation test: how likely chance alone sets shown and hidden episodes as far apart as they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist, median
from typing import NamedTuple

NORMAL = NormalDist()
_WIDEST = 2.0
"""Standard deviations, as the middle half tells them, beyond which an outcome counts no further in a test."""
_ENUMERATED = 12
"""Draws up to which all their outcomes are gone through one by one: 4,096 of them."""
_NEAR = 1e-9
"""Precision of the saddlepoint."""


class Term(NamedTuple):
    """One draw: the chance of being shown, what came of it, and the number it is compared by."""

    trial: int
    chance: float
    shown: bool
    value: float

    @property
    def surprise(self) -> float:
        return self.shown - self.chance


def p_value(terms: Sequence[Term]) -> float:
    """P-value of the randomisation test: chance alone sets shown and hidden at least so far apart, either way."""
    kept = [term for term in _tempered(terms) if abs(term.value) > 1e-12]
    score = math.fsum(term.surprise * term.value for term in kept)
    pairs = [(term.value, term.chance) for term in kept]
    turned = [(-value, chance) for value, chance in pairs]
    one, other = ((pairs, score), (turned, -score)) if score >= 0 else ((turned, -score), (pairs, score))
    either = _upper_tail(*one)
    return min(1.0, 2 * (either if either < 0.5 else min(either, _upper_tail(*other))))  # two tails are at least 1


def _tempered(terms: Sequence[Term]) -> list[Term]:
    """Terms with their outliers drawn in, lest a few episodes that ran out of steps drown the rest.

    How far is told by the outcomes alone, not by who was shown: the test stays what it is.
    """
    widest = _WIDEST * 1.4826 * median(abs(term.value) for term in terms)  # 1.4826: to standard deviations
    if not widest:
        return list(terms)
    return [term._replace(value=max(-widest, min(widest, term.value))) for term in terms]


def _upper_tail(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """Probability that a sum of independent draws, each `value · (shown - chance)`, is at least `score`."""
    if not pairs:
        return 1.0
    most = math.fsum(value * ((value > 0) - chance) for value, chance in pairs)
    slack = 1e-9 * math.fsum(abs(value) for value, _ in pairs)
    if score >= most - slack:
        return math.prod(chance if value > 0 else 1 - chance for value, chance in pairs)
    if len(pairs) <= _ENUMERATED:
        return _counted(pairs, score - slack)
    return _approximated(pairs, score)


def _counted(pairs: Sequence[tuple[float, float]], score: float) -> float:
    sums = [(0.0, 1.0)]
    for value, chance in pairs:
        draws = ((value * (1 - chance), chance), (-value * chance, 1 - chance))
        sums = [(total + part, likely * how) for total, likely in sums for part, how in draws]
    return math.fsum(likely for total, likely in sums if total >= score)


def _approximated(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """By the saddlepoint of Lugannani and Rice, which keeps its accuracy far out in the tail, where it matters."""
    scale = max(abs(value) for value, _ in pairs)
    values = [(value / scale, chance) for value, chance in pairs]
    score /= scale
    low, high, tilt = -60.0, 60.0, 0.0
    for _ in range(60):
        log, mean, spread = _moments(values, tilt)
        low, high = (tilt, high) if mean < score else (low, tilt)
        if high - low < _NEAR or abs(score - mean) < _NEAR * math.sqrt(spread):
            break
        step = tilt + (score - mean) / spread if spread else math.inf
        tilt = step if low < step < high else (low + high) / 2
    signed = math.copysign(math.sqrt(max(0.0, 2 * (tilt * score - log))), tilt)
    if abs(signed) < 0.05 or spread <= 0:
        return 1 - NORMAL.cdf(score / math.sqrt(_moments(values, 0.0)[2]))
    tail = 1 - NORMAL.cdf(signed) + NORMAL.pdf(signed) * (1 / (tilt * math.sqrt(spread)) - 1 / signed)
    return min(1.0, max(0.0, tail))


def _moments(values: Iterable[tuple[float, float]], tilt: float) -> tuple[float, float, float]:
    """The cumulant generating function of the sum at a tilt, and its first two derivatives."""
    log = mean = spread = 0.0
    for value, chance in values:
        power = tilt * value
        grown = chance * math.exp(power)
        all_of_it = 1 - chance + grown
        share = grown / all_of_it
        log += math.log(all_of_it) - chance * power
        mean += value * (share - chance)
        spread += value * value * share * (1 - share)
    return log, mean, spread


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that of all that is at most 0.05, about 5% is expected to be chance."""
    adjusted, least = [1.0] * len(p_values), 1.0
    order = sorted(range(len(p_values)), key=lambda place: -p_values[place])
    for rank, place in zip(range(len(p_values), 0, -1), order, strict=True):
        least = min(least, p_values[place] * len(p_values) / rank)
        adjusted[place] = least
    return adjusted
