"""Recall by goal signature, Eq. 4: how alike two goals are, and which entries come to mind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz import fuzz

from rpms.core.errors import InputError
from rpms.core.goal import UNKNOWN_GOAL, GoalSignature
from rpms.core.index import Index, Walk
from rpms.core.memory import Entry, Kind, VerifiedSchema
from rpms.core.verdict import Candidate, Fate, Verdict


class Field(NamedTuple):
    """One field of two goals: what it adds to their likeness, and the most it could."""

    part: float
    weight: float


_NO_FIELD = Field(0.0, 0.0)


@dataclass(frozen=True)
class Similarity:
    """d_γ: how alike two goals are, field by field, from 0 to 1.

    A field that neither goal has says nothing: its weight goes to the other fields below the type.
    """

    type: float = 0.5
    """Weight of the same goal type, which alone must stay below θ."""
    object: float = 0.3
    state: float = 0.0
    """The state follows from the type in ALFWorld; ScienceWorld keeps its substance here."""
    destination: float = 0.2
    same_category: float = 0.6
    """What another object of the same category counts, such as a mug for a cup."""
    fuzzy: float = 0.85
    """Names that are spelled nearly alike count as much as they are alike; below this, not at all."""
    category: Callable[[str], str] = field(default=lambda name: name)
    """The category of an object or place, from the world's knowledge."""
    _known: dict[tuple[str, str], float] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not math.isclose(self.type + self.object + self.state + self.destination, 1.0):
            raise InputError("the weights of a similarity must add up to 1")

    def alike(self, one: str, other: str) -> float:
        """How alike two names are: the same, of one category, or spelled alike."""
        if one == other:
            return 1.0
        known = self._known.get((one, other))
        if known is None:
            known = self._known[one, other] = self._compare(one, other)
        return known

    def _compare(self, one: str, other: str) -> float:
        if not one or not other:
            return 0.0
        if self.category(one) == self.category(other):
            return self.same_category
        return float(fuzz.ratio(one, other, score_cutoff=100 * self.fuzzy) / 100)

    def __call__(self, goal: GoalSignature, other: GoalSignature) -> float:
        if UNKNOWN_GOAL in (goal.type, other.type):
            return 0.0  # nothing is known of an unknown goal, least of all that it is like another
        return self.type * (goal.type == other.type) + self.below_type(
            self.field(self.object, goal.object, other.object),
            self.field(self.state, goal.state, other.state),
            self.field(self.destination, goal.destination, other.destination),
        )

    def field(self, weight: float, one: str, other: str) -> Field:
        """What one field adds, and how much it weighs."""
        return Field(weight * self.alike(one, other), weight) if weight and (one or other) else _NO_FIELD

    def below_type(self, *fields: Field) -> float:
        """What the fields below the type add up to; where there are none, all that they could."""
        most, weights = 1.0 - self.type, sum(field.weight for field in fields)
        return most * sum(field.part for field in fields) / weights if weights else most


@dataclass(frozen=True)
class Retrieval:
    """Which entries come to mind, and how many of them."""

    similarity: Similarity = field(default_factory=Similarity)
    threshold: float = 0.6
    """θ: entries of goals less alike are no candidates. The same type alone gives 0.5, with an object of the same
    category 0.68, with the same destination 0.7."""
    top: Mapping[Kind, int] = field(
        default_factory=lambda: {Kind.CRITICAL_FAILURE: 2, Kind.SUCCESS: 3, Kind.FAILURE: 3, Kind.SCHEMA: 2}
    )
    """How many of each kind enter a prompt: together they fit the memory budget."""
    warnings: int = 3
    """How many critical failures and lessons enter a prompt together. The highest in rank do: a critical failure's
    weight of 2 puts it before lessons with as much evidence."""
    examined: int = 100
    """How many candidates of each kind are judged at most before giving up on finding enough."""
    listed: int = 12
    """How many rejected candidates of each kind a decision lists by name; the rest are counted."""
    mask: float = 0.0
    """How likely an entry is to be hidden for a whole episode, to measure what showing it does."""


class EpisodicMemory:
    """ℳ with its index. Never changes once made; the empty one is the neutral element: no experience."""

    def __init__(self, entries: Iterable[Entry] = (), world: str = "") -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.world = world
        self._index = Index(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def recall(self, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> Walk:
        """Eq. 4, `by_definition`, from the index: the entries of one kind with d_γ ≥ θ, best rank first."""
        return self._index.walk(kind, goal, retrieval)


def by_definition(memory: EpisodicMemory, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> list[Candidate]:
    """Eq. 4 as it is written: M_goal = {m ∈ ℳ : d_γ(γ(g), γ(m)) ≥ θ}, by d_γ times strength, of equal rank by id.

    An entry that is bound to no goal, a schema, is alike to all.
    """
    similarity, threshold = retrieval.similarity, retrieval.threshold
    ranked: list[Candidate] = []
    for entry in memory.entries:
        if entry.kind is kind:
            score = 1.0 if isinstance(entry, VerifiedSchema) else similarity(goal, entry.goal_signature)
            if score >= threshold:
                ranked.append(Candidate(entry, score, score * entry.strength, Verdict(Fate.KEPT)))
    return sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))
