from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import scipy  # which loads its `stats` when they are asked for
from hypothesis import given
from hypothesis import strategies as st

from rpms.report.statistical_tests import (
    ALPHA,
    LEAST_DISCORDANT,
    additive_expectation,
    holm,
    interaction,
    mcnemar,
    paired_bootstrap,
    pairs_for_power,
    power_warning,
    ratio_bootstrap,
    success_rate,
)

PAPER = {(36, 16): 0.008, (43, 20): 0.006, (37, 21): 0.049, (28, 25): 0.783}
"""Appendix H: discordant counts and the p-values printed there."""


@pytest.mark.parametrize(("counts", "printed"), PAPER.items())
def test_the_papers_exact_values_are_corrected_chi_squares(counts, printed):
    test = mcnemar(*counts)
    assert test.corrected == pytest.approx(
        printed, abs=6e-4
    )  # 28/25 is 0.78353, which the paper cuts to 0.783
    pairs = sum(counts)
    tail = sum(math.comb(pairs, k) for k in range(min(counts) + 1)) / 2**pairs
    assert test.exact == pytest.approx(min(1.0, 2 * tail))


def test_the_exact_values_behind_the_papers():
    exact = [round(mcnemar(*counts).exact, 4) for counts in PAPER]
    assert exact == [0.0078, 0.0052, 0.0479, 0.7838]


def test_no_discordant_pairs_is_no_evidence():
    test = mcnemar(0, 0)
    assert (test.exact, test.corrected) == (1.0, 1.0)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_does_not_depend_on_the_order_of_conditions(gained, lost):
    assert mcnemar(gained, lost).exact == pytest.approx(mcnemar(lost, gained).exact)
    assert mcnemar(gained, lost).corrected == pytest.approx(mcnemar(lost, gained).corrected)


def test_wilson_of_the_papers_full_system():
    interval = success_rate(80, 134)
    assert interval.estimate == pytest.approx(0.597, abs=5e-4)
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.512, 0.676)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_its_estimate_and_stays_within_bounds(wins, losses):
    interval = success_rate(wins, wins + losses)
    assert 0 <= interval.low <= interval.high <= 1
    if wins + losses:
        assert interval.low - 1e-12 <= interval.estimate <= interval.high + 1e-12


def test_bootstrap_agrees_with_scipy():
    rng = np.random.default_rng(1)
    values = rng.exponential(size=120) - 0.7
    ours = paired_bootstrap(list(values))
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="BCa", rng=2
    ).confidence_interval
    assert ours.method == "BCa bootstrap"
    assert ours.estimate == pytest.approx(values.mean())
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)


def all_resamples(values: list[float]) -> np.ndarray:
    """The mean of every resample that there is: a few values, or there are too many."""
    return np.array([sum(each) / len(values) for each in product(values, repeat=len(values))])


@pytest.mark.parametrize("values", [[1, 0, 0, -1, 1, 0], [1, 1, 1, 0, 0, 0], [40, 0, -7, 12, 0]])
def test_the_bootstrap_of_whole_numbers_is_that_of_all_resamples(values):
    means = np.sort(all_resamples(values))
    ours = paired_bootstrap(values)
    z = scipy.stats.norm
    mean = sum(values) / len(values)
    below = np.mean(means < mean - 1e-9) + np.mean(np.abs(means - mean) < 1e-9) / 2
    deviation = np.array(values) - mean
    skew = np.sum(deviation**3) / (6 * np.sum(deviation**2) ** 1.5)
    ends = []
    for tail in (0.025, 0.975):
        shifted = z.ppf(below) + z.ppf(tail)
        at = z.cdf(z.ppf(below) + shifted / (1 - skew * shifted))
        ends.append(np.quantile(means, at, method="inverted_cdf"))
    assert (ours.low, ours.high) == pytest.approx(tuple(ends))


def test_whole_numbers_that_are_far_apart_are_drawn_from():
    interval = paired_bootstrap([0.0, 1e12, 2e12, -1e12] * 5)
    assert interval.low < interval.estimate < interval.high


