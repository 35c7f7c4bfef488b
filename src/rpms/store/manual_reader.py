"""The reader that manuals of worlds and of tools share: texts, sections, mistakes, and one
grammar of conditions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, is_near
from rpms.logic.facts import Atom, Clause, Literal, parse_clause, parse_literal
from rpms.logic.rules import Tier
from rpms.store.files import read_text
from rpms.store.yaml_files import Place, YamlFile, YamlKind, read_yaml

Value = TypeVar("Value")

_CONSTANT_PLACES = {("kind", 1), ("goal_state", 0), ("goal_type", 0)}
"""Goal predicates that take a plain word which names no parameter."""
ID = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+")
"""Form of a rule's id."""
NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Form of a predicate's name."""


def read_each(
    read: Callable[[Place, str, frozenset[str]], Value],
    place: Place,
    texts: Iterable[str],
    names: frozenset[str] = frozenset(),
) -> tuple[Value, ...]:
    """A list of texts, each read by a function that is told its place for messages."""
    return tuple(read(place.at(number), text, names) for number, text in enumerate(texts))


class ManualText(NamedTuple):
    """A piece of a manual, with its file for messages."""

    name: str
    text: str
    own: bool = False
    """True for a user's own manual that is laid over a world's. Its entries replace the world's of
    the same name or id, and its tier 1 replaces the whole of that tier."""


ManualSource = tuple[str, str] | ManualText


def manual_text(file: Path | str) -> ManualText:
    """Read a user's file."""
    return ManualText(str(file), read_text(Path(file), 4 * LARGEST_MANUAL))


def manual_kind(article: str, keys: tuple[str, ...]) -> YamlKind:
    """Files of manuals with these keys and no others."""
    return YamlKind(
        article, LARGEST_MANUAL, 64, f"the keys {', '.join(keys)}; this file has none", keys
    )


REWORDED = "reworded"
"""The section in which a world says principles of tier 1 in words that fit it, by their ids."""


def give_way(yamls: Sequence[YamlFile], own: YamlFile) -> None:
    """Remove from a world's files what a user's own file replaces. If the file stands alone, all
    but tier 1 is removed.
    """
    for yaml in yamls:
        if own.tree.get("alone") is True:
            for key in set(yaml.tree) - {Tier.UNIVERSAL.value, "world"}:
                yaml.tree.pop(key)
        if Tier.UNIVERSAL.value in own.tree:
            yaml.tree.pop(Tier.UNIVERSAL.value, None)
            yaml.tree.pop(REWORDED, None)
        for section in ("predicates", "quantities", "goals", "procedures", Tier.ENVIRONMENT.value):
            _take_out_named(yaml.tree.get(section), own.tree.get(section))
        _take_out_rules(yaml.tree.get(Tier.DOMAIN.value) or {}, own.tree.get(Tier.DOMAIN.value))


def _take_out_rules(theirs: Mapping[str, Any], mine: Any) -> None:
    """Take out of all groups of rules those that any group of another file names too."""
    if not isinstance(mine, Mapping):
        return
    for group in theirs.values():
        for own_group in mine.values():
            _take_out_named(group, own_group)


def _take_out_named(theirs: Any, mine: Any) -> None:
    """Take out of one mapping what another names too."""
    if isinstance(theirs, MutableMapping) and isinstance(mine, Mapping):
        for name in mine:
            theirs.pop(name, None)


