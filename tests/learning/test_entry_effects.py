"""Estimates from known chances: right on average, honest about chance, and able to find what is
there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.learning.entry_effects import Draw, MaskedTrial, effect_of, effects
from rpms.learning.randomisation_test import (
    Term,
    _approximated,
    _counted,
    _Summand,
    benjamini_hochberg,
    p_value,
)

values = st.lists(st.floats(-20, 20), min_size=1, max_size=8)


def terms(outcomes, shown, chance=0.5):
    mean = sum(outcomes) / len(outcomes)
    return [
        Term(n, chance, is_shown, y - mean)
        for n, (y, is_shown) in enumerate(zip(outcomes, shown, strict=True))
    ]


@given(values, st.randoms(use_true_random=False))
def test_a_p_value_is_a_probability_and_never_less_than_that_of_the_draw_itself(outcomes, dice):
    shown = [dice.random() < 0.5 for _ in outcomes]
    value = p_value(terms(outcomes, shown))
    assert 0.5 ** len(outcomes) <= value + 1e-12
    assert value <= 1


def test_the_approximation_is_near_what_counting_gives():
    dice = Random(4)
    for chance in (0.5, 0.8):
        pairs = [_Summand(dice.gauss(0, 3), chance) for _ in range(14)]
        for score in (0.5, 4.0, 8.0):
            exact = _counted(pairs, score)
            assert _approximated(pairs, score) == pytest.approx(exact, rel=0.15, abs=2e-4)


def played(
    dice: Random,
    effects_by_entry: dict[str, float],
    episodes: int,
    chance: float,
    noise: float = 2.0,
    goals: Sequence[float] = (0.0,),
):
    """Episodes in which every entry's turn comes, half of them at the first step and half at the
    fifth.

    Some goals take longer than others.
    """
    for number in range(episodes):
        goal = number % len(goals)
        shown = {name: dice.random() < chance for name in effects_by_entry}
        total = (
            20
            + goals[goal]
            + dice.gauss(0, noise)
            + sum(effects_by_entry[name] * shown[name] for name in shown)
        )
        draws = tuple(
            Draw(name, shown[name], total - (0 if n % 2 else 4)) for n, name in enumerate(shown)
        )
        yield MaskedTrial(chance, total, draws, ("type", f"goal {goal}"))


@pytest.mark.parametrize("chance", [0.5, 0.8])
def test_where_nothing_has_an_effect_few_p_values_are_small_and_intervals_hold_zero(chance):
    dice = Random(11)
    found = []
    for _ in range(6):
        trials = list(played(dice, {str(n): 0.0 for n in range(25)}, 30, chance, goals=(0, 5, 20)))
        found += effects(trials, {str(n): "all" for n in range(25)})[0].values()
    small = sum(effect.p <= 0.05 for effect in found) / len(found)
    held = sum(effect.low <= 0 <= effect.high for effect in found) / len(found)
    assert 0.01 < small < 0.1
    assert held > 0.88


def test_effects_are_found_with_their_size_among_others_that_blur_them():
    truth = {"bad": 4.0, "worse": 8.0, "good": -3.0, **{f"none {n}": 0.0 for n in range(20)}}
    trials = list(played(Random(5), truth, 150, 0.5))
    by_entry, by_group = effects(trials, dict.fromkeys(truth, "all"))
    for name, size in truth.items():
        assert by_entry[name].estimate == pytest.approx(size, abs=1.6), name
    assert all(by_entry[name].p < 1e-5 for name in ("bad", "worse", "good"))
    assert by_entry["bad"].low < 4 < by_entry["bad"].high
    assert by_group["all"].estimate == pytest.approx(sum(truth.values()) / len(truth), abs=0.4)


def test_what_goals_take_anyway_does_not_blur_what_entries_do():
    truth = {"bad": 3.0, **{f"none {n}": 0.0 for n in range(5)}}
    trials = list(played(Random(6), truth, 120, 0.5, goals=(0, 10, 25, 40)))
    blurred = [trial._replace(about=()) for trial in trials]
    groups = dict.fromkeys(truth, "all")
    assert effects(trials, groups)[0]["bad"].p < 1e-3 < effects(blurred, groups)[0]["bad"].p


def test_few_episodes_and_episodes_that_went_alike_have_no_interval_and_are_not_tested():
    dice = Random(7)
    for outcomes in ([dice.gauss(0, 1) for _ in range(9)], [1.0] * 40):
        shown = [n % 2 == 0 for n in range(len(outcomes))]
        effect = effect_of(terms(outcomes, shown), len(set(outcomes)) - 1)
        assert not effect.testable
        assert (effect.low, effect.high, effect.detectable) == (-math.inf, math.inf, math.inf)


def test_an_entry_that_was_always_shown_tells_nothing():
    effect = effect_of(terms([1, 2, 3, 4], [True] * 4), 3)
    assert (effect.shown, effect.hidden, effect.p) == (4, 0, 1.0)
    assert math.isnan(effect.estimate)


@given(st.lists(st.floats(0, 1), max_size=30))
def test_the_correction_never_lowers_a_p_value_and_keeps_their_order(p_values):
    adjusted = benjamini_hochberg(p_values)
    assert all(
        after >= before * (1 - 1e-12) for before, after in zip(p_values, adjusted, strict=True)
    )
    assert all(after <= 1 for after in adjusted)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[n] for n in order] == sorted(adjusted)
