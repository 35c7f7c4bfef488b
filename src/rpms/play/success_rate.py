"""The 95% confidence interval of a success rate, by Wilson."""

import math
from typing import NamedTuple

_Z = 1.959963984540054
"""The normal quantile of a 95% interval."""


class Proportion(NamedTuple):
    """A confidence interval of a proportion."""

    low: float
    high: float


def wilson(won: int, total: int) -> Proportion:
    """Wilson's 95% interval, which is sound for few episodes and for rates near 0 and 1."""
    if not total:
        return Proportion(0.0, 1.0)
    rate = won / total
    square = _Z * _Z / total
    middle = (rate + square / 2) / (1 + square)
    half = _Z / (1 + square) * math.sqrt(rate * (1 - rate) / total + square / (4 * total))
    return Proportion(max(0.0, middle - half), min(1.0, middle + half))
