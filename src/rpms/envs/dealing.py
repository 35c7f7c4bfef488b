"""The original ALFWorld's order of games, shuffled anew after each pass by NumPy's oldest generator; without NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random, SystemRandom
from typing import TypeVar

from rpms.core.errors import InputError

Item = TypeVar("Item")

_WORDS = 624
"""Words of the Mersenne Twister's state; Python's generator is the same one, started in another way."""
_WORD = 0xFFFFFFFF
_PYTHON_STATE = 3
"""The version of the states that Python's generator gives and takes."""


def dealt(items: Sequence[Item], seed: int | None) -> Iterator[Item]:
    """Deal the items without end; the same seed deals as `numpy.random.RandomState(seed)` would."""
    return _deal(list(items), _generator(seed))


def _deal(order: list[Item], words: Random) -> Iterator[Item]:
    while order:
        _shuffle(order, words)
        yield from order


def _generator(seed: int | None) -> Random:
    words = Random()  # noqa: S311  games are dealt, not secrets
    if seed is None:
        seed = SystemRandom().getrandbits(32)
    if not 0 <= seed <= _WORD:
        raise InputError(f"a seed of {seed}: give a number from 0 to {_WORD}")
    state = [seed]
    for place in range(1, _WORDS):
        last = state[-1]
        state.append((1812433253 * (last ^ last >> 30) + place) & _WORD)
    words.setstate((_PYTHON_STATE, (*state, _WORDS), None))
    return words


def _shuffle(order: list[Item], words: Random) -> None:
    for last in range(len(order) - 1, 0, -1):
        mask = (1 << last.bit_length()) - 1
        while (other := words.getrandbits(32) & mask) > last:
            pass
        order[last], order[other] = order[other], order[last]
