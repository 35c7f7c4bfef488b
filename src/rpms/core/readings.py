"""Readings: facts read from JSON by a path and a comparison, with three values as all facts have."""

from __future__ import annotations

import json
import operator
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from rpms.core.facts import Truth

RECORD: Final = ""
"""The head of a path that starts at the record that a fact is read from."""
_NAMED = re.compile(r"<([A-Za-z_][A-Za-z0-9_]*)>")
_SEGMENT = re.compile(r"\[([^=\]]+)=([^\]]+)\]|[^.\[\]]+")
_DURATION = re.compile(r"now(?:\s*([+-])\s*(\d{1,6})\s*(m|h|d|w))?")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def text_of(value: object) -> str:
    """A JSON value as the text by which facts name it: 5, 5.0 and "5" are one thing."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Path:
    """A way into JSON: `flights.*.status`, `items.[item_id=<item>].price`, `<items>.*.id`."""

    head: str
    """The parameter it starts from; RECORD for the record itself."""
    steps: tuple[str | tuple[str, str], ...] = ()
    """Names of fields; `*` for each; (field, value) for those elements whose field has the value."""

    @classmethod
    def parse(cls, text: str) -> Path:
        """Read the text form. A ValueError says what is wrong."""
        steps: list[str | tuple[str, str]] = []
        place = 0
        while place < len(text):
            match = _SEGMENT.match(text, place)
            if match is None or (match.end() < len(text) and text[match.end()] not in ".["):
                raise ValueError(f"cannot read the path {text!r}; write it like `flights.*.status`")
            steps.append((match[1].strip(), match[2].strip()) if match[1] else match[0].strip())
            place = match.end() + (match.end() < len(text) and text[match.end()] == ".")
        first = _NAMED.fullmatch(steps[0]) if steps and isinstance(steps[0], str) else None
        return cls(first[1], tuple(steps[1:])) if first else cls(RECORD, tuple(steps))

    @property
    def many(self) -> bool:
        """Whether it leads to any number of values, not to one."""
        return any(step == "*" or isinstance(step, tuple) for step in self.steps)

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that it speaks of."""
        inner = (part for step in self.steps for part in ((step,) if isinstance(step, str) else step))
        named = {match[1] for part in inner if (match := _NAMED.fullmatch(part))}
        return frozenset(named | ({self.head} if self.head else set()))

    def follow(self, start: object, values: Mapping[str, Any]) -> list[Any]:
        """What is found at its end; MISSING for what is not there after a step that is."""
        found = [start]
        for step in self.steps:
            found = [inner for each in found for inner in _step(each, step, values)]
        return found


class _Missing:
    """Stands for what is not there."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


def _named(text: str, values: Mapping[str, Any]) -> str:
    match = _NAMED.fullmatch(text)
    return text_of(values.get(match[1])) if match else text


def _step(value: object, step: str | tuple[str, str], values: Mapping[str, Any]) -> Sequence[Any]:
    if isinstance(step, tuple):
        field, wanted = step
        inner = [each for each in _elements(value) if isinstance(each, Mapping) and field in each]
        return [each for each in inner if text_of(each[field]) == _named(wanted, values)]
    if step == "*":
        return _elements(value)
    name = _named(step, values)
    if isinstance(value, Mapping):
        return [value.get(name, MISSING)]
    if isinstance(value, list) and name.isdecimal() and len(name) < 10 and int(name) < len(value):
        return [value[int(name)]]
    return [MISSING]


def _elements(value: object) -> Sequence[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else ()


class Which(StrEnum):
    """Of how many values a comparison must hold."""

    ANY = "any"
    ALL = "all"
    NONE = "none"


class Take(StrEnum):
    """What of the values is compared."""

    EACH = "each"
    COUNT = "count"
    SUM = "sum"


Compare = Callable[[Any, Any], bool | None]


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = float(value) if len(value) < 40 else None
        except ValueError:
            return None
    return value if isinstance(value, int | float) else None


def _numbers(compare: Callable[[float, float], bool]) -> Compare:
    def compared(value: object, other: object) -> bool | None:
        one, two = _number(value), _number(other)
        return None if one is None or two is None else compare(one, two)

    return compared


def moment_of(value: object) -> datetime | None:
    """A date or a time as ISO 8601 writes it; without a zone it is taken for UTC, as `now` then is too."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _moments(compare: Callable[[datetime, datetime], bool]) -> Compare:
    def compared(value: object, other: object) -> bool | None:
        one, two = moment_of(value), other if isinstance(other, datetime) else moment_of(other)
        return None if one is None or two is None else compare(one, two)

    return compared


