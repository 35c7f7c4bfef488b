"""Effect of showing an entry, estimated from episodes in which it was shown or hidden by chance.

The chance is known, and that is all that is assumed. Before shown and hidden are compared, what can
be told without this entry's own draw is taken out of each outcome: what came before its turn, how
episodes about the same went, and what other entries did, the last two estimated from other
episodes.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, median
from typing import NamedTuple

from rpms.logic.facts import grouped

NORMAL = NormalDist()
# Standard deviations, as the middle half tells them, beyond which an outcome counts no further in a
# test
_WIDEST = 2.0
_TO_DEVIATIONS = 1.4826  # From the median of distances to a standard deviation
_ENUMERATED = 12  # Draws up to which all their outcomes are gone through one by one: 4,096 of them
_NEAR = 1e-9  # Precision of the saddlepoint


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
    """P-value of the randomisation test: chance alone sets shown and hidden at least so far
    apart, either way.
    """
    kept = [term for term in _without_outliers(terms) if abs(term.value) > 1e-12]
    score = math.fsum(term.surprise * term.value for term in kept)
    side = 1 if score >= 0 else -1
    tail = _upper_tail([(side * term.value, term.chance) for term in kept], side * score)
    if tail >= 0.5:
        other = [(-side * term.value, term.chance) for term in kept]
        tail = min(tail, _upper_tail(other, -side * score))
    return min(1.0, 2 * tail)


def _without_outliers(terms: Sequence[Term]) -> list[Term]:
    """Terms with outliers drawn in, by the outcomes alone, so that episodes out of steps do not
    drown the rest.
    """
    spread = _TO_DEVIATIONS * median(abs(term.value) for term in terms)
    widest = _WIDEST * spread or math.inf
    return [term._replace(value=max(-widest, min(widest, term.value))) for term in terms]


def _upper_tail(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """Probability that a sum of independent draws, each `value · (shown - chance)`, is at least
    `score`.
    """
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
    """By going through every outcome of the draws."""
    sums = [(0.0, 1.0)]
    for value, chance in pairs:
        with_next: list[tuple[float, float]] = []
        for total, likely in sums:
            with_next.append((total + value * (1 - chance), likely * chance))
            with_next.append((total - value * chance, likely * (1 - chance)))
        sums = with_next
    return math.fsum(likely for total, likely in sums if total >= score)


def _approximated(pairs: Sequence[tuple[float, float]], score: float) -> float:
    """By the saddlepoint of Lugannani and Rice, which keeps its accuracy far out in the tail,
    where it matters.
    """
    scale = max(abs(value) for value, _ in pairs)
    values = [(value / scale, chance) for value, chance in pairs]
    score /= scale
    tilt, at_tilt = _saddlepoint(values, score)
    signed = math.copysign(math.sqrt(max(0.0, 2 * (tilt * score - at_tilt.log))), tilt)
    if abs(signed) < 0.05 or at_tilt.spread <= 0:
        return 1 - NORMAL.cdf(score / math.sqrt(_moments(values, 0.0).spread))
    correction = 1 / (tilt * math.sqrt(at_tilt.spread)) - 1 / signed
    tail = 1 - NORMAL.cdf(signed) + NORMAL.pdf(signed) * correction
    return min(1.0, max(0.0, tail))


class _Moments(NamedTuple):
    """The cumulant generating function of a sum at a tilt, and its first two derivatives."""

    log: float
    mean: float
    spread: float


def _saddlepoint(values: Sequence[tuple[float, float]], score: float) -> tuple[float, _Moments]:
    """The tilt at which the mean of the sum is the score, by Newton's method within bounds."""
    low = -60.0
    high = 60.0
    tilt = 0.0
    for _ in range(60):
        found = _moments(values, tilt)
        if found.mean < score:
            low = tilt
        else:
            high = tilt
        if high - low < _NEAR or abs(score - found.mean) < _NEAR * math.sqrt(found.spread):
            break
        step = tilt + (score - found.mean) / found.spread if found.spread else math.inf
        tilt = step if low < step < high else (low + high) / 2
    return tilt, found


