"""Conditions under which attempts came out well, found as FOIL finds them.

The question is another than whether the world refused an attempt: did it score, did it get there,
did it show something.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.induction.attempts import Attempt, Book
from rpms.induction.literals import bits, signed, union
from rpms.induction.needs import Needs
from rpms.induction.thresholds import LIMITS
from rpms.induction.witnesses import distinct
from rpms.logic.facts import Atom, Literal
from rpms.store.evidence import Support, Witness

_KIND = "kind"


@dataclass(frozen=True, slots=True)
class Circumstance(Support):
    """Facts over its slots under which an action does what was asked, and the attempts that
    came out well with them.
    """

    literals: tuple[Literal, ...]

    @property
    def share(self) -> float:
        return self.confirmed / max(1, self.confirmed + self.against)


def circumstance(
    literals: tuple[Literal, ...], good: Sequence[Witness], bad: int = 0
) -> Circumstance:
    """Facts with the steps that came out well with them, of which some are kept, and the number
    of those that did not.
    """
    witnesses = tuple(good[: LIMITS.witnesses])
    return Circumstance(literals, confirmed=len(good), against=bad, witnesses=witnesses)


def view(book: Book, attempts: Iterable[Attempt], well: Callable[[Attempt], bool]) -> Book:
    """A book of some attempts, in which those that did not come out well count as refused."""
    rows = [attempt._replace(refused=not well(attempt)) for attempt in attempts]
    worked = Counter(row.kinds for row in rows if not row.refused)
    refused = Counter(row.kinds for row in rows if row.refused)
    return replace(
        book, attempts=rows, imagined=[], worked=worked, refused=refused, _known=set(book.facts)
    )


def without_repeats(book: Book) -> Book:
    """A book without attempts that only repeat another: a process is no surer for these."""
    return replace(book, attempts=distinct(book.attempts))


def condition(book: Book, preferred: frozenset[str] = frozenset()) -> Circumstance | None:
    """The fewest facts that tell the attempts that came out well from the others, where they
    mostly do.
    """
    needs = Needs(book, tolerated=LIMITS.exceptions, kindless=True, preferred=preferred)
    if len(needs.wins) < LIMITS.fewest_good:
        return None
    wanted = needs.explaining
    good = [row.attempt.witness for row in needs.wins]
    bad = sum(row.holds & wanted == wanted for row in needs.losses)
    found = circumstance(needs.literals(wanted), good, bad)
    return found if found.share >= LIMITS.often else None


class _Feature(NamedTuple):
    """A fact, its negation or a kind, as one bit that a condition may ask for."""

    literal: Literal
    weight: float
    """At least 1 if it is about the action's own things, not about anything by its name."""
    enough: int  # Good attempts that have to have it
    only_slot: str  # The slot that it is about, where it is about just one
    positive: bool


class _KindInSlot(NamedTuple):
    """A kind of things that came out well in a slot."""

    slot: int
    kind: str


class _Row(NamedTuple):
    """An attempt, and the bits of the features that it has and that it is known not to have."""

    attempt: Attempt
    has: int
    lacks: int


def conditions(
    book: Book, least: float = LIMITS.often, kept: float = 0.0
) -> Iterator[Circumstance]:
    """Conditions under which it came out well, by sequential covering as FOIL does it.

    What a condition covers is set aside before the next one is sought, and so is what it may have
    covered as far as anybody knew: luck would explain that by something else. `least`: the share of
    attempts with a condition that come out well; `kept`: the share of good ones that each fact in
    it keeps.
    """
    kinds = _kinds(book)
    features = list(_features(book, kinds))
    size = len(book.facts)
    uncovered = [_row(attempt, size, kinds) for attempt in book.successes]
    bad = [_row(attempt, size, kinds) for attempt in book.attempts if attempt.refused]
    is_first = True
    while len(uncovered) >= LIMITS.fewest_good:
        grown = _Growth(features, least, kept).condition(uncovered, bad)
        found = _circumstance(grown, features)
        if found.confirmed < LIMITS.fewest_good or found.share < least:
            return
        if not is_first and _is_luck(found, len(uncovered), len(bad), size):
            return
        yield found
        is_first = False
        least = max(least, LIMITS.mostly)
        uncovered = [row for row in uncovered if row.lacks & grown.mask]


