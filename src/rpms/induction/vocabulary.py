"""The facts that a world's belief answers, and some of the beliefs that were seen, to ask later."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.rules import Predicate


class AskedOnce(dict[tuple[str, tuple[str, ...]], "bool | None"]):
    """Answers of a belief, by predicate and names, each asked for once."""

    def __init__(self, belief: Belief) -> None:
        self.belief = belief

    def __missing__(self, asked: tuple[str, tuple[str, ...]]) -> bool | None:
        value = self[asked] = self.belief.value(*asked)
        return value


class SeenState(NamedTuple):
    """A belief of some episode."""

    episode: str
    belief: Belief


@dataclass
class Reservoir:
    """Some of the beliefs of all episodes, evenly spread, to ask about later."""

    kept: list[SeenState] = field(default_factory=list)
    _every: int = 1  # Of so many beliefs one is kept
    _count: int = 0

    def add(self, seen: SeenState) -> None:
        """Keep a belief if it is its turn; once there are too many, every second one goes."""
        self._count += 1
        if self._count % self._every:
            return
        self.kept.append(seen)
        if len(self.kept) > LIMITS.states_kept:
            self.kept = self.kept[::2]
            self._every *= 2

    def __iter__(self) -> Iterator[SeenState]:
        return iter(self.kept)


@dataclass(frozen=True)
class Vocabulary:
    """The facts that a world's belief answers, without those that follow from kinds: these are
    to be learned.
    """

    predicates: Mapping[str, Predicate]
    positive: bool = False  # True if no action needs a fact to be false
    decisive: int = LIMITS.decisive  # Refusals with one fact alone false that make it necessary
    seen: Reservoir = field(default_factory=Reservoir, compare=False)
    _answers: dict[int, AskedOnce] = field(default_factory=dict, compare=False)
    """Of the last beliefs, by identity."""

    def answers(self, belief: Belief) -> AskedOnce:
        """Answers of a belief.

        Several actions ask one the same: of fixed names, before a step and after the last.
        """
        if id(belief) not in self._answers:
            if len(self._answers) >= LIMITS.beliefs_asked:
                del self._answers[next(iter(self._answers))]
            self._answers[id(belief)] = AskedOnce(belief)
        return self._answers[id(belief)]

    @cached_property
    def placing(self) -> list[Predicate]:
        """The predicates that say where the agent is: each holds of one place at a time."""
        return [
            each
            for each in self.predicates.values()
            if each.exclusive == "always" and len(each.args) == 1
        ]

    @cached_property
    def companions(self) -> frozenset[str]:
        """The predicates of two that say which facts of an exclusive one hold together."""
        return frozenset(each.exclusive for each in self.predicates.values())
