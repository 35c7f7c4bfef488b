"""Comparisons that a manual may name, each with three values: true, false, and None where
nobody can tell.
"""

import json
import math
import operator
import posixpath
import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from rpms.guard.paths import inside, is_crooked, plain_path, under

MISSING = object()
"""Stands for what is not there."""
Compare = Callable[[Any, Any], bool | None]
_SLASHES = re.compile(r"[\\/]+")
_DURATION = re.compile(r"now(?:\s*([+-])\s*(\d{1,6})\s*(m|h|d|w))?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def text_of(value: object) -> str:
    """A JSON value as the text by which facts name it: 5, 5.0 and "5" are one thing."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def number_of(value: object) -> float | None:
    """A number, or a short text that is one; None for anything else."""
    if isinstance(value, str) and len(value) < 40:
        with suppress(ValueError):
            value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None


def moment_of(value: object) -> datetime | None:
    """A date or a time as ISO 8601 writes it; without a zone it is taken for UTC, as `now` then
    is too.
    """
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) > 40:
        return None
    with suppress(ValueError):
        moment = datetime.fromisoformat(value.strip())
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _read_by(read: Callable[[object], Any], compare: Callable[[Any, Any], bool]) -> Compare:
    """Compare what two values are read as; one that cannot be read so tells nothing."""

    def compared(value: object, other: object) -> bool | None:
        one = read(value)
        two = read(other)
        return None if one is None or two is None else compare(one, two)

    return compared


def loosened(text: str) -> str:
    """A text without what readers may disregard: case, blanks, invisible signs, forms of
    letters, detours in a path.
    """
    return _loosened_short(text) if len(text) <= _SHORT else _loosened(text)


def _loosened(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        plain = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in plain if sign.isspace() or not _is_invisible(sign))
    text = " ".join(text.casefold().split())
    if "/" in text or "\\" in text:
        return posixpath.normpath(_SLASHES.sub("/", text))
    return text


def _is_invisible(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cf", "Cc")


_SHORT = 1_000
"""Characters of a text whose loose reading is kept for the next time."""
_loosened_short = lru_cache(maxsize=4_096)(_loosened)
Alike = Callable[[str], str | None]
"""A normalisation of texts before they are compared; None for one that cannot be compared."""
ALIKE: Mapping[str, Alike] = {"path": plain_path, "words": loosened}
"""Normalisations, by name."""


def _texts(compare: Callable[[str, str], bool], *, only: bool = True) -> Compare:
    """Compare two texts. If they agree only when read loosely (`Prod`, `/etc//passwd`), or one is a
    path that leads nobody knows where, the answer is None.

    With `only`, a value that is no text is not compared, which gives None too.
    """

    def compared(value: object, other: object) -> bool | None:
        is_text = isinstance(value, str)
        if only and not is_text:
            return None
        one = text_of(value)
        two = text_of(other)
        if compare(one, two):
            return True
        if is_text:
            return _none_if_unsure(compare, one, two)
        if isinstance(value, list | dict) and isinstance(other, str):
            return None  # who knows in which form a tool writes a list
        return False

    return compared


def _none_if_unsure(compare: Callable[[str, str], bool], one: str, two: str) -> bool | None:
    """False for two texts that differ; None where some reader may take them for the same."""
    if "/" in two and is_crooked(one):
        return None
    return None if compare(loosened(one), loosened(two)) else False


_same_text = _texts(operator.eq, only=False)
_contains = _texts(operator.contains)
_SPELLED_FALSE = ("false", "0", "no", "off", "f", "n", "null", "none")


def _is(value: object, other: object) -> bool | None:
    """True for the same text; None if a tool may read the two as one: `100` and `1e2`, or
    `true` and `"yes"`.
    """
    held = _same_text(value, other)
    if held is not False:
        return held
    if isinstance(value, bool) and not isinstance(other, bool):
        return None if _may_be(other, value) else False
    if isinstance(other, bool) and not isinstance(value, bool):
        return None if _may_be(value, other) else False
    return None if number_of(value) == number_of(other) is not None else False


def _may_be(value: object, boolean: bool) -> bool:
    """True if some reader takes a value for a boolean: `"yes"`, `1` and `["x"]` for true."""
    if boolean:
        return bool(value)
    return not value or (isinstance(value, str) and loosened(value) in _SPELLED_FALSE)


def _one_of(value: object, others: object) -> bool | None:
    """True if one of a list is the value; None if one may be."""
    if not isinstance(others, list):
        return None
    held = {_is(value, other) for other in others}
    if True in held:
        return True
    return None if None in held else False


def _has(value: object, wanted: object) -> bool | None:
    if isinstance(value, str):
        return _contains(value, wanted)
    return _one_of(wanted, list(value)) if isinstance(value, Mapping | list) else None


_TOKEN = re.compile(
    r"(?:\\[dwsDWS.^$*+?{}()\[\]|/\\-]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}*+?|])"
    r"(\*|\+|\?|\{\d{1,3}(?:,\d{0,3})?\})?|\((?:\?:)?|\)|\|"
)
_LONGEST_MATCHED = 500
_MOST_WAYS = 5_000_000
"""Ways in which the repeats of a pattern may share the longest text, so that no text takes
seconds."""


def pattern_mistake(pattern: str) -> str:
    """Fault of a regular expression for `matches`, which must not be able to run for long."""
    place = 0
    ways = 1
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            return (
                f"cannot use {pattern[place : place + 10]!r}: repeats are of one character or class"
            )
        if token[1]:
            ways *= _ways(token[1])
        elif token[0] == "|":
            ways *= 2
        place = token.end()
    if ways > _MOST_WAYS:
        return "has too many repeats of any length"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"is no regular expression: {error.msg}"
    return ""


def _ways(repeat: str) -> int:
    """Number of lengths that a repeat may have."""
    if repeat in ("*", "+"):
        return _LONGEST_MATCHED
    if repeat == "?":
        return 2
    least, comma, most = repeat.strip("{}").partition(",")
    if not comma:
        return 1
    longest = int(most) if most else _LONGEST_MATCHED
    return longest - int(least) + 1


def _matches(value: object, pattern: object) -> bool | None:
    """True if a pattern matches the whole text; None for a text that is too long to try."""
    if not isinstance(value, str) or len(value) > _LONGEST_MATCHED:
        return None
    if re.fullmatch(text_of(pattern), value):
        return True
    return None if re.fullmatch(text_of(pattern), loosened(value), re.IGNORECASE) else False


COMPARISONS: Mapping[str, Compare] = {
    "is": _is,
    "in": _one_of,
    "has": _has,
    "starts": _texts(str.startswith),
    "ends": _texts(str.endswith),
    "contains": _contains,
    "matches": _matches,
    "inside": inside,
    "under": under,
    "exists": lambda value, wanted: (value is not MISSING and value is not None) == wanted,
    "at_least": _read_by(number_of, operator.ge),
    "at_most": _read_by(number_of, operator.le),
    "above": _read_by(number_of, operator.gt),
    "below": _read_by(number_of, operator.lt),
    "before": _read_by(moment_of, operator.lt),
    "after": _read_by(moment_of, operator.gt),
}
"""Comparisons of a manual, by name."""


def now_and(text: str, now: datetime) -> datetime | None:
    """The moment that `now`, `now - 24h` or `now + 3d` means; None for another text."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    sign, number, unit = match.groups()
    with suppress(OverflowError):
        return now + timedelta(**{_UNITS[unit]: int(f"{sign}{number}")}) if sign else now
    return None


def writes_alike(compare: Compare, alike: Alike) -> Compare:
    """A comparison that first writes both texts alike; None if one cannot be written so."""

    def compared(value: object, other: object) -> bool | None:
        one = _written(value, alike)
        two = _written(other, alike)
        return None if one is MISSING or two is MISSING else compare(one, two)

    return compared


def _written(value: object, alike: Alike) -> object:
    """A text written alike, or a list of such; MISSING if one cannot be."""
    if isinstance(value, list):
        each = [_written(one, alike) for one in value]
        return MISSING if MISSING in each else each
    if not isinstance(value, str):
        return value
    plain = alike(value)
    return MISSING if plain is None else plain
