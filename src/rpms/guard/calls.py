"""A manual for tools as values: calls, what they need and do, what policies forbid, where facts
are from; rulings.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.comparisons import Alike, text_of
from rpms.guard.json_facts import Path, Reading, Which
from rpms.guard.provenance import PREDICATES
from rpms.logic.errors import InputError, nearest
from rpms.logic.facts import Atom, Clause, Literal, Truth, parse_literal
from rpms.logic.rules import ANYTHING, Predicate, Rule, Tier

RESULT = "result"
"""The name by which effects and keys speak of what a tool returned."""
USER = "user_says"
"""The name under which a manual reads what the user says, with its `text`; no agent can call it."""
RESOURCE = "mcp_resource"
"""The tool by which a manual speaks of reading a resource of MCP, with its `uri`."""
PROMPT = "mcp_prompt"
"""The tool by which a manual speaks of a prompt of MCP, with its `name` and `arguments`."""
_LONG = 200
_SEPARATES = re.compile(r"[(),=\"]")
"""Signs that part a call's text."""
GIVEN = "given"
"""A fact that every manual knows: whether a call has an argument."""


@dataclass(frozen=True)
class Call:
    """A tool and what it is called with, as JSON."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    """The id by which a framework tells calls apart; empty if it has none."""

    @property
    def text(self) -> str:
        """The call as a person reads it; other calls have other texts."""
        given = []
        for name, value in sorted(self.arguments.items()):
            given.append(f"{_quoted(name)}={_quoted(text_of(value))}")
        return f"{_quoted(self.tool)}({', '.join(given)})"

    @cached_property
    def key(self) -> str:
        """A short text that equal calls share in this process."""
        said = tuple((name, text_of(value)) for name, value in sorted(self.arguments.items()))
        if sum(len(text) for _, text in said) < _LONG:
            return self.text
        return f"{self.tool}({hash(said):x})"

    @property
    def place(self) -> str:
        """Name of the call among those that are under way."""
        return self.id or self.key

    @property
    def thing(self) -> str:
        """The thing that it is about, as a person would call it."""
        if self.tool == RESOURCE:
            return f"the resource {excerpt(self.arguments.get('uri', ''))}"
        if self.tool == PROMPT:
            return f"the prompt {excerpt(self.arguments.get('name', ''))}"
        return f"the tool {self.tool}"


def _quoted(text: str) -> str:
    """A text in quotes, if it could be taken for several."""
    return json.dumps(text, ensure_ascii=False) if _SEPARATES.search(text) else text


@dataclass(frozen=True)
class Tried:
    """A call as a learner sees it: the facts known before it, its result, and the facts known after
    it.
    """

    call: Call
    session: str
    step: int
    """Number of the result in the conversation, from 1."""
    failed: bool
    error: str
    """Text of the result if the call failed."""
    before: Mapping[Atom, Truth]
    """Facts over the names of its arguments: `pending(order_id)`."""
    after: Mapping[Atom, Truth]


OnError = StrEnum("OnError", ["CLOSED", "OPEN"])
"""The fate of a call when the guard itself fails; in manuals in small letters."""
OnUnknown = StrEnum("OnUnknown", ["PASS", "WARN", "ASK", "REFUSE"])
"""The fate of a call that a rule would judge by a fact that is not known; in manuals in small
letters."""


@dataclass(frozen=True, slots=True)
class ToolFact:
    """A predicate, and where its truth is from: a reading, a function in Python, or what calls
    did.
    """

    predicate: Predicate
    reading: Reading | None = None
    record: str = ""
    """The kind of record that tells it."""
    python: str = ""
    initially: bool | None = None
    """Truth until a call changes it."""
    alike: Alike | None = None
    """Normalisation of its arguments before they are compared."""
    shared: bool = False
    """All guards with one store know it."""

    @property
    def set_by_calls(self) -> bool:
        """True if calls set the fact, rather than a reading or a Python function."""
        return self.reading is None and not self.python

    def written_alike(self, atom: Atom) -> Atom | None:
        """A fact of this kind with its arguments normalised; None if nobody knows what they
        name.
        """
        if self.alike is None:
            return atom
        args = [self.alike(arg) for arg in atom.args]
        whole = tuple(arg for arg in args if arg is not None)
        return Atom(atom.predicate, whole) if len(whole) == len(args) else None


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A kind of record: a reservation, a user. Facts are read from the latest record by its key."""

    name: str
    tools: tuple[str, ...]
    """The tools that return it; the first is the one to look it up with."""
    key: tuple[Path, ...]
    """Path of its key: in `<result>`, the `<arguments>` or each `<item>`."""
    each: Path | None = None
    """Path in the result of a list of them."""
    at: Path | None = None
    """Path of the record itself, in the result or in each item."""
    ask: str = ""
    """Words for looking it up: `look up the reservation`."""
    asked: Path | None = None
    """The argument that its key must be: a result about something else tells nothing."""


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """A fact that a call makes true or false."""

    literal: Literal
    given: tuple[Clause, ...] = ()


