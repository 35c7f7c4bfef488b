"""What showing an entry does, estimated from episodes in which it was shown or hidden by chance.

The chance is known, and that is all that is assumed. A test asks how often chance alone would set shown and hidden
episodes as far apart as they are, had showing made no difference. Before that, what can be told without this entry's
own draw is taken out of each outcome: what came before its turn, and what other entries did, estimated from other
episodes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist, median
from typing import NamedTuple

LEVEL = 0.95
"""Of intervals; what is left of 1 is the level of tests."""
_NORMAL = NormalDist()
_FOLDS = 5
"""Parts that episodes are cut into: what others did in one is estimated from the rest."""
_SWEEPS = 6
"""Draws are independent, and so a few sweeps settle what all entries did together."""
_STANDS_OUT = 2.0
"""Standard errors by which an entry's effect must differ from none before others' outcomes are freed of it."""
_WIDEST = 2.0
"""Standard deviations, as the middle half tells them, beyond which an outcome counts no further in a test."""
_ENUMERATED = 12
"""Draws up to which all their outcomes are gone through one by one: 4,096 of them."""


class Exposure(NamedTuple):
    """One entry whose turn came in one episode."""

    entry: str
    since: int
    """The step at which its turn came, from 1."""
    shown: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """One episode as evidence."""

    chance: float
    """Of each entry to be shown."""
    exposures: tuple[Exposure, ...]
    outcome: Callable[[int], float]
    """What came of the episode from a step on: a number, the part before that step left out."""


class Term(NamedTuple):
    """One draw: the chance of being shown, what came of it, and the number it is compared by."""

    trial: int
    chance: float
    shown: bool
    value: float

    @property
    def surprise(self) -> float:
        return self.shown - self.chance


@dataclass(frozen=True, slots=True)
class Effect:
    """What showing something does to one outcome, on average over the episodes in which its turn came."""

    shown: int
    hidden: int
    estimate: float
    low: float
    high: float
    p: float

    @property
    def detectable(self) -> float:
        """The least effect that as much evidence would find four times in five."""
        return (self.high - self.low) / 2 * (1 + _NORMAL.inv_cdf(0.8) / _NORMAL.inv_cdf((1 + LEVEL) / 2))


NOTHING_KNOWN = Effect(0, 0, math.nan, -math.inf, math.inf, 1.0)


def effects(trials: Sequence[Trial], groups: Mapping[str, str]) -> tuple[dict[str, Effect], dict[str, Effect]]:
    """The effect of each entry, and of one entry of each group, by names that `groups` gives them."""
    read = [_Read.of(trial) for trial in trials]
    folds = [_fitted(read, lambda number, fold=fold: number % _FOLDS != fold) for fold in range(_FOLDS)]  # type: ignore[misc]
    terms = _terms(read, lambda number: folds[number % _FOLDS], lambda _: True)
    pooled: defaultdict[str, list[Term]] = defaultdict(list)
    for entry, own in terms.items():
        pooled[groups[entry]] += own
    return {entry: effect_of(own) for entry, own in terms.items()}, {
        group: effect_of(own) for group, own in sorted(pooled.items())
    }


class _Read(NamedTuple):
    """A trial with its outcome worked out: the whole, and what of it came before each entry's turn."""

    chance: float
    total: float
    draws: tuple[tuple[str, bool, float], ...]
    """Entry, whether it was shown, and what came before."""

    @classmethod
    def of(cls, trial: Trial) -> _Read:
        total = trial.outcome(1)
        draws = tuple((each.entry, each.shown, total - trial.outcome(each.since)) for each in trial.exposures)
        return cls(trial.chance, total, draws)


def _terms(
    trials: Sequence[_Read], fit: Callable[[int], Mapping[str, float]], taken: Callable[[int], bool]
) -> dict[str, list[Term]]:
    """Every draw by entry, its outcome freed of what other entries did and of what came before its turn."""
    found: defaultdict[str, list[Term]] = defaultdict(list)
    before: defaultdict[str, list[float]] = defaultdict(list)
    for number, (chance, total, draws) in enumerate(trials):
        if not taken(number):
            continue
        others = fit(number)
        did = [others.get(entry, 0.0) * (shown - chance) for entry, shown, _ in draws]
        rest = total - math.fsum(did)
        for own, (entry, shown, earlier) in zip(did, draws, strict=True):
            found[entry].append(Term(number, chance, shown, rest + own))
            before[entry].append(earlier)
    return {entry: _freed(terms, before[entry]) for entry, terms in found.items()}


