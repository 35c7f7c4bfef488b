"""Past successes of an action: which came to something, and how likely the next one is to."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.literals import has_names, mask_of, signed, slots_in, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Atom


class _PastRow(NamedTuple):
    """A past success: the bits of the facts that held, the kinds of its things, its outcome."""

    features: int
    kinds: Sequence[str]
    came: bool

    def is_like(self, bit: int, kinds: Sequence[str], slots: Iterable[int]) -> bool:
        """True if a fact held, with things of the same kinds in some slots."""
        if not self.features >> bit & 1:
            return False
        return all(self.kinds[slot] == kinds[slot] for slot in slots)


class _Count(NamedTuple):
    """Past successes, and those of them that came to something."""

    good: int
    tried: int


class _Split(NamedTuple):
    """A fact or a kind, and the likelihood of the outcome with it."""

    bit: int
    share: float


def _is_own(fact: Atom, book: Book) -> bool:
    """True for a fact about the action's things; of an action that has none, for a fact about
    nothing.
    """
    if book.slots:
        return bool(slots_in(fact))
    return not fact.args


class Past:
    """The last successes of an action: which of them came to something, with which facts and
    kinds.
    """

    def __init__(
        self, book: Book, came: Callable[[Attempt], bool], goal: str | None = None
    ) -> None:
        done = [attempt for attempt in book.successes if goal in (None, attempt.goal)]
        recent = done[-LIMITS.recent :]
        good = sum(map(came, recent))
        self.book = book
        self.usual = (good + 1) / (len(recent) + 2)
        """Likelihood of the outcome, whatever holds, by Laplace's rule of succession."""
        self.own = [bit for bit, fact in enumerate(book.facts) if _is_own(fact, book)]
        self._size = len(book.facts)
        self._mask = mask_of(self.own)
        self._rows = [self._row(attempt, came(attempt)) for attempt in recent]
        self.rare = self._rare_facts()
        """Facts that hardly ever held when it was done, or say what a thing is for: nobody
        knows what comes of it."""

    def _row(self, attempt: Attempt, came: bool) -> _PastRow:
        mask = self._mask
        literals = signed(attempt.true & mask, attempt.false & mask, self._size)
        return _PastRow(literals.holds, attempt.kinds, came)

    def _rare_facts(self) -> dict[int, Atom]:
        held: Counter[int] = Counter()
        for row in self._rows:
            held.update(bits(row.features & self._mask))
        often = max(LIMITS.known_past, LIMITS.sometimes * len(self._rows))
        rare: dict[int, Atom] = {}
        for bit in self.own:
            fact = self.book.facts[bit]
            if held[bit] < often or has_names(fact):
                rare[bit] = fact
        return rare

    def untried(self, true: int, kinds: Sequence[str], facts: Sequence[int]) -> float:
        """Highest likelihood of the outcome, over true facts hardly ever tried with other
        things of these kinds.

        It is as likely as usual, less for each time that nothing came of it; 0 where nothing is
        new.
        """
        most = 0.0
        for bit in facts:
            if not true >> bit & 1:
                continue
            others = {*range(len(kinds))} - slots_in(self.rare[bit])
            outcomes = [row.came for row in self._rows if row.is_like(bit, kinds, others)]
            if len(outcomes) < LIMITS.known_past:
                likelihood = (sum(outcomes) + self.usual) / (len(outcomes) + 1)
                most = max(most, likelihood)
        return most

    def share(self, true: int, false: int, kinds: Sequence[str], *, worst: bool = False) -> float:
        """Likelihood of the outcome now, by the facts and kinds that change it most, or with
        `worst` lower it most.
        """
        counts = self._shared_with(true, false, kinds)
        share = self.usual
        for _ in range(LIMITS.deep):
            split = self._best_split(counts, share, worst=worst)
            if split is None:
                break
            share = split.share
            counts = {mask: count for mask, count in counts.items() if mask >> split.bit & 1}
        return share

    def _shared_with(self, true: int, false: int, kinds: Sequence[str]) -> dict[int, _Count]:
        """Past successes by the facts and kinds that they have in common with now."""
        now = signed(true & self._mask, false & self._mask, self._size).holds
        found: dict[int, _Count] = {}
        for row in self._rows:
            alike = mask_of(slot for slot, kind in enumerate(kinds) if row.kinds[slot] == kind)
            mask = row.features & now | alike << 2 * self._size
            count = found.get(mask, _Count(0, 0))
            found[mask] = _Count(count.good + row.came, count.tried + 1)
        return found

    def _best_split(
        self, counts: Mapping[int, _Count], before: float, *, worst: bool
    ) -> _Split | None:
        """The fact or kind that changes the likelihood most; None if none does."""
        every = _total(counts.values())
        best: _Split | None = None
        most = 0.0
        for bit in bits(union(counts)):
            held = _total(count for mask, count in counts.items() if mask >> bit & 1)
            share = (held.good + self.usual) / (held.tried + 1)
            change = before - share if worst else held.tried * (share - before) ** 2
            if held.tried < every.tried and change > most:
                most = change
                best = _Split(bit, share)
        return best


def _total(counts: Iterable[_Count]) -> _Count:
    good = 0
    tried = 0
    for count in counts:
        good += count.good
        tried += count.tried
    return _Count(good, tried)