@dataclass(frozen=True)
class ToolSchema:
    """A tool, as a manual declares it."""

    name: str
    arguments: frozenset[str] = frozenset()
    needs: tuple[Clause, ...] = ()
    effects: tuple[ToolEffect, ...] = ()
    failing: tuple[ToolEffect, ...] = ()
    """Facts that it makes true or false when it fails."""
    forgets: tuple[Atom, ...] = ()
    """Records that are no longer what they were: `user(user_id)`."""
    unknown: OnUnknown = OnUnknown.REFUSE
    reads: bool = False
    """It changes nothing in the world: a refusal may propose to call it first."""


@dataclass(frozen=True)
class Policy:
    """A rule on tools: where all of `when` holds, all of `requires` must; without that, `when`
    itself is forbidden.
    """

    rule: Rule
    tools: tuple[str, ...]
    when: tuple[Clause, ...] = ()
    requires: tuple[Clause, ...] = ()
    each: Mapping[str, Path] = field(default_factory=dict)
    """Variables that stand for every element of an argument: `{item: item_ids}`."""
    unknown: OnUnknown = OnUnknown.REFUSE
    instead: str = ""
    """Advice in place of the call."""
    warns: bool = False
    """Breaking it is only warned of."""
    asks: bool = False
    """A person decides about a call that breaks it."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are set in a call that breaks the rule: `{limit: 100}`."""


_ERROR_WITHIN = Reading(Path.parse("error"), "in", ["", None], Which.NONE)
"""An object with an error in it, as many tools return it: `{"error": "no such order"}`. With
`{"error": false}` nobody knows, so it is no failure."""


@dataclass(frozen=True)
class ManualSettings:
    """Settings for all calls."""

    guard: str = ""
    """The manual's name."""
    unknown: OnUnknown = OnUnknown.REFUSE
    """Ruling where a fact is unknown, unless a tool or a policy says otherwise."""
    errors: OnError = OnError.CLOSED
    others: OnUnknown = OnUnknown.REFUSE
    """Ruling on calls to tools that are not declared, and on resources and prompts if these are
    not."""
    repeats: OnUnknown = OnUnknown.REFUSE
    """Ruling on a call that failed twice while nothing was learned."""
    circles: OnUnknown = OnUnknown.WARN
    """Ruling on calls that bring nothing new, again and again."""
    masks: tuple[str, ...] = ()
    """Arguments and fields whose values no log shows."""


@dataclass(frozen=True)
class ToolManual(ManualSettings):
    """All that is declared of some tools."""

    facts: dict[str, ToolFact] = field(default_factory=dict)
    records: dict[str, RecordKind] = field(default_factory=dict)
    tools: dict[str, ToolSchema] = field(default_factory=dict)
    policies: tuple[Policy, ...] = ()
    now: datetime | None = None
    fails: tuple[str | Reading, ...] = ("Error", "Failed", _ERROR_WITHIN)
    """Beginnings of a failed result's text, or values of its JSON."""

    @cached_property
    def rules(self) -> Mapping[str, Sequence[Policy]]:
        """The rules on each tool: what it needs, then the policies."""
        found: dict[str, list[Policy]] = {}
        for tool in self.tools.values():
            rule = Rule(
                f"E-{tool.name.upper()}", Tier.ENVIRONMENT, "tools", f"{tool.name} needs that "
            )
            found[tool.name] = [
                Policy(rule, (), requires=(need,), unknown=tool.unknown) for need in tool.needs
            ]
        for policy in self.policies:
            for name in dict.fromkeys(policy.tools):
                found.setdefault(name, []).append(policy)
        return found

    @cached_property
    def traces(self) -> bool:
        """True if a rule asks where a value came from."""
        asked: list[Clause] = []
        for tool in self.tools.values():
            asked += tool.needs
        for policy in self.policies:
            asked += [*policy.when, *policy.requires]
        literals = chain.from_iterable(clause.literals for clause in asked)
        return any(literal.atom.predicate in PREDICATES for literal in literals)

    def shares(self, predicate: str) -> bool:
        """True if all guards with one store know these facts."""
        fact = self.facts.get(predicate)
        return fact is not None and fact.shared

    def failed(self, result: object) -> bool:
        """True if a result says that the call failed."""
        if isinstance(result, str):
            begins = result.lstrip()[:_LONG].casefold()
            words = [each.casefold() for each in self.fails if isinstance(each, str)]
            return begins.startswith(tuple(words))
        if not isinstance(result, dict):
            return False
        now = datetime.now(UTC)
        readings = [each for each in self.fails if isinstance(each, Reading)]
        return any(each.truth(result, {}, now) is Truth.TRUE for each in readings)

    def say(self, atom: Atom, value: Truth) -> str:
        """One fact in the manual's words."""
        if atom.predicate == GIVEN:
            return f"{atom.args[0].strip('<>')} is {'' if value is Truth.TRUE else 'not '}given"
        fact = self.facts.get(atom.predicate)
        predicate = PREDICATES.get(atom.predicate, Predicate(atom.predicate))
        if fact is not None:
            predicate = fact.predicate
        if value is Truth.FALSE and predicate.yes and not predicate.no:
            return f"it is not so that {predicate.say(atom, Truth.TRUE)}"
        return predicate.say(atom, value)

    def fact_from_text(self, text: str) -> Literal:
        """A fact with its own names, perhaps in quotes; InputError for one that no rule would
        ask for, if any asks.
        """
        try:
            literal = parse_literal(text)
        except ValueError as error:
            raise InputError(str(error)) from None
        name = literal.atom.predicate
        atom = Atom(name, tuple(_unquoted(arg) for arg in literal.atom.args))
        if ANYTHING in atom.args:
            raise InputError(f"the fact {excerpt(str(atom))} names nothing; tell one fact for each")
        fact = self.facts.get(name)
        if fact is None and self.facts:
            raise InputError(
                f"the manual has no fact {excerpt(name)!r}; {nearest(name, self.facts)}"
            )
        if fact is not None:
            _require_arguments(atom, fact.predicate.args)
            self._require_set_by_calls(fact)
        return replace(literal, atom=atom)

    def _require_set_by_calls(self, fact: ToolFact) -> None:
        """Raise for a fact that is read, and say from what."""
        if fact.set_by_calls:
            return
        kind = self.records.get(fact.record)
        reason = "it is read from what a call is made with"
        if fact.python:
            reason = f"the function {fact.python!r} says whether it holds"
        elif kind is not None:
            way = f"{kind.ask} with {kind.tools[0]}, and observe what it returns"
            reason = f"it is read from the record {kind.name}; {way}"
        raise InputError(f"the fact {fact.predicate.name} cannot be told: {reason}")


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
    return text[1:-1] if is_quoted else text


