"""The episodes of a run in numbers, and remarks on them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from rpms.paper.episode import Usage
from rpms.store.episodes import EpisodeRow


@dataclass(frozen=True)
class RunSummary:
    """A run in numbers, all of them from episode files."""

    total: int
    """Tasks of the protocol."""
    rows: tuple[EpisodeRow, ...]
    """The finished episodes, in the order of the tasks."""

    @property
    def done(self) -> int:
        return len(self.rows)

    @property
    def won(self) -> int:
        return sum(row.won for row in self.rows)

    @property
    def success(self) -> float:
        """Success rate of the finished episodes; if a model or world broke down, an episode counts
        as not won.
        """
        return self.won / self.done if self.rows else 0.0

    @property
    def endings(self) -> Counter[str]:
        return Counter(str(row.ending) for row in self.rows)

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.rows)

    @property
    def infeasible(self) -> int:
        return sum(row.infeasible for row in self.rows)

    @property
    def usage(self) -> Usage:
        return sum((row.usage for row in self.rows), start=Usage())


CUT = "the answer was cut at the limit of new tokens"
"""What is said of such a step."""
MOST_TRUNCATED = 0.02
"""Share of answers cut at the limit of new tokens above which results are doubtful."""


@dataclass(frozen=True, slots=True)
class CutAnswers:
    """Answers of some episodes that were cut at the limit of new tokens."""

    count: int
    answers: int

    @classmethod
    def of(cls, rows: Iterable[EpisodeRow]) -> Self:
        count = answers = 0
        for row in rows:
            count += row.truncated
            answers += row.steps
        return cls(count, answers)

    @property
    def too_many(self) -> bool:
        return self.count > MOST_TRUNCATED * self.answers

    @property
    def numbers(self) -> str:
        return f"{self.count:,} of {self.answers:,} ({self.count / max(1, self.answers):.1%})"

    @property
    def words(self) -> str:
        """The kind of damage in words, and what to do if there are too many."""
        what = "answers were cut at the limit of new tokens"
        return f"{what}: give more with --max-tokens" if self.too_many else what


@dataclass(frozen=True, slots=True)
class MemoryShown:
    """Steps of some episodes whose prompt showed memories."""

    count: int
    steps: int

    @classmethod
    def of(cls, rows: Iterable[EpisodeRow]) -> Self:
        """Episodes in which it was not counted are left out."""
        count = steps = 0
        for row in rows:
            if row.remembered is not None:
                count += row.remembered
                steps += row.steps
        return cls(count, steps)

    @property
    def rare(self) -> bool:
        """True if most steps were decided without memories: they say little of memory."""
        return 2 * self.count < self.steps

    @property
    def numbers(self) -> str:
        return f"{self.count:,} of {self.steps:,}"


def lack_of_room(rows: Sequence[EpisodeRow]) -> tuple[str, ...]:
    """Blocks left out of prompts for lack of context, in words."""
    steps = crowded = shortened = 0
    for row in rows:
        steps += row.steps
        crowded += row.crowded
        shortened += row.shortened
    words: list[str] = []
    if crowded:
        no_room = "left out rules or memories: the context window has no room"
        words.append(f"{crowded:,} of {steps:,} prompts {no_room}")
    if shortened:
        to_fit = "left out the oldest turns to fit the context window"
        words.append(f"{shortened:,} of {steps:,} prompts {to_fit}")
    return tuple(words)
