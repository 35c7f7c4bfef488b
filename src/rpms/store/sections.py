"""The sections of a YAML file that people write: entries by name, checked, with every mistake at its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, TypeVar, get_origin, get_type_hints

from rpms.core.errors import FileError
from rpms.foreign.json_text import NotJson
from rpms.foreign.shown import excerpt
from rpms.foreign.typed import from_json
from rpms.store.yaml_files import YamlFile, plain

_Form = TypeVar("_Form")


def entries_at(yaml: YamlFile, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The entries of a mapping at a place; an error if it is none."""
    node: Any = yaml.tree
    for step in path:
        node = node[step]
    if node is None:
        return
    if not isinstance(node, Mapping):
        raise yaml.error(path, f"`{path[-1]}` must be a mapping of names to entries")
    for key in node:
        if not isinstance(key, str):
            raise yaml.error((*path, key), f"{excerpt(key)!r} must be a text")
        yield key, node[key]


def validate(yaml: YamlFile, form: type[_Form], value: object, path: tuple[object, ...]) -> _Form:
    """An entry in its form, a dataclass; what does not fit is an error at its line. A text stands for a list of one."""
    given, lists = plain(value), _lists(form)  # type: ignore[arg-type]
    if isinstance(given, dict):
        given = {name: [each] if name in lists and isinstance(each, str) else each for name, each in given.items()}
    try:
        read = from_json(form, given)
    except NotJson as error:
        entry = f"{path[-1]}: {'' if error.place else 'entry '}" if path else ""
        raise yaml.error((*path, *error.place), f"{entry}{error}") from None
    for name in _needed(form):  # type: ignore[arg-type]
        if getattr(read, name) in ("", ()):
            raise yaml.error((*path, name), f"{path[-1]}: {name.rstrip('_')}: should not be empty")
    return read


@cache
def _needed(form: Any) -> tuple[str, ...]:
    """Fields of a form without a default."""
    return tuple(each.name for each in fields(form) if each.default is MISSING and each.default_factory is MISSING)


@cache
def _lists(form: Any) -> frozenset[str]:
    """Fields of a form that are lists."""
    return frozenset(name.rstrip("_") for name, kind in get_type_hints(form).items() if get_origin(kind) is tuple)


@dataclass
class SectionReader:
    """Reads one thing out of several files, and goes on after a mistake, so that the others are found as well."""

    ids: dict[str, str] = field(default_factory=dict)
    mistakes: list[FileError] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Names with a mistake in their definition; their uses are not reported."""

    def entries(self, yamls: Sequence[YamlFile], *path: str) -> Iterator[tuple[YamlFile, str, Any]]:
        """The entries of one section in all files."""
        for yaml in yamls:
            if str(path[0]) in yaml.tree:
                with self.noting():
                    for name, value in entries_at(yaml, tuple(map(str, path))):
                        yield yaml, name, value

    def read_each_in(
        self, yamls: Sequence[YamlFile], section: str, read: Callable[[YamlFile, str, Any], None], *, name: bool = False
    ) -> None:
        """Read the entries of a section, each on its own; with `name`, a mistake makes the entry's name useless."""
        for yaml, entry, value in self.entries(yamls, section):
            with self.noting(entry if name else ""):
                read(yaml, entry, value)

    def in_order(self, names: Iterable[str]) -> list[FileError]:
        """All mistakes, in the order of the files and their lines."""
        order = {name: place for place, name in enumerate(names)}
        return sorted(self.mistakes, key=lambda each: (order[each.file], each.line or 0))

    @contextmanager
    def noting(self, name: str = "") -> Iterator[None]:
        """Go on after a mistake. `name`: what it makes useless."""
        try:
            yield
        except FileError as mistake:
            self.mistakes.append(mistake)
            self.broken.add(name)

    def claim(self, yaml: YamlFile, path: tuple[str, ...], id_: str) -> None:
        """Report a name that is used twice."""
        line = yaml.line(path)
        if id_ in self.ids:
            raise FileError(yaml.name, line, f"{id_} is already used at {self.ids[id_]}; give this one another name")
        self.ids[id_] = f"{yaml.name}:{line}"
