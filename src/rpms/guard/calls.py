"""The core for tool-calling agents: calls as actions, what they need and what policies forbid, facts from results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from rpms.core.belief import FactBelief
from rpms.core.facts import Atom, Clause, Literal, Truth
from rpms.core.rules import ANYTHING, Predicate, Rule
from rpms.guard.readings import MISSING, Path, Reading, text_of

RESULT: Final = "result"
"""The name by which effects and keys speak of what a tool returned."""
GIVEN: Final = "given"
"""The one fact that every manual knows: whether a call has an argument."""


@dataclass(frozen=True)
class Call:
    """A tool and what it is called with, as JSON."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    """By which a framework tells calls apart; nothing where it does not."""

    @property
    def text(self) -> str:
        """The call as a person reads it; the same text is the same call."""
        return f"{self.tool}({', '.join(f'{name}={text_of(value)}' for name, value in sorted(self.arguments.items()))})"


@dataclass(frozen=True)
class Tried:
    """A call that was made, as a learner sees it: what was known before it, what came of it, what is known after."""

    call: Call
    session: str
    step: int
    """Which of the conversation's results it is, from 1."""
    failed: bool
    error: str
    """What it said where it failed."""
    before: Mapping[Atom, Truth]
    """Facts over the names of its arguments: `pending(order_id)`."""
    after: Mapping[Atom, Truth]


class OnUnknown(StrEnum):
    """What becomes of a call that a rule would judge by a fact that is not known."""

    PASS = "pass"  # noqa: S105  a word of manuals
    WARN = "warn"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class ToolFact:
    """A predicate, and where its truth is from: a reading, a function in Python, or what calls did."""

    predicate: Predicate
    reading: Reading | None = None
    record: str = ""
    """The kind of record that tells it."""
    python: str = ""
    initially: bool | None = None
    """What holds until a call changes it."""

    @property
    def told(self) -> bool:
        """Whether calls make it so, rather than that it is read."""
        return self.reading is None and not self.python


@dataclass(frozen=True, slots=True)
class RecordKind:
    """What tools tell about: a reservation, a user. Facts are read from the latest record by its key."""

    name: str
    tools: tuple[str, ...]
    """The tools that return it; the first is the one to look it up with."""
    key: tuple[Path, ...]
    """Where its key stands: in `<result>`, the `<arguments>` or each `<item>`."""
    each: Path | None = None
    """Where in the result many of them stand."""
    at: Path | None = None
    """Where in the result, or in each item, the record itself stands."""
    ask: str = ""
    """How to say that it is to be looked up: `look up the reservation`."""


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """What a call that succeeds makes true or false."""

    literal: Literal
    given: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class ToolSchema:
    """What a manual says of a tool."""

    name: str
    arguments: frozenset[str] = frozenset()
    needs: tuple[Clause, ...] = ()
    effects: tuple[ToolEffect, ...] = ()
    forgets: tuple[Atom, ...] = ()
    """Records that are no longer what they were: `user(user_id)`."""
    unknown: OnUnknown = OnUnknown.REFUSE

    @property
    def id(self) -> str:
        return f"E-{self.name.upper()}"


@dataclass(frozen=True)
class Policy:
    """A rule on tools: where all of `when` holds, all of `requires` must; without that, `when` itself is forbidden."""

    rule: Rule
    tools: tuple[str, ...]
    when: tuple[Clause, ...] = ()
    requires: tuple[Clause, ...] = ()
    each: Mapping[str, Path] = field(default_factory=dict)
    """Variables that stand for every element of an argument: `{item: item_ids}`."""
    unknown: OnUnknown = OnUnknown.REFUSE
    instead: str = ""
    """What to do instead."""
    warns: bool = False
    """Whether breaking it is only warned of."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """What a call that breaks it is made with instead: `{limit: 100}`."""


@dataclass(frozen=True)
class ToolManual:
    """All that is declared of some tools."""

    name: str = ""
    facts: Mapping[str, ToolFact] = field(default_factory=dict)
    records: Mapping[str, RecordKind] = field(default_factory=dict)
    tools: Mapping[str, ToolSchema] = field(default_factory=dict)
    policies: tuple[Policy, ...] = ()
    now: datetime | None = None
    fails: tuple[str, ...] = ("Error",)
    """How the text of a result begins that is a failure."""
    closed: bool = True
    """Whether a call is refused when the guard itself fails."""
    others: OnUnknown = OnUnknown.PASS
    """What becomes of calls to tools that are not declared."""
    repeats: OnUnknown = OnUnknown.REFUSE
    """What becomes of a call that failed twice while nothing was learned."""
    circles: OnUnknown = OnUnknown.WARN
    """What becomes of calls that bring nothing new, again and again."""

    def readers(self, tool: str) -> Iterator[RecordKind]:
        """The kinds of record that a tool returns."""
        return (kind for kind in self.records.values() if tool in kind.tools)

    def say(self, atom: Atom, value: Truth) -> str:
        """One fact in the manual's words."""
        if atom.predicate == GIVEN:
            return f"{atom.args[0].strip('<>')} is {'' if value is Truth.TRUE else 'not '}given"
        fact = self.facts.get(atom.predicate)
        return (fact.predicate if fact else Predicate(atom.predicate)).say(atom, value)


