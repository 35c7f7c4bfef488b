"""Conditions under which attempts came out well, found as FOIL finds them: rule by rule
(sequential covering), each grown by the facts that gain most.

The question is another than whether the world refused an attempt: did it score, did it get there,
did it show something.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.literals import (
    Row,
    is_about_names_alone,
    is_topic,
    kind_in,
    mask_of,
    signed,
    steps_of,
    union,
)
from rpms.induction.evidence.witnesses import distinct
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Literal
from rpms.store.evidence import Support, Witness


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


def _worked(attempt: Attempt) -> bool:
    return not attempt.refused


def view(
    book: Book, attempts: Iterable[Attempt], well: Callable[[Attempt], bool] = _worked
) -> Book:
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
    table = needs.table
    if len(table.wins) < LIMITS.fewest_good:
        return None
    wanted = needs.explanations.explaining
    bad = _having(table.losses, wanted)
    found = circumstance(table.literals(wanted), steps_of(table.wins), len(bad))
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


def conditions(
    book: Book, least: float = LIMITS.often, kept: float = 0.0
) -> Iterator[Circumstance]:
    """Conditions under which it came out well, by sequential covering as FOIL does it.

    What a condition covers is set aside before the next one is sought, and so is what it may have
    covered as far as anybody knew: luck would explain that by something else. `least`: the share of
    attempts with a condition that come out well; `kept`: the share of good ones that each fact in
    it keeps.
    """
    kinds = _common_kinds(book)
    features = list(_features(book, kinds))
    size = len(book.facts)
    uncovered = _rows(book.successes, size, kinds)
    bad = _rows(book.refusals, size, kinds)
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
        uncovered = [row for row in uncovered if row.fails & grown.mask]


class _Grown(NamedTuple):
    """A condition as bits of features, and the attempts that meet it."""

    mask: int
    good: Sequence[Row]
    bad: Sequence[Row]

    @property
    def share(self) -> float:
        return len(self.good) / (len(self.good) + len(self.bad))

    def with_(self, added: int) -> "_Grown":
        """The same with further features."""
        return _Grown(self.mask | added, _having(self.good, added), _having(self.bad, added))


def _circumstance(grown: _Grown, features: Sequence[_Feature]) -> Circumstance:
    literals = tuple(features[bit].literal for bit in bits(grown.mask))
    return circumstance(literals, steps_of(grown.good), len(grown.bad))


def _is_luck(found: Circumstance, good: int, bad: int, facts: int) -> bool:
    """True if so many of the attempts may have come out well by chance.

    Of facts about fixed names there are many to choose from, so chance finds one more easily.
    """
    if not bad:
        return False
    chance = (good / (good + bad)) ** found.confirmed
    about_names = any(is_about_names_alone(literal.atom) for literal in found.literals)
    choices = facts if about_names else 1
    return chance > LIMITS.by_chance / choices


def _having(rows: Sequence[Row], mask: int) -> list[Row]:
    """Attempts that have all of some features."""
    return [row for row in rows if row.holds & mask == mask]


def _common_kinds(book: Book) -> list[_KindInSlot]:
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


def _rows(attempts: Iterable[Attempt], size: int, kinds: Sequence[_KindInSlot]) -> list[Row]:
    """Attempts with the features that they have and that they are known not to have: `size` facts,
    their negations and some kinds, in the order of `_features`.
    """
    rows = []
    for attempt in attempts:
        holds, fails = signed(attempt.true, attempt.false, size)
        for bit, each in enumerate(kinds, 2 * size):
            if attempt.kinds[each.slot] == each.kind:
                holds |= 1 << bit
            else:
                fails |= 1 << bit
        rows.append(Row(attempt, holds, fails))
    return rows


def _features(book: Book, kinds: Iterable[_KindInSlot]) -> Iterator[_Feature]:
    """Every fact, then every negation, then every kind."""
    words = set(book.template.split())
    names_things = bool(book.slots)
    facts = [Literal(atom) for atom in book.facts]
    for fact in facts:
        yield _feature_of_fact(fact, words, names_things=names_things)
    for fact in facts:
        yield _feature_of_fact(fact.opposite(), words, names_things=names_things)
    for each in kinds:
        yield _Feature(
            kind_in(each.slot, each.kind),
            weight=LIMITS.about_others,
            enough=LIMITS.fewest_good,
            only_slot=str(each.slot),
            positive=False,
        )


def _feature_of_fact(literal: Literal, words: set[str], *, names_things: bool) -> _Feature:
    """A fact with its weight, and the good attempts that it needs: more if it names only others.

    `words`: those of the command. Where a command names things, a fact about nothing, such as that
    one has just waited, is none about them.
    """
    positive = not literal.negated
    if is_topic(literal.atom):
        return _Feature(literal, 1.0, LIMITS.fewest_good, only_slot="", positive=positive)
    args = literal.atom.args
    slots = [arg for arg in args if arg.isdigit()]
    only_slots = len(slots) == len(args)
    is_own = only_slots and bool(slots) == names_things
    has_word = not words.isdisjoint(args)
    return _Feature(
        literal,
        weight=_weight_by_things(slots, args, own=is_own, has_word=has_word),
        enough=LIMITS.fewest_good if slots or is_own else LIMITS.good_by_name,
        only_slot=slots[0] if len(slots) == 1 else "",
        positive=positive,
    )


def _weight_by_things(
    slots: Sequence[str], args: Sequence[str], *, own: bool, has_word: bool
) -> float:
    """The weight of a fact by what it is about: a thing and a word of the command, the action's
    things alone, others too, or others alone.
    """
    if slots and has_word:
        return LIMITS.own_word
    if own:
        return 1.0
    if slots or not args:
        return LIMITS.about_others
    return LIMITS.about_names


class _Choice(NamedTuple):
    """An addition to a condition; of equal gain, facts come before negations."""

    gain: float = 0.0
    positive: bool = False
    order: int = 0
    mask: int = 0
    good: int = 0  # Good attempts that meet the condition with it
    share: float = 0.0  # Of the attempts that do, those that came out well


_NOTHING = _Choice()


@dataclass(frozen=True)
class _Growth:
    """The growth of one condition, fact by fact. `least` and `kept` as in `conditions`."""

    features: Sequence[_Feature]
    least: float
    kept: float

    def condition(self, good: Sequence[Row], bad: Sequence[Row]) -> _Grown:
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
        new = bits(union(row.holds for row in grown.good) & ~grown.mask)
        hits = {bit: len(_having(grown.good, 1 << bit)) for bit in new}
        best = _NOTHING
        for bit, count in hits.items():
            if count >= self.features[bit].enough:
                best = max(best, self._fact_to_add(grown, bit))
        for one, other in self._pairs(hits):
            # a pair gains most if no bad attempt has it
            most = min(hits[one], hits[other]) * -log2(grown.share) * LIMITS.pair
            if most > best.gain:
                pair = self._features_to_add(grown, (one, other), LIMITS.fewest_good, LIMITS.pair)
                best = max(best, pair)
        return best.mask

    def _fact_to_add(self, grown: _Grown, bit: int) -> _Choice:
        """One fact as an addition.

        If the share is high already, a fact about anything else than the action's things is added
        only if chance does not explain it.
        """
        feature = self.features[bit]
        choice = self._features_to_add(grown, (bit,), feature.enough, feature.weight)
        unquestioned = grown.share < self.least or feature.weight >= 1
        if choice is _NOTHING or unquestioned:
            return choice
        surprise = _surprise(choice.good, choice.share, grown.share)
        return choice if surprise > self._usual_surprise else _NOTHING

    @cached_property
    def _usual_surprise(self) -> float:
        """Nats of surprise that one of so many facts brings by chance."""
        positive = sum(feature.positive for feature in self.features)
        return log(max(1, positive) / LIMITS.by_chance)

    def _features_to_add(
        self, grown: _Grown, added: Sequence[int], enough: int, weight: float
    ) -> _Choice:
        """Features as an addition; nothing where too few good attempts have them, or the share of
        good ones hardly rises.
        """
        mask = mask_of(added)
        good = len(_having(grown.good, mask))
        if good < max(enough, self.kept * len(grown.good)):
            return _NOTHING
        share = good / (good + len(_having(grown.bad, mask)))
        if share < grown.share + LIMITS.gain:
            return _NOTHING
        gain = _gain(good, share, grown.share) * weight
        first = added[0]
        return _Choice(
            gain,
            positive=self.features[first].positive,
            order=-first,
            mask=mask,
            good=good,
            share=share,
        )

    def _pairs(self, hits: Mapping[int, int]) -> Iterator[tuple[int, int]]:
        """Features about one slot each, and not the same, that several good attempts have: what
        is to be done to one thing, and what the other is.

        `hits`: by feature, the good attempts that have it.
        """
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
    return hits * log2(share / before)
