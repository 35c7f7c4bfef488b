"""Readings of a request, best first, and which of them is acted on as an episode goes."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from rpms.core.belief import Belief
from rpms.core.facts import kind_of
from rpms.core.goal import Goal
from rpms.core.memory import RememberedRequest

SEEN = math.log(3.0)
"""Evidence for a reading whose object was seen here, against one whose object was not."""
NOWHERE = 0.05
"""Probability that a thing is here which was in none of the places that were searched."""
SWITCH = 3.0
"""Steps that it costs to take another reading up, beside those of its plan."""
PRICED = 8
"""Readings whose plans are made to find the next one."""
SHOWN = 3
"""Readings that people are shown with a step."""

Price = Callable[[Goal], float]
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
    examples: tuple[tuple[float, RememberedRequest], ...] = field(default=(), compare=False, repr=False)

    @property
    def now(self) -> RequestReading:
        return self.ranked[self.taken]

    def following(self, why: str, belief: Belief, price: Price) -> Self | None:
        """The readings with the next one to try, in the order in which a search finds soonest what it looks for."""
        rest = weighed(self.ranked[self.taken + 1 :], belief)
        if not rest:
            return None
        near = sorted(rest[:PRICED], key=lambda each: -each.probability / (SWITCH + price(each.goal)))
        ranked = (*self.ranked[: self.taken + 1], *near, *rest[PRICED:])
        return replace(self, ranked=ranked, taken=self.taken + 1, why=why)

    def instead(self, belief: Belief, unsearched: float) -> Self | None:
        """The readings with another one taken, whose object was seen; `unsearched` is the share of places left."""
        now, seen = self.now, _kinds_seen(belief)
        if now.goal.object in seen:
            return None
        rest = self.ranked[self.taken + 1 :]
        own = now.score + math.log(unsearched + NOWHERE)
        better = [each for each in rest if each.goal.object in seen and each.score + SEEN > own]
        if not better:
            return None
        best = max(better, key=lambda each: each.score)
        others = weighed((now, *(each for each in rest if each is not best)), belief)
        why = f"{best.goal.object} was seen here, {now.goal.object} was not"
        return replace(self, ranked=(*self.ranked[: self.taken], best, *others), why=why)

    def lines(self) -> Iterator[str]:
        """The reading that is acted on and those after it, with the reason for a change, for people to read."""
        if self.why:
            yield f"another reading: {self.why}"
        later = self.ranked[self.taken :][:SHOWN]
        yield "read as: " + ", ".join(f"{each.goal.signature} ({each.probability:.0%})" for each in later)

    def record(self) -> list[dict[str, object]]:
        """The readings as JSON, for the step that begins with them."""
        return [
            {
                "goal": str(each.goal.signature),
                "probability": round(each.probability, 4),
                "reasons": list(each.reasons),
                **({"taken": True} if place == self.taken else {}),
            }
            for place, each in enumerate(self.ranked)
        ]


def _kinds_seen(belief: Belief) -> set[str]:
    return {kind_of(name) for names in belief.names.values() for name in names}


def weighed(readings: Iterable[RequestReading], belief: Belief) -> tuple[RequestReading, ...]:
    """Readings in their order with what is seen now, and probabilities that add up to 1."""
    seen = _kinds_seen(belief)
    found = [(each.score + SEEN * (each.goal.object in seen), each) for each in readings]
    if not found:
        return ()
    best = max(score for score, _ in found)
    total = sum(math.exp(score - best) for score, _ in found)
    ordered = sorted(found, key=lambda pair: -pair[0])
    return tuple(replace(each, probability=math.exp(score - best) / total) for score, each in ordered)
