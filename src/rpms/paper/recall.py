"""Recall by goal signature: which entries come to mind by Eq. 4, found in an index."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache, cached_property, partial
from heapq import heappop, heappush, nlargest
from itertools import count
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, Self

from rapidfuzz import fuzz

from rpms.logic.belief import Situation
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal, GoalSignature
from rpms.paper.memory import PAPER_KINDS, Entry, Kind, VerifiedSchema, told_kinds
from rpms.paper.verdict import KEPT, Candidate, Fate, Verdict
from rpms.paper.wording import untagged_line

_BELOW_KEPT = 256
"""Number of branches below θ that a walk remembers."""
_GOALS_KEPT = 256
"""Goals, by kind of entry, whose recalled entries are kept."""
_NO_GOAL = GoalSignature("")
_ALIKE_TO_ALL = 1.0
"""The likeness of an entry that is bound to no goal. By its type alone no other goal has as much:
a type weighs less than 1."""


class FieldLikeness(NamedTuple):
    """The share of one field of two goals in their likeness."""

    likeness: float
    most: float
    """The likeness of two goals that have the same in this field; 0 where neither has any."""


class Retriever(Protocol):
    """Eq. 4, for the entries of one kind at a time."""

    def __call__(
        self, goal: Goal, situation: Situation, entries: Sequence[Entry], texts: Sequence[str], /
    ) -> Iterable[tuple[int, float]]:
        """The positions of the entries that come to mind, best first, each with its score.

        `texts`: the entries as a prompt words them.
        """
        ...


@dataclass(frozen=True)
class Similarity:
    """d_γ: how alike two goals are, field by field, from 0 to 1."""

    type: float = 0.5
    """Weight of the same goal type, which alone must stay below θ."""
    object: float = 0.3
    state: float = 0.0
    """The state follows from the type in ALFWorld; ScienceWorld keeps its substance here."""
    destination: float = 0.2
    same_category: float = 0.6
    """Similarity of two objects of one category, such as a mug and a cup."""
    fuzzy: float = 0.85
    """Names that are spelled nearly alike count as much as they are alike; below this, not at
    all."""
    category: Callable[[str], str] = field(default=lambda name: name)
    """The category of an object or place, from the world's knowledge."""
    _compared: dict[tuple[str, str], float] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        if not math.isclose(self.type + self.object + self.state + self.destination, 1.0):
            raise InputError("the weights of a similarity must add up to 1")

    def alike(self, one: str, other: str) -> float:
        """The likeness of two names: they are the same, of one category, or spelled alike."""
        if one == other:
            return 1.0
        if not one or not other:
            return 0.0
        similarity = self._compared.get((one, other))
        if similarity is None:
            similarity = self._compared[one, other] = self._compare(one, other)
        return similarity

    def _compare(self, one: str, other: str) -> float:
        """Similarity of two different names, by their category or their letters."""
        if self.category(one) == self.category(other):
            return self.same_category
        return float(fuzz.ratio(one, other, score_cutoff=100 * self.fuzzy) / 100)

    def __call__(self, goal: GoalSignature, other: GoalSignature) -> float:
        if UNKNOWN_GOAL in (goal.type, other.type):
            return 0.0  # nothing is known of an unknown goal, least of all that it is like another
        same_type = self.type if goal.type == other.type else 0.0
        return same_type + self.below_type(
            self.field(self.object, goal.object, other.object),
            self.field(self.state, goal.state, other.state),
            self.field(self.destination, goal.destination, other.destination),
        )

    def field(self, weight: float, one: str, other: str) -> FieldLikeness:
        """The likeness of two goals in a field of some weight; nothing where neither has it."""
        if not weight or not (one or other):
            return FieldLikeness(0.0, 0.0)
        return FieldLikeness(weight * self.alike(one, other), weight)

    def below_type(self, *fields: FieldLikeness) -> float:
        """The likeness of two goals in all fields but the type.

        The weight of a field that neither goal has goes to the others.
        """
        weight = 1.0 - self.type
        most = sum(field.most for field in fields)
        if not most:
            return weight
        return weight * sum(field.likeness for field in fields) / most