def _freed(terms: Sequence[Term], before: Sequence[float]) -> list[Term]:
    """Terms as far as they differ from what would be expected after what came before, by a straight line."""
    middle, mean = math.fsum(before) / len(terms), math.fsum(term.value for term in terms) / len(terms)
    spread = math.fsum((each - middle) ** 2 for each in before)
    slope = 0.0
    if spread:
        slope = math.fsum((b - middle) * term.value for b, term in zip(before, terms, strict=True)) / spread
    return [
        term._replace(value=term.value - mean - slope * (b - middle)) for b, term in zip(before, terms, strict=True)
    ]


def _fitted(trials: Sequence[_Read], taken: Callable[[int], bool]) -> dict[str, float]:
    """What each entry does, all fitted together; only as far as it stands out of chance, so that noise is not added."""
    fit: dict[str, float] = {}
    for _ in range(_SWEEPS):
        fit = {entry: _standing_out(own) for entry, own in _terms(trials, lambda _: fit, taken).items()}  # noqa: B023
    return fit


def _standing_out(terms: Sequence[Term]) -> float:
    spread = math.fsum(term.chance * (1 - term.chance) * term.value**2 for term in terms)
    score = math.fsum(term.surprise * term.value for term in terms)
    if score**2 <= _STANDS_OUT**2 * spread:
        return 0.0
    return score / math.fsum(term.surprise**2 for term in terms) * (1 - _STANDS_OUT**2 * spread / score**2)


def effect_of(terms: Sequence[Term]) -> Effect:
    """The effect behind some draws, with its interval and the probability that chance alone does as much."""
    shown = sum(term.shown for term in terms)
    weight = math.fsum(term.surprise**2 for term in terms)
    count = len({term.trial for term in terms})
    if not shown or shown == len(terms) or count < 3:
        return Effect(shown, len(terms) - shown, math.nan, -math.inf, math.inf, 1.0)
    estimate = math.fsum(term.surprise * term.value for term in terms) / weight
    by_trial: defaultdict[int, float] = defaultdict(float)
    for term in terms:
        by_trial[term.trial] += term.surprise * (term.value - estimate * term.surprise)
    error = math.sqrt(math.fsum(value**2 for value in by_trial.values()) * count / (count - 2)) / weight
    reach = _NORMAL.inv_cdf((1 + LEVEL) / 2) * error
    return Effect(shown, len(terms) - shown, estimate, estimate - reach, estimate + reach, p_value(terms))


def p_value(terms: Sequence[Term]) -> float:
    """How likely chance alone sets shown and hidden at least so far apart, either way: the randomisation test."""
    kept = [term for term in _tempered(terms) if abs(term.value) > 1e-12]
    score = math.fsum(term.surprise * term.value for term in kept)
    pairs = [(term.value, term.chance) for term in kept]
    either = min(_upper_tail(pairs, score), _upper_tail([(-value, chance) for value, chance in pairs], -score))
    return min(1.0, 2 * either)


def _tempered(terms: Sequence[Term]) -> list[Term]:
    """Terms with their outliers drawn in, lest a few episodes that ran out of steps drown the rest.

    How far is told by the outcomes alone, not by who was shown: the test stays what it is.
    """
    widest = _WIDEST * 1.4826 * median(abs(term.value) for term in terms)  # 1.4826: to standard deviations
    if not widest:
        return list(terms)
    return [term._replace(value=max(-widest, min(widest, term.value))) for term in terms]


def _upper_tail(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """How likely a sum of independent draws, each `value · (shown - chance)`, is at least `score`."""
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
    total = 0.0
    for draws in product((False, True), repeat=len(pairs)):
        drawn = list(zip(draws, pairs, strict=True))
        if sum(value * (shown - chance) for shown, (value, chance) in drawn) >= score:
            total += math.prod(chance if shown else 1 - chance for shown, (_, chance) in drawn)
    return total


def _approximated(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """By the saddlepoint of Lugannani and Rice, which keeps its accuracy far out in the tail, where it matters."""
    scale = max(abs(value) for value, _ in pairs)
    values = [(value / scale, chance) for value, chance in pairs]
    score /= scale
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _moments(values, middle)[1] < score else (low, middle)
    tilt = (low + high) / 2
    log, _, spread = _moments(values, tilt)
    signed = math.copysign(math.sqrt(max(0.0, 2 * (tilt * score - log))), tilt)
    if abs(signed) < 0.05 or spread <= 0:
        return 1 - _NORMAL.cdf(score / math.sqrt(_moments(values, 0.0)[2]))
    tail = 1 - _NORMAL.cdf(signed) + _NORMAL.pdf(signed) * (1 / (tilt * math.sqrt(spread)) - 1 / signed)
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
