"""Episodic memory: the four kinds of entries of Appendix F, and how stores are merged."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import ClassVar, NamedTuple, Protocol

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature

_KINDS: dict[str, Kind] = {}
_NUMBER = re.compile(r"\b\d+\b")
_ROUND = re.compile(r"round(\d+)/")
_UNITED = ("origins", "goals")
"""Fields that are united where two entries say the same."""


class _Kinds(type):
    """The kinds that there are, in the order a prompt shows them."""

    def __iter__(cls) -> Iterator[Kind]:
        return iter(tuple(_KINDS.values()))


class Kind(str, metaclass=_Kinds):  # noqa: SLOT000  its fields are set where it is registered
    """A kind of entry by its name in files: the paper's four, and those that are registered.

    `Kind(name)` finds one.
    """

    top: int
    """Number of entries a prompt shows, unless a retrieval says otherwise."""
    weight: float
    """Factor on the strength of its entries."""
    wording: KindWording | None
    """Words an entry of a custom kind for the prompt."""
    told: bool
    """True if a prompt's memory block may show it."""

    CRITICAL_FAILURE: ClassVar[Kind]
    SUCCESS: ClassVar[Kind]
    FAILURE: ClassVar[Kind]
    SCHEMA: ClassVar[Kind]
    REQUEST: ClassVar[Kind]
    """A request in a person's words: an example for reading others, and no line of the memory
    block."""

    def __new__(cls, name: str) -> Kind:  # noqa: PYI034  the one there is
        kind = _KINDS.get(name)
        if kind is None:
            raise ValueError(f"{name!r} is no kind of memory; there are {', '.join(_KINDS)}")
        return kind

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        return (Kind if self.registered else kind_in_file, (str(self),))

    @property
    def registered(self) -> bool:
        """False for a kind that only a file names: nothing here can word it for a prompt."""
        return _KINDS.get(self) is self


def register_kind(
    name: str,
    wording: KindWording | None = None,
    *,
    top: int = 2,
    weight: float = 1.0,
    told: bool = True,
) -> Kind:
    """Add a kind of memory, whose entries are `OwnEntry`, in place of any of the same name."""
    if not name.isidentifier() or (name in _KINDS and _KINDS[name].wording is None):
        raise ValueError(
            f"{name!r} cannot be the name of a kind: give a new one, a word without spaces"
        )
    kind = _KINDS[name] = str.__new__(Kind, name)
    kind.wording = wording
    kind.top = top
    kind.weight = weight
    kind.told = told
    return kind


def kind_in_file(name: str) -> Kind:
    """The kind of an entry in a file: the registered one of that name, or one whose entries can be
    kept, counted and merged, and which no prompt shows.
    """
    if name in _KINDS:
        return _KINDS[name]
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a kind")
    kind = str.__new__(Kind, name)
    kind.wording = _fields_in_words
    kind.top = 0
    kind.weight = 1.0
    kind.told = False
    return kind


def _fields_in_words(entry: OwnEntry) -> str:
    """An entry of a kind that nothing here registers, for a person who looks into its file."""
    pairs = [f"{name}={value}" for name, value in entry.fields.items()]
    return f"{entry.kind}: {', '.join(pairs)}"


Kind.CRITICAL_FAILURE = register_kind("critical_failure", top=2)
Kind.SUCCESS = register_kind("success", top=3)
Kind.FAILURE = register_kind("failure", top=3)
Kind.SCHEMA = register_kind("schema", top=2)
Kind.REQUEST = register_kind("request", top=0, told=False)
PAPER_KINDS = (Kind.CRITICAL_FAILURE, Kind.SUCCESS, Kind.FAILURE, Kind.SCHEMA)
"""The kinds of the paper's Appendix F, in the order a prompt shows them."""


def told_kinds() -> tuple[Kind, ...]:
    """The kinds that a prompt's memory block may show."""
    return tuple(kind for kind in Kind if kind.told)


class KindWording(Protocol):
    """An entry of a kind of one's own, in a prompt."""

    def __call__(self, entry: OwnEntry, /) -> str:
        """The entry in words."""
        ...


class Origin(NamedTuple):
    """The source of an entry. The same origin twice is one piece of evidence."""

    episode: str
    step: int
    failed: bool = False
    """True for a schema whose action was tried here and failed."""