def _require_arguments(atom: Atom, wanted: Sequence[str]) -> None:
    """Raise for a fact with more or fewer arguments than it has."""
    if len(atom.args) == len(wanted):
        return
    form = f"{atom.predicate}({', '.join(wanted)})" if wanted else atom.predicate
    raise InputError(
        f"the fact {excerpt(str(atom))} has {len(atom.args)} arguments; write it as {form}"
    )


FORM = "G-FORM"
"""The guard's own rules, beside the manual's: a call must be JSON of a sane size."""
REPEAT = "G-REPEAT"
"""A call that failed twice, while nothing was learned, is not made a third time."""
CIRCLE = "G-CIRCLE"
"""Calls that bring nothing new are a circle."""
OTHER = "G-OTHER"
"""A tool that the manual does not declare."""
SERVER = "G-SERVER"
"""The server behind the guard cannot be reached."""
ERROR = "G-ERROR"
"""The guard itself failed."""
MANUAL = "G-MANUAL"
"""The manual cannot be read, so that nothing is judged and nothing passes."""
CALL_IT_WITH = "call it with "
"""Beginning of a Modify's remedy."""
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of a check; one of Allow, Warn, Modify, Ask and Refuse."""

    reason: str = ""
    """The rule in words, or what is wrong with the call."""
    rule: str = ""
    """Id of the rule: the manual's, or one of the guard's own."""
    fact: str = ""
    """Known or unknown facts that decide it: `reservation EHGLP3 is basic economy`."""
    remedy: str = ""
    """Advice in place of the call, or before it."""

    @property
    def word(self) -> str:
        """The ruling's name in logs and on screens."""
        return type(self).__name__.lower()

    @property
    def goes_on(self) -> bool:
        """True if a call is to be made: of a Modify its own `call`, of all others the one that
        was asked for.
        """
        return not isinstance(self, Refuse | Ask)

    @property
    def text(self) -> str:
        """The ruling for a model to read: the rule, the reason, and what to do.

        One bounded line.
        """
        remedy = (
            f" What to do: {excerpt(self.remedy, _LONGEST).rstrip('.')}." if self.remedy else ""
        )
        return f"{self._why}{remedy}"

    @property
    def notice(self) -> str:
        """Text for the model along with the result of a call; empty where it was simply allowed."""
        return ""

    @property
    def _why(self) -> str:
        """The rule and the fact, as a sentence."""
        if not self.reason:
            return ""
        rule = f"{self.rule}: " if self.rule else ""
        fact = f" ({excerpt(self.fact, _LONGEST)})" if self.fact else ""
        return f"{rule}{excerpt(self.reason, _LONGEST).rstrip('.')}{fact}."


class Allow(Ruling):
    """Nothing known stands against the call."""


class Warn(Ruling):
    """The call may be made; whoever makes it should know something."""

    @property
    def notice(self) -> str:
        return f"[warning] {self.text}"


@dataclass(frozen=True, slots=True)
class Modify(Ruling):
    """Another call is to be made in place of this one. Only a host that says that it can do so is
    told.
    """

    call: Call = field(default_factory=lambda: Call(""))
    """The call to make and to observe: the same tool, with other arguments."""

    @property
    def notice(self) -> str:
        return (
            f"[changed] {self._why} It was called with"
            f" {excerpt(self.remedy.removeprefix(CALL_IT_WITH), _LONGEST)}."
        )


class Refuse(Ruling):
    """The call is not to be made."""


class Ask(Ruling):
    """A person decides whether the call is made.

    Only a host that says it can ask one is told so.
    """
