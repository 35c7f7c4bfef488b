"""YAML that people write, with the way from a place in it to its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rpms.core.errors import FileError


@dataclass(frozen=True, slots=True)
class PageKind:
    """What a file is to be, and what it cannot be."""

    article: str
    """As messages name it: `a study`."""
    largest: int
    """Bytes. Anything larger was not written by people."""
    deepest: int
    """Brackets within brackets."""
    form: str
    """What it has at its top."""


@dataclass(frozen=True, slots=True)
class Page:
    """One file's tree."""

    name: str
    tree: CommentedMap

    def line(self, path: Sequence[object]) -> int:
        """The line of a place in the tree, or of the nearest place above it that has one."""
        node: Any = self.tree
        line = 1
        for step in path:
            try:
                where = node.lc.key(step) if isinstance(node, CommentedMap) else node.lc.item(step)
                line, node = where[0] + 1, node[step]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line

    def error(self, path: Sequence[object], problem: str) -> FileError:
        """A mistake at a place."""
        return FileError(self.name, self.line(path), problem)


def read_page(name: str, text: str, kind: PageKind) -> Page:
    """Read a text; what is no such file is a FileError."""
    if len(text) > kind.largest:
        raise FileError(name, None, f"larger than {kind.largest:,} bytes: not {kind.article}")
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):  # on which a YAML parser would spend its time
        depth = max(0, depth + (1 if match[0] in "[{" else -1))
        if depth > kind.deepest:
            line = text.count("\n", 0, match.start()) + 1
            raise FileError(name, line, f"nested too deeply for {kind.article}")
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line_ = error.problem_mark.line + 1 if error.problem_mark else None
        problem = (error.problem or "cannot be read").splitlines()[0]
        raise FileError(name, line_, f"not valid YAML: {problem}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        problem = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise FileError(name, None, f"not valid YAML: {problem}") from None
    if not isinstance(tree, CommentedMap):
        raise FileError(name, 1, f"{kind.article} is a mapping with {kind.form}")
    return Page(name, tree)


def plain(value: object, key: Callable[[object], object] = str) -> object:
    """A tree without ruamel's types, so that strict checks see what a person wrote. `key`: what keys become."""
    if isinstance(value, Mapping):
        return {key(name): plain(item, key) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item, key) for item in value]
    return str(value) if isinstance(value, str) else value