@dataclass(frozen=True)
class Retrieval:
    """Settings of retrieval: similarity, θ, and the number of entries."""

    similarity: Similarity = field(default_factory=Similarity)
    threshold: float = 0.6
    """θ: entries of goals less alike are no candidates. The same type gives 0.5, with the
    object's category 0.68."""
    top: Mapping[Kind, int] = field(
        default_factory=lambda: {kind: kind.top for kind in PAPER_KINDS}
    )
    """Entries of each kind in a prompt; together they fit the memory budget."""
    schemas_by_goal: bool = False
    """True if schemas are recalled by the goals they were tried for, like all other entries;
    otherwise for any goal."""
    warnings: int = 3
    """Critical failures and lessons in a prompt together, the highest in rank: critical ones
    weigh twice as much."""
    examined: int = 100
    """Most candidates of each kind that are judged."""
    listed: int = 12
    """Rejected candidates of each kind that a decision lists by name; the rest are counted."""
    mask: float = 0.0
    """Probability that an entry is hidden for a whole episode, to measure the effect of showing
    it."""


class _Level(Enum):
    """The part of a goal that a branch of the index stands for."""

    ROOT = auto()
    TYPE = auto()
    OBJECT = auto()
    GROUP = auto()
    """State and destination: all entries below have the same goal."""


@dataclass(slots=True)
class _Branch:
    """A part of the index: below the root the goals' types, below these their objects, below
    these the groups, each with the entries of one goal, strongest first.
    """

    level: _Level = _Level.ROOT
    name: str = ""
    below: dict[Any, Self] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    """The entries of one goal; a branch that is no group has none."""
    best: float = 0.0
    """The strength of the best entry below."""


def _insert(entry: Entry, signature: GoalSignature, root: _Branch) -> None:
    """Put an entry under its goal, and let all branches above know its strength."""
    new_type = _Branch(_Level.TYPE, signature.type)
    of_type = root.below.setdefault(signature.type, new_type)
    new_object = _Branch(_Level.OBJECT, signature.object)
    of_object = of_type.below.setdefault(signature.object, new_object)
    rest = (signature.state, signature.destination)
    group = of_object.below.setdefault(rest, _Branch(_Level.GROUP))
    group.entries.append(entry)
    for branch in (root, of_type, of_object, group):
        branch.best = max(branch.best, entry.strength)


class _Scored(NamedTuple):
    """A branch on the way to entries, compared with the goal as far down as it lies."""

    branch: _Branch
    score: float
    """The likeness of the type alone; of a group, its whole likeness."""
    most: float
    """The highest likeness that a goal below may still have."""


class _Waiting(NamedTuple):
    """A branch that nobody has looked into yet, or the next entry of a group.

    The first is the one with the highest rank that may still come of it. At equal ranks branches
    come before entries, since they may hold some as good, and entries by their id.
    """

    minus_rank: float
    is_entry: bool
    id: str
    order: int
    """Tells apart what is equal so far."""
    branch: _Branch
    score: float
    at: int
    """The entry's index in its group."""


