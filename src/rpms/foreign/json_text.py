"""JSON from outside, also in lines: bounded in depth and numbers, so that nothing behind it has to
be.

Values of frozen dataclasses are read from JSON or YAML too, checked against their annotations.
Pydantic would take longer to load, refuses texts with half a character in them, and would need a
model beside each dataclass.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from keyword import iskeyword
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from rpms.foreign.limits import DEEPEST_JSON, LONGEST_NUMBER, MOST_JSON_VALUES
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, is_near, nearest

_DIGITS = len(str(-LONGEST_NUMBER))
_BLANK = re.compile(r"\s*")
_Value = TypeVar("_Value")


class NotJson(ValueError):
    """A text is not JSON that anything here would write; its words say why, and are fit to be
    shown.
    """

    place: tuple[str, ...] = ()
    """Names of the fields that lead to what is wrong."""


class NameTwice(NotJson):
    """A name stands twice in one object; some readers take the first value, others the last."""


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


_LIMITS: dict[str, Any] = {
    "parse_int": _whole,
    "parse_float": _decimal,
    "parse_constant": _constant,
}
DECODER = json.JSONDecoder(strict=False, **_LIMITS)
"""Decoder with the same limits for texts that hold several values; the caller checks their
depth."""
_ANY = json.JSONDecoder(**_LIMITS)
_ONCE = json.JSONDecoder(**_LIMITS, object_pairs_hook=each_once)


def loads(text: str | bytes, *, once: bool = False) -> Any:
    """Read JSON; NotJson says in a few words what is wrong.

    With `once`, a name may stand only once in an object: readers differ on which of several counts.
    """
    decoder = _ONCE if once else _ANY
    try:
        if not isinstance(text, str):
            text = text.decode("utf-8", "surrogatepass")
        value = decoder.decode(_counted(text))
    except NotJson:
        raise
    except Exception as error:  # noqa: BLE001  see `parsing`
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise NotJson(_mistake(error) + where) from None
    check_depth(value)
    return value


def _mistake(error: Exception) -> str:
    """Reason why a text is no JSON, in a few words."""
    if isinstance(error, NotJson | json.JSONDecodeError):
        return getattr(error, "msg", str(error))
    return "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "nested too deeply"


class LineValue(NamedTuple, Generic[_Value]):
    """A value of a file, and the number of the line that it begins at."""

    line: int
    value: _Value


def read_jsonl(
    file: str | Path,
    lines: Iterable[str],
    read: Callable[[Any], _Value],
    problem: str,
    *,
    halves: bool = True,
) -> Iterator[LineValue[_Value]]:
    """The values of lines with one each, as `read` makes them; blank lines have none.

    Checksums are for the caller to check. A mistake is a FileError that names the line and begins
    with the `problem`. Without `halves`, a text that holds half of a letter is a mistake.
    """
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        try:
            value = _ANY.decode(_counted(line))
            found = _read_value(value, read, halves=halves or "\\u" not in line)
        except (ValueError, RecursionError) as error:
            raise FileError(file, number, f"{problem}: {_mistake(error)}") from None
        yield LineValue(number, found)


def read_json_values(
    file: str | Path, text: str, read: Callable[[Any], _Value], problem: str
) -> Iterator[LineValue[_Value]]:
    """The values of a text in which each may take several lines, as `read` makes them.

    A mistake is a FileError that names the line and begins with the `problem`; half of a letter is
    one too.
    """
    line = 1
    end = 0
    start = _after_blanks(text, 0)
    while start < len(text):
        line += text.count("\n", end, start)
        try:
            value, following = DECODER.raw_decode(text, start)
            has_escapes = text.find("\\u", start, following) >= 0
            found = _read_value(value, read, halves=not has_escapes)
        except (ValueError, RecursionError) as error:
            mistake_at = getattr(error, "pos", start)
            line += text.count("\n", start, mistake_at)
            raise FileError(file, line, f"{problem}: {_mistake(error)}") from None
        yield LineValue(line, found)
        line += text.count("\n", start, following)
        end = following
        start = _after_blanks(text, end)


def _read_value(value: Any, read: Callable[[Any], _Value], *, halves: bool) -> _Value:
    """Read a value by `read`, unless it is nested too deeply or, without `halves`, has half
    letters.
    """
    check_depth(value)
    if not halves:
        check_letters(value)
    return read(value)


def _after_blanks(text: str, place: int) -> int:
    """The place of the first letter that is not blank, from some place on."""
    found = _BLANK.match(text, place)
    assert found is not None
    return found.end()


def _counted(text: str) -> str:
    """The text; NotJson if it holds more values than there is room for."""
    if len(text) > MOST_JSON_VALUES and sum(map(text.count, ",[{")) > MOST_JSON_VALUES:
        raise NotJson(f"it holds more than {MOST_JSON_VALUES:,} values")
    return text


def check_letters(value: object) -> None:
    """Raise NotJson where a text holds half of a letter, which JSON can write and no file of
    plain text can keep.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotJson("holds half of a letter (a lone surrogate), which no file can keep") from None


