"""The facts that a call is judged by: from its arguments, from results, from other calls, and
from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple

from rpms.guard.belief import RecordKey
from rpms.guard.calls import GIVEN, RESULT, Call, RecordKind, ToolEffect, ToolFact, ToolManual
from rpms.guard.causes import Cause, NamesNothing, NotLookedUp, NotTraced
from rpms.guard.comparisons import MISSING, text_of
from rpms.guard.conversation_facts import ConversationFacts
from rpms.guard.json_facts import Path, Reading
from rpms.guard.provenance import FROM_TOOL, PREDICATES
from rpms.logic.facts import Atom, Clause, Literal, Truth

NOTHING: Mapping[str, Any] = {}


class Absent(str):
    """Stands among the arguments of a fact for what a call does not have."""

    __slots__ = ()


class Unknown(Exception):
    """A record that is asked for was not looked up."""

    def __init__(self, kind: str, *names: str) -> None:
        self.kind = kind
        self.names = names
        super().__init__(f"{kind} {' '.join(names)} was not looked up")


class Look:
    """Questions open to a predicate in Python: records, other facts, the call, the time."""

    def __init__(self, facts: CallFacts) -> None:
        self._facts = facts
        self.call = facts.call
        self.now = facts.now

    def record(self, kind: str, *key: object) -> Any:
        """The latest record of a kind. If it was not looked up, the fact is unknown, and the agent
        is asked to look it up.
        """
        wanted = RecordKey(kind, tuple(map(text_of, key)))
        record = self._facts.conversation.belief.record(wanted, MISSING)
        if record is MISSING:
            raise Unknown(kind, *wanted.names)
        return record

    def records(self, kind: str) -> dict[tuple[str, ...], Any]:
        """All records of a kind that were looked up, by their keys."""
        return dict(self._facts.conversation.belief.records.get(kind, {}))

    def truth(self, predicate: str, *args: object) -> bool | None:
        """Another fact of the manual; None where it is unknown."""
        return self._facts.truth(Atom(predicate, tuple(map(text_of, args)))).known


PythonFact = Callable[..., bool | None]
"""A predicate in Python: called with a Look and the values of its arguments; None means unknown."""


class _Change(NamedTuple):
    """A fact that an effect of the call sets."""

    by: ToolEffect
    fact: Literal


@dataclass(eq=False)
class CallFacts:
    """The facts that one call is judged by."""

    call: Call
    manual: ToolManual
    conversation: ConversationFacts
    now: datetime
    python: PythonFact
    """Asks the predicate of a name, with a Look and the values of its arguments."""
    why: dict[Atom, Cause] = field(default_factory=dict, init=False)
    """Causes of facts that were asked for and are unknown."""
    _values: dict[str, Any] = field(default_factory=dict, init=False)
    _truths: dict[Atom, Truth] = field(default_factory=dict, init=False)

    def name(self, value: object) -> str:
        """The text that stands for a value in facts, which gives the value back when a reading
        asks for it.
        """
        text = text_of(value)
        if text is not value:
            self._values[text] = value
        return text

    # --- truth ---

    def truth(self, atom: Atom, /) -> Truth:
        """Truth of a fact over values; of `given` over the argument, which it names."""
        if atom.predicate == GIVEN:
            atom = next(self.bind(atom))
        return self.truth_of(atom)

    def truth_of(self, atom: Atom) -> Truth:
        """Truth of a fact over values."""
        absent = any(isinstance(arg, Absent) for arg in atom.args)
        if atom.predicate in PREDICATES:
            return Truth.UNKNOWN if absent else self._truth_by_source(atom)
        fact = self.manual.facts.get(atom.predicate)
        if fact is None:  # `given` is no fact of the manual
            return Truth.of(not absent)
        if absent:
            return Truth.UNKNOWN
        if fact.reading is not None:
            return self._truth_by_reading(fact, fact.reading, atom)
        alike = fact.written_alike(atom)
        if alike is None:
            self.why[atom] = NamesNothing()
            return Truth.UNKNOWN
        if alike not in self._truths:  # Python may take its time, and effects ask again
            self._truths[alike] = self._truth_by_asking(fact, alike)
        return self._truths[alike]

    def _truth_by_reading(self, fact: ToolFact, reading: Reading, atom: Atom) -> Truth:
        """Truth of a fact that is read from a record, or from arguments."""
        record: Any = MISSING
        kind = self.manual.records.get(fact.record)
        if kind is not None:
            key = RecordKey(kind.name, atom.args[: len(kind.key)])
            record = self.conversation.belief.record(key, MISSING)
            if record is MISSING:
                self.why[atom] = NotLookedUp(key)
                return Truth.UNKNOWN
        values = dict(zip(fact.predicate.args, self._originals(atom), strict=True))
        return reading.truth(record, values, self.now)

    def _truth_by_source(self, atom: Atom) -> Truth:
        """Truth of a fact on where a value came from."""
        if atom not in self._truths:
            traced = self.from_one_of([atom])
            if traced is Truth.UNKNOWN:
                self.why[atom] = NotTraced(*atom.args[1:])
            self._truths[atom] = traced
        return self._truths[atom]

    def from_one_of(self, atoms: Sequence[Atom]) -> Truth:
        """Truth of a value being from some sources, each part of it from any of them.

        Each fact names one source of the same value.
        """
        first = atoms[0].args[0]
        if isinstance(first, Absent):
            return Truth.UNKNOWN
        tools = [atom.args[1] if atom.predicate == FROM_TOOL else "" for atom in atoms]
        value = self._values.get(first, first)
        return self.conversation.belief.traces.truth(value, tools)

    def _truth_by_asking(self, fact: ToolFact, atom: Atom) -> Truth:
        """Truth of a fact that earlier calls told, or that a function in Python knows."""
        if not fact.python:
            found = self.conversation.ask(fact, atom)
            if found.cause is not None:
                self.why[atom] = found.cause
            return found.truth
        try:
            return Truth.of(self.python(fact.python, Look(self), *self._originals(atom)))
        except Unknown as unknown:
            self.why[atom] = NotLookedUp(RecordKey(unknown.kind, unknown.names))
            return Truth.UNKNOWN

    def _originals(self, atom: Atom) -> list[Any]:
        """The values that the arguments of a fact stand for."""
        return [self._values.get(arg, arg) for arg in atom.args]

    def say(self, atom: Atom) -> str:
        """A fact in the manual's words, with its truth."""
        return self.manual.say(atom, self.truth(atom))

    # --- the call's values in place of names ---

    def values_at(self, path: Path, more: Mapping[str, Any] = NOTHING) -> list[Any]:
        """Values at a path from an argument, or from `more`: variables, the result; MISSING
        where there is nothing.
        """
        start = more.get(path.head, self.call.arguments.get(path.head, MISSING))
        return path.follow(start, self.call.arguments) if path.steps else [start]

    def bind(self, atom: Atom, more: Mapping[str, Any] = NOTHING) -> Iterator[Atom]:
        """A fact with the call's values in place of the paths in it: one, or one for each value
        of `items.*`.
        """
        choices = [self._names_of(arg, more) for arg in atom.args]
        for args in product(*choices):
            yield Atom(atom.predicate, args)

    def _names_of(self, arg: str, more: Mapping[str, Any]) -> list[str]:
        if not arg.startswith("<"):
            return [arg]
        names: list[str] = []
        for value in self.values_at(Path.parse(arg), more):
            names.append(Absent(arg) if value is MISSING else self.name(value))
        return names

    # --- what the call changes ---

    def changes(self, result: object, *, failed: bool) -> list[Literal]:
        """Facts that the call makes true or false; what only its result names is left out until
        it is there.
        """
        returned = {RESULT: result}
        found: list[Literal] = []
        for effect in self._effects(failed):
            if all(self._holds(clause, returned) for clause in effect.given):
                found += self._facts_of(effect, returned)
        return found

    def possible(self, *, failed: bool | None = None) -> list[Literal]:
        """Facts that the call may make true or false, whatever that depends on, while nobody
        knows if it failed.
        """
        found: list[_Change] = []
        for effect in self._effects(failed):
            found += [_Change(effect, fact) for fact in self._facts_of(effect, NOTHING)]
        found.sort(key=self._certainty)
        return [each.fact for each in found]

    def _certainty(self, change: _Change) -> tuple[bool, bool]:
        """Order of changes, since of two opposite ones the last counts: certain changes come last,
        and among them those that change something.
        """
        return not change.by.given, change.fact.truth(self) is not Truth.TRUE

    def _effects(self, failed: bool | None) -> Iterable[ToolEffect]:
        """The effects of the tool; with None, of success and of failure."""
        tool = self.manual.tools.get(self.call.tool)
        if tool is None:
            return ()
        if failed is None:
            return (*tool.effects, *tool.failing)
        return tool.failing if failed else tool.effects

    def _facts_of(self, effect: ToolEffect, more: Mapping[str, Any]) -> Iterator[Literal]:
        """Facts that an effect sets and whose arguments the call and its result name."""
        fact = self.manual.facts[effect.literal.atom.predicate]
        for atom in self.bind(effect.literal.atom, more):
            if any(isinstance(arg, Absent) for arg in atom.args):
                continue
            alike = fact.written_alike(atom)
            if alike is not None:
                yield Literal(alike, effect.literal.negated)

    def _holds(self, clause: Clause, returned: Mapping[str, object]) -> bool:
        """True if a condition on the call and its result is known to hold."""
        bound: list[Literal] = []
        for literal in clause.literals:
            atom = next(self.bind(literal.atom, returned))
            bound.append(Literal(atom, literal.negated))
        return Clause(tuple(bound)).truth(self) is Truth.TRUE


