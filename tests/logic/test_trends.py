"""Rates and ends of a number that a device drives, from what was measured."""

import pytest

from rpms.logic.trends import Measurement, last_stay, trend_of


def readings(values, device="stove", apart=12):
    return [Measurement(apart * turn, value, device, "") for turn, value in enumerate(values)]


def trend(stay):
    return trend_of(stay, 8)


def test_two_readings_give_a_rate_and_no_end():
    course = trend(readings([10, 70]))
    assert course.rate == pytest.approx(5)
    assert course.end is None
    assert course.value_at(24) == pytest.approx(130)
    assert not course.is_at_rest(1_000, 4)


def test_where_it_ends_is_foreseen_while_it_is_far_away():
    way = [13, 73, 131, 172, 200]
    course = trend(readings(way))
    assert 255 < course.end < 265, "the stove came to 260 in the end"
    assert course.value_at(60) == pytest.approx(219, abs=3)
    assert not course.is_at_rest(course.last.time, 4)
    assert course.is_at_rest(course.last.time + 60, 4)


def test_falling_numbers_are_as_good_as_rising_ones():
    course = trend(readings([65, 43, 20, 5, -4]))
    assert -25 < course.end < -12
    assert course.falls_short(-39, rising=False)
    assert not course.falls_short(-10, rising=False)


def test_a_device_is_not_given_up_before_it_slows_down():
    assert not trend(readings([16, 21, 27, 34])).falls_short(500, rising=True)
    assert trend(readings([100, 160, 200, 225])).falls_short(500, rising=True)


def test_rounded_readings_close_together_tell_no_end():
    course = trend(readings([0, -3, -5], apart=1))
    assert course.end is None


def test_a_number_that_stands_still_is_at_rest():
    course = trend(readings([295, 295, 295]))
    assert course.is_at_rest(course.last.time, 4)


def test_a_stay_is_the_last_time_that_a_device_was_at_work():
    first = readings([10, 20])
    away = [Measurement(20, 15, "", "")]
    again = [Measurement(30, 15, "stove", ""), Measurement(40, 25, "stove", "")]
    assert last_stay([*first, *away, *again], "stove") == again
    assert last_stay([*first, *away], "stove") == first
    assert last_stay(first, "oven") == []