class Ranking(Iterator[Candidate]):
    """The entries of Eq. 4, best rank first: the likeness of goals times the entry's strength.

    d_γ is `Similarity`; here its fields are added level by level, and θ cuts branches off. The walk
    goes down where the highest rank may still be found, so that the first few entries cost the
    same however many there are.
    """

    def __init__(
        self, root: _Branch, goal: GoalSignature, similarity: Similarity, threshold: float
    ) -> None:
        self._similarity = similarity
        # each field of the goal beside a name that it is compared with
        self._object = cache(partial(similarity.field, similarity.object, goal.object))
        self._state = cache(partial(similarity.field, similarity.state, goal.state))
        self._destination = cache(
            partial(similarity.field, similarity.destination, goal.destination)
        )
        self._best = self._state(goal.state), self._destination(goal.destination)
        """The likeness, in state and destination, of a goal that has the same of both."""
        self._threshold = threshold
        self._waiting: list[_Waiting] = []
        self._order = count()
        self._found: list[Candidate] = []
        self._schemas: set[str] = set()
        """Schemas that came already: one may stand under several goals."""
        self._below: list[_Scored] = []
        """Branches that θ excluded, in the order in which the walk met them."""
        self._below_at: list[int] = []
        """Number of branches that θ had excluded when each entry was found."""
        self._explained: dict[tuple[int, int, int], tuple[Candidate, ...]] = {}
        self._position = 0
        self._ended = False
        self._begin(root, goal)

    def _begin(self, root: _Branch, goal: GoalSignature) -> None:
        """Compare the goals' types: no type is alike to every goal, an unknown one to none."""
        below_type = 1.0 - self._similarity.type
        for name, branch in root.below.items():
            if not name:
                self._push(_Scored(branch, _ALIKE_TO_ALL, 1.0 + below_type))
            elif UNKNOWN_GOAL not in (name, goal.type):
                score = self._similarity.type if name == goal.type else 0.0
                self._push(_Scored(branch, score, score + below_type))
        self._below_at.append(len(self._below))

    def again(self) -> Self:
        """The search from its start again; entries found already are not looked for twice."""
        other = object.__new__(type(self))  # `copy` takes three times as long, at every step
        vars(other).update(vars(self), _position=0, _ended=False)
        return other

    def __next__(self) -> Candidate:
        if self._position == len(self._found):
            self._ended = not self._find_one_more()
            if self._ended:
                raise StopIteration
        self._position += 1
        return self._found[self._position - 1]

    def _push(self, scored: _Scored) -> None:
        """Let a branch wait, unless θ excludes all that is below it."""
        branch, score, most = scored
        if most < self._threshold:
            if len(self._below) < _BELOW_KEPT:
                self._below.append(scored)
        elif branch.level is _Level.GROUP:
            self._push_entry(branch, score, 0)
        else:
            rank = min(most, 1.0) * branch.best
            heappush(self._waiting, _Waiting(-rank, False, "", next(self._order), branch, score, 0))

    def _push_entry(self, group: _Branch, score: float, at: int) -> None:
        """Let the group's entry at this index wait, if there is one."""
        if at < len(group.entries):
            entry = group.entries[at]
            rank = score * entry.strength
            order = next(self._order)
            heappush(self._waiting, _Waiting(-rank, True, entry.id, order, group, score, at))

    def _find_one_more(self) -> bool:
        """Find the next entry in rank; False if there is none."""
        while self._waiting:
            first = heappop(self._waiting)
            if not first.is_entry:
                for scored in self._look_into(first.branch, first.score):
                    self._push(scored)
                continue
            self._push_entry(first.branch, first.score, first.at + 1)
            entry = first.branch.entries[first.at]
            if isinstance(entry, VerifiedSchema):
                if entry.id in self._schemas:
                    continue
                self._schemas.add(entry.id)
            self._found.append(Candidate(entry, first.score, -first.minus_rank, KEPT))
            self._below_at.append(len(self._below))
            return True
        return False

    def _look_into(self, branch: _Branch, score: float) -> Iterator[_Scored]:
        """The branches of the next level: objects below a type, groups below an object."""
        if score == _ALIKE_TO_ALL:
            for each in branch.below.values():
                yield _Scored(each, _ALIKE_TO_ALL, _ALIKE_TO_ALL)
            return
        below_type = self._similarity.below_type
        if branch.level is _Level.TYPE:
            for name, of_object in branch.below.items():
                most = score + below_type(self._object(name), *self._best)
                yield _Scored(of_object, score, most)
        else:
            thing = self._object(branch.name)
            for (state, destination), group in branch.below.items():
                below = below_type(thing, self._state(state), self._destination(destination))
                yield _Scored(group, score + below, score + below)

    def missed(self, most: int) -> tuple[Candidate, ...]:
        """Some entries that θ kept out on the way here, the nearest first: for a page that
        explains a step.
        """
        excluded = len(self._below) if self._ended else self._below_at[self._position]
        key = (most, self._position, excluded)
        if key not in self._explained:
            nearest = nlargest(most, self._below[:excluded], key=attrgetter("most"))
            self._explained[key] = tuple(self._named_below(nearest))
        return self._explained[key]

    def _named_below(self, branches: Iterable[_Scored]) -> Iterator[Candidate]:
        """The best entry of each branch that θ excluded; schemas that were returned already are
        left out.
        """
        came: set[str] = set()
        if self._schemas:
            came = {each.entry.id for each in self._found[: self._position]}
        for scored in branches:
            group = self._nearest_group(scored)
            entry = group.branch.entries[0]
            if entry.id not in came:
                likeness = f"its goal is alike by {group.score:.2f}, less than"
                verdict = Verdict(Fate.BELOW, f"{likeness} {self._threshold:.2f}")
                yield Candidate(entry, group.score, group.score * entry.strength, verdict)

    def _nearest_group(self, scored: _Scored) -> _Scored:
        """The group below a branch whose goal is most alike."""
        while scored.branch.level is not _Level.GROUP:
            below = self._look_into(scored.branch, scored.score)
            scored = max(below, key=attrgetter("most"))
        return scored