def check_depth(value: object) -> None:
    """Raise NotJson where lists and objects stand in each other too deeply for the code behind
    to walk.
    """
    level = _nested([value])
    for _ in range(DEEPEST_JSON + 1):
        if not level:
            return
        deeper: list[Any] = []
        for each in level:
            deeper += _nested(each.values() if isinstance(each, dict) else each)
        level = deeper
    raise NotJson("nested too deeply")


def _nested(values: Iterable[object]) -> list[Any]:
    """The lists and objects among some values."""
    return [value for value in values if isinstance(value, (dict, list))]


def whole_number(text: str, most: int = LONGEST_NUMBER) -> int | None:
    """The number that digits say; None for any other text and above `most`. Thousands of digits are
    an error to Python.

    >>> whole_number("12"), whole_number("-1"), whole_number("9" * 5_000)
    (12, None, None)
    """
    if not text.isdecimal() or len(text) >= _DIGITS:
        return None
    number = int(text)
    return number if number <= most else None


Entry = dict[str, Any]
"""A question and its answer: `model`, `decoding`, `messages`, perhaps some of `BOUNDS`; `parts`
and `answer`."""
BOUNDS = ("choices", "templates", "tools", "begun")
"""Constraint on an answer, if any; `begun` where choices are weighed."""


def question_key(entry: Mapping[str, Any]) -> str:
    """SHA-256 of the question of an entry, as canonical JSON; the answer has no part in it."""
    asked = {name: value for name, value in entry.items() if name not in ("parts", "answer")}
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


Reader = Callable[[Any], Any]
"""Turns a JSON value into a typed one; a TypeError or ValueError says what is wrong."""


def from_json(kind: type[_Value], value: Any) -> _Value:
    """A value of a dataclass from its JSON object; NotJson names the field that does not fit."""
    return reader_of(kind)(value)  # type: ignore[arg-type, no-any-return]


def tagged_reader(forms: Mapping[str, Any], version: int = 1, *, heads: bool = False) -> Reader:
    """The reader of a file's objects: the `type` of each names its dataclass, and the file begins
    with the first form.

    That one also has the version; with `heads`, more of it may come later.
    """
    head, *others = forms
    allowed = [head]

    def read(value: Any) -> Any:
        row = dict(as_object(value))
        kind = _one_of(allowed, row.pop("type", None), "type")
        if allowed == [head]:
            _one_of([version], row.pop("version", None), "version")
            allowed[:] = [head, *others] if heads else others
        return from_json(forms[kind], row)

    return read


def _one_of(choices: Sequence[_Value], value: Any, name: str) -> _Value:
    if value not in choices:
        raise NotJson(f"{name}: should be {' or '.join(map(str, choices))}")
    return value  # type: ignore[no-any-return]