def _moments(values: Iterable[tuple[float, float]], tilt: float) -> _Moments:
    log = mean = spread = 0.0
    for value, chance in values:
        power = tilt * value
        grown = chance * math.exp(power)
        all_of_it = 1 - chance + grown
        share = grown / all_of_it
        log += math.log(all_of_it) - chance * power
        mean += value * (share - chance)
        spread += value * value * share * (1 - share)
    return _Moments(log, mean, spread)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that of all that is at most 0.05, about 5% is expected to be chance."""
    count = len(p_values)
    adjusted = [1.0] * count
    least = 1.0
    order = sorted(range(count), key=lambda place: -p_values[place])
    for rank, place in zip(range(count, 0, -1), order, strict=True):
        least = min(least, p_values[place] * count / rank)
        adjusted[place] = least
    return adjusted


ALPHA = 0.05  # The level at which an effect is credible, after the correction
LEVEL = 1 - ALPHA  # Of intervals
LEAST = 10
"""Episodes in which an entry's turn must have come before it is tested, and an interval told: with
fewer, nothing could be found, and each test makes the correction harder for the others."""
# Episodes that must have gone otherwise than most: chance shows an entry in all of fewer one time
# in 32
_DIFFERING = 6
_FOLDS = 5  # Parts that episodes are cut into: what others did in one is estimated from the rest
_SWEEPS = 4  # Draws are independent, and so a few sweeps settle what all entries did together
# Standard errors by which an effect must differ from none before others' outcomes are freed of it
_STANDS_OUT = 2.0
# Average episodes that are added to those about the same, so that a few of them do not stand for
# all
_AVERAGE = 4.0
_SAME = 1e-9  # A standard error below which all episodes went alike, but for rounding


class Draw(NamedTuple):
    """One entry whose turn came in one episode."""

    entry: str
    shown: bool
    after: float  # Outcome from its turn on


class MaskedTrial(NamedTuple):
    """One episode as evidence."""

    chance: float  # Of each entry to be shown
    total: float  # Outcome of the whole episode
    draws: tuple[Draw, ...]
    about: tuple[str, ...] = ()
    """Facts known before it began, the general ones first: type of task, goal, task."""

    def without(self, did: Mapping[str, float]) -> float:
        """The outcome without what entries did."""
        parts = [did.get(draw.entry, 0.0) * (draw.shown - self.chance) for draw in self.draws]
        return self.total - math.fsum(parts)


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of showing something on one outcome, averaged over the episodes in which its turn
    came.
    """

    shown: int
    hidden: int
    estimate: float = math.nan
    low: float = -math.inf
    """Of the interval, as `high`; infinite where there are few episodes, or all went alike."""
    high: float = math.inf
    p: float = 1.0  # 1 where nothing could be found, and so nothing was tested
    differing: int = 0  # Episodes in which the outcome was not what it was in most
    adjusted: float = 1.0  # P-value after the correction for all that were tested

    @property
    def interval(self) -> tuple[float, float, float]:
        """The estimate with the ends of its interval."""
        return self.estimate, self.low, self.high

    @property
    def sign(self) -> int:
        """1 for a credible rise, -1 for a credible fall, 0 where neither can be told."""
        return sign(self.estimate) if self.adjusted <= ALPHA else 0

    @property
    def detectable(self) -> float:
        """The least effect that as much evidence would find four times in five."""
        power = NORMAL.inv_cdf(0.8) / NORMAL.inv_cdf((1 + LEVEL) / 2)
        return (self.high - self.low) / 2 * (1 + power)

    @property
    def testable(self) -> bool:
        """True if there is enough evidence to test. The decision uses nothing that the entry's
        own draws could change if it had no effect, so it adds no bias.
        """
        return (
            min(self.shown, self.hidden) > 0
            and self.shown + self.hidden >= LEAST
            and self.differing >= _DIFFERING
        )


def sign(value: float) -> int:
    """1, -1 or 0; 0 for what is not a number."""
    return (value > 0) - (value < 0)


def effects(
    trials: Sequence[MaskedTrial], groups: Mapping[str, str]
) -> tuple[dict[str, Effect], dict[str, Effect]]:
    """The effect of each entry, and of one entry of each group, by names that `groups` gives
    them.
    """
    folds: list[dict[str, float]] = []
    for fold in range(_FOLDS):
        others = [number for number in range(len(trials)) if number % _FOLDS != fold]
        folds.append(_fitted(trials, others))
    rest = [trial.without(folds[number % _FOLDS]) for number, trial in enumerate(trials)]
    by_entry: dict[str, Effect] = {}
    pooled: defaultdict[str, list[Term]] = defaultdict(list)
    for entry, own in _by_entry(trials, range(len(trials))).items():
        values = own.freed(rest, [folds[term.trial % _FOLDS].get(entry, 0.0) for term in own.terms])
        terms = [term._replace(value=value) for term, value in zip(own.terms, values, strict=True)]
        by_entry[entry] = effect_of(terms, own.differing)
        pooled[groups[entry]] += terms
    by_group: dict[str, Effect] = {}
    for group, terms in sorted(pooled.items()):
        by_group[group] = effect_of(terms, len(terms))
    return by_entry, by_group


@dataclass(slots=True)
class _Own:
    """All draws of one entry in some trials."""

    terms: list[Term]  # Each with the value before its turn, less the average of that
    alike: list[list[list[int]]]
    """Places among these, of trials that were about the same: by how special that is."""
    differing: int  # Trials in which what came after its turn was not what it was in most

    def freed(self, rest: Sequence[float], did: Sequence[float]) -> list[float]:
        """Residual of each outcome, its own part put back, without what came before or of
        trials alike.
        """
        values: list[float] = []
        for term, own in zip(self.terms, did, strict=True):
            values.append(rest[term.trial] + own * term.surprise)
        values = _without_trend(values, [term.value for term in self.terms])
        for level in self.alike:
            for places in level:
                _without_mean_of_others(values, places)
        return values


