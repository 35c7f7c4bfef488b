"""Calls and results as JSON, within limits, and the facts that a call is judged by: from calls,
results and Python.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Any, Final

from rpms.foreign.json_text import NameTwice, NotJson, loads
from rpms.foreign.limits import DEEPEST_JSON, LARGEST_CALL, LARGEST_RESULT
from rpms.foreign.shown import excerpt
from rpms.guard.calls import GIVEN, RESULT, Call, RecordKind, ToolEffect, ToolFact, ToolManual
from rpms.guard.comparisons import MISSING, loosened, text_of
from rpms.guard.json_facts import Path, Reading
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.rules import ANYTHING

MOST_RECORDS: Final = 10_000
"""Records that are kept; the oldest is forgotten first, and is then unknown again."""
NOTHING: Final[Mapping[str, Any]] = {}
_HOLDERS: Final = (Mapping, list, tuple)
_LONGEST: Final = 1_000
"""Bits of a whole number."""


@dataclass(frozen=True)
class ToolBelief(FactBelief):
    """Knowledge from calls: facts that they made so, and the records that they returned."""

    records: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    """The latest record of each kind and key."""

    @cached_property
    def _loosely(self) -> dict[Atom, Atom]:
        """Known facts, by what their names may be taken for."""
        return {_loose(atom): atom for atom in self.known if atom.args}

    def near(self, atom: Atom) -> Atom | None:
        """A known fact whose names differ from a fact's only in case, blanks, invisible signs
        or the form of a path.
        """
        found = self._loosely.get(_loose(atom)) if atom.args else None
        return None if found == atom else found

    def with_records(
        self, found: Mapping[tuple[str, ...], Any], gone: Container[tuple[str, ...]]
    ) -> ToolBelief:
        """The same with some records told anew, and without those that are no longer what they
        were.
        """
        kept = {
            key: value
            for key, value in self.records.items()
            if key not in found and key not in gone
        } | dict(found)
        for key in list(kept)[: max(0, len(kept) - MOST_RECORDS)]:
            del kept[key]
        return replace(self, records=kept)


def _loose(atom: Atom) -> Atom:
    return Atom(atom.predicate, tuple(map(loosened, atom.args)))


class Absent(str):
    """Stands among the arguments of a fact for what a call does not have."""

    __slots__ = ()


class Unknown(Exception):
    """A record that is asked for was not looked up."""

    def __init__(self, kind: str, *key: str) -> None:
        self.record = (kind, *key)
        super().__init__(f"{kind} {' '.join(key)} was not looked up")


class Look:
    """Questions open to a predicate in Python: records, other facts, the call, the time."""

    def __init__(self, facts: CallFacts) -> None:
        self._facts, self.call, self.now = facts, facts.call, facts.now

    def record(self, kind: str, *key: object) -> Any:
        """The latest record of a kind; where it was not looked up, the fact is unknown and the
        lookup is asked for.
        """
        wanted = (kind, *map(text_of, key))
        if wanted not in self._facts.belief.records:
            raise Unknown(*wanted)
        return self._facts.belief.records[wanted]

    def records(self, kind: str) -> dict[tuple[str, ...], Any]:
        """All records of a kind that were looked up, by their keys."""
        return {
            key[1:]: value for key, value in self._facts.belief.records.items() if key[0] == kind
        }

    def truth(self, predicate: str, *args: object) -> bool | None:
        """Another fact of the manual; None where it is unknown."""
        return self._facts.truth(Atom(predicate, tuple(map(text_of, args)))).known


PythonFact = Callable[..., bool | None]
"""A predicate in Python: called with a Look and the values of its arguments; None means unknown."""


@dataclass(frozen=True, slots=True)
class NotLookedUp:
    """A record is missing."""

    kind: str
    key: tuple[str, ...]

    def remedy(self, manual: ToolManual) -> str:
        """The call that looks it up."""
        kind = manual.records.get(self.kind)
        return f"{kind.ask} first, with {kind.tools[0]}: {', '.join(self.key)}" if kind else ""


@dataclass(frozen=True, slots=True)
class WrittenOtherwise:
    """A known fact differs only in how its names are written."""

    known: Atom

    def remedy(self, _manual: ToolManual) -> str:
        """The writing that is known."""
        return f"write {excerpt(', '.join(self.known.args))} as it was written before"


@dataclass(frozen=True, slots=True)
class NamesNothing:
    """An argument is a path whose text does not tell where it leads."""

    def remedy(self, _manual: ToolManual) -> str:
        """The writing that would tell."""
        return "write the path in full, without `..`, `~` and backslashes"


@dataclass(frozen=True, slots=True)
class Coming:
    """A change by a call that has not returned."""

    value: bool
    lost: bool = False
    """Nobody waits for it any more: it was cancelled or took too long."""

    def remedy(self, _manual: ToolManual) -> str:
        """The way to learn what came of the call."""
        if self.lost:
            return "an earlier call did not return: find out whether it was done, or ask a person"
        return "wait for the result of the call that is under way"


Cause = NotLookedUp | WrittenOtherwise | NamesNothing | Coming
"""A reason for which a fact is unknown."""


@dataclass(eq=False)
class CallFacts:
    """The facts that one call is judged by.

    `why` says what makes those unknown that were asked for.
    """

    call: Call
    manual: ToolManual
    belief: ToolBelief
    now: datetime
    python: PythonFact
    """Asks the predicate of a name, with a Look and the values of its arguments."""
    coming: Mapping[Atom, Coming]
    why: dict[Atom, Cause] = field(default_factory=dict, init=False)
    _values: dict[str, Any] = field(default_factory=dict, init=False)
    _known: dict[Atom, Truth] = field(default_factory=dict, init=False)

    def name(self, value: object) -> str:
        """The text that stands for a value in facts, which gives the value back when a reading
        asks for it.
        """
        text = text_of(value)
        if text == ANYTHING:  # in a belief it stands for everything, and a call must not say that
            text = "\\_"
        if text is not value:
            self._values[text] = value
        return text

    def truth(self, atom: Atom, /) -> Truth:
        """Truth of a fact over values; of `given` over the argument, which it names."""
        return self.truth_of(next(self.bind(atom)) if atom.predicate == GIVEN else atom)

    def truth_of(self, atom: Atom) -> Truth:
        """Truth of a fact over values."""
        fact = self.manual.facts.get(atom.predicate)
        for arg in atom.args:
            if arg.__class__ is Absent:
                return Truth.UNKNOWN if fact is not None else Truth.FALSE
        if fact is None:
            return Truth.TRUE
        if fact.reading is not None:
            return self._read(fact, fact.reading, atom)
        alike = fact.written_alike(atom)
        if alike is None:
            self.why[atom] = NamesNothing()
            return Truth.UNKNOWN
        atom = alike
        if atom not in self._known:  # set by calls, or answered by Python, which may take time
            self._known[atom] = (
                self._asked_of_python(fact, atom) if fact.python else self._told(fact, atom)
            )
        return self._known[atom]

    def _read(self, fact: ToolFact, reading: Reading, atom: Atom) -> Truth:
        record: Any = MISSING
        kind = self.manual.records.get(fact.record)
        if kind is not None:
            key = atom.args[: len(kind.key)]
            record = self.belief.records.get((kind.name, *key), MISSING)
            if record is MISSING:
                self.why[atom] = NotLookedUp(kind.name, key)
                return Truth.UNKNOWN
        values = (self._values.get(arg, arg) for arg in atom.args)
        return reading.truth(record, dict(zip(fact.predicate.args, values, strict=True)), self.now)

    def _asked_of_python(self, fact: ToolFact, atom: Atom) -> Truth:
        try:
            return Truth.of(
                self.python(
                    fact.python, Look(self), *(self._values.get(arg, arg) for arg in atom.args)
                )
            )
        except Unknown as unknown:
            kind, *wanted = unknown.record
            self.why[atom] = NotLookedUp(kind, tuple(wanted))
            return Truth.UNKNOWN

    def _told(self, fact: ToolFact, atom: Atom) -> Truth:
        value = self.belief.truth(atom)
        if value is Truth.UNKNOWN:
            near = self.belief.near(atom)
            if near is not None and self.belief.truth(near) is not Truth.of(fact.initially):
                self.why[atom] = WrittenOtherwise(near)
                return Truth.UNKNOWN
            value = Truth.of(fact.initially)
        coming = self.coming.get(atom)
        if coming is None or Truth.of(coming.value) is value:
            return value
        self.why[atom] = coming
        return Truth.UNKNOWN

    def values_at(self, path: Path, more: Mapping[str, Any] = NOTHING) -> list[Any]:
        """Value at a path from an argument, or from `more`: variables, the result; MISSING
        where there is nothing.
        """
        start = (
            more[path.head] if path.head in more else self.call.arguments.get(path.head, MISSING)
        )
        return path.follow(start, self.call.arguments) if path.steps else [start]

    def bind(self, atom: Atom, more: Mapping[str, Any] = NOTHING) -> Iterator[Atom]:
        """A fact with the call's values in place of the paths in it: one, or one for each value
        of `items.*`.
        """

        def names(arg: str) -> list[str]:
            if not arg.startswith("<"):
                return [arg]
            found = self.values_at(Path.parse(arg), more)
            return [Absent(arg) if one is MISSING else self.name(one) for one in found]

        return (Atom(atom.predicate, args) for args in product(*map(names, atom.args)))

    def changes(self, result: object, *, failed: bool) -> list[Literal]:
        """Facts that the call makes true or false; what only its result names is left out until
        it is there.
        """
        returned = {RESULT: result}
        effects = self._effects(returned, failed)
        held = (
            bound
            for effect, bound in effects
            if all(self._holds(clause, returned) for clause in effect.given)
        )
        return [each for bound in held for each in bound]

    def possible(self, *, failed: bool | None = None) -> list[Literal]:
        """Facts that the call may make true or false, whatever that depends on, while nobody
        knows if it failed.
        """
        found = [
            (effect, each) for effect, bound in self._effects(NOTHING, failed) for each in bound
        ]
        # of opposite ones the last counts: what depends on nothing, or else what is not so yet
        found.sort(key=lambda one: (not one[0].given, one[1].truth(self) is not Truth.TRUE))
        return [each for _, each in found]

    def _effects(
        self, more: Mapping[str, Any], failed: bool | None
    ) -> Iterator[tuple[ToolEffect, Iterator[Literal]]]:
        """Each effect of the tool with its facts, as far as the call and its result name them;
        None: failed or not.
        """
        tool = self.manual.tools.get(self.call.tool)
        if tool is None:
            return
        for effect in (
            (*tool.effects, *tool.failing)
            if failed is None
            else tool.failing
            if failed
            else tool.effects
        ):
            fact, negated = self.manual.facts[effect.literal.atom.predicate], effect.literal.negated
            named = self.bind(effect.literal.atom, more)
            whole = (
                atom for atom in named if not any(isinstance(arg, Absent) for arg in atom.args)
            )
            alike = (fact.written_alike(atom) for atom in whole)
            yield effect, (Literal(atom, negated) for atom in alike if atom is not None)

    def _holds(self, clause: Clause, returned: Mapping[str, object]) -> bool:
        """True if a condition on the call and its result is known to hold."""
        bound = (
            Literal(next(self.bind(each.atom, returned)), each.negated) for each in clause.literals
        )
        return Clause(tuple(bound)).truth(self) is Truth.TRUE


class TooLarge(NotJson):
    """A call is larger than the guard reads."""


def tool_of(call: object) -> str:
    """Best guess at a call that cannot be read."""
    name = getattr(call, "tool", None) or (
        call.get("tool", call.get("name")) if isinstance(call, Mapping) else None
    )
    return excerpt(name) if isinstance(name, str) and name else "(unreadable)"


def as_call(call: Call | Mapping[str, Any]) -> Call:
    """A call in one of the usual forms: a name or tool, arguments as an object or as JSON text,
    and perhaps an id.
    """
    if not isinstance(call, Call):
        if not isinstance(call, Mapping):
            raise NotJson("it is not an object")
        inner = call.get("function", call)
        inner = inner if isinstance(inner, Mapping) else call
        name = inner.get("tool", inner.get("name", ""))
        arguments: Any = next(
            (inner[key] for key in ("arguments", "args", "input") if key in inner), {}
        )
        if isinstance(arguments, str):
            if len(arguments) > LARGEST_CALL:
                raise TooLarge(f"its arguments have more than {LARGEST_CALL:,} characters")
            arguments = loads(arguments, once=True) if arguments.strip() else {}
        call = Call(name, arguments, call.get("id", ""))
    if not isinstance(call.tool, str) or not call.tool:
        raise NotJson("it names no tool")
    if not isinstance(call.arguments, Mapping) or not all(
        isinstance(name, str) for name in call.arguments
    ):
        raise NotJson("its arguments are not an object")
    _check_size(call.arguments, LARGEST_CALL)
    if len(call.tool) > 1_000:
        raise TooLarge("the name of its tool has more than 1,000 characters")
    if not isinstance(call.id, str):  # without one, calls are told apart by what they say
        call = replace(call, id="" if call.id is None else excerpt(call.id))
    return call


def as_result(result: object) -> object:
    """A tool's result, as JSON; text that does not hold JSON is text."""
    if isinstance(result, bytes):
        result = result[: LARGEST_RESULT + 1].decode("utf-8", "replace")
    _check_size(result, LARGEST_RESULT)
    try:
        text = result if isinstance(result, str) else json.dumps(result, allow_nan=False)
    except (TypeError, ValueError):
        raise NotJson("it is not JSON") from None
    if len(text) > LARGEST_RESULT:
        raise NotJson(f"it has more than {LARGEST_RESULT:,} characters")
    if not isinstance(result, str):
        return json.loads(text)
    try:
        return loads(text, once=True) if text.lstrip()[:1] in ("{", "[") else text
    except NameTwice:
        raise
    except NotJson:
        return text