def _sort_groups(root: _Branch) -> None:
    """Put the strongest entries first, in each group of one type, object and destination."""
    for branch in root.below.values():
        for leaf in branch.below.values():
            for group in leaf.below.values():
                group.entries.sort(key=lambda entry: (-entry.strength, entry.id))


class EpisodicMemory:
    """ℳ with its index.

    Never changes once made; the empty one is the neutral element: no experience.
    """

    def __init__(self, entries: Iterable[Entry] = (), world: str = "") -> None:
        self.entries: tuple[Entry, ...] = tuple(entries)
        self.world = world
        kinds = (*Kind, *(entry.kind for entry in self.entries))
        self._roots: dict[Kind, _Branch] = {kind: _Branch() for kind in kinds}
        self._schemas = _Branch()
        """Schemas by the goals they were tried for, each under all of them."""
        for entry in self.entries:
            self._index(entry)
        for root in (*self._roots.values(), self._schemas):
            _sort_groups(root)

    def _index(self, entry: Entry) -> None:
        """Put an entry under its goal; a schema under none, and under each it was tried for."""
        if not isinstance(entry, VerifiedSchema):
            _insert(entry, entry.goal_signature, self._roots[entry.kind])
        elif not entry.refuted:
            _insert(entry, _NO_GOAL, self._roots[entry.kind])
            for goal in sorted(entry.goals, key=str):
                _insert(entry, goal, self._schemas)

    def __len__(self) -> int:
        return len(self.entries)

    def recall(self, kind: Kind, goal: GoalSignature, retrieval: Retrieval) -> Ranking:
        """M_cand of Eq. 4, {m ∈ ℳ | d_γ(γ(g), γ(m)) ≥ θ}, best rank first, as far as the caller
        iterates.
        """
        by_goal = kind is Kind.SCHEMA and retrieval.schemas_by_goal
        root = self._schemas if by_goal else self._roots.get(kind) or _Branch()
        return Ranking(root, goal, retrieval.similarity, retrieval.threshold)


class Ranked(Iterator[Candidate]):
    """The candidates that a retriever of one's own found, as recall gives them."""

    def __init__(self, found: Iterable[tuple[int, float]], entries: Sequence[Entry]) -> None:
        self._found = iter(found)
        self._entries = entries

    def __next__(self) -> Candidate:
        index, score = next(self._found)
        return Candidate(self._entries[index], score, score, KEPT)

    def missed(self, _most: int) -> tuple[Candidate, ...]:
        """A retriever does not say what it passed over."""
        return ()


@dataclass(frozen=True)
class Recollection:
    """A memory and its retrieval."""

    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    retrieval: Retrieval = field(default_factory=Retrieval)
    retriever: Retriever | None = None
    """One of the user's own, in place of Eq. 4."""
    kept: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    """Values derived from this memory, for the steps to come."""

    def recall(self, kind: Kind, situation: Situation) -> Ranking | Ranked:
        """M_cand of Eq. 4, best first, cached by goal; by a custom retriever if there is one."""
        if self.retriever is not None:
            return self._retrieved(self.retriever, kind, situation)
        goal = situation.goal.signature
        key = (kind, goal)
        if key not in self._recalled:
            if len(self._recalled) >= _GOALS_KEPT:
                self._recalled.clear()
            self._recalled[key] = self.memory.recall(kind, goal, self.retrieval)
        return self._recalled[key].again()

    def _retrieved(self, retriever: Retriever, kind: Kind, situation: Situation) -> Ranked:
        """The entries that a retriever of the user's own finds."""
        worded = self._worded.get(kind)
        if worded is None or not worded.entries:
            return Ranked((), ())
        found = retriever(situation.goal, situation, worded.entries, worded.texts)
        return Ranked(found, worded.entries)

    @cached_property
    def _recalled(self) -> dict[tuple[Kind, GoalSignature], Ranking]:
        return {}

    @cached_property
    def _worded(self) -> Mapping[Kind, "_Worded"]:
        """The entries that prompts tell, by kind."""
        found: dict[Kind, _Worded] = {}
        for kind in told_kinds():
            entries = [entry for entry in self.memory.entries if entry.kind is kind]
            as_told = [Candidate(entry, 1.0, 1.0, KEPT) for entry in entries]
            found[kind] = _Worded(entries, [untagged_line(each).strip() for each in as_told])
        return found


class _Worded(NamedTuple):
    """Entries, each with its words in a prompt."""

    entries: Sequence[Entry]
    texts: Sequence[str]