def _without_trend(values: Sequence[float], before: Sequence[float]) -> list[float]:
    """Residuals of the linear regression of values on what came before, which averages to 0."""
    mean = math.fsum(values) / len(values)
    spread = math.fsum(each * each for each in before)
    slope = 0.0
    if spread:
        slope = math.fsum(b * value for b, value in zip(before, values, strict=True)) / spread
    return [value - mean - slope * b for b, value in zip(before, values, strict=True)]


def _without_mean_of_others(values: list[float], places: Sequence[int]) -> None:
    """From each of the values at some places, take the mean of the others there."""
    whole = math.fsum(values[place] for place in places)
    others = len(places) - 1 + _AVERAGE
    for place in places:
        values[place] -= (whole - values[place]) / others


def _by_entry(trials: Sequence[MaskedTrial], taken: Iterable[int]) -> dict[str, _Own]:
    drawn: defaultdict[str, list[Term]] = defaultdict(list)
    came: defaultdict[str, Counter[float]] = defaultdict(Counter)
    for number in taken:
        trial = trials[number]
        for entry, shown, after in trial.draws:
            drawn[entry].append(Term(number, trial.chance, shown, trial.total - after))
            came[entry][after] += 1
    found: dict[str, _Own] = {}
    for entry, terms in drawn.items():
        middle = math.fsum(term.value for term in terms) / len(terms)
        alike = list(_alike([trials[term.trial].about for term in terms]))
        centred = [term._replace(value=term.value - middle) for term in terms]
        found[entry] = _Own(centred, alike, len(terms) - max(came[entry].values()))
    return found


def _alike(about: Sequence[tuple[str, ...]]) -> Iterator[list[list[int]]]:
    """Places of those about the same, of two or more, from the general to the special."""
    for length in range(1, max(map(len, about)) + 1):
        places = grouped((each[:length], place) for place, each in enumerate(about))
        if level := [members for members in places.values() if 1 < len(members) < len(about)]:
            yield level


def _fitted(trials: Sequence[MaskedTrial], taken: Sequence[int]) -> dict[str, float]:
    """Effects of all entries fitted together, each only as far as it stands out of chance."""
    rest = [trial.total for trial in trials]
    every = _by_entry(trials, taken)
    entries = {entry: own for entry, own in every.items() if own.differing >= _DIFFERING}
    did = dict.fromkeys(entries, 0.0)
    for _ in range(_SWEEPS):
        for entry, own in entries.items():
            before = did[entry]
            now = _standing_out(own.terms, own.freed(rest, [before] * len(own.terms)))
            did[entry] = now
            if now != before:
                for term in own.terms:
                    rest[term.trial] += (before - now) * term.surprise
    return did


def _standing_out(terms: Sequence[Term], values: Sequence[float]) -> float:
    """The effect behind some draws, shrunk by as much as chance may do; 0 where that is all."""
    scores: list[float] = []
    variances: list[float] = []
    for term, value in zip(terms, values, strict=True):
        scores.append(term.surprise * value)
        variances.append(term.chance * (1 - term.chance) * value * value)
    score = math.fsum(scores)
    by_chance = _STANDS_OUT**2 * math.fsum(variances)
    if score * score <= by_chance:
        return 0.0
    weight = math.fsum(term.surprise * term.surprise for term in terms)
    return score / weight * (1 - by_chance / score**2)


def effect_of(terms: Sequence[Term], differing: int) -> Effect:
    """The effect behind some draws, with its interval and the probability that chance alone
    does as much.
    """
    shown = sum(term.shown for term in terms)
    hidden = len(terms) - shown
    untested = Effect(shown, hidden, differing=differing)
    count = len({term.trial for term in terms})
    if min(shown, hidden) == 0 or count < 3:
        return untested
    weight = math.fsum(term.surprise**2 for term in terms)
    estimate = math.fsum(term.surprise * term.value for term in terms) / weight
    if count < LEAST:
        return replace(untested, estimate=estimate)
    error = _standard_error(terms, estimate, count) / weight
    reach = NORMAL.inv_cdf((1 + LEVEL) / 2) * error if error > _SAME else math.inf
    p = p_value(terms) if untested.testable else 1.0
    return replace(untested, estimate=estimate, low=estimate - reach, high=estimate + reach, p=p)


def _standard_error(terms: Sequence[Term], estimate: float, trials: int) -> float:
    """The standard error of a sum over draws, where those of one trial belong together."""
    by_trial: defaultdict[int, float] = defaultdict(float)
    for term in terms:
        by_trial[term.trial] += term.surprise * (term.value - estimate * term.surprise)
    squares = math.fsum(value**2 for value in by_trial.values())
    return math.sqrt(squares * trials / (trials - 2))
