"""Randomisation test: how likely chance alone sets shown and hidden so far apart.

Each draw was made with a known chance, and that is all that is assumed: the test asks what other
outcomes of the same draws would have given.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist, median
from typing import NamedTuple

NORMAL = NormalDist()
_WIDEST = 2.0
"""Standard deviations, as the middle half tells them, beyond which an outcome counts no further in
a test."""
_TO_DEVIATIONS = 1.4826
"""Standard deviations of a normal distribution for each median distance from its centre."""
_ENUMERATED = 12
"""Draws up to which all their outcomes are gone through one by one: 4,096 of them."""
_NEAR = 1e-9
"""Precision of the saddlepoint."""


class Term(NamedTuple):
    """One draw: an entry in one trial."""

    trial: int
    chance: float
    """Probability of being shown."""
    shown: bool
    value: float
    """Outcome by which shown and hidden are compared."""

    @property
    def surprise(self) -> float:
        """Distance of the draw from its expectation."""
        return self.shown - self.chance


class _Summand(NamedTuple):
    """A draw as a part of the score: `value · (shown - chance)`."""

    value: float
    chance: float


def p_value(terms: Sequence[Term]) -> float:
    """P-value of the randomisation test: chance alone sets shown and hidden at least so far
    apart, either way.
    """
    kept = [term for term in _without_outliers(terms) if abs(term.value) > 1e-12]
    score = math.fsum(term.surprise * term.value for term in kept)
    side = 1 if score >= 0 else -1
    tail = _upper_tail(_summands(kept, side), side * score)
    if tail >= 0.5:
        tail = min(tail, _upper_tail(_summands(kept, -side), -side * score))
    return min(1.0, 2 * tail)


def _summands(terms: Iterable[Term], side: int) -> list[_Summand]:
    """The parts of the score, with the other sign for the other side."""
    return [_Summand(side * term.value, term.chance) for term in terms]


def _without_outliers(terms: Sequence[Term]) -> list[Term]:
    """Terms with outliers drawn in, by the outcomes alone, so that episodes out of steps do not
    drown the rest.
    """
    spread = _TO_DEVIATIONS * median(abs(term.value) for term in terms)
    widest = _WIDEST * spread or math.inf
    kept: list[Term] = []
    for term in terms:
        value = min(max(term.value, -widest), widest)
        kept.append(term._replace(value=value))
    return kept


def _upper_tail(summands: Sequence[_Summand], score: float) -> float:
    """Probability that the sum of independent draws is at least `score`."""
    if not summands:
        return 1.0
    most = math.fsum(value * ((value > 0) - chance) for value, chance in summands)
    slack = 1e-9 * math.fsum(abs(each.value) for each in summands)
    if score >= most - slack:
        chances = [chance if value > 0 else 1 - chance for value, chance in summands]
        return math.prod(chances)
    if len(summands) <= _ENUMERATED:
        return _counted(summands, score - slack)
    return _approximated(summands, score)


class _Sum(NamedTuple):
    """A sum that some draws may have, and how likely it is."""

    total: float
    likely: float


def _counted(summands: Sequence[_Summand], score: float) -> float:
    """The exact p-value, from every outcome of the draws."""
    sums = [_Sum(0.0, 1.0)]
    for value, chance in summands:
        with_next: list[_Sum] = []
        for total, likely in sums:
            with_next.append(_Sum(total + value * (1 - chance), likely * chance))
            with_next.append(_Sum(total - value * chance, likely * (1 - chance)))
        sums = with_next
    return math.fsum(likely for total, likely in sums if total >= score)


def _approximated(summands: Sequence[_Summand], score: float) -> float:
    """The p-value by the saddlepoint approximation of Lugannani and Rice, which keeps its accuracy
    far out in the tail, where it matters.
    """
    scale = max(abs(each.value) for each in summands)
    scaled = [_Summand(value / scale, chance) for value, chance in summands]
    score /= scale
    saddlepoint = _saddlepoint(scaled, score)
    tilt = saddlepoint.tilt
    spread = saddlepoint.moments.spread
    distance = max(0.0, 2 * (tilt * score - saddlepoint.moments.log))
    signed = math.copysign(math.sqrt(distance), tilt)
    if abs(signed) < 0.05 or spread <= 0:
        return 1 - NORMAL.cdf(score / math.sqrt(_moments(scaled, 0.0).spread))
    correction = 1 / (tilt * math.sqrt(spread)) - 1 / signed
    tail = 1 - NORMAL.cdf(signed) + NORMAL.pdf(signed) * correction
    return min(1.0, max(0.0, tail))


class _Moments(NamedTuple):
    """The cumulant generating function of a sum at a tilt, and its first two derivatives."""

    log: float
    mean: float
    spread: float


class _Saddlepoint(NamedTuple):
    """The tilt at which the mean of a sum is its score, and the sum's moments there."""

    tilt: float
    moments: _Moments


def _saddlepoint(summands: Sequence[_Summand], score: float) -> _Saddlepoint:
    """Find the tilt by Newton's method within bounds."""
    low = -60.0
    high = 60.0
    tilt = 0.0
    for _ in range(60):
        found = _moments(summands, tilt)
        if found.mean < score:
            low = tilt
        else:
            high = tilt
        if high - low < _NEAR or abs(score - found.mean) < _NEAR * math.sqrt(found.spread):
            break
        step = tilt + (score - found.mean) / found.spread if found.spread else math.inf
        tilt = step if low < step < high else (low + high) / 2
    return _Saddlepoint(tilt, found)


def _moments(summands: Iterable[_Summand], tilt: float) -> _Moments:
    """The moments of a sum at a tilt: those of its parts, added up."""
    log = mean = spread = 0.0
    for value, chance in summands:
        power = tilt * value
        grown = chance * math.exp(power)
        all_of_it = 1 - chance + grown
        share = grown / all_of_it
        log += math.log(all_of_it) - chance * power
        mean += value * (share - chance)
        spread += value * value * share * (1 - share)
    return _Moments(log, mean, spread)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted so that of those that are at most 0.05, about 5% are expected to be
    chance.
    """
    count = len(p_values)
    adjusted = [1.0] * count
    least = 1.0
    largest_first = sorted(range(count), key=lambda index: -p_values[index])
    for rank, index in zip(range(count, 0, -1), largest_first, strict=True):
        least = min(least, p_values[index] * count / rank)
        adjusted[index] = least
    return adjusted
