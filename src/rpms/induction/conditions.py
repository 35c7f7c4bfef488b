"""Attempts looked at with another question than whether the world refused them: did it score,
did it get there.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.induction.action_model import seen
from rpms.induction.attempts import Attempt, Book
from rpms.induction.literals import bits, signed, union
from rpms.induction.needs import Needs
from rpms.induction.thresholds import LIMITS
from rpms.induction.witnesses import distinct
from rpms.logic.facts import Atom, Literal
from rpms.store.evidence import Support

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
    bad = sum(row.holds & wanted == wanted for row in needs.losses)
    found = Circumstance(
        needs.literals(wanted), **seen([row.attempt.witness for row in needs.wins], bad)
    )
    return found if found.share >= LIMITS.often else None


class _Feature(NamedTuple):
    """A fact, its negation or a kind, as one bit that a condition may ask for."""

    literal: Literal
    weight: float
    """At least 1 if it is about the action's own things, not about anything by its name."""
    enough: int  # Good attempts that have to have it
    side: str  # The slot that it is about, where it is about just one
    positive: bool


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
    rows = [_row(attempt, len(book.facts), kinds) for attempt in book.attempts]
    left = [row for row in rows if not row.attempt.refused]
    lost = [row for row in rows if row.attempt.refused]
    is_first = True
    while len(left) >= LIMITS.fewest_good:
        grown = _grow_condition(left, lost, features, least, kept)
        literals = tuple(features[bit].literal for bit in bits(grown.mask))
        steps = [row.attempt.witness for row in grown.good]
        found = Circumstance(literals, **seen(steps, len(grown.bad)))
        if len(steps) < LIMITS.fewest_good or found.share < least:
            return
        if not is_first and _is_luck(found, len(left), len(lost), len(book.facts)):
            return
        yield found
        least = max(least, LIMITS.mostly)
        is_first = False
        left = [row for row in left if row.lacks & grown.mask]


class _Grown(NamedTuple):
    """A condition as bits of features, and the attempts that meet it."""

    mask: int
    good: Sequence[_Row]
    bad: Sequence[_Row]


def _grow_condition(
    good: Sequence[_Row],
    bad: Sequence[_Row],
    features: Sequence[_Feature],
    least: float,
    kept: float,
) -> _Grown:
    """Add what tells most until no bad attempt is left, or nothing tells more."""
    mask = 0
    while bad and (added := _best_addition(good, bad, features, least, kept, mask)):
        mask |= added
        good = _with(good, added)
        bad = _with(bad, added)
    return _Grown(mask, good, bad)


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


def _with(rows: Sequence[_Row], mask: int) -> list[_Row]:
    return [row for row in rows if row.has & mask == mask]


def _kinds(book: Book) -> list[tuple[str, str]]:
    """Slots with the kinds that came out well in them several times; none where fixed names do
    not matter.
    """
    if book.plain:
        return []
    counts: Counter[tuple[str, str]] = Counter()
    for attempt in book.successes:
        counts.update((str(slot), kind) for slot, kind in enumerate(attempt.kinds))
    common = counts.most_common(LIMITS.most_kinds)
    return [pair for pair, count in common if count >= LIMITS.fewest_good]


def _row(attempt: Attempt, size: int, kinds: Sequence[tuple[str, str]]) -> _Row:
    own = sum(
        1 << place for place, (slot, kind) in enumerate(kinds) if attempt.kinds[int(slot)] == kind
    )
    others = (1 << len(kinds)) - 1 & ~own
    has, lacks = signed(attempt.true, attempt.false, size)
    return _Row(attempt, has | own << 2 * size, lacks | others << 2 * size)


def _features(book: Book, kinds: Iterable[tuple[str, str]]) -> Iterator[_Feature]:
    """Every fact, then every negation, then every kind."""
    words = set(book.template.split())
    facts = [Literal(atom) for atom in book.facts]
    for fact in facts:
        yield _feature_of_fact(fact, words)
    for fact in facts:
        yield _feature_of_fact(fact.opposite(), words)
    for slot, kind in kinds:
        literal = Literal(Atom(_KIND, (slot, kind)))
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
    side = slots[0] if len(slots) == 1 else ""
    return _Feature(literal, weight, enough, side, positive=not literal.negated)


def _best_addition(
    good: Sequence[_Row],
    bad: Sequence[_Row],
    features: Sequence[_Feature],
    often: float,
    kept: float,
    mask: int,
) -> int:
    """The fact, or pair of facts, to add to a condition: that with the highest weighed FOIL
    gain, if there is any.
    """
    new = bits(union(row.has for row in good) & ~mask)
    hits = {bit: len(_with(good, 1 << bit)) for bit in new}
    singles = _best_single(good, bad, features, often, kept, hits)
    return _best_pair(good, bad, features, kept, hits, singles).mask


class _Choice(NamedTuple):
    """An addition to a condition; of equal gain, facts come before negations."""

    gain: float = 0.0
    positive: bool = False
    order: int = 0
    mask: int = 0