def _has(value: object, wanted: object) -> bool | None:
    if isinstance(value, Mapping):
        return text_of(wanted) in value
    return any(text_of(each) == text_of(wanted) for each in value) if isinstance(value, list) else None


def _inside(value: object, folder: object) -> bool | None:
    """Whether a path names something in a folder, by its text alone: `..` is followed, links are not."""
    if not isinstance(value, str) or not isinstance(folder, str) or "\0" in value:
        return None
    path, root = (posixpath.normpath(each.replace("\\", "/")) for each in (value, folder))
    return path == root or path.startswith(root.rstrip("/") + "/")


def _starts(value: object, beginning: object) -> bool | None:
    return value.startswith(text_of(beginning)) if isinstance(value, str) else None


COMPARISONS: Final[Mapping[str, Compare]] = {
    "is": lambda value, other: text_of(value) == text_of(other),
    "in": lambda value, others: (
        any(text_of(value) == text_of(other) for other in others) if isinstance(others, list) else None
    ),
    "has": _has,
    "starts": _starts,
    "inside": _inside,
    "exists": lambda value, wanted: (value is not MISSING and value is not None) == wanted,
    "at_least": _numbers(operator.ge),
    "at_most": _numbers(operator.le),
    "above": _numbers(operator.gt),
    "below": _numbers(operator.lt),
    "before": _moments(operator.lt),
    "after": _moments(operator.gt),
}
"""What a manual may compare with, by name."""


def now_and(text: str, now: datetime) -> datetime | None:
    """The moment that `now`, `now - 24h` or `now + 3d` means; None for another text."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    if match[1] is None:
        return now
    away = timedelta(**{_UNITS[match[3]]: int(match[2])})
    try:
        return now + away if match[1] == "+" else now - away
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class Reading:
    """How a fact is read: the values at the end of a path, compared with something."""

    path: Path
    compare: str
    other: Any
    """A JSON value; a Path from a parameter or the same record; for times, the text `now - 24h`."""
    which: Which = Which.ANY
    take: Take = Take.EACH
    record: str = ""
    """The kind of record it starts from, which the first arguments of the fact name; nothing for an argument."""

    def truth(self, record: object, values: Mapping[str, Any], now: datetime) -> Truth:
        """Whether the fact holds of a record and the arguments. What is not there is unknown, unless it was counted."""
        start = record if self.path.head == RECORD else values.get(self.path.head, MISSING)
        if start is MISSING:
            return Truth.UNKNOWN
        other = self._other(record, values, now)
        if other is MISSING:
            return Truth.UNKNOWN
        found = self.path.follow(start, values)
        if self.take is Take.COUNT:
            if not self.path.many:
                found = list(_elements(found[0])) if isinstance(found[0], Mapping | list) else [MISSING]
            return Truth.UNKNOWN if MISSING in found else Truth.of(COMPARISONS[self.compare](len(found), other))
        if self.take is Take.SUM:
            numbers = [_number(value) for value in found]
            known = [number for number in numbers if number is not None]
            if len(known) < len(numbers):
                return Truth.UNKNOWN
            return Truth.of(COMPARISONS[self.compare](sum(known), other))
        return self._each(found, other)

    def _each(self, found: Sequence[Any], other: object) -> Truth:
        compare = COMPARISONS[self.compare]
        absent = self.compare == "exists"
        total = Truth.FALSE if self.which is Which.ANY else Truth.TRUE
        for value in found:
            held = Truth.of(compare(value, other) if absent or value is not MISSING else None)
            counted = ~held if self.which is Which.NONE else held
            total = total | counted if self.which is Which.ANY else total & counted
        return total

    def _other(self, record: object, values: Mapping[str, Any], now: datetime) -> Any:
        other = self.other
        if isinstance(other, Path):
            start = record if other.head == RECORD else values.get(other.head, MISSING)
            found = other.follow(start, values) if start is not MISSING else [MISSING]
            return found if other.many else found[0]
        if self.compare in ("before", "after"):
            return now_and(other, now) or other
        return other
