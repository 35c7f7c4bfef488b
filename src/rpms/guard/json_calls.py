"""Calls and results as JSON, within limits: reads what a host hands over, or says why it cannot be
read.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from rpms.foreign.json_text import NameTwice, NotJson, loads
from rpms.foreign.limits import DEEPEST_JSON, LARGEST_CALL, LARGEST_RESULT
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call

_HOLDERS = (Mapping, list, tuple)
_LONGEST = 1_000
"""Bits of a whole number."""
_LONGEST_NAME = 1_000


class TooLarge(NotJson):
    """A call is larger than the guard reads."""


def tool_of(call: object) -> str:
    """Best guess at the tool of a call that cannot be read."""
    name = getattr(call, "tool", None)
    if not name and isinstance(call, Mapping):
        name = call.get("tool", call.get("name"))
    return excerpt(name) if isinstance(name, str) and name else "(unreadable)"


def as_call(call: Call | Mapping[str, Any]) -> Call:
    """A call in one of the usual forms: a name or tool, arguments as an object or as JSON text,
    and perhaps an id.
    """
    if not isinstance(call, Call):
        call = _from_mapping(call)
    if not isinstance(call.tool, str) or not call.tool:
        raise NotJson("it names no tool")
    if len(call.tool) > _LONGEST_NAME:
        raise TooLarge(f"the name of its tool has more than {_LONGEST_NAME:,} characters")
    given = call.arguments
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise NotJson("its arguments are not an object")
    _check_size(given, LARGEST_CALL)
    if not isinstance(call.id, str):  # without one, calls are told apart by what they say
        call = replace(call, id="" if call.id is None else excerpt(call.id))
    return call


def _from_mapping(call: Mapping[str, Any]) -> Call:
    """A call that is written as an object, its function perhaps in an object of its own."""
    if not isinstance(call, Mapping):
        raise NotJson("it is not an object")
    inner = call.get("function", call)
    if not isinstance(inner, Mapping):
        inner = call
    arguments: Any = {}
    for key in ("arguments", "args", "input"):
        if key in inner:
            arguments = inner[key]
            break
    if isinstance(arguments, str):
        if len(arguments) > LARGEST_CALL:
            raise TooLarge(f"its arguments have more than {LARGEST_CALL:,} characters")
        arguments = loads(arguments, once=True) if arguments.strip() else {}
    return Call(inner.get("tool", inner.get("name", "")), arguments, call.get("id", ""))


def as_result(result: object) -> object:
    """A tool's result, as JSON; text that does not hold JSON is text."""
    if isinstance(result, bytes):
        result = result[: LARGEST_RESULT + 1].decode("utf-8", "replace")
    _check_size(result, LARGEST_RESULT)
    try:
        text = result if isinstance(result, str) else json.dumps(result, allow_nan=False)
    except (TypeError, ValueError):
        raise NotJson("it is not JSON") from None
    if len(text) > LARGEST_RESULT:
        raise NotJson(f"it has more than {LARGEST_RESULT:,} characters")
    if not isinstance(result, str):
        return json.loads(text)
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loads(text, once=True)
    except NameTwice:
        raise
    except NotJson:
        return text


def _check_size(value: object, most: int) -> None:
    """Raise NotJson for what is no JSON, or would be too deep or too large when written.

    Nothing is written to find that out, and each list is looked into once a level, however often
    it stands there: a few lists that hold each other twice over stand for more than any machine can
    write.
    """
    level = _Level()
    if isinstance(value, _HOLDERS):
        level.add(value, 1)
    total = 0
    for _ in range(DEEPEST_JSON + 1):
        below = _Level()
        for held in level.values():
            total += _count_inside(held, below)
        if total > most:
            raise TooLarge(f"it has more than {most:,} characters")
        if not below:
            return
        level = below
    raise NotJson("nested too deeply")


class _Held(NamedTuple):
    """A list or mapping, and how often it would be written at its depth."""

    value: Any
    times: int


class _Level(dict[int, _Held]):
    """The lists and mappings at one depth, by identity."""

    def add(self, value: Any, times: int) -> None:
        """Add a list or mapping that would be written so many times more."""
        before = self[id(value)].times if id(value) in self else 0
        self[id(value)] = _Held(value, before + times)


def _count_inside(held: _Held, below: _Level) -> int:
    """Count the characters that the contents of a list or mapping take at least, and add the
    lists and mappings among them to the level below.
    """
    total = 0
    for inner in _inside(held.value):
        length = len(inner) + 1 if isinstance(inner, str) else 1
        total += held.times * length
        if isinstance(inner, _HOLDERS):
            below.add(inner, held.times)
        elif not _is_plain(inner):
            raise NotJson("its arguments are not JSON, or a number is too long")
    return total


def _inside(outer: Any) -> Iterable[Any]:
    """All that a list or mapping holds, names included."""
    if not isinstance(outer, Mapping):
        items: Iterable[Any] = outer
        return items
    if not all(isinstance(name, str) for name in outer):
        raise NotJson("its arguments are not JSON")
    return (*outer, *outer.values())


def _is_plain(value: object) -> bool:
    """True for what stands alone in JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    return (
        value is None
        or isinstance(value, str)
        or (isinstance(value, int) and value.bit_length() < _LONGEST)
    )
