"""Readers of the values of settings, and parts of one's own as `module:name` or by an entry point
of `rpms.SEAM`.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, fields
from enum import Enum
from functools import cache
from importlib.metadata import (
    EntryPoint,
    PackageNotFoundError,
    entry_points,
    packages_distributions,
    version,
)
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from rpms.foreign.own_code import error_in_words, load_named, names_code, searched_too
from rpms.foreign.shown import excerpt
from rpms.logic.errors import ANY_ERROR, InputError, nearest
from rpms.logic.rules import Tier
from rpms.paper.compose import Seams
from rpms.paper.condition import named_condition
from rpms.paper.enforcement import PAPER, PARTS, Enforcement, with_part
from rpms.paper.memory import Kind, told_kinds
from rpms.paper.prompt import Layout
from rpms.parts import check_signature

SEAMS = tuple(each.name for each in fields(Seams))
Part = Callable[..., Any]


def installed_parts(seam: str) -> dict[str, EntryPoint]:
    """Parts that installed packages offer for a seam, by their short names."""
    return {point.name: point for point in entry_points(group=f"rpms.{seam}")}


def find_part(seam: str, name: str, folder: Path | None = None) -> Part:
    """Load a part.

    `folder` is searched for its module as well: the present one, where a person typed the name.
    """
    points = installed_parts(seam)
    if name not in points and not names_code(name):
        hint = f"; {nearest(name, points)}" if points else ""
        raise InputError(f"{excerpt(name)!r} is no {seam}: write it as module:name{hint}")
    try:
        with searched_too(folder):
            part = points[name].load() if name in points else load_named(name)
    except ANY_ERROR as error:  # a stranger's module may raise anything
        raise InputError(
            f"the {seam} {excerpt(name)} cannot be loaded: {error_in_words(error)}"
        ) from None
    part = part() if inspect.isclass(part) else part
    if not callable(part):
        raise InputError(
            f"the {seam} {excerpt(name)} is {excerpt(part, 60)}, which cannot be called"
        )
    return part  # type: ignore[no-any-return]


def name_of(part: str | Part) -> str:
    """A value of a setting that is a name, or a part of one's own by its name and source."""
    if isinstance(part, str):
        return part
    described = identity(part)
    return f"{described['name']} {described['source'][:16]}"


def identity(part: Part) -> dict[str, str]:
    """Entry of a part in a protocol: its name, its package's version, and a hash of its
    module's source.
    """
    has_a_name = inspect.isroutine(part) or inspect.isclass(part)
    owner = part if has_a_name else type(part)
    module = inspect.getmodule(owner)
    name = f"{owner.__module__}:{getattr(owner, '__qualname__', type(part).__name__)}"
    package = _package_of(owner.__module__)
    source = released = ""
    with suppress(OSError, TypeError):
        source = inspect.getsource(module) if module is not None else ""
    with suppress(PackageNotFoundError):
        released = version(package) if package else ""
    return {
        "name": name,
        "version": released,
        "source": hashlib.sha256(source.encode()).hexdigest(),
    }


def _package_of(module: str) -> str:
    """The installed package that a module is from; empty for a file of one's own."""
    names = _installed_packages().get(module.partition(".")[0], ())
    return names[0] if names else ""


@cache
def _installed_packages() -> Mapping[str, Sequence[str]]:
    """Installed packages by the names of their modules: their lists of files are read once, for
    where many are installed that takes half a second.
    """
    return packages_distributions()


Read = Callable[[Any], Any]


class NoMemoryGiven(InputError):
    """A condition recalls from a memory, and none was given."""


class SettingError(InputError):
    """A setting that is not known, or a value it cannot have."""

    def __init__(self, name: str, problem: str, inner: str = "") -> None:
        """`inner`: the entry at fault, where the setting has several.

        Functions that read values do not know the setting's name; it is added where they are
        called.
        """
        self.name = name
        self.problem = problem
        self.inner = inner
        super().__init__(f"{name}: {problem}")


def read_by(read: Read) -> Any:
    """A field of `Settings` whose values a function reads."""
    return field(default=None, metadata={"read": read})


def one_of(values: Iterable[Enum | str]) -> Read:
    """One of a few names."""
    named: dict[str, Enum | str] = {}
    for each in values:
        named[each.name.lower() if isinstance(each, Layout) else str(each)] = each

    def read(value: Any) -> Any:
        if isinstance(value, Enum) and value in named.values():
            return value
        if str(value) not in named:
            raise ValueError(f"{value!r} is none of its values; {nearest(str(value), named)}")
        return named[str(value)]

    return read


