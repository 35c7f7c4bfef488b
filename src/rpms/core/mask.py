"""Hides memories at random, to measure the effect of showing them.

An entry is hidden for a whole episode, drawn from seed, episode and entry alone. The draw matters only once an entry's
turn has come, which makes the two groups comparable.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from rpms.core.verdict import Candidate, Fate, Verdict

_DRAWS = 2**64


@dataclass(frozen=True)
class Mask:
    """Entries hidden in one episode. The default hides none."""

    rate: float = 0.0
    """Probability that an entry is hidden."""
    seed: int = 0
    episode: str = ""

    @cached_property
    def _verdict(self) -> Verdict:
        return Verdict(Fate.HIDDEN, f"each entry is hidden in {self.rate:.0%} of the episodes")

    def hides(self, entry: str) -> bool:
        """True if an entry, by its id, is hidden in this episode."""
        if not self.rate:
            return False
        text = "\x00".join((str(self.seed), self.episode, entry)).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") < self.rate * _DRAWS

    def over(self, candidate: Candidate) -> Candidate:
        """A candidate that is to be shown, or the same hidden."""
        return candidate.judged(self._verdict) if self.hides(candidate.entry.id) else candidate


NO_MASK = Mask()
