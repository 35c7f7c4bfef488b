"""YAML that people write: sections and entries by name, checked, with every mistake at its line."""

import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar, get_origin, get_type_hints

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from rpms.foreign.file_reader import parsing
from rpms.foreign.json_text import NotJson, from_json, needed_by
from rpms.foreign.limits import MOST_YAML_NODES
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError

_T = TypeVar("_T")
At = tuple[object, ...]
"""Keys and numbers that lead to a place in a file."""


@dataclass(frozen=True, slots=True)
class YamlKind:
    """A kind of file: its name, limits and form."""

    article: str
    """The kind's name in messages: `a study`."""
    largest: int
    """Bytes. Anything larger was not written by people."""
    deepest: int
    """Brackets within brackets."""
    form: str
    """The keys at the top of such a file, in words."""
    keys: tuple[str, ...] = ()
    """All keys it may have at the top, where no others are allowed."""


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
                line = where[0] + 1
                node = node[step]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line

    def error(self, path: Sequence[object], problem: str) -> FileError:
        """A mistake at a place."""
        return FileError(self.name, self.line(path), problem)

    def at(self, *path: object) -> "Place":
        """A place in the tree."""
        return Place(self, path)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, at which something is read and mistakes are told."""

    yaml: YamlFile
    path: At

    @property
    def name(self) -> str:
        """The key or number at its end."""
        return str(self.path[-1])

    def at(self, *further: object) -> Self:
        """A place within it."""
        return type(self)(self.yaml, (*self.path, *further))

    @property
    def line(self) -> str:
        """The place's file and line."""
        return f"{self.yaml.name}:{self.yaml.line(self.path)}"

    def error(self, problem: str) -> FileError:
        """A mistake here."""
        return self.yaml.error(self.path, problem)

    def mistake(self, problem: str) -> FileError:
        """A mistake here, told after the keys that lead here: `headings.memory: …`."""
        keys = ".".join(map(str, self.path))
        return self.error(f"{keys}: {problem}" if keys else problem)

    def parsed(self, parse: Callable[[str], _T], text: str) -> _T:
        """Parse a text that stands here; the parser's ValueError is a mistake."""
        try:
            return parse(text)
        except ValueError as error:
            raise self.error(str(error)) from None

    def entries(self) -> Iterator[tuple["Place", Any]]:
        """The entries of the mapping here, each with its place; an error if it is none."""
        node: Any = self.yaml.tree
        for step in self.path:
            node = node[step]
        if node is None:
            return
        if not isinstance(node, Mapping):
            raise self.error(f"`{self.name}` must be a mapping of names to entries")
        for key in node:
            if not isinstance(key, str):
                raise self.at(key).error(f"{excerpt(key)!r} must be a text")
            yield self.at(key), node[key]

    def read(self, form: type[_T], value: object) -> _T:
        """The value at this place, read as a dataclass; a wrong one is an error at its line.

        A text stands for a list of one.
        """
        given = plain(value)
        if isinstance(given, dict):
            for name in _lists(form):  # type: ignore[arg-type]
                if isinstance(given.get(name), str):
                    given[name] = [given[name]]
        try:
            read = from_json(form, given)
        except NotJson as error:
            raise self._misread(error) from None
        for name in needed_by(form):
            if isinstance(given, dict) and given[name] in ("", []):
                raise self.at(name).error(f"{self.name}: {name}: should not be empty")
        return read

    def _misread(self, error: NotJson) -> FileError:
        """The error at the line of what could not be read within this place."""
        problem = str(error)
        if self.path:
            what = "" if error.place else "entry "
            problem = f"{self.name}: {what}{error}"
        return self.at(*error.place).error(problem)


def read_yaml(name: str, text: str, kind: YamlKind) -> YamlFile:
    """Read the text of a YAML file of some kind; a text that is none is a FileError."""
    _check_written(name, text, kind)

    def problem(error: Exception) -> str:
        if isinstance(error, RecursionError):
            return f"nested too deeply for {kind.article}"
        words = error.problem if isinstance(error, MarkedYAMLError) else error
        return f"not valid YAML: {_first_line(words) or 'cannot be read'}"

    with parsing(name, problem):
        if "*" in text and "&" in text:
            root = YAML(typ="rt").compose(text)
            if root is not None:  # there may be comments alone
                _check_expanded(root, name)
        tree = YAML(typ="rt").load(text)
    if not isinstance(tree, CommentedMap):
        raise FileError(name, 1, f"{kind.article} is a mapping with {kind.form}")
    return YamlFile(name, tree)