def canonical(text: str) -> str:
    """A text without what sets near-duplicates apart: letter case, spacing, and the numbers of
    instances.
    """
    return _NUMBER.sub("#", " ".join(text.casefold().split()))


class _Observed:
    """An entry that was learned at its origins."""

    __slots__ = ()
    origins: frozenset[Origin]

    @property
    def occurrence_count(self) -> int:
        return len(self.origins)

    success_count = occurrence_count

    @property
    def last_round(self) -> int:
        """The last round of learning in which it was observed; 0 if its origins name no round. It
        is for parts of the user's own that prefer recent entries.
        """
        last = 0
        for origin in self.origins:
            found = _ROUND.match(origin.episode)
            if found is not None:
                last = max(last, int(found[1]))
        return last

    @property
    def weight(self) -> float:
        """The strength of one observation."""
        return 1.0

    @property
    def strength(self) -> float:
        """More observations weigh more, but ever less so."""
        return self.weight * (1.0 + math.log(max(1, len(self.origins))))


@dataclass(frozen=True, slots=True)
class _OfGoal(_Observed):
    """An entry that was learned for a goal, in a state."""

    goal_signature: GoalSignature
    state_signature: StateSignature
    origins: frozenset[Origin] = field(default=frozenset(), kw_only=True)
    id: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class SuccessSnippet(_OfGoal):
    """A sequence of actions that reached a sub-goal, with a snapshot of what held before it."""

    sub_goal_type: str
    actions: tuple[str, ...]
    precondition: Mapping[str, object] = field(default_factory=dict)
    outcome: Mapping[str, object] = field(default_factory=dict)

    kind = Kind.SUCCESS
    prefix = "success"

    def key(self) -> tuple[str, ...]:
        actions = "\n".join(map(canonical, self.actions))
        return (
            str(self.goal_signature),
            str(self.state_signature.coarse),
            self.sub_goal_type,
            actions,
        )


class Stride(NamedTuple):
    """One step of a snippet, and where it was done."""

    number: int
    """The step's number in the snippet, from 1; 0 for a step that other snippets add to reach a
    place."""
    command: str
    names: tuple[str, ...]
    at: str = ""
    to: str = ""
    """The place it led to, or helped to: `open door to hallway` before `go to hallway` too."""


@dataclass(frozen=True, slots=True)
class FailureLesson(_OfGoal):
    """An action that failed, and the rule that would have avoided it."""

    failed_action: str
    corrective_rule: str
    failure_type: str = "precondition_not_met"
    failure_message: str = ""
    worded_by: str = ""
    """The model that worded the rule; empty if it was put together from observations."""

    kind = Kind.FAILURE
    prefix = "failure"

    def key(self) -> tuple[str, ...]:
        return (
            str(self.goal_signature),
            str(self.state_signature.coarse),
            canonical(self.corrective_rule),
        )


@dataclass(frozen=True)
class VerifiedSchema(_Observed):
    """An action with preconditions and effects that experience has confirmed."""

    action_template: str
    action_type: str
    preconditions: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    origins: frozenset[Origin] = frozenset()
    id: str = ""
    goals: frozenset[GoalSignature] = frozenset()
    """The goals of the episodes it was tried in; none are recorded in the paper's listing."""

    kind = Kind.SCHEMA
    prefix = "schema"

    @cached_property
    def success_count(self) -> int:
        """The number of times it worked, counted once: prompts tell it at every step."""
        return sum(not origin.failed for origin in self.origins)

    @property
    def failure_count(self) -> int:
        return len(self.origins) - self.success_count

    @property
    def confidence(self) -> float:
        return self.success_count / len(self.origins) if self.origins else 0.0

    weight = confidence

    @property
    def refuted(self) -> bool:
        """True if the action never worked: nothing verifies the schema, so it is not recalled."""
        return bool(self.origins) and not self.success_count

    def key(self) -> tuple[str, ...]:
        needs = "\n".join(map(canonical, self.preconditions))
        gives = "\n".join(map(canonical, self.effects))
        return (self.action_type, canonical(self.action_template), needs, gives)


