"""Chance that falls the same way on every machine and Python version."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws that depend on the key alone, by `random.Random.random`, whose sequence Python promises to keep."""

    def __init__(self, *key: int | str) -> None:
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - games, not secrets

    def below(self, limit: int) -> int:
        """Draw from 0 to limit - 1."""
        return int(self._random.random() * limit)

    def chance(self, percent: int) -> bool:
        """Say yes in about `percent` of 100 cases."""
        return self.below(100) < percent

    def pick(self, things: Sequence[T]) -> T:
        """Draw one, each as likely."""
        return things[self.below(len(things))]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """Draw one key in proportion to its weight; the order of the keys matters to the result."""
        drawn = self.below(sum(weights.values()))
        return next(thing for thing, upto in zip(weights, accumulate(weights.values()), strict=True) if drawn < upto)

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Copy in a random order."""
        rest = list(things)
        return [rest.pop(self.below(len(rest))) for _ in range(len(rest))]