_QUOTED = re.compile(
    r"""\s*(["'])(?:.{1,2}|<(?:stream|block|document|flow) [a-z ]+>)\1|\s*(["']).{3,}?\2.*"""
)
"""A sign or a name of the library's own, which its first group has; or words of the file, and
all after them."""
_MARKS = ("\n", ",", ":", "[", "{", "- ", "? ")
"""Marks of YAML: one of them stands before every value except the first."""
_MERGE = "tag:yaml.org,2002:merge"
_MOST_MERGES = 100
"""Most merges, `<<: *alias`: the library takes time in the square of their number."""


def _check_written(name: str, text: str, kind: YamlKind) -> None:
    """Refuse a text on which a YAML parser would spend too much time, before one sees it."""
    if len(text) > kind.largest:
        raise FileError(name, None, f"larger than {kind.largest:,} bytes: not {kind.article}")
    if sum(map(text.count, _MARKS)) > MOST_YAML_NODES:
        raise FileError(
            name, None, f"holds more than {MOST_YAML_NODES:,} values: not {kind.article}"
        )
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):
        depth = max(0, depth + (1 if match[0] in "[{" else -1))
        if depth > kind.deepest:
            line = text.count("\n", 0, match.start()) + 1
            raise FileError(name, line, f"nested too deeply for {kind.article}")


def _first_line(problem: object) -> str:
    """The library's words, without those that it quotes from the file."""
    line = next(iter(str(problem or "").splitlines()), "")
    return excerpt(_QUOTED.sub(lambda found: found[0] if found[1] else "", line))


class _Visit(NamedTuple):
    """A visit to a node: a first one, or another once all in it is counted."""

    node: Any
    inside_counted: bool = False


def _check_expanded(root: Any, name: str) -> None:
    """Refuse a file whose aliases, written out, would make it too large. Nothing is written out:
    each node is counted once.
    """
    most = f"{MOST_YAML_NODES:,} values, or more than {_MOST_MERGES} are merged"
    too_many = f"its aliases stand for more than {most}"
    sizes: dict[int, int] = {}
    being_counted: set[int] = set()
    merges = 0
    to_visit = [_Visit(root)]
    while to_visit:
        node, inside_counted = to_visit.pop()
        line = node.start_mark.line + 1
        if inside_counted:
            size = 1 + sum(sizes[id(each)] for each in _inside(node))
            if size > MOST_YAML_NODES:
                raise FileError(name, line, too_many)
            being_counted.discard(id(node))
            sizes[id(node)] = size
        elif id(node) in being_counted:
            raise FileError(name, line, "an alias stands within what it means")
        elif id(node) not in sizes:
            merges += node.tag == _MERGE
            if merges > _MOST_MERGES:
                raise FileError(name, line, too_many)
            being_counted.add(id(node))
            to_visit.append(_Visit(node, inside_counted=True))
            to_visit += map(_Visit, _inside(node))


def _inside(node: Any) -> Sequence[Any]:
    """The nodes in a node: items of a list, keys and values of a mapping."""
    if isinstance(node, SequenceNode):
        items: Sequence[Any] = node.value
        return items
    if isinstance(node, MappingNode):
        return list(chain.from_iterable(node.value))
    return ()


def plain(value: object, key: Callable[[object], object] = str) -> object:
    """A tree without ruamel's types, so that strict checks see what a person wrote.

    `key`: what keys become.
    """
    if isinstance(value, Mapping):
        return {key(name): plain(item, key) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item, key) for item in value]
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def manual_yaml(tree: Mapping[str, Any], head: Sequence[str] = ()) -> str:
    """A manual's text, lists on one line as people write them, after some lines of comment."""
    return "".join(f"# {line}\n" for line in head) + yaml_text(_styled(tree))