@dataclass(frozen=True, slots=True)
class CriticalFailure(_OfGoal):
    """An action that ended an episode for good. Never taken for a near-duplicate of another."""

    failed_action: str
    corrective_rule: str
    failure_message: str = ""
    retrieval_weight: float = 2.0

    kind = Kind.CRITICAL_FAILURE
    prefix = "failure"

    @property
    def weight(self) -> float:
        return self.retrieval_weight

    def key(self) -> tuple[str, ...]:
        where = (str(self.goal_signature), str(self.state_signature))
        weight = str(self.retrieval_weight)
        return (*where, self.failed_action, self.corrective_rule, weight)


@dataclass(frozen=True, slots=True)
class RememberedRequest(_OfGoal):
    """A person's request, and the goal it was read as in a won episode.

    Its state has the kinds in the `room`.
    """

    request: str

    kind = Kind.REQUEST
    prefix = "request"

    @property
    def goal_fields(self) -> dict[str, str]:
        """The goal's type, object and destination, those that it has."""
        goal = self.goal_signature
        fields = {"type": goal.type, "object": goal.object, "destination": goal.destination}
        return {name: value for name, value in fields.items() if value}

    def key(self) -> tuple[str, ...]:
        return (str(self.goal_signature), canonical(self.request))


@dataclass(frozen=True, slots=True)
class OwnEntry(_Observed):
    """An entry of a registered kind: its fields are texts, numbers, or lists of them, by name."""

    kind: Kind
    goal_signature: GoalSignature
    state_signature: StateSignature
    fields: Mapping[str, object] = field(default_factory=dict)
    origins: frozenset[Origin] = frozenset()
    id: str = ""

    @property
    def prefix(self) -> str:
        return str(self.kind)

    @property
    def weight(self) -> float:
        return self.kind.weight

    @property
    def text(self) -> str:
        """The entry as a prompt says it."""
        assert self.kind.wording is not None
        return self.kind.wording(self)

    def key(self) -> tuple[str, ...]:
        return (
            str(self.goal_signature),
            str(self.state_signature.coarse),
            canonical(json.dumps(dict(self.fields))),
        )


Entry = (
    SuccessSnippet | FailureLesson | VerifiedSchema | CriticalFailure | RememberedRequest | OwnEntry
)


def as_observed(entry: Entry) -> Entry:
    """The entry with observations alone, without needs and effects in the manual's words."""
    match entry:
        case FailureLesson() | CriticalFailure():
            return replace(entry, corrective_rule="")
        case VerifiedSchema():
            return replace(entry, preconditions=(), effects=())
    return entry


def learned_from(entries: Iterable[Entry]) -> frozenset[str]:
    """The episodes that entries name as their origins, by task: without the round in which they
    were played.
    """
    origins = chain.from_iterable(entry.origins for entry in entries)
    episodes = {origin.episode for origin in origins}
    return frozenset(_ROUND.sub("", episode, count=1) for episode in episodes)


def content_id(entry: Entry) -> str:
    """An id that follows from what an entry says, the same on every machine."""
    digest = hashlib.blake2b(json.dumps((entry.kind, *entry.key())).encode(), digest_size=5)
    return f"{entry.prefix}_{digest.hexdigest()}"


def _wording(entry: Entry) -> str:
    """An entry's content in full, by which one of several near-duplicates is chosen."""
    content: list[object] = []
    for each in fields(entry):
        if each.name in ("id", *_UNITED):
            continue
        value = getattr(entry, each.name)
        content.append(value if isinstance(value, Mapping) else str(value))
    return json.dumps(content, sort_keys=True)


def merge(*stores: Iterable[Entry]) -> tuple[Entry, ...]:
    """Merge stores of one world, in any order and grouping, any number of times, with the same
    result.

    Entries that say the same are one entry with all their origins; its wording is the least of
    theirs in alphabetical order, and its id follows from its content.
    """
    merged: dict[tuple[str, ...], Entry] = {}
    for entry in chain.from_iterable(stores):
        key = (entry.kind, *entry.key())
        merged[key] = _united(merged[key], entry) if key in merged else entry
    in_order = [merged[key] for key in sorted(merged)]
    return tuple([replace(entry, id=content_id(entry)) for entry in in_order])


def _united(one: Entry, other: Entry) -> Entry:
    """The one entry that two become which say the same."""
    if one is other:
        return one
    united = {}
    for name in _UNITED:
        if hasattr(one, name):
            united[name] = getattr(one, name) | getattr(other, name)
    return replace(min(one, other, key=_wording), **united)
