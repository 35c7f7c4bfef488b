"""Attempts looked at with another question than whether the world refused them: did it score, did it get there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.core.facts import Atom, Clause, Literal
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.needs import Needs, bits
from rpms.learn.rules.thresholds import LIMITS
from rpms.store.evidence import Witness


@dataclass(frozen=True, slots=True)
class Circumstance:
    """Facts over its slots under which an action does what was asked."""

    literals: tuple[Literal, ...]
    good: int  # Attempts that came out well with it
    bad: int  # Attempts with it that did not
    witnesses: tuple[Witness, ...] = ()

    @property
    def share(self) -> float:
        return self.good / max(1, self.good + self.bad)

    @property
    def clauses(self) -> tuple[Clause, ...]:
        return tuple(Clause((literal,)) for literal in self.literals)


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
    """The fewest facts that tell the attempts that came out well from the others, where they mostly do.

    `preferred`: the slots whose facts are kept rather than others that say the same.
    """
    needs = Needs(book, tolerated=LIMITS.exceptions, kindless=True, preferred=preferred)
    if len(needs.wins) < LIMITS.fewest_good:
        return None
    wanted = needs.explaining
    bad = sum(row[1] & wanted == wanted for row in needs.losses)
    steps = tuple(row[0].witness for row in needs.wins[: LIMITS.witnesses])
    found = Circumstance(needs.literals(wanted), len(needs.wins), bad, steps)
    return found if found.share >= LIMITS.often else None


class Feature(NamedTuple):
    """A fact, its negation or a kind, as one bit that a condition may ask for."""

    literal: Literal
    weight: float
    enough: int  # Good attempts that have to have it
    side: str  # The slot that it is about, where it is about just one
    own: bool  # About the action's own things, not about anything by its name
    positive: bool


class _Row(NamedTuple):
    """An attempt, and the bits of the features that it has."""

    attempt: Attempt
    bits: int


class Shares(NamedTuple):
    """Demands on a condition: the share of attempts with it that come out well, and of good ones that a fact keeps."""

    often: float
    kept: float


def conditions(book: Book, least: float = LIMITS.often, kept: float = 0.0) -> Iterator[Circumstance]:
    """Conditions under which it came out well, by sequential covering as FOIL does it.

    What a condition covers is set aside before the next one is sought, and so is what it may have covered as far as
    anybody knew: luck would explain that by something else. `least` and `kept`: see `Shares`.
    """
    size, kinds = len(book.facts), _kinds(book)
    features = _features(book, kinds)
    rows = [_Row(each, each.true | each.false << size | _of_kinds(each, kinds) << 2 * size) for each in book.attempts]
    left = [row for row in rows if not row.attempt.refused]
    lost = [row for row in rows if row.attempt.refused]
    further = False
    while len(left) >= LIMITS.fewest_good:
        mask = grow_condition(left, lost, features, Shares(least, kept))
        covered = [row for row in left if row.bits & mask == mask]
        bad = sum(row.attempt.refused and row.bits & mask == mask for row in rows)
        literals = tuple(features[bit].literal for bit in bits(mask))
        steps = tuple(row.attempt.witness for row in covered[: LIMITS.witnesses])
        found = Circumstance(literals, len(covered), bad, steps)
        luck = (len(left) / (len(left) + len(lost))) ** len(covered) if lost else 0.0
        named = any(literal.atom.args and not any(map(str.isdigit, literal.atom.args)) for literal in literals)
        lucky = luck > LIMITS.by_chance / (size if named else 1)  # of fixed names, there are many to choose from
        if len(covered) < LIMITS.fewest_good or found.share < least or (further and lucky):
            return
        yield found
        least, further = max(least, LIMITS.mostly), True
        left = [row for row in left if _refutes(row.attempt, mask, size, kinds)]


def _refutes(attempt: Attempt, mask: int, size: int, kinds: Sequence[tuple[str, str]]) -> bool:
    """True if something that a condition asks for was known to be otherwise in an attempt."""
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


def _features(book: Book, kinds: Sequence[tuple[str, str]]) -> list[Feature]:
    """Every fact, then every negation, then every kind."""
    words, facts = set(book.template.split()), list[Feature]()
    for atom in book.facts:
        slots = [arg for arg in atom.args if arg.isdigit()]
        weight = 1.0 if len(slots) == len(atom.args) else LIMITS.about_others if slots else LIMITS.about_names
        weight = LIMITS.own_word if slots and not words.isdisjoint(atom.args) else weight
        enough = LIMITS.fewest_good if slots or not atom.args else LIMITS.good_by_name
        side = slots[0] if len(slots) == 1 else ""
        facts.append(Feature(Literal(atom), weight, enough, side, weight >= 1, positive=True))
    negated = [each._replace(literal=Literal(each.literal.atom, negated=True), positive=False) for each in facts]
    told = [
        Feature(
            Literal(Atom("kind", pair)), LIMITS.about_others, LIMITS.fewest_good, pair[0], own=False, positive=False
        )
        for pair in kinds
    ]
    return [*facts, *negated, *told]


def foil_gain(hits: int, share: float, before: float) -> float:
    """FOIL gain: the good attempts still covered, times the bits by which the share of good ones has risen."""
    return hits * log2(share / before) if share else 0.0


def grow_condition(good: Sequence[_Row], bad: Sequence[_Row], features: Sequence[Feature], shares: Shares) -> int:
    """Add the fact, or pair of facts, with the highest weighed FOIL gain until no bad attempt is covered."""
    mask = 0
    while bad:
        choice = _best_fact(good, bad, features, shares, mask)
        choice = max(choice, _best_pair(good, bad, features, shares, (mask, choice)))
        if not choice.mask:
            break
        mask |= choice.mask
        good = [row for row in good if row.bits & choice.mask == choice.mask]
        bad = [row for row in bad if row.bits & choice.mask == choice.mask]
    return mask


class _Choice(NamedTuple):
    """A fact or a pair of facts to add; the greatest is the best: of equal gain, facts before negations and kinds."""

    gain: float
    positive: bool
    place: int
    mask: int


def _hits(good: Sequence[_Row], mask: int) -> dict[int, int]:
    """The good attempts that have each feature that a condition does not ask for yet."""
    ever = 0
    for row in good:
        ever |= row.bits
    return {bit: sum(row.bits >> bit & 1 for row in good) for bit in bits(ever & ~mask)}


def _best_fact(
    good: Sequence[_Row], bad: Sequence[_Row], features: Sequence[Feature], shares: Shares, mask: int
) -> _Choice:
    """The fact to add; where enough comes out well, one about anything else only if it does not just happen to hold."""
    best, before = _Choice(0.0, False, 0, 0), len(good) / (len(good) + len(bad))
    for bit, hits in _hits(good, mask).items():
        feature = features[bit]
        share = hits / (hits + sum(row.bits >> bit & 1 for row in bad))
        choice = _Choice(foil_gain(hits, share, before) * feature.weight, feature.positive, -bit, 1 << bit)
        enough = hits >= max(feature.enough, shares.kept * len(good)) and share >= before + LIMITS.gain
        chance = log(sum(each.positive for each in features) / LIMITS.by_chance) if features else 0.0
        telling = before < shares.often or feature.own or _surprise(hits, share, before) > chance
        if choice > best and enough and telling:
            best = choice
    return best


def _best_pair(
    good: Sequence[_Row], bad: Sequence[_Row], features: Sequence[Feature], shares: Shares, so_far: tuple[int, _Choice]
) -> _Choice:
    """Two facts about different things that tell only together: what is to be done to one, and what the other is."""
    mask, best = so_far
    hits, before = _hits(good, mask), len(good) / (len(good) + len(bad))
    several = [bit for bit, count in hits.items() if features[bit].side and count >= LIMITS.fewest_good]
    for one, other in combinations(several, 2):
        most = min(hits[one], hits[other]) * -log2(before) * LIMITS.pair
        if features[one].side == features[other].side or most <= best.gain:
            continue
        both = 1 << one | 1 << other
        count = sum(row.bits & both == both for row in good)
        share = count / max(1, count + sum(row.bits & both == both for row in bad))
        choice = _Choice(foil_gain(count, share, before) * LIMITS.pair, features[one].positive, -one, both)
        enough = max(LIMITS.fewest_good, shares.kept * len(good))
        if choice > best and count >= enough and share >= before + LIMITS.gain:
            best = choice
    return best


def _surprise(hits: int, share: float, before: float) -> float:
    """Nats by which it is unlikely that so many came out well by chance, where a share of all does before."""
    rest = (1 - share) * log((1 - share) / (1 - before)) if share < 1 else 0.0
    return hits / share * (share * log(share / before) + rest)