@cache
def reader_of(kind: Any) -> Reader:
    """The reader for an annotation."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin = get_origin(kind)
    if origin is not None:
        return _generic_reader(origin, get_args(kind))
    if issubclass(kind, tuple):
        items = [reader_of(each) for each in get_type_hints(kind).values()]
        return lambda value: kind(*_items(items, value))
    return _dataclass_reader(kind) if is_dataclass(kind) else partial(_member, kind)


def _generic_reader(origin: Any, inner: tuple[Any, ...]) -> Reader:
    """The reader for `A | B`, `tuple[A, ...]`, `tuple[A, B]` or `Mapping[A, B]`."""
    if origin in (Union, UnionType):
        readers = [reader_of(each) for each in inner if each is not NoneType]
        return partial(_one_of_several, readers, NoneType in inner)
    if origin is tuple and Ellipsis in inner:
        return partial(_list, reader_of(inner[0]))
    if origin is tuple:
        return partial(_items, [reader_of(each) for each in inner])
    name, each = map(reader_of, inner)
    return lambda value: {name(key): each(item) for key, item in _as(dict, value).items()}


def _one_of_several(readers: Sequence[Reader], empty: bool, value: Any) -> Any:
    if empty and value is None:
        return None
    for one in readers[:-1]:
        with suppress(NotJson):
            return one(value)
    return readers[-1](value)


def _list(read: Reader, value: Any) -> tuple[Any, ...]:
    return tuple([read(item) for item in _as(list, value)])


def _items(readers: Sequence[Reader], value: Any) -> tuple[Any, ...]:
    if len(_as(list, value)) != len(readers):
        raise NotJson(f"should have {len(readers)} items")
    return tuple([one(item) for one, item in zip(readers, value, strict=True)])


def _member(kind: type[Enum], value: Any) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise NotJson(f"should be one of {', '.join(str(each.value) for each in kind)}") from None


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers: dict[str, Reader] = {}
    for field in fields(kind):
        if field.init:
            readers[field.name.rstrip("_")] = reader_of(hints[field.name])
    words = [name for name in readers if iskeyword(name)]  # fields with `_` behind their names

    def make(given: dict[str, Any]) -> Any:
        for word in words:
            if word in given:
                given[f"{word}_"] = given.pop(word)
        return kind(**given)

    return object_reader(readers, needed_by(kind), make)


def needed_by(kind: Any) -> tuple[str, ...]:
    """Fields of a dataclass without a default, by their names in files."""
    names: list[str] = []
    for field in fields(kind):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if field.init and not has_default:
            names.append(field.name.rstrip("_"))
    return tuple(names)


def _hint(name: str, names: Iterable[str]) -> str:
    """The field that was meant, where one is near."""
    return f"; {nearest(name, names)}" if is_near(name, names) else ""


def object_reader(
    readers: Mapping[str, Reader], needed: Sequence[str], make: Callable[[dict[str, Any]], _Value]
) -> Callable[[Any], _Value]:
    """Make the reader of an object: each field has its own reader, and `make` makes a value of what
    they read.
    """

    def read(value: Any) -> _Value:
        given = {}
        for name, item in _as(dict, value).items():
            if name not in readers:
                raise _at(name, NotJson(f"is not a known field{_hint(name, readers)}"))
            try:
                given[name] = readers[name](item)
            except NotJson as error:
                raise _at(name, error) from None
            except ValueError as error:
                raise _at(name, NotJson(excerpt(error))) from None
        missing = next((name for name in needed if name not in given), None)
        if missing is not None:
            raise NotJson(f"{missing}: is missing")
        try:
            return make(given)
        except ValueError as error:
            raise NotJson(excerpt(error)) from None

    return read


def _at(name: str, error: NotJson) -> NotJson:
    """A mistake within a field, with its name."""
    found = NotJson(f"{excerpt(name)}: {error}")
    found.place = (name, *error.place)
    return found


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise NotJson(f"should be {_NAMES[kind]}")
    return value


def as_object(value: Any) -> dict[str, Any]:
    """The value, if it is an object."""
    return _as(dict, value)  # type: ignore[no-any-return]


def _count(value: Any) -> int:
    if _as(int, value) < 0:
        raise NotJson("should not be negative")
    return int(value)


_NAMES = {
    list: "a list",
    dict: "an object",
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}
_PLAIN: Mapping[Any, Reader] = {
    Any: lambda value: value,
    str: lambda value: value if type(value) is str else _as(str, value),
    bool: lambda value: _as(bool, value),
    int: _count,
    float: lambda value: float(value if type(value) is int else _as(float, value)),
}
"""Whole numbers count things in every record, so none is negative."""