def part_or(seam: str, other: Read | None = None) -> Read:
    """Reads a part of the user's own: `module:name`, the name it is installed under, or a function.
    Other values that the setting may have come first.
    """

    def read(value: Any) -> Any:
        if callable(value) and not isinstance(value, Enum):
            check_signature(seam, value)
            return value
        name = str(value)
        if other is not None and ":" not in name:
            try:
                return other(value)
            except ValueError as error:
                if name not in installed_parts(seam):
                    ways = "or name a part of your own as module:name"
                    raise ValueError(f"{error}; {ways}") from None
        part = find_part(seam, name, Path.cwd())
        check_signature(seam, part)
        return part

    return read


def number(least: float, most: float | None = None) -> Read:
    """A number in a range."""
    words = f"of {least:g} or more" if most is None else f"from {least:g} to {most:g}"
    return _typed(
        Annotated[float, Field(ge=least, le=most, allow_inf_nan=False)], f"a number {words}"
    )


def whole(least: int, most: int = 10_000_000) -> Read:
    """A whole number in a range."""
    return _typed(
        Annotated[int, Field(ge=least, le=most)], f"a whole number from {least} to {most:,}"
    )


def _typed(kind: Any, words: str) -> Read:
    """Read what pydantic takes for a type, written as text or given as it is; a truth value is
    no number.
    """
    adapter = TypeAdapter[Any](kind)

    def read(value: Any) -> Any:
        if kind is bool or not isinstance(value, bool):
            with suppress(ValueError):
                return adapter.validate_python(value)
        shown = repr(excerpt(value)) if isinstance(value, str) else excerpt(value)
        raise ValueError(f"{shown}: write {words}")

    return read


switch = _typed(bool, "on or off")


def pairs(keys: Iterable[str], each: Read, example: str, one_for_all: bool = False) -> Read:
    """`name=value,name=value`, or a mapping; perhaps one value for all names."""
    names = tuple(keys)

    def read(value: Any) -> dict[str, Any]:
        if one_for_all and str(value).isdecimal():
            return dict.fromkeys(names, each(value))
        given = value if isinstance(value, Mapping) else _named_in(str(value))
        found: dict[str, Any] = {}
        for name, item in given.items():
            key = str(name).strip()
            if key not in names:
                problem = f"{key!r} is no name here; {nearest(key, names)}; write it like {example}"
                raise SettingError("", problem, key)
            found[key] = each(item.strip() if isinstance(item, str) else item)
        return found

    return read


def _named_in(text: str) -> dict[str, str]:
    """The values in `name=value,name=value`."""
    given: dict[str, str] = {}
    for piece in text.split(","):
        if piece.strip():
            name, _, value = piece.partition("=")
            given[name] = value
    return given


def kinds(value: Any) -> dict[Kind, int]:
    """A number for all kinds of memories, or by kind."""
    read = pairs(
        [str(kind) for kind in told_kinds()],
        whole(0, 1000),
        "success=3,failure=3",
        one_for_all=True,
    )
    return {Kind(name): most for name, most in read(value).items()}


def tiers(value: Any) -> tuple[Tier, ...]:
    """Tiers of the manual, in its order."""
    given = value.split(",") if isinstance(value, str) else value
    read = one_of(Tier)
    wanted: set[Tier] = set()
    for each in given:
        name = str(each).strip()
        if name:
            wanted.add(read(name))
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
        try:
            with_part(PAPER, name, item)
        except InputError as error:
            raise SettingError("", str(error), name) from None
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

    def read(value: Any) -> str | Path:
        word = str(value)
        return word if word in names else Path(value).expanduser()

    return read


def worded(value: object, *, between: str = ",", equals: str = "=") -> str:
    """A value that was read, as it would be written; of a file, its name without folder and ending.

    >>> worded((Tier.UNIVERSAL, Tier.DOMAIN)), worded({Kind.SUCCESS: 3})
    ('universal,domain', 'success=3')
    >>> worded(Layout.CACHED), worded(False)
    ('cached', 'off')
    """
    match value:
        case bool():
            return "on" if value else "off"
        case Path():
            return value.stem
        case Layout():
            return value.name.lower()
        case Mapping():
            entries: list[str] = []
            for name, item in value.items():
                entries.append(f"{name}{equals}{worded(item, between=between, equals=equals)}")
            return between.join(entries)
        case tuple():
            return between.join(worded(item, between=between, equals=equals) for item in value)
    return str(value)