MOST_RECORDS: Final = 10_000
"""Records that are kept; the oldest is forgotten first, and is then unknown again."""


@dataclass(frozen=True)
class ToolBelief(FactBelief):
    """What calls have told: facts that they made so, and the records that they returned."""

    records: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    """The latest record of each kind and key."""

    def with_records(self, found: Mapping[tuple[str, ...], Any]) -> ToolBelief:
        """The same with some records told anew."""
        kept = {key: value for key, value in self.records.items() if key not in found} | dict(found)
        for key in list(kept)[: max(0, len(kept) - MOST_RECORDS)]:
            del kept[key]
        return replace(self, records=kept)

    def without_record(self, key: tuple[str, ...]) -> ToolBelief:
        """The same without a record that is no longer what it was."""
        return replace(self, records={known: value for known, value in self.records.items() if known != key})


class Absent(str):
    """Stands among the arguments of a fact for what a call does not have."""

    __slots__ = ()


class Unknown(Exception):
    """A record that is asked for was not looked up."""

    def __init__(self, kind: str, *key: str) -> None:
        self.record = (kind, *key)
        super().__init__(f"{kind} {' '.join(key)} was not looked up")


class Look:
    """What a predicate in Python may ask: records, other facts, the call, the time."""

    def __init__(self, facts: CallFacts) -> None:
        self._facts = facts

    @property
    def call(self) -> Call:
        return self._facts.call

    @property
    def now(self) -> datetime:
        return self._facts.now

    def record(self, kind: str, *key: object) -> Any:
        """The latest record of a kind; where it was not looked up, the fact is unknown and the lookup is asked for."""
        return self._facts.record(kind, *map(text_of, key))

    def records(self, kind: str) -> dict[tuple[str, ...], Any]:
        """All records of a kind that were looked up, by their keys."""
        return {key[1:]: value for key, value in self._facts.belief.records.items() if key[0] == kind}

    def truth(self, predicate: str, *args: object) -> bool | None:
        """Another fact of the manual; None where it is unknown."""
        value = self._facts.truth(Atom(predicate, tuple(map(text_of, args))))
        return None if value is Truth.UNKNOWN else value is Truth.TRUE


_UNDERSCORE: Final = "\\_"
_NOTHING: Final[Mapping[str, Any]] = {}
PythonFact = Callable[..., bool | None]
"""A predicate in Python: called with a Look and the values of its arguments; None means unknown."""


