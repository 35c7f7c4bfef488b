"""Integers as sets of small numbers."""

from collections.abc import Iterator


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, in order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