def _check_size(value: object, most: int) -> None:
    """Raise NotJson for what is no JSON, or too deep or too large to be written; what it holds
    twice counts twice.

    A few lists that hold each other twice over stand for more than any machine can write.
    """
    level: dict[int, tuple[Any, int]] = (
        {id(value): (value, 1)} if isinstance(value, _HOLDERS) else {}
    )
    total = 0
    for _ in range(DEEPEST_JSON + 1):
        below: dict[int, tuple[Any, int]] = {}
        for outer, times in level.values():
            named = isinstance(outer, Mapping)
            if named and not all(isinstance(name, str) for name in outer):
                raise NotJson("its arguments are not JSON")
            for inner in (*outer, *outer.values()) if named else outer:
                total += times * (len(inner) + 1 if isinstance(inner, str) else 1)
                if isinstance(inner, _HOLDERS):
                    below[id(inner)] = (inner, times + below.get(id(inner), (None, 0))[1])
                elif not _is_plain(inner):
                    raise NotJson("its arguments are not JSON, or a number is too long")
        if total > most:
            raise TooLarge(f"it has more than {most:,} characters")
        if not below:
            return
        level = below
    raise NotJson("nested too deeply")


def _is_plain(value: object) -> bool:
    """True for what stands alone in JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    return (
        value is None
        or isinstance(value, str)
        or (isinstance(value, int) and value.bit_length() < _LONGEST)
    )


def records_in(kind: RecordKind, call: Call, result: object) -> dict[tuple[str, ...], Any]:
    """The records of a kind that a result holds, by kind and key; what has no key is none."""
    scope: dict[str, Any] = {"arguments": dict(call.arguments), "result": result}
    items = kind.each.follow(scope[kind.each.head], scope) if kind.each is not None else [MISSING]
    found: dict[tuple[str, ...], Any] = {}
    for item in items:
        here = {**scope, "item": item}
        keys = [_only(way, here) for way in kind.key]
        record = (
            _only(kind.at, here) if kind.at is not None else result if kind.each is None else item
        )
        asked = _only(kind.asked, here) if kind.asked is not None else keys[0]
        if (
            MISSING in (*keys, record, asked)
            or None in keys
            or text_of(asked) not in map(text_of, keys)
        ):
            continue
        found[kind.name, *map(text_of, keys)] = record
    return found


def _only(way: Path, scope: Mapping[str, Any]) -> Any:
    found = way.follow(scope[way.head], scope)
    return found[0] if len(found) == 1 else MISSING
