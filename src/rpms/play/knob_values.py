"""Knobs, and readers of their values; a ValueError or an InputError says what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from rpms.core.acting.enforcement import PARTS, Enforcement, preset, with_part
from rpms.core.condition import named_condition
from rpms.core.errors import InputError
from rpms.core.memory import Kind, told_kinds
from rpms.core.names import nearest
from rpms.core.prompt import Layout
from rpms.core.rules import Tier
from rpms.foreign.shown import excerpt
from rpms.play.parts import find_part

Read = Callable[[Any], Any]


class SettingError(InputError):
    """A knob that is not known, or a value it cannot have."""

    def __init__(self, name: str, problem: str, inner: str = "") -> None:
        """`inner`: which entry of it, where it has several."""
        self.name, self.problem, self.inner = name, problem, inner
        super().__init__(f"{name}: {problem}")


def knob(read: Read) -> Any:
    """A field of `Settings`; `rpms.play.knobs` says what it is for."""
    return field(default=None, metadata={"read": read})


class EntryError(ValueError):
    """A value that is wrong in one of its entries."""

    def __init__(self, inner: str, problem: str) -> None:
        self.inner = inner
        super().__init__(problem)


def one_of(values: Iterable[Enum | str]) -> Read:
    """One of a few names."""
    named = {(each.name.lower() if isinstance(each, Layout) else str(each)): each for each in values}

    def read(value: Any) -> Any:
        if isinstance(value, Enum) and value in named.values():
            return value
        if str(value) not in named:
            raise ValueError(f"{value!r} is none of its values; {nearest(str(value), named)}")
        return named[str(value)]

    return read


def part_or(seam: str, other: Read | None = None) -> Read:
    """A part of one's own, as `module:name`, by the name it is installed under, or as a function; or another value."""

    def read(value: Any) -> Any:
        if callable(value) and not isinstance(value, Enum):
            return value
        if other is not None and not (isinstance(value, str) and ":" in value):
            return other(value)
        return find_part(seam, str(value), Path.cwd())

    return read


def number(least: float, most: float | None = None) -> Read:
    """A number in a range."""
    words = f"of {least:g} or more" if most is None else f"from {least:g} to {most:g}"
    return _typed(Annotated[float, Field(ge=least, le=most, allow_inf_nan=False)], f"a number {words}")


def whole(least: int, most: int = 10_000_000) -> Read:
    """A whole number in a range."""
    return _typed(Annotated[int, Field(ge=least, le=most)], f"a whole number from {least} to {most:,}")


def _typed(kind: Any, words: str) -> Read:
    """Read what pydantic takes for a type, written as text or given as it is; a truth value is no number."""
    adapter = TypeAdapter[Any](kind)

    def read(value: Any) -> Any:
        if kind is bool or not isinstance(value, bool):
            with suppress(ValueError):
                return adapter.validate_python(value)
        shown = repr(excerpt(value)) if isinstance(value, str) else excerpt(value)
        raise ValueError(f"{shown}: write {words}")

    return read


switch = _typed(bool, "on or off")
"""On or off."""


def pairs(keys: Iterable[str], each: Read, example: str, one_for_all: bool = False) -> Read:
    """`name=value,name=value`, or a mapping; perhaps one value for all names."""
    known = tuple(keys)

    def read(value: Any) -> dict[str, Any]:
        if one_for_all and str(value).isdecimal():
            return dict.fromkeys(known, each(value))
        pieces = [piece for piece in str(value).split(",") if piece.strip()]
        given = dict(value) if isinstance(value, Mapping) else dict(piece.partition("=")[::2] for piece in pieces)
        found: dict[str, Any] = {}
        for name, item in given.items():
            key = str(name).strip()
            if key not in known:
                raise EntryError(key, f"{key!r} is no name here; {nearest(key, known)}; write it like {example}")
            found[key] = each(item.strip() if isinstance(item, str) else item)
        return found

    return read


def kinds(value: Any) -> dict[Kind, int]:
    """A number for all kinds of memories, or by kind."""
    read = pairs([str(kind) for kind in told_kinds()], whole(0, 1000), "success=3,failure=3", one_for_all=True)
    return {Kind(name): most for name, most in read(value).items()}


def tiers(value: Any) -> tuple[Tier, ...]:
    """Tiers of the manual, in its order."""
    given = value.split(",") if isinstance(value, str) else list(value)
    wanted = {one_of(Tier)(str(each).strip()) for each in given if str(each).strip()}
    return tuple(tier for tier in Tier if tier in wanted)


def parts(value: Any) -> dict[str, Any]:
    """Parts of the enforcement: a mapping, `NAME=VALUE` texts, or an Enforcement as it is."""
    if isinstance(value, Enforcement):
        return {name: getattr(value, name) for name in PARTS}
    if isinstance(value, Mapping):
        given = {str(name): item for name, item in value.items()}
    else:
        given = {}
        for text in texts(value):
            name, equals, item = str(text).partition("=")
            if not equals:
                raise ValueError(f"{text!r}: write NAME=VALUE with one of {', '.join(PARTS)}")
            given[name] = item
    for name, item in given.items():
        if name not in PARTS:
            raise EntryError(name, f"there is no part {name!r}; {nearest(name, PARTS)}")
        try:
            with_part(preset("paper"), name, item)
        except InputError as error:
            raise EntryError(name, str(error)) from None
    return given


def condition_name(value: Any) -> str:
    """A condition's name."""
    named_condition(str(value))
    return str(value)


def texts(value: Any) -> tuple[str, ...]:
    """One text, or several."""
    return (value,) if isinstance(value, str) else tuple(map(str, value))


def file_or(*names: str) -> Read:
    """One of a few words, or a file."""
    return lambda value: str(value) if str(value) in names else Path(value).expanduser()


def worded(value: object, *, between: str = ",", equals: str = "=") -> str:
    """A value that was read, as it would be written; of a file, its name without folder and ending.

    >>> worded((Tier.UNIVERSAL, Tier.DOMAIN)), worded({Kind.SUCCESS: 3}), worded(Layout.CACHED), worded(False)
    ('universal,domain', 'success=3', 'cached', 'off')
    """
    match value:
        case bool():
            return "on" if value else "off"
        case Path():
            return value.stem
        case Layout():
            return value.name.lower()
        case Mapping():
            entries = (f"{name}{equals}{worded(item, between=between, equals=equals)}" for name, item in value.items())
            return between.join(entries)
        case tuple():
            return between.join(worded(item, between=between, equals=equals) for item in value)
    return str(value)
