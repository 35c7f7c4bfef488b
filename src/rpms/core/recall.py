"""Recall by goal signature, Eq. 4: an index that finds the best entries without looking at the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush, nlargest
from itertools import count
from operator import itemgetter
from typing import NamedTuple

from rapidfuzz import fuzz

from rpms.core.errors import InputError
from rpms.core.goal import UNKNOWN_GOAL, GoalSignature
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


@dataclass(slots=True)
class _Group:
    """Entries of one signature, strongest first."""

    entries: list[Entry] = field(default_factory=list)
    best: float = 0.0


@dataclass(slots=True)
class _Branch:
    """The signatures of one type, or of one type and object, with the strength of the best entry below."""

    name: str = ""
    below: dict[str, _Branch] = field(default_factory=dict)
    groups: dict[tuple[str, str], _Group] = field(default_factory=dict)
    best: float = 0.0


_CAME_TO_MIND = Verdict(Fate.KEPT)
_MISSED_KEPT = 256
"""How many branches that θ keeps out a walk remembers."""
_NO_GOAL = GoalSignature("")


class EpisodicMemory:
    """ℳ with its index. Never changes once made; the empty one is the neutral element: no experience."""

    def __init__(self, entries: Iterable[Entry] = (), world: str = "") -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.world = world
        self._roots: dict[Kind, _Branch] = {kind: _Branch() for kind in Kind}
        for entry in self.entries:
            self._place(entry)
        for root in self._roots.values():
            for branch in root.below.values():
                for leaf in branch.below.values():
                    for group in leaf.groups.values():
                        group.entries.sort(key=lambda entry: (-entry.strength, entry.id))

    def __len__(self) -> int:
        return len(self.entries)

    def _place(self, entry: Entry) -> None:
        signature = _NO_GOAL if isinstance(entry, VerifiedSchema) else entry.goal_signature
        root = self._roots[entry.kind]
        branch = root.below.setdefault(signature.type, _Branch(signature.type))
        leaf = branch.below.setdefault(signature.object, _Branch(signature.object))
        group = leaf.groups.setdefault((signature.state, signature.destination), _Group())
        group.entries.append(entry)
        for node in (root, branch, leaf, group):
            node.best = max(node.best, entry.strength)

    def recall(self, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> Walk:
        """The entries of one kind with d_γ ≥ θ, best rank first; of equal rank, by id."""
        return Walk(self._roots[kind], goal, retrieval)


_Waiting = tuple[float, int, str, int, "_Branch | _Group", float, int]
"""What a walk has yet to look at: minus the rank it can reach, 1 for an entry, its id, an order among equals, the
branch with the score of the type, or the entry's group with its whole score, and the entry's index in its group."""


class _Fields(dict[str, Field]):
    """One field of a goal beside each name that it is compared with, worked out when the name is first met."""

    def __init__(self, similarity: Similarity, weight: float, name: str) -> None:
        super().__init__()
        self._similarity, self._weight, self._name = similarity, weight, name

    @property
    def same(self) -> Field:
        """Beside its own name: the best it can do."""
        return self[self._name]

    def __missing__(self, other: str) -> Field:
        field = self[other] = self._similarity.field(self._weight, self._name, other)
        return field


class Walk(Iterator[Candidate]):
    """A best-first walk down the index.

    A branch is opened only when nothing better can be elsewhere, so that the first few entries cost the same however
    many there are.
    """

    def __init__(self, root: _Branch, goal: GoalSignature, retrieval: Retrieval) -> None:
        self._similarity = similarity = retrieval.similarity
        self._objects = _Fields(similarity, similarity.object, goal.object)
        self._states = _Fields(similarity, similarity.state, goal.state)
        self._destinations = _Fields(similarity, similarity.destination, goal.destination)
        self._threshold = retrieval.threshold
        self._heap: list[_Waiting] = []
        self._order = count()
        self._missed: list[tuple[float, _Branch | _Group, float]] = []
        for name, branch in root.below.items():
            if name and UNKNOWN_GOAL in (name, goal.type):
                continue
            score = 1.0 if not name else similarity.type if name == goal.type else 0.0
            self._push([(branch, score, score + 1.0 - similarity.type)])

    def _push(self, places: Iterable[tuple[_Branch | _Group, float, float]]) -> None:
        heap, order, threshold = self._heap, self._order, self._threshold
        for place, score, bound in places:
            if bound < threshold:
                if len(self._missed) < _MISSED_KEPT:
                    self._missed.append((bound, place, score))
            elif isinstance(place, _Group):
                self._push_entry(place, score, 0)
            else:
                heappush(heap, (-min(bound, 1.0) * place.best, 0, "", next(order), place, score, 0))

    def _push_entry(self, group: _Group, score: float, index: int) -> None:
        if index < len(group.entries):
            entry = group.entries[index]
            heappush(self._heap, (-score * entry.strength, 1, entry.id, next(self._order), group, score, index))

    def __next__(self) -> Candidate:
        while self._heap:
            negative_rank, _, _, _, place, score, index = heappop(self._heap)
            if isinstance(place, _Group):
                self._push_entry(place, score, index + 1)
                return Candidate(place.entries[index], score, -negative_rank, _CAME_TO_MIND)
            self._push(self._open(place, score))
        raise StopIteration

    def _open(self, branch: _Branch, score: float) -> list[tuple[_Branch | _Group, float, float]]:
        """What is one level below, with the score so far and the best that is still possible."""
        if score == 1.0:  # bound to no goal, and so alike to all
            places: list[_Branch | _Group] = [*branch.below.values(), *branch.groups.values()]
            return [(place, 1.0, 1.0) for place in places]
        below_type = self._similarity.below_type
        if branch.below:
            best = self._states.same, self._destinations.same
            return [
                (leaf, score, score + below_type(self._objects[leaf.name], *best)) for leaf in branch.below.values()
            ]
        thing, states, destinations = self._objects[branch.name], self._states, self._destinations
        return [
            (group, value := score + below_type(thing, states[state], destinations[destination]), value)
            for (state, destination), group in branch.groups.items()
        ]

    def missed(self, most: int) -> tuple[Candidate, ...]:
        """Some entries that θ kept out on the way here, the nearest first: for a page that explains a step."""
        found: list[Candidate] = []
        for _, place, score in nlargest(most, self._missed, key=itemgetter(0)):
            while isinstance(place, _Branch):
                place, score, _ = max(self._open(place, score), key=itemgetter(2))  # noqa: PLW2901  going down
            entry = place.entries[0]
            reason = f"its goal is alike by {score:.2f}, less than {self._threshold:.2f}"
            found.append(Candidate(entry, score, score * entry.strength, Verdict(Fate.BELOW, reason)))
        return tuple(found)