def test_scipys_bounds_of_wins_are_ours_or_the_next_task_depending_on_its_seed():
    wins = [1.0] * 2 + [-1.0] * 3 + [0.0] * 19
    ours = paired_bootstrap(wins)
    assert (round(100 * ours.low, 1), round(100 * ours.high, 1)) == (-20.8, 12.5)
    theirs = {
        round(100 * float(drawn.confidence_interval.low), 1)
        for drawn in (
            scipy.stats.bootstrap(
                (np.array(wins),), np.mean, n_resamples=10_000, method="BCa", rng=seed
            )
            for seed in range(4)
        )
    }
    assert theirs == {-20.8, -25.0}


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=30), st.randoms())
def test_bootstrap_is_the_same_every_time_and_in_every_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    interval = paired_bootstrap(values, resamples=200)
    assert interval == paired_bootstrap(shuffled, resamples=200)
    assert min(values) <= interval.low <= interval.high <= max(values)


def test_equal_differences_leave_nothing_to_resample():
    interval = paired_bootstrap([2.0, 2.0, 2.0])
    assert (interval.low, interval.high) == (2.0, 2.0)
    assert math.isnan(paired_bootstrap([]).estimate)


def test_interaction_of_the_papers_ablation():
    assert 80 / 134 - additive_expectation(48 / 134, 68 / 134, 55 / 134) == pytest.approx(
        0.0373, abs=1e-4
    )
    a = [1] * 48 + [0] * 86
    b = [1] * 68 + [0] * 66
    c = [1] * 55 + [0] * 79
    d = [1] * 80 + [0] * 54
    result = interaction(a, b, c, d)
    assert result.estimate == pytest.approx(5 / 134)
    assert result.low < result.estimate < result.high


def test_purely_additive_effects_have_no_interaction():
    assert interaction([0, 1], [1, 2], [2, 3], [3, 4]).estimate == 0


def test_holm_by_hand():
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_value_nor_changes_their_order(values):
    adjusted = holm(values)
    assert list(adjusted) == list(values)
    assert all(values[name] <= adjusted[name] <= 1 for name in values)
    ranked = sorted(values, key=values.__getitem__)
    assert [adjusted[name] for name in ranked] == sorted(adjusted.values())


def test_the_least_number_of_discordant_pairs_is_exact():
    least = LEAST_DISCORDANT
    assert mcnemar(least, 0).exact <= ALPHA < mcnemar(least - 1, 0).exact


def test_too_few_pairs_are_said_with_the_number_needed():
    assert "3, and 6 is the least" in power_warning(mcnemar(3, 0))
    assert power_warning(mcnemar(36, 16)) == ""
    assert "evenly split" in power_warning(mcnemar(10, 10))
    needed = pairs_for_power(28, 25)
    assert f"about {needed} discordant pairs; there are 53" in power_warning(mcnemar(28, 25))


def test_the_number_needed_gives_the_power_it_claims():
    needed = pairs_for_power(28, 18)
    assert needed is not None
    critical = max(
        k for k in range(needed // 2) if scipy.stats.binomtest(k, needed, 0.5).pvalue <= 0.05
    )
    power = scipy.stats.binom.cdf(critical, needed, 18 / 46)
    assert power == pytest.approx(0.8, abs=0.05)


def test_a_ratio_has_an_interval_around_it_whatever_the_order():
    parts, wholes = [1, 0, 5, 2, 0, 3], [10, 4, 12, 9, 30, 7]
    found = ratio_bootstrap(parts, wholes)
    assert found.estimate == pytest.approx(11 / 72)
    assert 0 <= found.low < found.estimate < found.high <= 1
    assert ratio_bootstrap(parts[::-1], wholes[::-1]) == found
    same = ratio_bootstrap([1, 1], [4, 4])
    assert (same.low, same.high) == (0.25, 0.25)
    assert math.isnan(ratio_bootstrap([], []).estimate)
