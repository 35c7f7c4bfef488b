"""Actions of the manual's environment tier as checkable schemas: how they are written, what
they need, what they do.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol, Self

from rpms.logic.facts import Atom, Clause, Facts, Literal, Sort, Truth, grouped

PARAMETER = re.compile(r"<([a-z_][a-z0-9_]*)>")
"""A parameter in a syntax."""
_NUMBERED_PARAMETER = re.compile(r"(.+)_\d+")


def role_of(parameter: str) -> str:
    """The role of the names that fill a parameter: `block_2` is the second of two blocks."""
    numbered = _NUMBERED_PARAMETER.fullmatch(parameter)
    return numbered[1] if numbered else parameter


def names_for(parameter: str, names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The names that may fill a parameter, of names by their roles."""
    return names.get(parameter) or names.get(role_of(parameter), ())


@dataclass(frozen=True, slots=True)
class Revelation:
    """Facts that an action makes known, true or false: `in(_, place)`.

    A name that is no parameter stands for anything.
    """

    atom: Atom
    given: tuple[Clause, ...] = ()
    """Facts that must hold for it: a closed cabinet hides what is in it."""

    def bind(self, binding: Mapping[str, str]) -> "Revelation":
        """The revelation with names in place of parameters."""
        return Revelation(
            self.atom.bind(binding), tuple(clause.bind(binding) for clause in self.given)
        )

    def __str__(self) -> str:
        if not self.given:
            return str(self.atom)
        return f"{self.atom} if {' and '.join(map(str, self.given))}"


def fixed_words(syntax: str) -> int:
    """The number of words that a syntax fixes. If two syntaxes fit a command, the one with more is
    meant.
    """
    return len(PARAMETER.sub(" ", syntax).split())


class Syntax(NamedTuple):
    """A way to write an action, and the pattern that its commands fit."""

    text: str
    pattern: re.Pattern[str]


@lru_cache(4096)  # doubts make new schemas of the same syntax at every step
def _patterns_of(syntaxes: tuple[str, ...]) -> tuple[Syntax, ...]:
    found: list[Syntax] = []
    for text in sorted(syntaxes, key=fixed_words, reverse=True):
        # `re.escape` leaves `<`, `>` and `_` as they are, so that parameters are still found
        pattern = PARAMETER.sub(r"(?P<\1>\\S.*?)", re.escape(text))
        found.append(Syntax(text, re.compile(pattern)))
    return tuple(found)


