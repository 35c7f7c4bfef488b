"""Readings of a request, ranked, and which of them is acted on as an episode goes."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Self

from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal
from rpms.reading.lexicon import NearRequest

SEEN = math.log(3.0)
"""Evidence for a reading whose object was seen here, compared with one whose object was not."""
NOWHERE = 0.05
"""Probability that a thing is here which was in none of the places that were searched."""
SWITCH = 3.0
"""Steps that it costs to change to another reading, in addition to those of its plan."""
PRICED = 8
"""Readings whose plans are made to find the next one."""
SHOWN = 3
"""Readings that people are shown with a step."""
PriceOf = Callable[[Goal], float]
"""Steps that a goal takes from here; infinite where nothing leads to it."""


@dataclass(frozen=True)
class RequestReading:
    """One goal that a request may mean."""

    goal: Goal
    score: float
    """Logarithm of how likely it is, up to a constant."""
    probability: float = 0.0
    """Among all readings that are kept."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Readings:
    """A request with its readings, best first, and the one that is acted on."""

    request: str
    ranked: tuple[RequestReading, ...]
    taken: int = 0
    why: str = ""
    """The reason that this one is acted on and not the one before; nothing at the start."""
    examples: tuple[NearRequest, ...] = field(default=(), compare=False, repr=False)
    widened: bool = False
    """True if kinds like one that is nowhere were added."""
    asked: bool = False
    """True if somebody was asked what is meant, since no reading was left."""
    fits_template: bool = False
    """True if the one reading is the world's own, of a request in its own words; what else it may
    mean was not read yet."""
    begun_with: RequestReading | None = None
    """The reading that was acted on first, if another one took its rank."""

    @property
    def first(self) -> RequestReading:
        """The reading that was acted on first."""
        return self.begun_with or self.ranked[0]

    @property
    def now(self) -> RequestReading:
        return self.ranked[self.taken]

    @property
    def is_last(self) -> bool:
        """True if no other reading is left."""
        return self.taken + 1 == len(self.ranked)

    def read_further(self, others: Sequence[RequestReading]) -> Self:
        """The world's own reading, and after it others, with scores on its scale."""
        own = self.now
        of_own_goal: list[float] = []
        rest: list[RequestReading] = []
        for each in others:
            if each.goal.signature == own.goal.signature:
                of_own_goal.append(each.score)
            else:
                rest.append(each)
        # the score that its own reading has on the scale of the others, or else their best one
        best = max(of_own_goal or [each.score for each in rest], default=own.score)
        rescored = [replace(each, score=own.score + each.score - best) for each in rest]
        return replace(self, ranked=(own, *rescored), fits_template=False)

    def widened_by(self, others: Iterable[RequestReading]) -> Self:
        """The readings, and after them those of others whose goals are new."""
        known = {each.goal.signature for each in self.ranked}
        new = [each for each in others if each.goal.signature not in known]
        return replace(self, ranked=(*self.ranked, *new), widened=True)

    def following(
        self, why: str, belief: Belief, price: PriceOf, unsearched: float = 1.0
    ) -> Self | None:
        """The readings with the next one taken; the order is that in which a search is likely to
        end soonest. `unsearched`: the share of places left.
        """
        next_one = self.taken + 1
        rest = weighed(self.ranked[next_one:], belief, unsearched)
        if not rest:
            return None

        def soonest(reading: RequestReading) -> float:
            return -reading.probability / (SWITCH + price(reading.goal))

        by_price = sorted(rest[:PRICED], key=soonest)
        ranked = (*self.ranked[:next_one], *by_price, *rest[PRICED:])
        return replace(self, ranked=ranked, taken=next_one, why=why)

    def instead(self, belief: Belief, unsearched: float) -> Self | None:
        """The readings with one taken whose object was seen; None if the present one stays.
        `unsearched`: the share of places left.
        """
        now = self.now
        seen = _kinds_seen(belief)
        if now.goal.object in seen:
            return None
        rest = self.ranked[self.taken + 1 :]
        found = [reading for reading in rest if reading.goal.object in seen]
        best = max(found, key=attrgetter("score"), default=None)
        if best is None or best.score + SEEN <= now.score + _chance_unseen(unsearched):
            return None
        left = [reading for reading in rest if reading is not best]
        others = weighed((now, *left), belief)
        why = f"{best.goal.object} was seen here, {now.goal.object} was not"
        ranked = (*self.ranked[: self.taken], best, *others)
        return replace(self, ranked=ranked, why=why, begun_with=self.first)

    def lines(self) -> Iterator[str]:
        """The reading that is acted on and those after it, with the reason for a change, for
        people to read.
        """
        if self.why:
            yield f"another reading: {self.why}"
        later = self.ranked[self.taken :][:SHOWN]
        shown = [f"{each.goal.signature} ({each.probability:.0%})" for each in later]
        yield "read as: " + ", ".join(shown)

    def record(self) -> list[dict[str, object]]:
        """The readings as JSON, for the step that begins with them."""
        rows: list[dict[str, object]] = []
        for index, each in enumerate(self.ranked):
            row: dict[str, object] = {
                "goal": str(each.goal.signature),
                "probability": round(each.probability, 4),
                "reasons": list(each.reasons),
            }
            if index == self.taken:
                row["taken"] = True
            rows.append(row)
        return rows


def _kinds_seen(belief: Belief) -> set[str]:
    seen: set[str] = set()
    for names in belief.names.values():
        seen.update(map(kind_of, names))
    return seen


def _chance_unseen(unsearched: float) -> float:
    """Evidence for a reading whose object was not seen, by the share of places left."""
    return math.log(unsearched + NOWHERE)


def weighed(
    readings: Iterable[RequestReading], belief: Belief, unsearched: float = 1.0
) -> tuple[RequestReading, ...]:
    """Readings with probabilities that add up to 1, by their scores and what is seen now; the
    likeliest first.

    `unsearched` is the share of places that were not looked at.
    """
    seen = _kinds_seen(belief)
    unseen = _chance_unseen(unsearched) if unsearched < 1.0 else 0.0

    def score_now(reading: RequestReading) -> float:
        return reading.score + (SEEN if reading.goal.object in seen else unseen)

    every = tuple(readings)
    best = max(map(score_now, every), default=0.0)
    total = sum(math.exp(score_now(reading) - best) for reading in every)
    ranked: list[RequestReading] = []
    for reading in sorted(every, key=score_now, reverse=True):
        probability = math.exp(score_now(reading) - best) / total
        ranked.append(replace(reading, probability=probability))
    return tuple(ranked)
