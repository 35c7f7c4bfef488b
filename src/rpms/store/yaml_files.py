"""YAML that people write, with the way from a place in it to its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode

from rpms.core.errors import FileError
from rpms.foreign.limits import MOST_YAML_NODES
from rpms.foreign.shown import excerpt

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class YamlKind:
    """A kind of file: its name, limits and form."""

    article: str
    """As messages name it: `a study`."""
    largest: int
    """Bytes. Anything larger was not written by people."""
    deepest: int
    """Brackets within brackets."""
    form: str
    """Its keys at the top, in words."""


@dataclass(frozen=True, slots=True)
class YamlFile:
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

    def parsed(self, path: Sequence[object], parse: Callable[[str], _T], text: str) -> _T:
        """Parse a text at a place; the parser's ValueError is a mistake there."""
        try:
            return parse(text)
        except ValueError as error:
            raise self.error(path, str(error)) from None


def read_yaml(name: str, text: str, kind: YamlKind) -> YamlFile:
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
        if "*" in text and "&" in text:
            _check_expanded(YAML(typ="rt").compose(text), name)
        tree = YAML(typ="rt").load(text)
    except FileError:
        raise
    except MarkedYAMLError as error:
        line_ = error.problem_mark.line + 1 if error.problem_mark else None
        raise FileError(name, line_, f"not valid YAML: {_first_line(error.problem) or 'cannot be read'}") from None
    except RecursionError:
        raise FileError(name, None, f"nested too deeply for {kind.article}") from None
    except (YAMLError, ValueError, *_LIBRARY_FAULTS) as error:
        raise FileError(name, None, f"not valid YAML: {_first_line(error) or 'cannot be read'}") from None
    if not isinstance(tree, CommentedMap):
        raise FileError(name, 1, f"{kind.article} is a mapping with {kind.form}")
    return YamlFile(name, tree)


_LIBRARY_FAULTS = (AttributeError, AssertionError, KeyError, IndexError, NotImplementedError, TypeError)
"""Exceptions of the YAML library, beside its own errors, at texts that are no YAML."""


def _first_line(problem: object) -> str:
    return excerpt(next(iter(str(problem or "").splitlines()), ""))


def _check_expanded(root: Any, name: str) -> None:
    """Count the values of a file with each alias written out, without writing any out; each node is counted once."""
    sizes: dict[int, int] = {}
    way: list[tuple[Any, bool]] = [(root, False)]
    above: set[int] = set()
    while way:
        node, counted = way.pop()
        inner = _inner_nodes(node)
        if counted:
            above.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(each)] for each in inner)
        elif id(node) in above:
            raise FileError(name, node.start_mark.line + 1, "an alias stands within what it means")
        elif id(node) not in sizes:
            above.add(id(node))
            way.append((node, True))
            way.extend((each, False) for each in inner)
        if sizes.get(id(node), 0) > MOST_YAML_NODES:
            line = node.start_mark.line + 1
            raise FileError(name, line, f"its aliases stand for more than {MOST_YAML_NODES:,} values")


def _inner_nodes(node: Any) -> list[Any]:
    if isinstance(node, MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def plain(value: object, key: Callable[[object], object] = str) -> object:
    """A tree without ruamel's types, so that strict checks see what a person wrote. `key`: what keys become."""
    if isinstance(value, Mapping):
        return {key(name): plain(item, key) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item, key) for item in value]
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value
