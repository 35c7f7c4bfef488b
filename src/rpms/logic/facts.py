"""Facts with three values, and the small conditions that rules put on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Truth(Enum):
    """Truth of a fact in a belief, in Kleene's strong logic: unknown stays unknown unless it
    cannot matter.
    """

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, value: bool | None) -> Truth:
        """Turn a bool into a truth value; None means unknown."""
        if value is None:
            return cls.UNKNOWN
        return cls.TRUE if value else cls.FALSE

    @property
    def known(self) -> bool | None:
        """The value as a bool; None if unknown."""
        return None if self is Truth.UNKNOWN else self is Truth.TRUE

    def __invert__(self) -> Truth:
        if self is Truth.UNKNOWN:
            return self
        return Truth.FALSE if self is Truth.TRUE else Truth.TRUE

    def __and__(self, other: Truth) -> Truth:
        if Truth.FALSE in (self, other):
            return Truth.FALSE
        return Truth.UNKNOWN if Truth.UNKNOWN in (self, other) else Truth.TRUE

    def __or__(self, other: Truth) -> Truth:
        return ~(~self & ~other)

    def __bool__(self) -> bool:
        raise TypeError("a Truth has three values: compare it with `is Truth.TRUE`")


class Atom(NamedTuple):
    """One fact by name: a predicate and its arguments, `in(apple 1, fridge 1)`."""

    predicate: str
    args: tuple[str, ...] = ()

    def bind(self, binding: Mapping[str, str]) -> Atom:
        """Put names of this world in place of a schema's parameters."""
        return Atom(self.predicate, tuple(map(binding.get, self.args, self.args)))

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.args)})" if self.args else self.predicate


Sort = tuple[str, bool]
"""A sort of facts: a predicate, and True for those that deny it."""


class Facts(Protocol):
    """Anything that can be asked for the truth of a fact."""

    def truth(self, atom: Atom, /) -> Truth:
        """Say whether the fact holds; unknown where nothing is known, never an error."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """A manual's three-valued facts about kinds: `apple` with `microwave` worked, with `desk`
    it was refused.
    """

    yes: frozenset[tuple[str, ...]] = frozenset()
    no: frozenset[tuple[str, ...]] = frozenset()

    def truth(self, names: tuple[str, ...]) -> Truth:
        """Truth for things of these names, by their kinds.

        An untried combination is unknown, not false.
        """
        kinds = tuple(map(kind_of, names))
        if kinds in self.yes:
            return Truth.TRUE
        return Truth.FALSE if kinds in self.no else Truth.UNKNOWN


@dataclass(frozen=True, slots=True)
class Literal:
    """A fact or its negation."""

    atom: Atom
    negated: bool = False
    kinds: Kinds | None = field(default=None, compare=False, repr=False)
    """Set if the manual decides the fact from kinds; beliefs are then not asked."""
    parameters: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """Positions of the arguments that still need a name in place of a parameter."""

    def __hash__(self) -> int:
        # a fact and its negation have it alike: milestones are looked up by it at every step
        return hash(self.atom)

    def truth(self, facts: Facts, binding: Mapping[str, str] | None = None) -> Truth:
        """Truth of the literal, with names in place of parameters where a binding is given.

        A parameter without a name makes it unknown: the line was not bound, or it is about a thing
        that the command leaves out.
        """
        atom = self.atom
        for place in self.parameters:
            if not binding or atom.args[place] not in binding:
                return Truth.UNKNOWN
        if binding:
            atom = atom.bind(binding)
        value = facts.truth(atom) if self.kinds is None else self.kinds.truth(atom.args)
        return ~value if self.negated else value

    def bind(self, binding: Mapping[str, str]) -> Literal:
        unbound = self.parameters
        if unbound:
            args = self.atom.args
            unbound = tuple([place for place in unbound if args[place] not in binding])
        return Literal(self.atom.bind(binding), self.negated, self.kinds, unbound)

    @property
    def signed(self) -> Sort:
        """The sort of fact that it states."""
        return self.atom.predicate, self.negated

    def opposite(self) -> Literal:
        return Literal(self.atom, not self.negated, self.kinds, self.parameters)

    def __str__(self) -> str:
        return f"not {self.atom}" if self.negated else str(self.atom)


@dataclass(frozen=True, slots=True)
class Clause:
    """A list of literals of which at least one must hold, such as `open(place) or not
    openable(place)`.
    """

    literals: tuple[Literal, ...]

    def truth(self, facts: Facts, binding: Mapping[str, str] | None = None) -> Truth:
        """Truth of the clause, with names in place of parameters where a binding is given."""
        unknown = False
        for literal in self.literals:
            value = literal.truth(facts, binding)
            if value is Truth.TRUE:
                return value
            unknown = unknown or value is Truth.UNKNOWN
        return Truth.UNKNOWN if unknown else Truth.FALSE

    def bind(self, binding: Mapping[str, str]) -> Clause:
        return Clause(tuple([literal.bind(binding) for literal in self.literals]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names and parameters that it is about, each once."""
        found: dict[str, None] = {}
        for literal in self.literals:
            found |= dict.fromkeys(literal.atom.args)
        return tuple(found)

    def __str__(self) -> str:
        return " or ".join(map(str, self.literals))


# A fixed name in double quotes may have any other sign in it
_NAMED = r"""[^()"]*(?:"(?:[^"]*"|(?![^"]*"))[^()"]*)*"""
_LITERAL = re.compile(
    rf"\s*(?P<no>not\s+)?(?P<predicate>[a-z][a-z0-9_]*)\s*(?:\((?P<args>{_NAMED})\))?\s*"
)
_UNQUOTED = r"""(?=(?:[^"]*"[^"]*")*[^"]*$)"""


def parse_literal(text: str) -> Literal:
    """Read `holding(object)`, `not closed(place)` or a bare `hand_empty`.

    A ValueError says what is wrong.
    """
    match = _LITERAL.fullmatch(text)
    if match is None:
        raise ValueError(
            f"cannot read {text!r}; write it like `holding(object)` or 'in(object, place)', quoted"
        )
    args = _split_arguments(match["args"] or "")
    if not all(args):
        raise ValueError(f"an argument of {text.strip()!r} is empty")
    return Literal(Atom(match["predicate"], args), negated=bool(match["no"]))


def _split_arguments(listed: str) -> tuple[str, ...]:
    """The arguments between the brackets of a fact; a comma within quotes separates nothing."""
    if not listed.strip():
        return ()
    apart = re.split(f",{_UNQUOTED}", listed) if '"' in listed else listed.split(",")
    return tuple(map(str.strip, apart))


def parse_clause(text: str) -> Clause:
    """Read one or more literals joined by `or`."""
    return Clause(tuple(parse_literal(piece) for piece in re.split(rf"\sor\s{_UNQUOTED}", text)))


_NUMBERED = re.compile(r"(.*\S)\s+(?:\d+|\?+)")


def unseen_of(kind: str) -> str:
    """A name for a thing of a kind that nobody has seen: `lamp ?`."""
    return f"{kind} ?"


@lru_cache(maxsize=65_536)
def kind_of(name: str) -> str:
    """The kind of a name: `apple 1` is an `apple`, and so is `apple ?`, which nobody has seen."""
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else name


def is_unseen(names: Iterable[str]) -> bool:
    """True if any of some names is of something that nobody has seen yet."""
    for name in names:  # noqa: SIM110  asked so often that `any` is too dear
        if name[-1:] == "?":
            return True
    return False


def grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """The values of each key, in their order."""
    found: dict[_Key, list[_Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
