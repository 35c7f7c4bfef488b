"""A number that a device drives one way, such as a temperature: its rate, and where it will end,
from what was measured.

Nothing is known beforehand of devices or of what is in them. A number is taken to come to rest as a
warm thing does: the nearer the end, the slower. Two readings give a rate; a second rate, smaller
than the first, gives the end.
"""

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

_REST = 0.12
"""Share of the way from the first reading to the end after which little more is to be expected."""


class Measurement(NamedTuple):
    """A measured value."""

    time: int
    value: float
    device: str
    """Device that was at work on it; empty if none was."""
    state: str
    """State that the measured thing was in; empty if nothing told."""


class Trend(NamedTuple):
    """The way a number takes: its last value, and how it goes on."""

    first: float
    last: Measurement
    rate: float
    """Units a tick at the last reading."""
    end: float | None
    """Value at which it will come to rest; None while it does not slow down."""
    decay: float
    """Share of the way left that each tick takes; 0 while that is not known."""

    def value_at(self, time: int) -> float:
        """Value to be expected at a time."""
        passed = time - self.last.time
        if self.end is None:
            return self.last.value + self.rate * passed
        return self.end - (self.end - self.last.value) * exp(-self.decay * passed)

    def is_at_rest(self, time: int, least: float) -> bool:
        """True if hardly anything is to be expected after a time; `least` is never worth waiting
        for.
        """
        if self.end is None:
            return False
        left = abs(self.end - self.value_at(time))
        return left < max(least, _REST * abs(self.end - self.first))

    def falls_short(self, bound: float, *, rising: bool) -> bool:
        """True if the number will come to rest without reaching a bound, even if its end is a tenth
        farther. The bound lies above if the number is to rise, else below.
        """
        if self.end is None:
            return False
        hoped = self.end + (self.end - self.last.value) / 10
        return hoped < bound if rising else hoped > bound


def last_stay(readings: Sequence[Measurement], device: str) -> list[Measurement]:
    """Readings of the last time that a device was at work, one after the other."""
    stay: list[Measurement] = []
    for reading in reversed(readings):
        if reading.device == device:
            stay.append(reading)
        elif stay:
            break
    return stay[::-1]


def trend_of(stay: Sequence[Measurement], apart: int) -> Trend | None:
    """The course of a number by its readings; None for fewer than two.

    `apart`: ticks between readings whose difference tells a rate. The rate of change is taken to be
    a straight line over the value, through the middles of the last two intervals; the end is where
    that line is 0.
    """
    if len(stay) < 2:
        return None
    *earlier_ones, before, last = _spaced(stay, apart)
    rate = _rate(before, last)
    if not earlier_ones:
        return Trend(stay[0].value, last, rate, None, 0.0)
    earlier = _rate(earlier_ones[-1], before)
    slowing = abs(earlier) > abs(rate) and earlier * rate >= 0
    way = (last.value - earlier_ones[-1].value) / 2
    if not slowing or not way:
        end = last.value if rate == earlier == 0 else None
        return Trend(stay[0].value, last, rate, end, 0.0)
    decay = (earlier - rate) / way
    middle = (before.value + last.value) / 2
    return Trend(stay[0].value, last, rate, middle + rate / decay, decay)


def _spaced(stay: Sequence[Measurement], apart: int) -> list[Measurement]:
    """The last reading and earlier ones far enough apart for rates: instruments round. At least
    two.
    """
    spaced = [stay[-1]]
    for reading in reversed(stay[:-1]):
        if spaced[-1].time - reading.time >= apart:
            spaced.append(reading)
    if len(spaced) < 2:
        spaced.append(stay[0])
    return spaced[::-1]


def _rate(one: Measurement, other: Measurement) -> float:
    return (other.value - one.value) / max(1, other.time - one.time)