@dataclass
class ManualReader(Generic[Value]):
    """Reads one manual out of several texts, and goes on after a mistake, so that the others
    are found as well.
    """

    kind: ClassVar[YamlKind]
    noun: ClassVar[str] = "predicate"
    role: ClassVar[str] = "parameter of this action"

    ids: dict[str, str] = field(default_factory=dict)
    mistakes: list[FileError] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Names with a mistake in their definition; their uses are not reported."""

    def arities(self) -> Mapping[str, int]:
        """The predicates that conditions may name, and how many arguments each takes."""
        raise NotImplementedError

    def build(self, yamls: Sequence[YamlFile]) -> Value:
        """Read the sections of all files, in the order in which they speak of each other."""
        raise NotImplementedError

    def read(self, sources: Iterable[ManualSource]) -> Value:
        """Read the parts of a manual that can be read, and note its mistakes."""
        yamls: list[YamlFile] = []
        for name, text, *own in sources:
            with self.noting():
                yamls.append(read_yaml(name, text, self.kind))
                if any(own):
                    give_way(yamls[:-1], yamls[-1])
        for yaml in yamls:
            with self.noting():
                self.head(yaml)
        return self.build(yamls)

    def head(self, yaml: YamlFile) -> None:
        """Check the keys of a file, and read what stands for the whole of it."""
        keys = self.kind.keys
        is_manual = not yaml.tree.keys().isdisjoint(keys)
        for key in yaml.tree:
            if key not in keys:
                # only what may be a misspelt key is quoted: another file may be secret
                quoted = is_manual or is_near(str(key), keys)
                named = f" {excerpt(key)!r}" if quoted else ""
                raise yaml.at(key).error(
                    f"unknown tier or key{named}; {self.kind.article} has {', '.join(keys)}"
                )

    def sound(self, sources: Iterable[ManualSource]) -> Value:
        """Read a manual; its first mistake is raised."""
        manual = self.read(sources)
        if self.mistakes:
            raise self.mistakes[0]
        return manual

    def faults(self, sources: Sequence[ManualSource]) -> list[FileError]:
        """All mistakes of a manual, at most one for each entry, in the order of its texts and
        their lines.
        """
        self.read(sources)
        order = {source[0]: number for number, source in enumerate(sources)}
        return sorted(self.mistakes, key=lambda each: (order[each.file], each.line or 0))

    def entries(self, yamls: Sequence[YamlFile], *path: str) -> Iterator[tuple[Place, Any]]:
        """The entries of one section in all files."""
        for yaml in yamls:
            if str(path[0]) in yaml.tree:
                with self.noting():
                    yield from yaml.at(*map(str, path)).entries()

    def read_each_in(
        self,
        yamls: Sequence[YamlFile],
        section: str,
        read: Callable[[Place, Any], None],
        *,
        name: bool = False,
    ) -> None:
        """Read the entries of a section, each on its own; with `name`, a mistake makes the
        entry's name useless.
        """
        for place, value in self.entries(yamls, section):
            with self.noting(place.name if name else ""):
                read(place, value)

    @contextmanager
    def noting(self, name: str = "") -> Iterator[None]:
        """Note a mistake and go on. `name`: the entry that cannot be used because of it."""
        try:
            yield
        except FileError as mistake:
            self.mistakes.append(mistake)
            self.broken.add(name)

    def claim(self, place: Place, id_: str) -> None:
        """Report a name that is used twice."""
        if id_ in self.ids:
            raise place.error(
                f"{id_} is already used at {self.ids[id_]}; give this one another name"
            )
        self.ids[id_] = place.line

    def argument(
        self,
        place: Place,
        literal: Literal,
        number: int,
        names: frozenset[str],
        role: str,
    ) -> str:
        """An argument as conditions keep it: a name, or what stands in quotes."""
        arg = literal.atom.args[number]
        if len(arg) > 2 and arg[0] == arg[-1] == '"':
            return arg[1:-1]
        if arg not in names and (literal.atom.predicate, number) not in _CONSTANT_PLACES:
            choice = ", ".join(sorted(names)) or "none here"
            raise place.error(
                f"{excerpt(arg)!r} is no {role} ({choice}); put a fixed name in double quotes"
            )
        return arg

    def _clause(self, place: Place, text: str, names: frozenset[str], role: str = "") -> Clause:
        clause = place.parsed(parse_clause, text)
        checked: list[Literal] = []
        for literal in clause.literals:
            checked.append(self._checked(place, literal, names, role))
        return Clause(tuple(checked))

    def _literal(self, place: Place, text: str, names: frozenset[str], role: str = "") -> Literal:
        return self._checked(place, place.parsed(parse_literal, text), names, role)

    def _checked(self, place: Place, literal: Literal, names: frozenset[str], role: str) -> Literal:
        """The literal, if its predicate is known and its arguments are names or quoted."""
        predicate = literal.atom.predicate
        args = literal.atom.args
        if predicate in self.broken:
            return literal
        arities = self.arities()
        if predicate not in arities:
            raise place.error(
                f"unknown {self.noun} {predicate!r}; known: {', '.join(sorted(arities))}"
            )
        arity = arities[predicate]
        if len(args) != arity:
            raise place.error(f"{predicate} takes {arity} argument(s), not {len(args)}")
        bound: list[str] = []
        parameters: list[int] = []
        for number, arg in enumerate(args):
            read = self.argument(place, literal, number, names, role or self.role)
            bound.append(read)
            if arg in names and arg == read:
                parameters.append(number)
        atom = Atom(predicate, tuple(bound))
        return replace(literal, atom=atom, parameters=tuple(parameters))
