"""Values of frozen dataclasses from JSON or YAML, checked against their annotations.

It loads in no time, texts may hold half characters, which pydantic's own cannot, and no form beside a dataclass names
every field a second time.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from keyword import iskeyword
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from rpms.foreign.json_text import NotJson
from rpms.foreign.shown import excerpt

_Value = TypeVar("_Value")
Reader = Callable[[Any], Any]
"""Turns a JSON value into a typed one; a TypeError or ValueError says what is wrong."""


def from_json(kind: type[_Value], value: Any) -> _Value:
    """A value of a dataclass from its JSON object; NotJson names the field that does not fit."""
    return reader_of(kind)(value)  # type: ignore[arg-type, no-any-return]


def tagged_reader(forms: Mapping[str, Any], version: int = 1, *, heads: bool = False) -> Reader:
    """The reader of a file's objects: the `type` of each names its dataclass, and the first one's is the first.

    The first has the version; with `heads`, others may be like it.
    """
    head, *others = forms
    known = [head]

    def read(value: Any) -> Any:
        row = dict(as_object(value))
        kind = _one_of(known, row.pop("type", None), "type")
        if known == [head]:
            _one_of([version], row.pop("version", None), "version")
            known[:] = [head, *others] if heads else others
        return from_json(forms[kind], row)

    return read


def _one_of(known: Sequence[_Value], value: Any, name: str) -> _Value:
    if value not in known:
        raise NotJson(f"{name}: should be {' or '.join(map(str, known))}")
    return value  # type: ignore[no-any-return]


@cache
def reader_of(kind: Any) -> Reader:
    """The reader for an annotation."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin in (Union, UnionType):
        return partial(_one_of_several, [reader_of(each) for each in inner if each is not NoneType], NoneType in inner)
    if origin is tuple:
        first, *others = (reader_of(each) for each in inner if each is not Ellipsis)
        return partial(_items, [first, *others]) if Ellipsis not in inner else partial(_list, first)
    if origin is not None and issubclass(origin, Mapping):
        name, each = map(reader_of, inner)
        return lambda value: {name(key): each(item) for key, item in _as(dict, value).items()}
    if issubclass(kind, tuple):
        items = [reader_of(each) for each in get_type_hints(kind).values()]
        return lambda value: kind(*_items(items, value))
    return _dataclass_reader(kind) if is_dataclass(kind) else partial(_member, kind)


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
    readers = {field.name.rstrip("_"): reader_of(hints[field.name]) for field in fields(kind) if field.init}
    words = {name for name in readers if iskeyword(name)}

    def make(given: dict[str, Any]) -> Any:
        return kind(**{f"{name}_" if name in words else name: item for name, item in given.items()} if words else given)

    return object_reader(readers, needed_by(kind), make)


def needed_by(kind: Any) -> tuple[str, ...]:
    """Fields of a dataclass without a default, by their names in files."""
    wanted = (each for each in fields(kind) if each.init and each.default is each.default_factory is MISSING)
    return tuple(each.name.rstrip("_") for each in wanted)


def object_reader(
    readers: Mapping[str, Reader], needed: Sequence[str], make: Callable[[dict[str, Any]], _Value]
) -> Callable[[Any], _Value]:
    """The reader of an object whose fields have readers of their own, and of what is made of them."""

    def read(value: Any) -> _Value:
        given = {}
        for name, item in _as(dict, value).items():
            if name not in readers:
                raise _at(name, NotJson("is not a known field"))
            try:
                given[name] = readers[name](item)
            except ValueError as error:
                raise _at(name, error if isinstance(error, NotJson) else NotJson(excerpt(error))) from None
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


def _number(value: Any) -> float:
    return float(value) if type(value) is int else float(_as(float, value))


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
    float: _number,
}
"""Whole numbers count things in every record, so none is negative."""
