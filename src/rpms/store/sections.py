"""The sections of a YAML file that people write: entries by name, checked, with every mistake at its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rpms.core.errors import FileError
from rpms.foreign.shown import excerpt
from rpms.store.yaml_files import YamlFile, plain


class Strict(BaseModel):
    """A form with no other fields than its own."""

    model_config = ConfigDict(extra="forbid", strict=True)


def listed(value: object) -> object:
    """A text stands for a list of one."""
    return [value] if isinstance(value, str) else value


_Model = TypeVar("_Model", bound=Strict)


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


def validate(yaml: YamlFile, model: type[_Model], value: object, path: tuple[object, ...]) -> _Model:
    """An entry in its form; what does not fit is an error at its line."""
    try:
        return model.model_validate(plain(value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        problem = (
            "is not a known field"
            if first["type"] == "extra_forbidden"
            else first["msg"][:1].lower() + first["msg"][1:]
        )
        raise yaml.error((*path, *first["loc"]), f"{path[-1]}: {place or 'entry'}: {problem}") from None


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
