"""The conditions of a manual: read, and checked against the predicates that it declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import ClassVar, TypeVar

from rpms.core.actions import PARAMETER, ActionSchema
from rpms.core.belief import GOAL_PREDICATES
from rpms.core.facts import Atom, Clause, Kinds, Literal, parse_clause, parse_literal
from rpms.core.rules import Predicate
from rpms.foreign.shown import excerpt
from rpms.store.yaml_files import At, SectionReader, YamlFile

Value = TypeVar("Value")

_CONSTANT_PLACES = {("kind", 1), ("goal_state", 0), ("goal_type", 0)}
"""Goal predicates that take a plain word which names no parameter."""
ID = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+")
"""Form of a rule's id."""
NAME = re.compile(r"[a-z][a-z_]*")
"""Form of a predicate's name."""
AS_PARAMETER, AS_VARIABLE = "parameter of this action", "variable of its `over`"
"""Words for the arguments of a condition, in messages."""


def bare_words(text: str) -> Iterator[str]:
    """The arguments of a condition that stand for something: all that are not in quotes."""
    for inside in re.findall(r"\(([^()]*)\)", text):
        yield from (arg.strip() for arg in inside.split(",") if arg.strip() and not arg.strip().startswith('"'))


def read_each(
    read: Callable[[YamlFile, At, str, frozenset[str]], Value],
    yaml: YamlFile,
    path: At,
    texts: Iterable[str],
    names: frozenset[str] = frozenset(),
) -> tuple[Value, ...]:
    """A list of texts, each read by a function that is told its place for messages."""
    return tuple(read(yaml, (*path, place), text, names) for place, text in enumerate(texts))


@dataclass
class LiteralReader(SectionReader):
    """Reads conditions: one grammar for all manuals, each of which says what its predicates and arguments are."""

    noun: ClassVar[str] = "predicate"
    role: ClassVar[str] = AS_PARAMETER

    def known(self) -> Mapping[str, int]:
        """The predicates that conditions may name, and how many arguments each takes."""
        raise NotImplementedError

    def argument(self, yaml: YamlFile, path: At, literal: Literal, place: int, names: frozenset[str], role: str) -> str:
        """An argument as conditions keep it: a name, or what stands in quotes."""
        arg = literal.atom.args[place]
        if len(arg) > 2 and arg[0] == arg[-1] == '"':
            return arg[1:-1]
        if arg not in names and (literal.atom.predicate, place) not in _CONSTANT_PLACES:
            choice = ", ".join(sorted(names)) or "none here"
            raise yaml.error(path, f"{excerpt(arg)!r} is no {role} ({choice}); put a fixed name in double quotes")
        return arg

    def _clause(self, yaml: YamlFile, path: At, text: str, names: frozenset[str], role: str = "") -> Clause:
        clause = yaml.parsed(path, parse_clause, text)
        return Clause(tuple(self._checked(yaml, path, literal, names, role) for literal in clause.literals))

    def _literal(self, yaml: YamlFile, path: At, text: str, names: frozenset[str], role: str = "") -> Literal:
        return self._checked(yaml, path, yaml.parsed(path, parse_literal, text), names, role)

    def _checked(self, yaml: YamlFile, path: At, literal: Literal, names: frozenset[str], role: str) -> Literal:
        """The literal, if its predicate is known and its arguments are names or quoted."""
        predicate, args = literal.atom.predicate, literal.atom.args
        if predicate in self.broken:
            return literal
        known = self.known()
        if predicate not in known:
            raise yaml.error(path, f"unknown {self.noun} {predicate!r}; known: {', '.join(sorted(known))}")
        if len(args) != known[predicate]:
            raise yaml.error(path, f"{predicate} takes {known[predicate]} argument(s), not {len(args)}")
        places = range(len(args))
        bound = tuple(self.argument(yaml, path, literal, place, names, role or self.role) for place in places)
        return replace(literal, atom=Atom(predicate, bound))


@dataclass
class ClauseReader(LiteralReader):
    """Reads conditions over the predicates, and the kinds, that it has read before."""

    predicates: dict[str, Predicate] = field(default_factory=dict)
    kinds: dict[str, Kinds] = field(default_factory=dict)

    def known(self) -> Mapping[str, int]:
        return {**GOAL_PREDICATES, **{name: len(each.args) for name, each in self.predicates.items()}}

    def _checked(self, yaml: YamlFile, path: At, literal: Literal, names: frozenset[str], role: str) -> Literal:
        read = super()._checked(yaml, path, literal, names, role)
        return replace(read, kinds=self.kinds.get(literal.atom.predicate))

    def _check_agreement(self, yaml: YamlFile, path: At, clauses: Sequence[Clause]) -> None:
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


_LONGEST_COMPARED = 200
"""Characters of a command in which its nearest neighbour is looked for; finding it takes the square of that."""
WAIT = "wait"
"""Command that lets time pass. A process may name it without an action: it needs and does nothing by itself."""


def unknown_command(command: str, actions: Collection[ActionSchema]) -> str:
    """Fault of a process's command that no action writes, with the nearest one; not of `wait` or a mere parameter."""
    written = PARAMETER.sub("x", command)
    blank = not PARAMETER.sub("", command).strip()
    if command == WAIT or blank or any(action.match(written) is not None for action in actions):
        return ""
    known = [WAIT, *(syntax for action in actions for syntax in action.syntax)]
    nearest = get_close_matches(command[:_LONGEST_COMPARED], known, 1, 0.0)[0]
    return f"no action writes the command {excerpt(command)!r}; the nearest known one is `{nearest}`"