def records_in(kind: RecordKind, call: Call, result: object) -> dict[RecordKey, Any]:
    """The records of a kind that a result holds; what has no key is none."""
    scope: dict[str, Any] = {"arguments": dict(call.arguments), RESULT: result}
    items: list[Any] = [result]
    if kind.each is not None:
        items = kind.each.follow(scope[kind.each.head], scope)
    found: dict[RecordKey, Any] = {}
    for item in items:
        here = {**scope, "item": item}
        record = item if kind.at is None else _only(kind.at, here)
        key = _key_of(kind, here) if record is not MISSING else None
        if key is not None:
            found[key] = record
    return found


def _key_of(kind: RecordKind, scope: Mapping[str, Any]) -> RecordKey | None:
    """The key of a record; None if it has none, or is not the record that was asked for."""
    names = [_only(way, scope) for way in kind.key]
    if MISSING in names or None in names:
        return None
    key = RecordKey(kind.name, tuple(map(text_of, names)))
    asked = names[0] if kind.asked is None else _only(kind.asked, scope)
    if asked is MISSING or text_of(asked) not in key.names:
        return None
    return key


def _only(way: Path, scope: Mapping[str, Any]) -> Any:
    found = way.follow(scope[way.head], scope)
    return found[0] if len(found) == 1 else MISSING