class _Grown(NamedTuple):
    """A condition as bits of features, and the attempts that meet it."""

    mask: int
    good: Sequence[_Row]
    bad: Sequence[_Row]

    @property
    def share(self) -> float:
        return len(self.good) / (len(self.good) + len(self.bad))

    def with_(self, added: int) -> "_Grown":
        """The same with further features."""
        return _Grown(self.mask | added, _having(self.good, added), _having(self.bad, added))


def _circumstance(grown: _Grown, features: Sequence[_Feature]) -> Circumstance:
    literals = tuple(features[bit].literal for bit in bits(grown.mask))
    steps = [row.attempt.witness for row in grown.good]
    return circumstance(literals, steps, len(grown.bad))


def _is_luck(found: Circumstance, good: int, bad: int, facts: int) -> bool:
    """True if so many of the attempts may have come out well by chance.

    Of facts about fixed names there are many to choose from, so chance finds one more easily.
    """
    if not bad:
        return False
    chance = (good / (good + bad)) ** found.confirmed
    named = any(_is_about_names(literal.atom) for literal in found.literals)
    return chance > LIMITS.by_chance / (facts if named else 1)


def _is_about_names(atom: Atom) -> bool:
    """True if a fact is about fixed names alone, and none of the action's things."""
    return bool(atom.args) and not any(map(str.isdigit, atom.args))


def _having(rows: Sequence[_Row], mask: int) -> list[_Row]:
    """Attempts that have all of some features."""
    return [row for row in rows if row.has & mask == mask]


def _kinds(book: Book) -> list[_KindInSlot]:
    """Kinds that came out well in their slots several times; none where fixed names do not
    matter.
    """
    if book.plain:
        return []
    counts: Counter[_KindInSlot] = Counter()
    for attempt in book.successes:
        counts.update(_KindInSlot(slot, kind) for slot, kind in enumerate(attempt.kinds))
    common = counts.most_common(LIMITS.most_kinds)
    return [kind for kind, count in common if count >= LIMITS.fewest_good]


def _row(attempt: Attempt, size: int, kinds: Sequence[_KindInSlot]) -> _Row:
    """An attempt over `size` facts, their negations and some kinds, in the order of `_features`."""
    own = 0
    for index, each in enumerate(kinds):
        if attempt.kinds[each.slot] == each.kind:
            own |= 1 << index
    others = (1 << len(kinds)) - 1 & ~own
    literals = signed(attempt.true, attempt.false, size)
    return _Row(attempt, literals.holds | own << 2 * size, literals.fails | others << 2 * size)


def _features(book: Book, kinds: Iterable[_KindInSlot]) -> Iterator[_Feature]:
    """Every fact, then every negation, then every kind."""
    words = set(book.template.split())
    facts = [Literal(atom) for atom in book.facts]
    for fact in facts:
        yield _feature_of_fact(fact, words)
    for fact in facts:
        yield _feature_of_fact(fact.opposite(), words)
    for each in kinds:
        slot = str(each.slot)
        literal = Literal(Atom(_KIND, (slot, each.kind)))
        yield _Feature(literal, LIMITS.about_others, LIMITS.fewest_good, slot, positive=False)


def _feature_of_fact(literal: Literal, words: set[str]) -> _Feature:
    """A fact weighs by what it is about: the action's things alone, other names too, or names
    alone. `words`: those of the command.
    """
    args = literal.atom.args
    slots = [arg for arg in args if arg.isdigit()]
    if slots and not words.isdisjoint(args):
        weight = LIMITS.own_word
    elif len(slots) == len(args):
        weight = 1.0
    elif slots:
        weight = LIMITS.about_others
    else:
        weight = LIMITS.about_names
    enough = LIMITS.fewest_good if slots or not args else LIMITS.good_by_name
    only_slot = slots[0] if len(slots) == 1 else ""
    return _Feature(literal, weight, enough, only_slot, positive=not literal.negated)


