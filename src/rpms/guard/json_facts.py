"""Readings: facts read from JSON by a path and a comparison, with three values as all facts
have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Any

from rpms.guard.comparisons import (
    COMPARISONS,
    MISSING,
    Alike,
    Compare,
    now_and,
    number_of,
    text_of,
    writes_alike,
)
from rpms.logic.facts import Truth

RECORD = ""
"""The head of a path that starts at the record that a fact is read from."""
_NAMED = re.compile(r"<([A-Za-z_][A-Za-z0-9_]*)>")
_SEGMENT = re.compile(r"\[([^=\]]+)=([^\]]+)\]|[^.\[\]]+")
_LONGEST_INDEX = 9
"""Digits of a place in a list; no list is longer, and a number of thousands takes long to read."""


@dataclass(frozen=True, slots=True)
class PathParameter:
    """A parameter in a path: what it stands for is known when the path is followed."""

    name: str


@dataclass(frozen=True, slots=True)
class Only:
    """The records, of many, whose field has a value."""

    field: str
    value: str | PathParameter


Step = str | PathParameter | Only
"""One step of a path: a field, `*` for each, a field that a parameter names, or some of many."""


@dataclass(frozen=True, slots=True)
class Path:
    """A way into JSON: `flights.*.status`, `items.[item_id=<item>].price`, `<items>.*.id`."""

    head: str
    """The parameter it starts from; RECORD for the record itself."""
    steps: tuple[Step, ...] = ()

    @classmethod
    @lru_cache(maxsize=4_096)
    def parse(cls, text: str) -> Path:
        """Read the text form; equal texts give one object. A ValueError says what is wrong."""
        steps: list[Step] = []
        place = 0
        while place < len(text):
            match = _SEGMENT.match(text, place)
            following = "" if match is None else text[match.end() : match.end() + 1]
            if match is None or following not in ("", ".", "["):
                raise ValueError(f"cannot read the path {text!r}; write it like `flights.*.status`")
            if match[1]:
                steps.append(Only(match[1].strip(), _word(match[2].strip())))
            else:
                steps.append(_word(match[0].strip()))
            place = match.end() + (following == ".")
        if steps and isinstance(steps[0], PathParameter):
            return cls(steps[0].name, tuple(steps[1:]))
        return cls(RECORD, tuple(steps))

    @property
    def many(self) -> bool:
        """True if it leads to any number of values, not to one."""
        return any(step == "*" or isinstance(step, Only) for step in self.steps)

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that it speaks of."""
        named = {self.head} if self.head else set()
        for step in self.steps:
            inner = step.value if isinstance(step, Only) else step
            if isinstance(inner, PathParameter):
                named.add(inner.name)
        return frozenset(named)

    def follow(self, start: object, values: Mapping[str, Any]) -> list[Any]:
        """Value at its end; MISSING for what is not there after a step that is."""
        found = [start]
        for step in self.steps:
            # the common case, without detours
            if step.__class__ is str and step != "*" and len(found) == 1:
                found = [_field(found[0], step)]
            else:
                inner = [_step(each, step, values) for each in found]
                found = list(chain.from_iterable(inner))
        return found


def _word(text: str) -> str | PathParameter:
    match = _NAMED.fullmatch(text)
    return PathParameter(match[1]) if match else text


def _plain(word: str | PathParameter, values: Mapping[str, Any]) -> str:
    return text_of(values.get(word.name)) if isinstance(word, PathParameter) else word


def _step(value: object, step: Step, values: Mapping[str, Any]) -> Sequence[Any]:
    if isinstance(step, Only):
        wanted = _plain(step.value, values)
        found: list[Any] = []
        for each in _elements(value):
            has_field = isinstance(each, Mapping) and step.field in each
            if has_field and text_of(each[step.field]) == wanted:
                found.append(each)
        return found
    return _elements(value) if step == "*" else [_field(value, _plain(step, values))]


def _field(value: object, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name, MISSING)
    is_index = name.isdecimal() and len(name) <= _LONGEST_INDEX
    if isinstance(value, list) and is_index and int(name) < len(value):
        return value[int(name)]
    return MISSING


def _elements(value: object) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


Which = StrEnum("Which", ["ANY", "ALL", "NONE"])
"""Number of values that a comparison must hold for: any, all or none; in manuals in small
letters."""
Take = StrEnum("Take", ["EACH", "COUNT", "SUM"])
"""Aspect of the values that is compared."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading of a fact: the values at the end of a path, compared with something."""

    path: Path
    compare: str
    other: Any
    """A JSON value; a Path from a parameter or the same record; for times, the text `now - 24h`."""
    which: Which = Which.ANY
    take: Take = Take.EACH
    alike: Alike | None = None
    """Normalisation of texts before they are compared."""
    _compare: Compare = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = COMPARISONS[self.compare]
        object.__setattr__(
            self, "_compare", plain if self.alike is None else writes_alike(plain, self.alike)
        )

    @property
    def _is_of_call(self) -> bool:
        """True if it reads the call's arguments, not a record."""
        return self.path.head != RECORD

    def truth(self, record: object, values: Mapping[str, Any], now: datetime) -> Truth:
        """Truth of the fact for a record and the arguments.

        What is not there is unknown, unless it was counted.
        """
        start = record if self.path.head == RECORD else values.get(self.path.head, MISSING)
        other = self._other(record, values, now)
        if start is MISSING or other is MISSING:
            return Truth.UNKNOWN
        found = self.path.follow(start, values)
        match self.take:
            case Take.EACH:
                return self._each(found, other)
            case Take.COUNT:
                number = self._count(found)
            case Take.SUM:
                number = _sum(found)
        return Truth.UNKNOWN if number is None else Truth.of(self._compare(number, other))

    def _count(self, found: Sequence[Any]) -> int | None:
        """Number of values found, or of the items if one list was found; None if unknown."""
        if self.path.many:
            return None if MISSING in found else len(found)
        whole = found[0]
        if not isinstance(whole, Mapping | list):
            return None
        inner = list(_elements(whole))
        return None if MISSING in inner else len(inner)

    def _each(self, found: Sequence[Any], other: object) -> Truth:
        # the comparison that settles it: one that holds, or one that does not
        decisive = self.which is not Which.ALL
        settled = Truth.of(self.which is Which.ANY)
        unknown = False
        for value in found:
            held = self._holds_for(value, other)
            if held is decisive:
                return settled
            unknown = unknown or held is None
        return Truth.UNKNOWN if unknown else ~settled

    def _holds_for(self, value: Any, other: object) -> bool | None:
        """Compare a value that was found, or is missing; None if unknown."""
        if self.compare == "exists":
            return self._compare(value, other)
        if value is MISSING:
            return None
        held = self._compare(value, other)
        if value is None and held is False and self._is_of_call:
            return None  # a tool may put its default in place of null
        return held

    def _other(self, record: object, values: Mapping[str, Any], now: datetime) -> Any:
        other = self.other
        if isinstance(other, Path):
            start = record if other.head == RECORD else values.get(other.head, MISSING)
            found = other.follow(start, values) if start is not MISSING else [MISSING]
            return found if other.many else found[0]
        return now_and(other, now) or other if self.compare in ("before", "after") else other


def _sum(found: Sequence[Any]) -> Any:
    """The sum of the values found; None if one of them is no number."""
    numbers = [number_of(value) for value in found]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(found) else None
