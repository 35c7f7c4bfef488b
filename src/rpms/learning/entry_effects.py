"""Effects of showing entries, estimated from episodes in which they were shown or hidden by chance.

The chance is known, and that is all that is assumed. Before shown and hidden episodes are compared,
each outcome is freed of everything that can be told without the entry's own draw: what came before
its turn, how episodes about the same things went, and what other entries did. The last two are
estimated from other episodes.
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

ALPHA = 0.05
"""Level at which an effect is credible, after the correction."""
LEVEL = 1 - ALPHA
"""Level of intervals."""
LEAST = 10
"""Episodes in which an entry's turn must have come before it is tested, and an interval told: with
fewer, nothing could be found, and each test makes the correction harder for the others."""
_DIFFERING = 6
"""Episodes that must have gone otherwise than most: chance shows an entry in all of fewer one time
in 32."""
_FOLDS = 5
"""Parts that episodes are cut into: what other entries did in one part is estimated from the
rest."""
_SWEEPS = 4
"""Rounds in which all effects are fitted together: draws are independent, so a few are enough."""
_STANDS_OUT = 2.0
"""Standard errors by which an effect must differ from 0 before outcomes of others are freed of
it."""
_AVERAGE = 4.0
"""Average episodes that are added to similar ones, so that a few do not stand for all."""
_SAME = 1e-9
"""Standard error below which all episodes went alike, but for rounding."""


class Draw(NamedTuple):
    """One entry whose turn came in one episode."""

    entry: str
    shown: bool
    after: float
    """Outcome from its turn on."""


class MaskedTrial(NamedTuple):
    """One episode as evidence."""

    chance: float
    """Probability of each entry to be shown."""
    total: float
    """Outcome of the whole episode."""
    draws: tuple[Draw, ...]
    about: tuple[str, ...] = ()
    """Facts known before it began, the general ones first: type of task, goal, task."""

    def without_effects(self, estimates: Mapping[str, float]) -> float:
        """The outcome less what entries did to it, by estimates of their effects."""
        parts: list[float] = []
        for draw in self.draws:
            surprise = draw.shown - self.chance
            parts.append(estimates.get(draw.entry, 0.0) * surprise)
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
    """Lower end of the interval; infinite if there are few episodes, or all went alike."""
    high: float = math.inf
    """Upper end of the interval."""
    p: float = 1.0
    """P-value; 1 where nothing could be found, and so nothing was tested."""
    differing: int = 0
    """Episodes whose outcome differs from the most frequent one."""
    adjusted: float = 1.0
    """P-value after the correction for all that were tested."""

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
    estimates = _estimates_from_other_folds(trials)
    # the outcome of each trial less what all entries did to it
    without_all: list[float] = []
    for trial, of_all in zip(trials, estimates, strict=True):
        without_all.append(trial.without_effects(of_all))
    by_entry: dict[str, Effect] = {}
    terms_by_group: defaultdict[str, list[Term]] = defaultdict(list)
    for entry, drawn in _draws_by_entry(trials, range(len(trials))).items():
        own = [estimates[term.trial].get(entry, 0.0) for term in drawn.terms]
        terms = drawn.freed_of_others(without_all, own)
        by_entry[entry] = effect_of(terms, drawn.differing)
        terms_by_group[groups[entry]] += terms
    by_group: dict[str, Effect] = {}
    for group, terms in sorted(terms_by_group.items()):
        by_group[group] = effect_of(terms, len(terms))
    return Effects(by_entry, by_group)


def _estimates_from_other_folds(trials: Sequence[MaskedTrial]) -> list[Mapping[str, float]]:
    """For each trial, the effects of all entries as the trials of the other folds tell them."""
    numbers = range(len(trials))
    without_fold: list[Mapping[str, float]] = []
    for fold in range(_FOLDS):
        others = [number for number in numbers if number % _FOLDS != fold]
        without_fold.append(_fit_effects(trials, others))
    return [without_fold[number % _FOLDS] for number in numbers]


@dataclass(slots=True)
class _EntryDraws:
    """All draws of one entry in some trials."""

    terms: list[Term]
    """Each draw, its value the outcome before its turn, less the average of these."""
    similar: list[list[list[int]]]
    """Groups of similar trials, as indexes of `terms`: by type of task, by goal, by task."""
    differing: int
    """Trials whose outcome, counted from its turn on, differs from the most frequent one."""

    def freed_of_others(self, without_all: Sequence[float], own: Sequence[float]) -> list[Term]:
        """The draws with what is left of each outcome once other entries, what came before this
        entry's turn, and the way similar trials went are taken out.

        `without_all`: the outcomes of all trials less what any entry did; `own`: for each draw, the
        estimate of this entry's effect, which is put back.
        """
        values: list[float] = []
        for term, estimate in zip(self.terms, own, strict=True):
            values.append(without_all[term.trial] + estimate * term.surprise)
        values = _without_trend(values, [term.value for term in self.terms])
        for level in self.similar:
            for indexes in level:
                _subtract_mean_of_others(values, indexes)
        freed: list[Term] = []
        for term, value in zip(self.terms, values, strict=True):
            freed.append(term._replace(value=value))
        return freed


def _without_trend(values: Sequence[float], before: Sequence[float]) -> list[float]:
    """Residuals of the linear regression of values on what came before, which averages to 0."""
    mean = fmean(values)
    spread = math.fsum(map(mul, before, before))
    slope = math.fsum(map(mul, before, values)) / spread if spread else 0.0
    residuals: list[float] = []
    for value, earlier in zip(values, before, strict=True):
        residuals.append(value - mean - slope * earlier)
    return residuals


def _subtract_mean_of_others(values: list[float], indexes: Sequence[int]) -> None:
    """Subtract from each of some values the mean of the others."""
    whole = math.fsum(values[index] for index in indexes)
    others = len(indexes) - 1 + _AVERAGE
    for index in indexes:
        values[index] -= (whole - values[index]) / others


def _draws_by_entry(
    trials: Sequence[MaskedTrial], numbers: Iterable[int]
) -> dict[str, _EntryDraws]:
    """The draws of each entry in the trials of some numbers."""
    terms_of: defaultdict[str, list[Term]] = defaultdict(list)
    outcomes_of: defaultdict[str, Counter[float]] = defaultdict(Counter)
    for number in numbers:
        trial = trials[number]
        for entry, shown, after in trial.draws:
            terms_of[entry].append(Term(number, trial.chance, shown, trial.total - after))
            outcomes_of[entry][after] += 1
    found: dict[str, _EntryDraws] = {}
    for entry, terms in terms_of.items():
        average = fmean(term.value for term in terms)
        centred = [term._replace(value=term.value - average) for term in terms]
        similar = list(_groups_of_similar([trials[term.trial].about for term in terms]))
        differing = len(terms) - max(outcomes_of[entry].values())
        found[entry] = _EntryDraws(centred, similar, differing)
    return found


def _groups_of_similar(about: Sequence[tuple[str, ...]]) -> Iterator[list[list[int]]]:
    """Groups of indexes that agree in the first fact, then in the first two, and so on.

    A group has two or more, and not all.
    """
    for length in range(1, max(map(len, about)) + 1):
        same = grouped((each[:length], index) for index, each in enumerate(about))
        level = [indexes for indexes in same.values() if 1 < len(indexes) < len(about)]
        if level:
            yield level


def _fit_effects(trials: Sequence[MaskedTrial], numbers: Sequence[int]) -> dict[str, float]:
    """Estimates of all entries' effects from the trials of some numbers, fitted together; each
    only as far as it stands out of chance.
    """
    every = _draws_by_entry(trials, numbers)
    entries = {entry: drawn for entry, drawn in every.items() if drawn.differing >= _DIFFERING}
    estimates = dict.fromkeys(entries, 0.0)
    # the outcome of each trial less the effects as they are estimated so far: at first, of none
    without_all = [trial.total for trial in trials]
    for _ in range(_SWEEPS):
        for entry, drawn in entries.items():
            before = estimates[entry]
            terms = drawn.freed_of_others(without_all, [before] * len(drawn.terms))
            now = _shrunken_effect(terms)
            estimates[entry] = now
            if now != before:
                for term in drawn.terms:
                    without_all[term.trial] += (before - now) * term.surprise
    return estimates


def _shrunken_effect(terms: Sequence[Term]) -> float:
    """The effect behind some draws, shrunk by as much as chance alone may explain; 0 if chance may
    explain all of it.
    """
    scores: list[float] = []
    variances: list[float] = []
    for term in terms:
        scores.append(term.surprise * term.value)
        variances.append(term.chance * (1 - term.chance) * term.value * term.value)
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
