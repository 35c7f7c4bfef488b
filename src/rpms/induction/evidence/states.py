"""States that answer each question once, some of them kept to be asked later."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rpms.induction.evidence.drawing import NamesAround
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief

Asked = tuple[str, tuple[str, ...]]  # A predicate and names


class AskedOnce(dict[Asked, "bool | None"]):
    """Answers of a belief, by predicate and names, each asked for once."""

    def __init__(self, belief: Belief) -> None:
        self.belief = belief

    def __missing__(self, asked: Asked) -> bool | None:
        value = self[asked] = self.belief.value(*asked)
        return value

    @cached_property
    def names_around(self) -> NamesAround:
        """The names that it knows, to draw from."""
        return NamesAround(self.belief)


class Split(NamedTuple):
    """The names of a pool with which a fact holds and those with which it fails, as bits."""

    true: int
    false: int


class Pool:
    """Names that may stand in one place of a fact, as bits in their order: what is so of all of
    them is compared at once.
    """

    def __init__(self, names: Sequence[str], answers: AskedOnce) -> None:
        self.names = names
        self.every = (1 << len(names)) - 1
        self.place = {name: place for place, name in enumerate(names)}
        self._answers = answers
        self._splits: dict[tuple[str, tuple[str | None, ...]], Split] = {}

    def split(self, predicate: str, args: tuple[str | None, ...]) -> Split:
        """Put each name where an argument is None, and split them by the answers."""
        key = predicate, args
        if key not in self._splits:
            self._splits[key] = self._split(predicate, args)
        return self._splits[key]

    def _split(self, predicate: str, args: tuple[str | None, ...]) -> Split:
        true = false = 0
        for place, name in enumerate(self.names):
            filled = tuple([name if arg is None else arg for arg in args])
            value = self._answers[predicate, filled]
            if value:
                true |= 1 << place
            elif value is not None:
                false |= 1 << place
        return Split(true, false)


class SeenState:
    """A belief of some episode. It does not change, and so it is asked nothing twice."""

    def __init__(self, episode: str, belief: Belief) -> None:
        self.episode = episode
        self.answers = AskedOnce(belief)
        self._pools: dict[tuple[str, ...], Pool] = {}

    def pool(self, names: Sequence[str]) -> Pool:
        """Some names that it knows, with what it has answered about them."""
        key = tuple(names)
        if key not in self._pools:
            self._pools[key] = Pool(key, self.answers)
        return self._pools[key]


@dataclass
class Reservoir:
    """Some of the beliefs of all episodes, evenly spread, to ask about later."""

    kept: list[SeenState] = field(default_factory=list)
    thinned: int = 0  # Times that every second belief went
    _every: int = 1  # Of so many beliefs one is kept
    _count: int = 0

    def add(self, episode: str, belief: Belief) -> None:
        """Keep a belief if it is its turn; once there are too many, every second one goes."""
        self._count += 1
        if self._count % self._every:
            return
        self.kept.append(SeenState(episode, belief))
        if len(self.kept) > LIMITS.states_kept:
            self.kept = self.kept[::2]
            self.thinned += 1
            self._every *= 2

    def __iter__(self) -> Iterator[SeenState]:
        return iter(self.kept)
