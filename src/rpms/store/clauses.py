"""The conditions of a manual: read, and checked against the predicates that it declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from rpms.core.belief import GOAL_PREDICATES
from rpms.core.facts import Atom, Clause, Kinds, Literal, parse_clause, parse_literal
from rpms.core.rules import Predicate
from rpms.store.sections import SectionReader
from rpms.store.yaml_files import YamlFile

Value = TypeVar("Value")

_CONSTANT_PLACES = {("kind", 1), ("goal_state", 0), ("goal_type", 0)}
"""Where the goal's predicates take a plain word that names no parameter."""
AS_PARAMETER, AS_VARIABLE = "parameter of this action", "variable of its `over`"
"""What the arguments of a condition are, in messages."""


def bare_words(text: str) -> Iterator[str]:
    """The arguments of a condition that stand for something: all that are not in quotes."""
    for inside in re.findall(r"\(([^()]*)\)", text):
        yield from (arg.strip() for arg in inside.split(",") if arg.strip() and not arg.strip().startswith('"'))


def read_each(
    read: Callable[[YamlFile, tuple[object, ...], str, frozenset[str]], Value],
    yaml: YamlFile,
    path: tuple[object, ...],
    texts: Iterable[str],
    names: frozenset[str] = frozenset(),
) -> tuple[Value, ...]:
    """A list of texts, each read by a function that is told its place for messages."""
    return tuple(read(yaml, (*path, place), text, names) for place, text in enumerate(texts))


@dataclass
class ClauseReader(SectionReader):
    """Reads conditions over the predicates, and the kinds, that it has read before."""

    predicates: dict[str, Predicate] = field(default_factory=dict)
    kinds: dict[str, Kinds] = field(default_factory=dict)

    def _clause(
        self, yaml: YamlFile, path: tuple[object, ...], text: str, names: frozenset[str], role: str = AS_PARAMETER
    ) -> Clause:
        clause = yaml.parsed(path, parse_clause, text)
        return Clause(tuple(self._checked(yaml, path, literal, names, role) for literal in clause.literals))

    def _literal(self, yaml: YamlFile, path: tuple[object, ...], text: str, names: frozenset[str]) -> Literal:
        literal = yaml.parsed(path, parse_literal, text)
        return self._checked(yaml, path, literal, names)

    def _checked(
        self,
        yaml: YamlFile,
        path: tuple[object, ...],
        literal: Literal,
        names: frozenset[str],
        role: str = AS_PARAMETER,
    ) -> Literal:
        """The literal, if its predicate is known and its arguments are parameters or quoted names."""
        predicate, args = literal.atom.predicate, literal.atom.args
        declared = self.predicates.get(predicate)
        wanted = len(declared.args) if declared else GOAL_PREDICATES.get(predicate)
        if predicate in self.broken:
            return literal
        if wanted is None:
            known = ", ".join(sorted((*self.predicates, *GOAL_PREDICATES)))
            raise yaml.error(path, f"unknown predicate {predicate!r}; known: {known}")
        if len(args) != wanted:
            raise yaml.error(path, f"{predicate} takes {wanted} argument(s), not {len(args)}")
        plain = []
        for place, arg in enumerate(args):
            quoted = len(arg) > 2 and arg[0] == arg[-1] == '"'
            if not quoted and arg not in names and (predicate, place) not in _CONSTANT_PLACES:
                choice = ", ".join(sorted(names)) or "none here"
                raise yaml.error(path, f"{arg!r} is no {role} ({choice}); put a fixed name in double quotes")
            plain.append(arg[1:-1] if quoted else arg)
        return Literal(Atom(predicate, tuple(plain)), literal.negated, self.kinds.get(predicate))

    def _check_agreement(self, yaml: YamlFile, path: tuple[object, ...], clauses: Sequence[Clause]) -> None:
        """Report a list of which not all can hold: a fact and its negation, or two facts that exclude each other."""
        certain: dict[Atom, bool] = {}
        alone: dict[str, Atom] = {}
        for place, clause in sorted(enumerate(clauses), key=lambda item: len(item[1].literals)):
            against = [
                literal for literal in clause.literals if certain.get(literal.atom, literal.negated) != literal.negated
            ]
            if len(against) == len(clause.literals):
                atom = against[0].atom
                raise yaml.error((*path, place), f"contradicts itself: both {atom} and not {atom}")
            literal, *others = clause.literals
            if others:
                continue
            certain[literal.atom] = literal.negated
            declared = self.predicates.get(literal.atom.predicate)
            if declared is not None and declared.exclusive == "always" and not literal.negated:
                other = alone.setdefault(declared.name, literal.atom)
                if other != literal.atom:
                    problem = f"contradicts itself: {other} and {literal.atom} exclude each other"
                    raise yaml.error((*path, place), problem)