def yaml_text(tree: Mapping[str, Any], width: int = 118) -> str:
    """A tree as it is, in the form in which manuals are written."""
    yaml = YAML(typ="rt")
    yaml.width = width
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def _styled(value: Any, depth: int = 0) -> Any:
    """Ruamel's types: lists in brackets, texts in quotes where they hold a comma."""
    if isinstance(value, Mapping):
        return _styled_mapping(value, depth)
    if isinstance(value, list):
        items = CommentedSeq(_styled(item, depth + 1) for item in value)
        if _is_flat(value):
            items.fa.set_flow_style()
        return items
    if isinstance(value, str) and ("," in value or '"' in value):
        return DoubleQuotedScalarString(value)
    return value


def _styled_mapping(value: Mapping[Any, Any], depth: int) -> CommentedMap:
    """A mapping; one that says something of arguments, and nothing more, stands on one line."""
    found = CommentedMap((key, _styled(item, depth + 1)) for key, item in value.items())
    if depth > 1 and "args" in value and _is_flat(value.values()):
        found.fa.set_flow_style()
    return found


def _is_flat(items: Iterable[Any]) -> bool:
    """True if no item is a mapping of its own."""
    return not any(isinstance(item, Mapping) for item in items)


def with_list(text: str, path: Sequence[str], items: Sequence[int | str]) -> str | None:
    """A file's text with other items in the list at a path; all else stays to the letter. None if
    the file has no entry of that name.

    `items`: texts for new items, and for those that stay their numbers in the list.
    """
    *above, key = path
    entry: Any = YAML(typ="rt").compose(text)
    for step in above:
        entry = _under(entry, step)
        if entry is None:
            return None
    found = _under(entry, key)
    if found is None:
        return _with_key(text, entry, key, items)
    if not isinstance(found, SequenceNode):  # a text stands for a list of one
        return _with_flow(text, found, [found], items)
    if found.value and not found.flow_style:
        return _with_lines(text, found, items)
    return _with_flow(text, found, found.value, items)


def _with_key(text: str, entry: Any, key: str, items: Sequence[int | str]) -> str:
    """A file's text with a list added to an entry that has none of that name."""
    new = _flow([_quoted(str(item)) for item in items])
    between = ", " if entry.flow_style else f"\n{' ' * entry.start_mark.column}"
    _, last = entry.value[-1]
    end = _end(text, last)
    return f"{text[:end]}{between}{key}: {new}{text[end:]}"


def _with_flow(text: str, found: Any, had: Iterable[Any], items: Sequence[int | str]) -> str:
    """A file's text with other items, in one line, in place of those that it had."""
    written = [text[each.start_mark.index : _end(text, each)] for each in had]
    listed = _flow(_written_anew(written, items))
    return f"{text[: found.start_mark.index]}{listed}{text[found.end_mark.index :]}"


def _with_lines(text: str, found: Any, items: Sequence[int | str]) -> str:
    """A file's text with other items in a list that has a line for each, comments included."""
    ends = [(text + "\n").index("\n", _end(text, each)) for each in found.value]
    starts = [each.start_mark.index for each in found.value]
    written = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    texts = _written_anew(written, items)
    indent = f"\n{' ' * found.start_mark.column}"
    listed = indent.join([f"- {item}" for item in texts]) or _flow(())
    return f"{text[: found.start_mark.index]}{listed}{text[ends[-1] :]}"


def _written_anew(written: Sequence[str], items: Sequence[int | str]) -> list[str]:
    """Items as they are written in a file: those that it had, by number, to the letter; new texts
    in quotes if they need them.
    """
    return [written[item] if isinstance(item, int) else _quoted(item) for item in items]


def _end(text: str, node: Any) -> int:
    """End of a node's text; ruamel counts the white space after it too."""
    return len(text[: node.end_mark.index].rstrip())


def _flow(items: Iterable[str]) -> str:
    """A list in one line."""
    return f"[{', '.join(items)}]"


def _under(node: Any, key: str) -> Any:
    pairs = node.value if isinstance(node, MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _quoted(item: str) -> str:
    return json.dumps(item, ensure_ascii=False) if re.search(r'[][,"{}#:]', item) else item


@cache
def _lists(form: Any) -> frozenset[str]:
    """Fields of a form that are lists."""
    hints = get_type_hints(form).items()
    return frozenset(name.rstrip("_") for name, kind in hints if get_origin(kind) is tuple)