@dataclass(frozen=True)
class ActionSchema:
    """An action of the environment tier: how to write it, what it needs, what it does."""

    name: str
    syntax: tuple[str, ...]
    """Ways to write it; the first is the one a prompt shows."""
    preconditions: tuple[Clause, ...] = ()
    effects: tuple[Literal, ...] = ()
    warnings: tuple[str, ...] = ()
    supposed: frozenset[Literal] = frozenset()
    """Effects that it has only sometimes: plans and checks count on them, memories do not tell
    them."""
    id: str = ""
    observes: tuple[Revelation, ...] = ()
    """Facts it reveals."""
    plan: tuple[Clause, ...] = ()
    """Preconditions for plans only: the pot is carried before it is moved."""
    steps: float = 1.0
    """Cost in steps, for processes that take time."""
    others: tuple[str, ...] = ()
    """Parameters of its facts that its command does not name: waiting heats the content of the
    pot on the stove."""
    told: bool = True
    """True if prompts list it: what no instruction names is checked and planned with, and not
    told."""
    once: tuple[str, ...] = ()
    """Parameters whose names count once in an episode: once the score rose with the action, it
    is not done again with the same names; and if it did not, it is not repeated in just the same
    way."""
    doubt: str = ""
    """The line of the manual that it goes against, if it is a doubt (`planning.trust`)."""
    waives: tuple[Clause, ...] = ()
    """Needs and bans that the doubt leaves out."""
    patterns: tuple[Syntax, ...] = field(init=False, repr=False, compare=False)
    """Syntaxes with their patterns, the most specific first: if two fit a command, the first is
    meant."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", self.id or f"E-{self.name.upper()}")
        object.__setattr__(self, "patterns", _patterns_of(self.syntax))

    def __hash__(self) -> int:
        # equal ones have these alike; a hash of every clause costs more than comparing
        return hash((self.name, self.syntax, self.doubt))

    @cached_property
    def parameters(self) -> frozenset[str]:
        found: set[str] = set()
        for syntax in self.syntax:
            found.update(PARAMETER.findall(syntax))
        return frozenset(found)

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The way to write it, taken apart: words and parameters by turns."""
        return tuple(PARAMETER.split(self.syntax[0]))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """All that a plan has to find names for."""
        return (*PARAMETER.findall(self.syntax[0]), *self.others)

    def varied(self, **parts: object) -> Self:
        """The action with other parts, written in the same way.

        Values derived from the syntax are kept: `replace` would derive them again, and doubts are
        made by the hundred.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self), **parts)
        return other

    def match(self, command: str) -> dict[str, str] | None:
        """The names a command puts in place of the parameters; None if it is another action."""
        for way in self.patterns:
            match = way.pattern.fullmatch(command)
            if match is not None:
                return match.groupdict()
        return None

    def requires(self, fact: Literal, binding: Mapping[str, str]) -> bool:
        """True if a fact is itself one of the preconditions, or of what plans see to, with names
        in place of parameters.
        """
        for clause in (*self.preconditions, *self.plan):
            needed = clause.literals[0]
            if len(clause.literals) > 1 or needed.atom.predicate != fact.atom.predicate:
                continue
            if needed.bind(binding) == fact:
                return True
        return False


@dataclass(eq=False)
class DoubtfulAction:
    """An action that goes against a line of the manual, at a price.

    There may be thousands, and plans ask for few of them: it is made when it is first asked for.
    """

    steps: float
    variables: tuple[str, ...]
    """All that a plan has to find names for, as in the action that it is made of."""
    effects: tuple[Literal, ...]
    observes: tuple[Revelation, ...]
    make: Callable[[], ActionSchema]

    @classmethod
    def of(cls, schema: ActionSchema) -> Self:
        """An action that was made already."""
        return cls(schema.steps, schema.variables, schema.effects, schema.observes, lambda: schema)

    @cached_property
    def schema(self) -> ActionSchema:
        return self.make()


PossibleAction = ActionSchema | DoubtfulAction
"""An action as the manual states it, or against one of its lines."""


def _schema_of(action: PossibleAction) -> ActionSchema:
    """The action itself; a doubt makes its own when it is first asked for."""
    return action.schema if isinstance(action, DoubtfulAction) else action


class GivenBy(NamedTuple):
    """An action, with one of its effects."""

    action: PossibleAction
    effect: Literal

    @property
    def schema(self) -> ActionSchema:
        return _schema_of(self.action)

    @property
    def variables(self) -> tuple[str, ...]:
        return self.action.variables


class ShownBy(NamedTuple):
    """An action, with one of the revelations that it makes."""

    action: PossibleAction
    seen: Revelation

    @property
    def schema(self) -> ActionSchema:
        return _schema_of(self.action)


Giving = Mapping[Sort, list[GivenBy]]
"""Actions with their effects, by the sort of fact that these bring about."""


def by_effect(actions: Iterable[PossibleAction]) -> Giving:
    """Actions by what they bring about."""
    given: list[GivenBy] = []
    for action in actions:
        given += [GivenBy(action, effect) for effect in action.effects]
    return grouped((each.effect.signed, each) for each in given)


def by_revelation(actions: Iterable[PossibleAction]) -> list[ShownBy]:
    """Everything that some actions reveal."""
    found: list[ShownBy] = []
    for action in actions:
        found += [ShownBy(action, seen) for seen in action.observes]
    return found


@dataclass(frozen=True, eq=False)
class DoubtfulActions:
    """Doubts about one action, with what an index asks about them; both mostly stay the same from
    step to step.
    """

    doubts: tuple[DoubtfulAction, ...]

    @cached_property
    def giving(self) -> Giving:
        """The doubts by what they bring about."""
        return by_effect(self.doubts)

    @cached_property
    def showing(self) -> Sequence[ShownBy]:
        """The doubts that reveal something, with all that they do."""
        return by_revelation(self.doubts)


class Hopes(Protocol):
    """Doubts that actions may bring about more than the manual states.

    They are many and dear: those for one sort of fact are found when a plan may first cost as much.
    """

    def least(self, sort: Sort) -> float:
        """No hope for a fact of a sort costs less than this; infinite if there is none."""
        ...

    def giving(self, sort: Sort) -> Iterator[GivenBy]:
        """The hopes for facts of a sort, action by action."""
        ...

    def hoped_of(self, sort: Sort) -> Iterator[GivenBy]:
        """The actions that these hopes are of, each as it is without hope: asking for no more
        makes no hopes.
        """
        ...


@dataclass(frozen=True, eq=False)
class Instance:
    """An action schema with names in place of its parameters."""

    schema: ActionSchema
    binding: Mapping[str, str]

    @cached_property
    def preconditions(self) -> tuple[Clause, ...]:
        return tuple(clause.bind(self.binding) for clause in self.schema.preconditions)

    @cached_property
    def effects(self) -> tuple[Literal, ...]:
        return tuple(literal.bind(self.binding) for literal in self.schema.effects)

    def feasible(self, facts: Facts) -> Truth:
        """Truth of all preconditions together."""
        value = Truth.TRUE
        for clause in self.schema.preconditions:
            value = value & clause.truth(facts, self.binding)
            if value is Truth.FALSE:
                break
        return value


class WayToWrite(NamedTuple):
    """A way to write an action, with the action."""

    syntax: Syntax
    schema: ActionSchema


def ways_to_write(actions: Iterable[ActionSchema]) -> list[WayToWrite]:
    """Every way to write some actions."""
    found: list[WayToWrite] = []
    for schema in actions:
        found += [WayToWrite(syntax, schema) for syntax in schema.patterns]
    return found


class Overlap(NamedTuple):
    """Two syntaxes: every command of the narrower one fits the wider too, and means the
    narrower.
    """

    narrower: str
    wider: str


def overlapping(actions: Iterable[ActionSchema]) -> list[Overlap]:
    """The syntaxes of which one covers the other."""
    written = [way.syntax for way in ways_to_write(actions)]
    found: list[Overlap] = []
    for meant in written:
        command = PARAMETER.sub("something", meant.text)
        for other in written:
            is_meant = fixed_words(meant.text) > fixed_words(other.text)
            if is_meant and other.pattern.fullmatch(command):
                found.append(Overlap(meant.text, other.text))
    return found