def _best_single(
    good: Sequence[_Row],
    bad: Sequence[_Row],
    features: Sequence[_Feature],
    often: float,
    kept: float,
    hits: Mapping[int, int],
) -> _Choice:
    """The one fact that gains most. `hits`: by feature, the good attempts that have it."""
    best = _Choice()
    before = len(good) / (len(good) + len(bad))
    chance = log(max(1, sum(each.positive for each in features)) / LIMITS.by_chance)
    for bit, count in hits.items():
        feature = features[bit]
        share = count / (count + len(_with(bad, 1 << bit)))
        gain = _gain(count, share, before) * feature.weight
        choice = _Choice(gain, feature.positive, -bit, 1 << bit)
        enough = count >= max(feature.enough, kept * len(good)) and share >= before + LIMITS.gain
        if choice <= best or not enough:
            continue
        # if the share is high already, a fact about anything else is added only if chance does not
        # explain it
        if before < often or feature.weight >= 1 or _surprise(count, share, before) > chance:
            best = choice
    return best


def _best_pair(
    good: Sequence[_Row],
    bad: Sequence[_Row],
    features: Sequence[_Feature],
    kept: float,
    hits: Mapping[int, int],
    best: _Choice,
) -> _Choice:
    """The pair of facts that gains more than the best so far, or that one.

    A pair is of facts about different things: what is to be done to one, and what the other is.
    """
    before = len(good) / (len(good) + len(bad))
    enough = max(LIMITS.fewest_good, kept * len(good))
    several = [
        bit for bit, count in hits.items() if features[bit].side and count >= LIMITS.fewest_good
    ]
    for one, other in combinations(several, 2):
        most = min(hits[one], hits[other]) * -log2(before) * LIMITS.pair
        if features[one].side == features[other].side or most <= best.gain:
            continue
        both = 1 << one | 1 << other
        count = len(_with(good, both))
        share = count / max(1, count + len(_with(bad, both)))
        gain = _gain(count, share, before) * LIMITS.pair
        choice = _Choice(gain, features[one].positive, -one, both)
        if choice > best and count >= enough and share >= before + LIMITS.gain:
            best = choice
    return best


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
    good: int
    tried: int


class _Split(NamedTuple):
    bit: int
    share: float


def _is_own(fact: Atom, book: Book) -> bool:
    """True for a fact about the action's things; of an action that has none, for a fact about
    nothing.
    """
    if book.slots:
        return any(map(str.isdigit, fact.args))
    return not fact.args


class Past:
    """The last successes of an action: which of them came to something, with which facts and
    kinds.
    """

    def __init__(
        self, book: Book, came: Callable[[Attempt], bool], goal: str | None = None
    ) -> None:
        done = [row for row in book.attempts if not row.refused and goal in (None, row.goal)]
        rows = done[-LIMITS.recent :]
        self.book = book
        self.usual = (sum(map(came, rows)) + 1) / (len(rows) + 2)
        self._size = len(book.facts)
        self.own = [bit for bit, fact in enumerate(book.facts) if _is_own(fact, book)]
        self._mask = sum(1 << bit for bit in self.own)
        self._rows = [self._row(row, came(row)) for row in rows]
        held: Counter[int] = Counter()
        for row in self._rows:
            held.update(bits(row.features & self._mask))
        often = max(LIMITS.known_past, LIMITS.sometimes * len(rows))
        self.rare: dict[int, Atom] = {}
        """Facts that hardly ever held when it was done, or say what a thing is for: nobody
        knows what comes of it."""
        for bit in self.own:
            fact = book.facts[bit]
            if held[bit] < often or not all(map(str.isdigit, fact.args)):
                self.rare[bit] = fact

    def _row(self, attempt: Attempt, came: bool) -> _PastRow:
        mask = self._mask
        features, _ = signed(attempt.true & mask, attempt.false & mask, self._size)
        return _PastRow(features, attempt.kinds, came)

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
            others = [slot for slot in range(len(kinds)) if str(slot) not in self.rare[bit].args]
            alike = [row.came for row in self._rows if row.is_like(bit, kinds, others)]
            if len(alike) < LIMITS.known_past:
                most = max(most, (sum(alike) + self.usual) / (len(alike) + 1))
        return most

    def share(self, true: int, false: int, kinds: Sequence[str], *, worst: bool = False) -> float:
        """Likelihood of the outcome now, by the facts and kinds that change it most, or with
        `worst` lower it most.
        """
        left = self._shared_with(true, false, kinds)
        worth = self.usual
        for _ in range(LIMITS.deep):
            split = self._best_split(left, worth, worst=worst)
            if split is None:
                break
            worth = split.share
            left = {mask: count for mask, count in left.items() if mask >> split.bit & 1}
        return worth

    def _shared_with(self, true: int, false: int, kinds: Sequence[str]) -> dict[int, _Count]:
        """Past successes by the facts and kinds that they have in common with now."""
        now, _ = signed(true & self._mask, false & self._mask, self._size)
        found: dict[int, _Count] = {}
        for row in self._rows:
            alike = sum(1 << slot for slot, kind in enumerate(kinds) if row.kinds[slot] == kind)
            mask = row.features & now | alike << 2 * self._size
            count = found.get(mask, _Count(0, 0))
            found[mask] = _Count(count.good + row.came, count.tried + 1)
        return found

    def _best_split(
        self, left: Mapping[int, _Count], worth: float, *, worst: bool
    ) -> _Split | None:
        """The fact or kind that changes the likelihood most; None if none does."""
        every = sum(count.tried for count in left.values())
        best: _Split | None = None
        most = 0.0
        for bit in bits(union(left)):
            held = [count for mask, count in left.items() if mask >> bit & 1]
            tried = sum(count.tried for count in held)
            share = (sum(count.good for count in held) + self.usual) / (tried + 1)
            tells = worth - share if worst else tried * (share - worth) ** 2
            if tried < every and tells > most:
                most = tells
                best = _Split(bit, share)
        return best
