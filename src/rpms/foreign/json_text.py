"""JSON from outside: bounded in depth and in the size of its numbers, so that nothing behind it has to be."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator, ValidationError

from rpms.foreign.limits import DEEPEST_JSON, LONGEST_NUMBER
from rpms.foreign.shown import excerpt

_DIGITS = len(str(-LONGEST_NUMBER))


class NotJson(ValueError):
    """A text is not JSON that anything here would write; its words say why, and are fit to be shown."""


class NameTwice(NotJson):
    """A name stands twice in one object, of which readers take the first or the last."""


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS or abs(int(digits)) > LONGEST_NUMBER:
        raise NotJson("a number is too long")
    return int(digits)


def _decimal(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotJson("a number is too large")
    return number


def _constant(name: str) -> float:
    raise NotJson(f"{name} is not a number")


DECODER = json.JSONDecoder(strict=False, parse_int=_whole, parse_float=_decimal, parse_constant=_constant)
"""The same limits for texts that hold several values; depth is for the caller to check."""


def loads(text: str | bytes, *, once: bool = False) -> Any:
    """Read JSON; NotJson says in a few words what is wrong. With `once`, a name may stand once in an object."""
    hook = each_once if once else None
    try:
        value = json.loads(
            text, parse_int=_whole, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=hook
        )
    except NotJson:
        raise
    except UnicodeDecodeError:
        raise NotJson("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} at line {error.lineno}") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError:
        raise NotJson("a number is too long") from None
    check_depth(value)
    return value


def loads_once(text: str | bytes) -> Any:
    """Read JSON in which a name that stands twice in an object is refused: readers differ on which of them counts."""
    return loads(text, once=True)


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON text, whose names must differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NameTwice("a name stands twice in one object")
    return found


def check_depth(value: object, deepest: int = DEEPEST_JSON) -> None:
    """Raise NotJson where lists and objects stand in each other too deeply for the code behind to walk."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(deepest + 1):
        if not level:
            return
        inside = [each.values() if isinstance(each, dict) else each for each in level]
        level = [inner for values in inside for inner in values if isinstance(inner, (dict, list))]
    raise NotJson("nested too deeply")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a text")  # noqa: TRY004  what pydantic turns into a ValidationError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""Any text, half characters included: some models write them, and pydantic's own texts cannot hold them."""
Count = Annotated[int, Field(ge=0, le=LONGEST_NUMBER, strict=True)]
"""A number of things."""
Number = Annotated[float, Field(allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Seconds or money."""


def first_mistake(error: ValidationError) -> str:
    """The first breach of a form, and its place, in one line."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return excerpt(f"{place}: {first['msg'].removeprefix('Value error, ')}")


_LONGEST = len(str(LONGEST_NUMBER))


def whole_number(text: str, most: int = LONGEST_NUMBER) -> int | None:
    """The number that digits say; None for any other text and above `most`. Thousands of digits are an error to Python.

    >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5_000)
    (12, None, None)
    """
    number = int(text) if text.isdecimal() and len(text) <= _LONGEST else None
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
