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
from operator import mul
from statistics import fmean
from typing import NamedTuple

from rpms.learning.randomisation_test import NORMAL, Term, p_value
from rpms.logic.facts import grouped

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
        """The outcome without what entries `did`."""
        parts: list[float] = []
        for draw in self.draws:
            surprise = draw.shown - self.chance
            parts.append(did.get(draw.entry, 0.0) * surprise)
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


class Effects(NamedTuple):
    """Effects on one outcome: of each entry, and of one entry of each group."""

    by_entry: Mapping[str, Effect]
    by_group: Mapping[str, Effect]


def effects(trials: Sequence[MaskedTrial], groups: Mapping[str, str]) -> Effects:
    """The effect of each entry and of each group. `groups`: the group of each entry.

    What other entries did in a trial is estimated from the other folds, so that an entry's own
    draw has no part in it.
    """
    numbers = range(len(trials))
    fitted_outside: list[Mapping[str, float]] = []
    for fold in range(_FOLDS):
        others = [number for number in numbers if number % _FOLDS != fold]
        fitted_outside.append(_fitted(trials, others))
    fitted = [fitted_outside[number % _FOLDS] for number in numbers]
    rest = list(map(MaskedTrial.without, trials, fitted))
    by_entry: dict[str, Effect] = {}
    pooled: defaultdict[str, list[Term]] = defaultdict(list)
    for entry, own in _by_entry(trials, numbers).items():
        did = [fitted[term.trial].get(entry, 0.0) for term in own.terms]
        terms: list[Term] = []
        for term, value in zip(own.terms, own.freed(rest, did), strict=True):
            terms.append(term._replace(value=value))
        by_entry[entry] = effect_of(terms, own.differing)
        pooled[groups[entry]] += terms
    by_group: dict[str, Effect] = {}
    for group, terms in sorted(pooled.items()):
        by_group[group] = effect_of(terms, len(terms))
    return Effects(by_entry, by_group)


@dataclass(slots=True)
class _Own:
    """All draws of one entry in some trials."""

    terms: list[Term]  # Each with the value before its turn, less the average of that
    alike: list[list[list[int]]]
    """Indexes of these, of trials that were about the same: by how special that is."""
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
            for indexes in level:
                _without_mean_of_others(values, indexes)
        return values


def _without_trend(values: Sequence[float], before: Sequence[float]) -> list[float]:
    """Residuals of the linear regression of values on what came before, which averages to 0."""
    mean = fmean(values)
    spread = math.fsum(map(mul, before, before))
    slope = math.fsum(map(mul, before, values)) / spread if spread else 0.0
    pairs = zip(before, values, strict=True)
    return [value - mean - slope * earlier for earlier, value in pairs]


def _without_mean_of_others(values: list[float], indexes: Sequence[int]) -> None:
    """Subtract from each of some values the mean of the others."""
    whole = math.fsum(values[index] for index in indexes)
    others = len(indexes) - 1 + _AVERAGE
    for index in indexes:
        values[index] -= (whole - values[index]) / others


def _by_entry(trials: Sequence[MaskedTrial], taken: Iterable[int]) -> dict[str, _Own]:
    """The draws of each entry in those trials, by number, that are taken."""
    drawn: defaultdict[str, list[Term]] = defaultdict(list)
    came: defaultdict[str, Counter[float]] = defaultdict(Counter)
    for number in taken:
        trial = trials[number]
        for entry, shown, after in trial.draws:
            drawn[entry].append(Term(number, trial.chance, shown, trial.total - after))
            came[entry][after] += 1
    found: dict[str, _Own] = {}
    for entry, terms in drawn.items():
        middle = fmean(term.value for term in terms)
        alike = list(_alike([trials[term.trial].about for term in terms]))
        centred = [term._replace(value=term.value - middle) for term in terms]
        found[entry] = _Own(centred, alike, len(terms) - max(came[entry].values()))
    return found


def _alike(about: Sequence[tuple[str, ...]]) -> Iterator[list[list[int]]]:
    """Indexes of those about the same, of two or more, from the general to the special."""
    for length in range(1, max(map(len, about)) + 1):
        same = grouped((each[:length], index) for index, each in enumerate(about))
        level = [indexes for indexes in same.values() if 1 < len(indexes) < len(about)]
        if level:
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
