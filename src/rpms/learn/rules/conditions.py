"""Attempts looked at with another question than whether the world refused them: did it score, did it get there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.core.facts import Atom, Clause, Literal
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.model import literal_of
from rpms.learn.rules.needs import Needs, bits
from rpms.learn.rules.thresholds import LIMITS


@dataclass(frozen=True, slots=True)
class Circumstance:
    """When an action does what was asked, over its slots."""

    literals: tuple[Literal, ...]
    good: int
    """Attempts that came out well with it."""
    bad: int
    """Attempts with it that did not."""
    witnesses: tuple[Attempt, ...] = ()

    @property
    def share(self) -> float:
        return self.good / max(1, self.good + self.bad)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        return tuple(Clause((literal,)) for literal in self.literals)


@dataclass(eq=False)
class Explained(Needs):
    """Needs of which kinds explain nothing: with names that never come up twice, they would explain everything."""

    preferred: frozenset[str] = frozenset()
    """Slots whose facts are kept rather than others that say the same."""

    @cached_property
    def _explainable(self) -> list[tuple[Attempt, int, int]]:
        return self.losses

    def _worth(self, bit: int) -> tuple[int, ...]:
        literal = literal_of(self.book.facts, bit)
        return (not self.preferred.isdisjoint(literal.atom.args), *super()._worth(bit))


def view(book: Book, attempts: Iterable[Attempt], well: Callable[[Attempt], bool]) -> Book:
    """A book of some attempts, in which those that did not come out well count as refused."""
    found = replace(
        book, attempts=[], imagined=[], worked=type(book.worked)(), refused=type(book.refused)(), _known=set(book.facts)
    )
    for attempt in attempts:
        found.attempts.append(attempt._replace(refused=not well(attempt)))
        (found.worked if well(attempt) else found.refused)[attempt.kinds] += 1
    return found


def condition(book: Book, preferred: frozenset[str] = frozenset()) -> Circumstance | None:
    """The fewest facts that tell the attempts that came out well from the others, where they mostly do."""
    needs = Explained(book, tolerated=LIMITS.exceptions, preferred=preferred)
    if len(needs.wins) < LIMITS.fewest_good:
        return None
    wanted = needs.explaining
    bad = sum(row[1] & wanted == wanted for row in needs.losses)
    literals = tuple(literal_of(book.facts, bit) for bit in bits(wanted))
    found = Circumstance(literals, len(needs.wins), bad, tuple(row[0] for row in needs.wins[:5]))
    return found if found.share >= LIMITS.often else None


def conditions(book: Book, least: float = LIMITS.often, kept: float = 0.0) -> Iterator[Circumstance]:
    """When it came out well, as conditions each of which mostly tells; what came out well by luck is covered by none.

    Sequential covering, as FOIL does it: facts are added by their gain, which weighs how much the share of what came
    out well rises by how much is still covered; what a condition covers is set aside before the next one is sought,
    and so is what it may have covered as far as anybody knew: luck would explain that by something else.

    `least`: the share of what comes out well with a condition. `kept`: of what came out well, the share that each fact
    has to keep.
    """
    size, facts = len(book.facts), book.facts
    kinds = _kinds(book)
    rows = [
        (attempt, attempt.true | attempt.false << size | _of_kinds(attempt, kinds) << 2 * size)
        for attempt in book.attempts
    ]
    left = [row for row in rows if not row[0].refused]
    lost = [row for row in rows if row[0].refused]
    further = False
    while len(left) >= LIMITS.fewest_good:
        mask = _grown(left, lost, _weights(book), kinds, (least, kept))
        covered = [row for row in left if row[1] & mask == mask]
        bad = sum(row[0].refused and row[1] & mask == mask for row in rows)
        literals = tuple(
            literal_of(facts, bit) if bit < 2 * size else Literal(Atom("kind", kinds[bit - 2 * size]))
            for bit in bits(mask)
        )
        found = Circumstance(literals, len(covered), bad, tuple(row[0] for row in covered[:5]))
        luck = (len(left) / (len(left) + len(lost))) ** len(covered) if lost else 0.0
        named = any(literal.atom.args and not any(map(str.isdigit, literal.atom.args)) for literal in literals)
        lucky = luck > LIMITS.by_chance / (len(facts) if named else 1)  # of fixed names, there are many to choose from
        if len(covered) < LIMITS.fewest_good or found.share < least or (further and lucky):
            return
        yield found
        least, further = max(least, LIMITS.mostly), True
        left = [row for row in left if _refutes(row[0], mask, size, kinds)]


def _refutes(attempt: Attempt, mask: int, size: int, kinds: Sequence[tuple[str, str]]) -> bool:
    """Whether something that a condition asks for was known to be otherwise in an attempt."""
    others = (1 << len(kinds)) - 1 & ~_of_kinds(attempt, kinds)
    return bool(mask & (attempt.false | attempt.true << size | others << 2 * size))


def _kinds(book: Book) -> list[tuple[str, str]]:
    """Slots with the kinds that came out well in them several times; none where fixed names do not matter."""
    if book.plain:
        return []
    counts = Counter(
        (str(slot), kind) for attempt in book.attempts if not attempt.refused for slot, kind in enumerate(attempt.kinds)
    )
    return [pair for pair, count in counts.most_common(LIMITS.most_kinds) if count >= LIMITS.fewest_good]


def _of_kinds(attempt: Attempt, kinds: Sequence[tuple[str, str]]) -> int:
    return sum(1 << place for place, (slot, kind) in enumerate(kinds) if attempt.kinds[int(slot)] == kind)


def _grown(
    good: Sequence[tuple[Attempt, int]],
    bad: Sequence[tuple[Attempt, int]],
    facts: Sequence[_Weighed],
    kinds: Sequence[tuple[str, str]],
    shares: tuple[float, float],
) -> int:
    """Facts that most of what came out well shares, and little else; of equal ones, those about the action's things.

    What two things have to do with each other may show only in two facts together, one of each: what is to be done to
    the one, and what the other is. Where what comes out well is often enough (the first of the `shares`), a fact about
    anything else is added only if it does not just happen to hold; each keeps the second share of what came out well.
    """
    often, least = shares
    size, mask = len(facts), 0
    good, bad = list(good), list(bad)
    sides = [fact.side for fact in facts] * 2 + [slot for slot, _ in kinds]
    while bad:
        share = len(good) / (len(good) + len(bad))
        ever, ranked, choice = 0, (0.0, False, 0), 0
        for _, true in good:
            ever |= true
        hits: dict[int, int] = {}
        for bit in bits(ever & ~mask):
            hits[bit] = sum(row[1] >> bit & 1 for row in good)
            kept = hits[bit] / (hits[bit] + sum(row[1] >> bit & 1 for row in bad))
            told = bit >= 2 * size
            worth = hits[bit] * log2(kept / share) * (LIMITS.about_others if told else facts[bit % size].weight)
            rank = (worth, not told and bit < size, -bit)
            enough = max(LIMITS.fewest_good if told else facts[bit % size].enough, least * len(good))
            own = not told and facts[bit % size].weight >= 1
            telling = share < often or own or _surprise(hits[bit], kept, share) > log(len(facts) / LIMITS.by_chance)
            if telling and hits[bit] >= enough and kept >= share + LIMITS.gain and rank > ranked:
                ranked, choice = rank, 1 << bit
        several = [bit for bit, count in hits.items() if sides[bit] and count >= LIMITS.fewest_good]
        for one, other in combinations(several, 2):
            if sides[one] == sides[other] or min(hits[one], hits[other]) * -log2(share) * LIMITS.pair <= ranked[0]:
                continue
            both = 1 << one | 1 << other
            count = sum(row[1] & both == both for row in good)
            kept = count / max(1, count + sum(row[1] & both == both for row in bad))
            worth = count * log2(kept / share) * LIMITS.pair if kept else 0.0
            rank = (worth, one < size, -one)
            if count >= max(LIMITS.fewest_good, least * len(good)) and kept >= share + LIMITS.gain and rank > ranked:
                ranked, choice = rank, both
        if not choice:
            break
        mask |= choice
        good = [row for row in good if row[1] & choice == choice]
        bad = [row for row in bad if row[1] & choice == choice]
    return mask


def _surprise(hits: int, kept: float, share: float) -> float:
    """How unlikely, in nats, it is that so many came out well by chance, where a share of all does."""
    rest = (1 - kept) * log((1 - kept) / (1 - share)) if kept < 1 else 0.0
    return hits / kept * (kept * log(kept / share) + rest)


class _Weighed(NamedTuple):
    """What a fact is worth in a condition."""

    weight: float
    enough: int
    """Attempts that have to have come out well with it."""
    side: str
    """The slot that it is about, where it is about just one."""


def _weights(book: Book) -> list[_Weighed]:
    """What each fact of a book is worth, in their order."""
    words, found = set(book.template.split()), []
    for atom in book.facts:
        slots = [arg for arg in atom.args if arg.isdigit()]
        weight = 1.0 if len(slots) == len(atom.args) else LIMITS.about_others if slots else LIMITS.about_names
        weight = LIMITS.own_word if slots and not words.isdisjoint(atom.args) else weight
        enough = LIMITS.fewest_good if slots or not atom.args else LIMITS.good_by_name
        found.append(_Weighed(weight, enough, slots[0] if len(slots) == 1 else ""))
    return found
