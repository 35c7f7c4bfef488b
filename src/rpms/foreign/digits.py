"""Numbers that people and strangers write as digits."""

from __future__ import annotations

from rpms.foreign.limits import LONGEST_NUMBER

_LONGEST = len(str(LONGEST_NUMBER))


def whole_number(text: str, most: int = LONGEST_NUMBER) -> int | None:
    """The number that digits say; None for any other text and above `most`. Thousands of digits are an error to Python.

    >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5_000)
    (12, None, None)
    """
    number = int(text) if text.isdecimal() and len(text) <= _LONGEST else None
    return None if number is None or number > most else number
