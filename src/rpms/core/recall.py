"""Recall by goal signature, Eq. 4: an index that finds the best entries without looking at the rest."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from rapidfuzz import fuzz

from rpms.core.goal import GoalSignature
from rpms.core.memory import Entry, Kind, VerifiedSchema
from rpms.core.verdict import Candidate, Fate, Verdict


@dataclass(frozen=True)
class Similarity:
    """d_γ: how alike two goals are, field by field, from 0 to 1."""

    type: float = 0.5
    """Weight of the same goal type: with θ = 0.5, experience of the same type is always a candidate."""
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

    def alike(self, one: str, other: str) -> float:
        """How alike two names are: the same, of one category, or spelled alike."""
        if one == other:
            return 1.0
        if not one or not other:
            return 0.0
        if self.category(one) == self.category(other):
            return self.same_category
        ratio = fuzz.ratio(one, other, score_cutoff=100 * self.fuzzy) / 100
        return float(ratio)

    def __call__(self, goal: GoalSignature, other: GoalSignature) -> float:
        return (
            self.type * (goal.type == other.type)
            + self.object * self.alike(goal.object, other.object)
            + self.state * self.alike(goal.state, other.state)
            + self.destination * self.alike(goal.destination, other.destination)
        )


@dataclass(frozen=True)
class Retrieval:
    """Which entries come to mind, and how many of them."""

    similarity: Similarity = field(default_factory=Similarity)
    threshold: float = 0.5
    """θ: entries of goals less alike are no candidates."""
    top: Mapping[Kind, int] = field(
        default_factory=lambda: {Kind.CRITICAL_FAILURE: 2, Kind.SUCCESS: 3, Kind.FAILURE: 3, Kind.SCHEMA: 2}
    )
    """How many of each kind enter a prompt: together they fit the memory budget."""
    examined: int = 1_000
    """How many candidates of each kind are judged at most before giving up on finding enough."""
    listed: int = 12
    """How many rejected candidates of each kind a decision lists by name; the rest are counted."""


@dataclass(slots=True)
class _Group:
    """Entries of one signature, strongest first."""

    entries: list[Entry] = field(default_factory=list)
    best: float = 0.0


@dataclass(slots=True)
class _Branch:
    """The signatures of one type, or of one type and object, with the strength of the best entry below."""

    below: dict[str, _Branch] = field(default_factory=dict)
    groups: dict[tuple[str, str], _Group] = field(default_factory=dict)
    best: float = 0.0


@dataclass(frozen=True, slots=True)
class _Node:
    """A place in the index, or with an index an entry in it, as a walk sees it."""

    place: _Branch | _Group
    score: float
    """d_γ of the fields known at this depth."""
    bound: float
    """The highest d_γ that an entry below can have; at a group, the d_γ of its entries."""
    goalless: bool = False
    index: int = 0

    @property
    def best(self) -> float:
        return self.place.best

    @property
    def entries(self) -> list[Entry]:
        assert isinstance(self.place, _Group)
        return self.place.entries


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
        branch = root.below.setdefault(signature.type, _Branch())
        leaf = branch.below.setdefault(signature.object, _Branch())
        group = leaf.groups.setdefault((signature.state, signature.destination), _Group())
        group.entries.append(entry)
        for node in (root, branch, leaf, group):
            node.best = max(node.best, entry.strength)

    def recall(self, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> Walk:
        """The entries of one kind with d_γ ≥ θ, best rank first; of equal rank, by id."""
        return Walk(self._roots[kind], goal, retrieval)


class Walk(Iterator[Candidate]):
    """A best-first walk down the index.

    A branch is opened only when nothing better can be elsewhere, so that the first few entries cost the same however
    many there are.
    """

    def __init__(self, root: _Branch, goal: GoalSignature, retrieval: Retrieval) -> None:
        self._goal = goal
        self._similarity = retrieval.similarity
        self._threshold = retrieval.threshold
        self._heap: list[tuple[float, int, str, int, _Node]] = []
        self._order = count()
        self._missed: list[_Node] = []
        for name, branch in root.below.items():
            if name:
                same = self._similarity.type if name == goal.type else 0.0
                self._push(_Node(branch, same, same + self._weight_left(type_known=True)))
            else:
                self._push(_Node(branch, 0.0, 1.0, goalless=True))

    def _weight_left(self, *, type_known: bool) -> float:
        similarity = self._similarity
        return similarity.state + similarity.destination + (similarity.object if type_known else 0.0)

    def _push(self, node: _Node) -> None:
        if node.bound < self._threshold:
            if len(self._missed) < _MISSED_KEPT:
                self._missed.append(node)
        else:
            heapq.heappush(self._heap, (-node.bound * node.best, 0, "", next(self._order), node))

    def _push_entry(self, node: _Node) -> None:
        if node.index < len(node.entries):
            entry = node.entries[node.index]
            heapq.heappush(self._heap, (-node.bound * entry.strength, 1, entry.id, next(self._order), node))

    def __next__(self) -> Candidate:
        while self._heap:
            negative_rank, is_entry, _, _, node = heapq.heappop(self._heap)
            if is_entry:
                self._push_entry(_Node(node.place, node.score, node.bound, index=node.index + 1))
                return Candidate(node.entries[node.index], node.bound, -negative_rank, _CAME_TO_MIND)
            if isinstance(node.place, _Group):
                self._push_entry(node)
            else:
                for child in self._children(node):
                    self._push(child)
        raise StopIteration

    def _children(self, node: _Node) -> Iterator[_Node]:
        """What is one level below, with the score so far and the best score that is still possible."""
        similarity, goal = self._similarity, self._goal
        assert isinstance(node.place, _Branch)
        for name, branch in node.place.below.items():
            score = node.score + similarity.object * similarity.alike(goal.object, name)
            yield _Node(
                branch, score, 1.0 if node.goalless else score + self._weight_left(type_known=False), node.goalless
            )
        for (state, destination), group in node.place.groups.items():
            score = node.score + similarity.state * similarity.alike(goal.state, state)
            score += similarity.destination * similarity.alike(goal.destination, destination)
            yield _Node(group, score, 1.0 if node.goalless else score, node.goalless)

    def missed(self, most: int) -> tuple[Candidate, ...]:
        """Some entries that θ kept out on the way here, the nearest first: for a page that explains a step."""
        found: list[Candidate] = []
        for node in sorted(self._missed, key=lambda node: -node.bound)[:most]:
            step = node
            while isinstance(step.place, _Branch):
                step = max(self._children(step), key=lambda child: child.bound)
            entry = step.place.entries[0]
            reason = f"its goal is alike by {step.score:.2f}, less than {self._threshold:.2f}"
            verdict = Verdict(Fate.BELOW, reason)
            found.append(Candidate(entry, step.score, step.score * entry.strength, verdict))
        return tuple(found)