class CallFacts:
    """The facts that one call is judged by. Whatever is asked for and was not looked up is kept in `missing`."""

    def __init__(
        self,
        call: Call,
        manual: ToolManual,
        belief: ToolBelief,
        now: datetime,
        python: Mapping[str, PythonFact],
        pending: Mapping[Atom, bool] | None = None,
    ) -> None:
        self.call = call
        self.manual = manual
        self.belief = belief
        self.now = now
        self._python = python
        self._pending = pending or {}
        self._values: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        self._known: dict[Atom, Truth] = {}
        self.missing: dict[Atom, tuple[str, ...]] = {}
        """Facts that are unknown for want of a record, and that record."""
        self.under_way: set[Atom] = set()
        """Facts that are unknown since a call that changes them has not returned."""

    def about(self, call: Call) -> CallFacts:
        """The same knowledge, to judge another call by."""
        return CallFacts(call, self.manual, self.belief, self.now, self._python, self._pending)

    def name(self, value: object) -> str:
        """The text that stands for a value in facts, which gives the value back when a reading asks for it."""
        text = text_of(value)
        if text == ANYTHING:  # which in a belief stands for all there is, and a call must not say that
            text = _UNDERSCORE
        if text is not value:
            self._values[text] = value
        return text

    def truth(self, atom: Atom, /) -> Truth:
        return self.truth_of(self.manual.facts.get(atom.predicate), atom.args)

    def truth_of(self, fact: ToolFact | None, args: tuple[str, ...]) -> Truth:
        """The truth of a fact of the manual; of none, whether an argument is given."""
        for arg in args:
            if arg.__class__ is Absent:
                return Truth.UNKNOWN if fact is not None else Truth.FALSE
        if fact is None:
            return Truth.TRUE
        if fact.reading is not None:
            return self._read(fact, fact.reading, args)
        atom = Atom(fact.predicate.name, args)
        if atom not in self._known:  # what calls did, or what Python says, which may take its time
            self._known[atom] = self._asked_of_python(fact, atom) if fact.python else self._told(fact, atom)
        return self._known[atom]

    def record(self, kind: str, *key: str) -> Any:
        """A record; Unknown is raised where it was not looked up."""
        found = self.belief.records.get((kind, *key), MISSING)
        if found is MISSING:
            raise Unknown(kind, *key)
        return found

    def _read(self, fact: ToolFact, reading: Reading, args: tuple[str, ...]) -> Truth:
        record: Any = MISSING
        kind = self.manual.records.get(fact.record)
        if kind is not None:
            key = (kind.name, *args[: len(kind.key)])
            record = self.belief.records.get(key, MISSING)
            if record is MISSING:
                self.missing[Atom(fact.predicate.name, args)] = key
                return Truth.UNKNOWN
        if reading.bare:
            return reading.truth(record, _NOTHING, self.now)
        values = [self._values.get(arg, arg) for arg in args] if self._values else args
        return reading.truth(record, dict(zip(fact.predicate.args, values, strict=True)), self.now)

    def _asked_of_python(self, fact: ToolFact, atom: Atom) -> Truth:
        try:
            return Truth.of(self._python[fact.python](Look(self), *(self._values.get(arg, arg) for arg in atom.args)))
        except Unknown as unknown:
            self.missing[atom] = unknown.record
            return Truth.UNKNOWN

    def _told(self, fact: ToolFact, atom: Atom) -> Truth:
        value = self.belief.truth(atom)
        if value is Truth.UNKNOWN:
            value = Truth.of(fact.initially)
        coming = self._pending.get(atom)
        if coming is None or Truth.of(coming) is value:
            return value
        self.under_way.add(atom)
        return Truth.UNKNOWN

    def values_at(self, path: Path, result: object = MISSING, variables: Mapping[str, Any] | None = None) -> list[Any]:
        """What a path from an argument, a variable or the result leads to; MISSING where there is nothing."""
        if variables and path.head in variables:
            start = variables[path.head]
        else:
            start = result if path.head == RESULT else self.call.arguments.get(path.head, MISSING)
        return path.follow(start, self.call.arguments) if path.steps else [start]

    def args_of(self, atom: Atom, variables: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """The arguments of a fact, with the call's values in place of the paths, none of which stands for many."""
        if variables is None:
            return tuple([self._names.get(arg) or self._one(arg, _NOTHING) for arg in atom.args])
        return tuple([self._one(arg, variables) for arg in atom.args])

    def _one(self, arg: str, variables: Mapping[str, Any]) -> str:
        if arg[:1] != "<":
            return arg
        path = Path.parse(arg)
        if path.head in variables:
            return self._named(self.values_at(path, variables=variables)[0], arg)
        name = self._names[arg] = self._named(self.values_at(path)[0], arg)
        return name

    def _named(self, value: object, arg: str) -> str:
        return self.name(value) if value is not MISSING else Absent(arg)

    def bind(self, atom: Atom, result: object = MISSING, variables: Mapping[str, Any] | None = None) -> Iterator[Atom]:
        """A fact with the call's values in place of the paths in it: one, or one for each value of `items.*`."""
        names: list[list[str]] = []
        for arg in atom.args:
            if arg.startswith("<"):
                found = self.values_at(Path.parse(arg), result, variables)
                names.append([self._named(one, arg) for one in found])
            else:
                names.append([arg])
        yield from (Atom(atom.predicate, args) for args in _product(names))


def _product(names: list[list[str]]) -> Iterator[tuple[str, ...]]:
    if not names:
        yield ()
        return
    for first in names[0]:
        for rest in _product(names[1:]):
            yield (first, *rest)
