"""JSON from outside, also in lines: bounded in depth and numbers, so that nothing behind it has to be."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rpms.core.errors import FileError
from rpms.foreign.limits import DEEPEST_JSON, LONGEST_NUMBER, MOST_JSON_VALUES

_DIGITS = len(str(-LONGEST_NUMBER))
_Value = TypeVar("_Value")


class NotJson(ValueError):
    """A text is not JSON that anything here would write; its words say why, and are fit to be shown."""

    place: tuple[str, ...] = ()
    """Names of the fields that lead to what is wrong."""


class NameTwice(NotJson):
    """A name stands twice in one object, of which readers take the first or the last."""


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS or abs(number := int(digits)) > LONGEST_NUMBER:
        raise NotJson("a number is too long")
    return number


def _decimal(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotJson("a number is too large")
    return number


def _constant(name: str) -> float:
    raise NotJson(f"{name} is not a number")


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON text, whose names must differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NameTwice("a name stands twice in one object")
    return found


_LIMITS: dict[str, Any] = {"parse_int": _whole, "parse_float": _decimal, "parse_constant": _constant}
DECODER = json.JSONDecoder(strict=False, **_LIMITS)
"""The same limits for texts that hold several values; depth is for the caller to check."""
_ANY = json.JSONDecoder(**_LIMITS)
_ONCE = json.JSONDecoder(**_LIMITS, object_pairs_hook=each_once)


def loads(text: str | bytes, *, once: bool = False) -> Any:
    """Read JSON; NotJson says in a few words what is wrong. With `once`, a name may stand once in an object.

    Readers differ on which of several counts.
    """
    try:
        text = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
        value = (_ONCE if once else _ANY).decode(_counted(text))
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at line {error.lineno}") from None
    except (ValueError, RecursionError) as error:
        raise error if isinstance(error, NotJson) else NotJson(_mistake(error)) from None
    check_depth(value)
    return value


def _mistake(error: Exception) -> str:
    """Reason why a text is no JSON, in a few words."""
    if isinstance(error, NotJson | json.JSONDecodeError):
        return getattr(error, "msg", str(error))
    return "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "nested too deeply"


_BLANK = re.compile(r"\s*")


def read_jsonl(
    file: str | Path,
    lines: Iterable[str] | str,
    read: Callable[[Any], _Value],
    problem: str,
    *,
    halves: bool = True,
    damaged: bool = False,
) -> Iterator[tuple[int, _Value]]:
    """The values of JSON lines, as `read` makes them, each with its line; in one text, a value may take several.

    A mistake is a FileError with its line that begins with the `problem`; if lines may be `damaged`, they are left out.
    Without `halves`, half of a letter is one.
    """
    line, whole = 1, isinstance(lines, str)
    for text in [lines] if isinstance(lines, str) else lines:
        start = end = 0
        while (begin := _BLANK.match(text, end).end()) < len(text):  # type: ignore[union-attr]
            line, start = line + text.count("\n", start, begin), begin
            try:
                value, end = DECODER.raw_decode(text, start) if whole else (_ANY.decode(_counted(text)), len(text))
                check_depth(value)
                if not halves and text.find("\\u", start, end) >= 0:
                    check_letters(value)
                found = read(value)
            except (ValueError, RecursionError) as error:
                if damaged:
                    break
                further = text.count("\n", start, getattr(error, "pos", start))
                raise FileError(file, line + further, f"{problem}: {_mistake(error)}") from None
            yield line, found
        line += text.count("\n", start) + 1


def _counted(text: str) -> str:
    """The text, if it does not hold more values than there is room for."""
    if len(text) > MOST_JSON_VALUES and sum(map(text.count, ",[{")) > MOST_JSON_VALUES:
        raise NotJson(f"it holds more than {MOST_JSON_VALUES:,} values")
    return text


def check_letters(value: object) -> None:
    """Raise NotJson where a text holds half of a letter, which JSON can write and no file of plain text can keep."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotJson("holds half of a letter (a lone surrogate), which no file can keep") from None


def check_depth(value: object, deepest: int = DEEPEST_JSON) -> None:
    """Raise NotJson where lists and objects stand in each other too deeply for the code behind to walk."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(deepest + 1):
        if not level:
            return
        inside = [each.values() if isinstance(each, dict) else each for each in level]
        level = [inner for values in inside for inner in values if isinstance(inner, (dict, list))]
    raise NotJson("nested too deeply")


def whole_number(text: str, most: int = LONGEST_NUMBER) -> int | None:
    """The number that digits say; None for any other text and above `most`. Thousands of digits are an error to Python.

    >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5_000)
    (12, None, None)
    """
    number = int(text) if text.isdecimal() and len(text) < _DIGITS else None
    return None if number is None or number > most else number


Entry = dict[str, Any]
"""A question and its answer: `model`, `decoding`, `messages`, perhaps some of `BOUNDS`; `parts` and `answer`."""
BOUNDS = ("choices", "templates", "tools", "begun")
"""Constraint on an answer, if any; `begun` where choices are weighed."""
_NOT_ASKED = ("parts", "answer")


def question_key(entry: Mapping[str, Any]) -> str:
    """SHA-256 of an entry's question as canonical JSON; what was answered to it changes nothing."""
    asked = {name: value for name, value in entry.items() if name not in _NOT_ASKED}
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
