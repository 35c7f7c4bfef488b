"""What is open about an action, ready to be asked of many states."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rpms.core.rules import ActionSchema
from rpms.learn.rules.attempts import Book
from rpms.learn.rules.conclude import FEW
from rpms.learn.rules.consequences import SEVERAL
from rpms.learn.rules.induce import DECISIVE, Needs, bits
from rpms.learn.rules.kinds import REFUSED_KINDS

_OFTEN = 200
"""Successes of an action from which on further kinds matter ever less."""

_SELDOM = 40
"""Successes of an action with which it comes up half as often as one that never succeeded."""


@dataclass
class Question:
    """What is open about an action, ready to be asked of many states."""

    schema: ActionSchema
    book: Book
    needs: Needs = field(init=False)
    decisive: dict[int, int] = field(init=False)
    """Refusals that show that a fact is needed, by its bit."""
    faultless: Counter[tuple[str, ...]] = field(init=False)
    """Refusals that only the kinds can explain."""
    fit: list[set[str]] = field(init=False)
    """For each slot, the kinds that have worked in it."""
    wanted: int = field(init=False)
    """The best guess at what it needs."""
    unusual: int = field(init=False)
    """Facts about its things with which it has hardly ever succeeded: who knows what it does to them."""
    rare: float = field(init=False)
    interest: float = field(init=False)
    """How often it is to come up, compared with other actions: an action of nothing has nothing to be settled."""
    asked: Counter[object] = field(default_factory=Counter)
    """What was tried since conclusions were drawn, by what it was to settle."""

    def __post_init__(self) -> None:
        self.needs = needs = Needs(self.book)
        self.decisive = {bit: len(needs.decisive(bit)) for bit in bits(needs.explaining)}
        self.faultless = Counter(attempt.kinds for attempt in needs.faultless)
        self.fit = [{kinds[slot] for kinds in self.book.worked} for slot in range(len(self.book.slots))]
        successes = len(self.book.successes)
        self.wanted = needs.required if successes < FEW else needs.explaining
        usual = Counter(bit for _, true, _ in needs.wins for bit in bits(true))
        self.unusual = sum(1 << bit for bit in range(2 * needs.size) if usual[bit] < SEVERAL and needs.of_slots(bit))
        self.rare = min(1.0, _OFTEN / max(1, successes))
        self.interest = 1 / (1 + successes / _SELDOM) if self.book.slots else 0.0

    def rarity(self, true: int, false: int) -> tuple[float, int]:
        """How seldom it was done where such facts are so, unless one that explains refusals is false, and which."""
        holds, fails = true | false << self.needs.size, false | true << self.needs.size
        unusual = holds & self.unusual
        return (1 / (1 + self.asked[unusual]) if unusual and not fails & self.needs.explaining else 0.0), unusual

    def gain(self, true: int, false: int, kinds: tuple[str, ...]) -> tuple[float, object]:
        """How much would be learned by doing it where some facts are true and some false, and what about."""
        size, needs = self.needs.size, self.needs
        holds, fails = true | false << size, false | true << size
        missing = self.wanted & ~holds
        fits = all(kind in fit for kind, fit in zip(kinds, self.fit, strict=True))
        if missing:
            single = missing & (missing - 1) == 0 and fails & missing
            if not single or not fits or (needs.paired and not self.book.worked[kinds]):
                return 0.0, None
            known = self.decisive.get(missing.bit_length() - 1, 0) + self.asked[missing]
            return (4.0 / (1 + known) if known < 2 * DECISIVE else 0.0), missing
        open_ = needs.required & ~holds
        if open_:
            # what was never seen to be missing alone, and is missing now
            known = self.asked[open_]
            return (5.0 / (1 + known) if fits and fails & open_ else 0.0), open_
        worked, tried = self.book.worked[kinds], self.faultless.get(kinds, 0) + self.asked[kinds]
        if not worked and tried < REFUSED_KINDS:
            return (4.0 if not fits else 3.0) / (1 + tried) * self.rare, kinds
        return self.rare / (1 + worked + self.asked[kinds]), kinds