class _Choice(NamedTuple):
    """An addition to a condition; of equal gain, facts come before negations."""

    gain: float = 0.0
    positive: bool = False
    order: int = 0
    mask: int = 0


@dataclass(frozen=True)
class _Growth:
    """The growth of one condition, fact by fact. `least` and `kept` as in `conditions`."""

    features: Sequence[_Feature]
    least: float
    kept: float

    def condition(self, good: Sequence[_Row], bad: Sequence[_Row]) -> _Grown:
        """Add what tells most until no bad attempt is left, or nothing tells more."""
        grown = _Grown(0, good, bad)
        while grown.bad:
            added = self._best_addition(grown)
            if not added:
                break
            grown = grown.with_(added)
        return grown

    def _best_addition(self, grown: _Grown) -> int:
        """The fact, or pair of facts, to add to a condition: that with the highest weighed FOIL
        gain, if there is any.
        """
        new = bits(union(row.has for row in grown.good) & ~grown.mask)
        hits = {bit: len(_having(grown.good, 1 << bit)) for bit in new}
        single = self._best_single(grown, hits)
        return self._best_pair(grown, hits, single).mask

    def _best_single(self, grown: _Grown, hits: Mapping[int, int]) -> _Choice:
        """The one fact that gains most. `hits`: by feature, the good attempts that have it."""
        best = _Choice()
        before = grown.share
        positive = sum(feature.positive for feature in self.features)
        chance = log(max(1, positive) / LIMITS.by_chance)
        for bit, count in hits.items():
            feature = self.features[bit]
            share = count / (count + len(_having(grown.bad, 1 << bit)))
            gain = _gain(count, share, before) * feature.weight
            choice = _Choice(gain, feature.positive, -bit, 1 << bit)
            enough = max(feature.enough, self.kept * len(grown.good))
            if choice <= best or count < enough or share < before + LIMITS.gain:
                continue
            # if the share is high already, a fact about anything else is added only if chance does
            # not explain it
            unquestioned = before < self.least or feature.weight >= 1
            if unquestioned or _surprise(count, share, before) > chance:
                best = choice
        return best

    def _best_pair(self, grown: _Grown, hits: Mapping[int, int], best: _Choice) -> _Choice:
        """The pair of facts that gains more than the best so far, or that one.

        A pair is of facts about different things: what is to be done to one, and what the other is.
        """
        features = self.features
        before = grown.share
        enough = max(LIMITS.fewest_good, self.kept * len(grown.good))
        for one, other in self._pairs(hits):
            most = min(hits[one], hits[other]) * -log2(before) * LIMITS.pair
            if most <= best.gain:
                continue
            both = 1 << one | 1 << other
            count = len(_having(grown.good, both))
            share = count / max(1, count + len(_having(grown.bad, both)))
            gain = _gain(count, share, before) * LIMITS.pair
            choice = _Choice(gain, features[one].positive, -one, both)
            if choice > best and count >= enough and share >= before + LIMITS.gain:
                best = choice
        return best

    def _pairs(self, hits: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Features about one slot each, and not the same, that several good attempts have."""
        several: list[int] = []
        for bit, count in hits.items():
            if self.features[bit].only_slot and count >= LIMITS.fewest_good:
                several.append(bit)
        for one, other in combinations(several, 2):
            if self.features[one].only_slot != self.features[other].only_slot:
                yield one, other


def _surprise(count: int, share: float, before: float) -> float:
    """Nats by which it is unlikely that so many came out well by chance, where a share of all
    does before.
    """
    rest = (1 - share) * log((1 - share) / (1 - before)) if share < 1 else 0.0
    return count / share * (share * log(share / before) + rest)


def _gain(hits: int, share: float, before: float) -> float:
    """FOIL gain: the good attempts still covered, times the bits by which the share of good
    ones has risen.
    """
    return hits * log2(share / before) if share else 0.0
