"""Recall by goal signature: which entries come to mind. Eq. 4 stands in `candidates`; the index gives the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rpms.core.goal import GoalSignature
from rpms.core.index import Index, Ranking
from rpms.core.memory import Entry, Kind, VerifiedSchema
from rpms.core.similarity import Similarity
from rpms.core.verdict import Candidate, Fate, Verdict


@dataclass(frozen=True)
class Retrieval:
    """Settings of retrieval: similarity, θ, and the number of entries."""

    similarity: Similarity = field(default_factory=Similarity)
    threshold: float = 0.6
    """θ: entries of goals less alike are no candidates. The same type alone gives 0.5, with an object of the same
    category 0.68, with the same destination 0.7."""
    top: Mapping[Kind, int] = field(
        default_factory=lambda: {Kind.CRITICAL_FAILURE: 2, Kind.SUCCESS: 3, Kind.FAILURE: 3, Kind.SCHEMA: 2}
    )
    """Entries of each kind in a prompt; together they fit the memory budget."""
    schemas_by_goal: bool = False
    """True if schemas are recalled by the goals they were tried for, like all other entries; otherwise for any goal."""
    warnings: int = 3
    """Critical failures and lessons in a prompt together, the highest in rank: a critical failure's weight of 2 puts
    it before lessons with as much evidence."""
    examined: int = 100
    """Most candidates of each kind that are judged."""
    listed: int = 12
    """Rejected candidates of each kind that a decision lists by name; the rest are counted."""
    mask: float = 0.0
    """Probability that an entry is hidden for a whole episode, to measure the effect of showing it."""


def candidates(memory: Iterable[Entry], kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> list[Candidate]:
    """Eq. 4 as it is written, for one kind of entry: M_cand = {m ∈ ℳ | d_γ(γ(g), γ(m)) ≥ θ}, best rank first.

    A schema has the goals it was tried for, or is alike to all. The rank is d_γ times the entry's strength.
    """

    def score(entry: Entry) -> float:
        if not isinstance(entry, VerifiedSchema):
            return retrieval.similarity(goal, entry.goal_signature)
        if not retrieval.schemas_by_goal:
            return 1.0
        return max((retrieval.similarity(goal, each) for each in entry.goals), default=0.0)

    scored = ((entry, score(entry)) for entry in memory if entry.kind is kind)
    recalled = [Candidate(m, d, d * m.strength, Verdict(Fate.KEPT)) for m, d in scored if d >= retrieval.threshold]
    return sorted(recalled, key=lambda candidate: (-candidate.rank, candidate.entry.id))


class EpisodicMemory:
    """ℳ with its index. Never changes once made; the empty one is the neutral element: no experience."""

    def __init__(self, entries: Iterable[Entry] = (), world: str = "") -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.world = world
        self._index = Index(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def recall(self, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> Ranking:
        """The result of `candidates`, computed from the index as far as the caller iterates."""
        if kind is Kind.SCHEMA and retrieval.schemas_by_goal:
            return self._index.schemas_by_goal(goal, retrieval.similarity, retrieval.threshold)
        return self._index.ranking(kind, goal, retrieval.similarity, retrieval.threshold)
