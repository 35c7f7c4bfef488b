"""Verdicts on retrieved memories, with their reasons."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self

from rpms.paper.memory import Entry, Stride


class Fate(StrEnum):
    """The ends a candidate can come to."""

    KEPT = "kept"
    WARNED = "warned"
    """Kept, with a warning for the model to judge by."""
    CUT = "kept in part"
    """The actions that break a rule were cut, and the rest is shown."""
    DROPPED = "dropped"
    """Its advice breaks an active rule."""
    FILTERED = "filtered by state"
    """It was learned in a state that is not like this one."""
    BELOW = "below θ"
    """Its goal is not enough like this one."""
    CROWDED = "crowded out"
    """Sound, but there was no room for it."""
    HIDDEN = "hidden by chance"
    """Sound, and hidden for the whole episode, so that what showing it does can be measured."""

    @property
    def shown(self) -> bool:
        return self is Fate.KEPT or self is Fate.WARNED or self is Fate.CUT

    @property
    def due(self) -> bool:
        """True if its turn came: it was shown, or only chance or lack of room kept it out."""
        return self.shown or self in (Fate.HIDDEN, Fate.CROWDED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fate with its reason: the rule and the fact that decided it."""

    fate: Fate
    reason: str = ""
    """The reason in words, for a person and for the warning in the prompt."""
    rule: str = ""
    """The id of the rule, if one decided it."""
    fact: str = ""
    """The fact in words, such as `fridge 1 is closed`."""


KEPT = Verdict(Fate.KEPT)


class Trail(NamedTuple):
    """The part of a snippet that is left to do here, by names of this room."""

    steps: tuple[Stride, ...]
    note: str = ""
    """The way, the thing sought and the remaining steps, in words."""
    price: float = 0.0
    """The steps of the way, and more where something has to be found."""
    seeks: str = ""
    """The kind of thing that has to be found before more of it can be bound."""
    stale: bool = False
    """True if it has been gone through several times without reaching its sub-goal."""
    followed: bool = False
    """True if it leads on from here step by step, from place to place."""

    def saying(self, *words: str) -> Self:
        """The trail with more words in its note."""
        return self._replace(note=", ".join(filter(None, (self.note, *words))))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that came to mind, with its verdict."""

    entry: Entry
    score: float
    """d_γ; 1 for an entry that is bound to no goal."""
    rank: float
    """Order of candidates: score times strength (retrieval weight and evidence); for schemas,
    their relevance now."""
    verdict: Verdict
    adapted: Trail | None = None
    """The entry's binding to the present room; None for an entry used as stored."""

    def judged(self, verdict: Verdict) -> Self:
        """The candidate with another verdict."""
        if verdict is self.verdict:
            return self
        return type(self)(self.entry, self.score, self.rank, verdict, self.adapted)


def reordered(
    candidates: Iterable[Candidate],
    window: int,
    order: Callable[[list[Candidate]], Iterable[Candidate]],
) -> Iterator[Candidate]:
    """Put the first candidates that are kept in another order; the rejected go ahead of them.

    Lazily beyond these.
    """
    stream = iter(candidates)
    passed: list[Candidate] = []
    for candidate in stream:
        if candidate.verdict.fate is not Fate.KEPT:
            yield candidate
            continue
        passed.append(candidate)
        if len(passed) >= window:
            break
    yield from order(passed)
    yield from stream


@dataclass(frozen=True)
class Mask:
    """Entries hidden in one episode, to measure the effect of showing them. The default hides none.

    The draw follows from seed, episode and entry alone. It matters only once an entry's turn has
    come, which makes the two groups comparable.
    """

    rate: float = 0.0
    """Probability that an entry is hidden."""
    seed: int = 0
    episode: str = ""

    def hides(self, entry: str) -> bool:
        """True if an entry, by its id, is hidden in this episode."""
        if not self.rate:
            return False
        text = "\x00".join((str(self.seed), self.episode, entry)).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=8).digest()
        return int.from_bytes(digest, "big") < self.rate * 2**64

    def over(self, candidate: Candidate) -> Candidate:
        """A candidate that is to be shown, or the same hidden."""
        if not self.hides(candidate.entry.id):
            return candidate
        reason = f"each entry is hidden in {self.rate:.0%} of the episodes"
        return candidate.judged(Verdict(Fate.HIDDEN, reason))


NO_MASK = Mask()
