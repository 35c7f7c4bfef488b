"""Attempts looked at with another question than whether the world refused them: did it score,
did it get there.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import log, log2
from typing import NamedTuple

from rpms.induction.action_model import seen
from rpms.induction.attempts import Attempt, Book
from rpms.induction.literals import bits, signed, union
from rpms.induction.needs import Needs
from rpms.induction.thresholds import LIMITS
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
    worked, refused = (
        Counter(row.kinds for row in rows if row.refused is failed) for failed in (False, True)
    )
    return replace(
        book, attempts=rows, imagined=[], worked=worked, refused=refused, _known=set(book.facts)
    )


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
    weight: (
        float  # At least 1 if it is about the action's own things, not about anything by its name
    )
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
    size, kinds = len(book.facts), _kinds(book)
    features = list(_features(book, kinds))
    rows = [_row(attempt, size, kinds) for attempt in book.attempts]
    left = [row for row in rows if not row.attempt.refused]
    lost = [row for row in rows if row.attempt.refused]
    further = False
    while len(left) >= LIMITS.fewest_good:
        mask, good, bad = 0, left, lost
        while bad and (added := _best_addition(good, bad, features, least, kept, mask)):
            mask |= added
            good, bad = _with(good, added), _with(bad, added)
        literals = tuple(features[bit].literal for bit in bits(mask))
        found = Circumstance(literals, **seen([row.attempt.witness for row in good], len(bad)))
        luck = (len(left) / (len(left) + len(lost))) ** len(good) if lost else 0.0
        named = any(
            literal.atom.args and not any(map(str.isdigit, literal.atom.args))
            for literal in literals
        )
        lucky = luck > LIMITS.by_chance / (
            size if named else 1
        )  # of fixed names, there are many to choose from
        if len(good) < LIMITS.fewest_good or found.share < least or (further and lucky):
            return
        yield found
        least, further = max(least, LIMITS.mostly), True
        left = [row for row in left if row.lacks & mask]


def _with(rows: Sequence[_Row], mask: int) -> list[_Row]:
    return [row for row in rows if row.has & mask == mask]


def _kinds(book: Book) -> list[tuple[str, str]]:
    """Slots with the kinds that came out well in them several times; none where fixed names do
    not matter.
    """
    if book.plain:
        return []
    counts = Counter(
        (str(slot), kind) for attempt in book.successes for slot, kind in enumerate(attempt.kinds)
    )
    return [
        pair for pair, count in counts.most_common(LIMITS.most_kinds) if count >= LIMITS.fewest_good
    ]


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
    for literal in (
        *facts,
        *(fact.opposite() for fact in facts),
        *(Literal(Atom(_KIND, pair)) for pair in kinds),
    ):
        args, of_kind = literal.atom.args, literal.atom.predicate == _KIND
        slots = [arg for arg in (args[:1] if of_kind else args) if arg.isdigit()]
        weight = (
            1.0 if len(slots) == len(args) else LIMITS.about_others if slots else LIMITS.about_names
        )
        weight = LIMITS.own_word if slots and not of_kind and not words.isdisjoint(args) else weight
        enough = LIMITS.fewest_good if slots or not args else LIMITS.good_by_name
        side = slots[0] if len(slots) == 1 else ""
        yield _Feature(literal, weight, enough, side, not (literal.negated or of_kind))


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
    best, before = (
        (0.0, False, 0, 0),
        len(good) / (len(good) + len(bad)),
    )  # of equal gain, facts before negations
    hits = {bit: len(_with(good, 1 << bit)) for bit in bits(union(row.has for row in good) & ~mask)}
    chance = log(max(1, sum(each.positive for each in features)) / LIMITS.by_chance)

    for bit, count in hits.items():
        feature, share = features[bit], count / (count + len(_with(bad, 1 << bit)))
        # nats by which it is unlikely that so many came out well by chance, where a share of all
        # does before
        rest = (1 - share) * log((1 - share) / (1 - before)) if share < 1 else 0.0
        surprise = count / share * (share * log(share / before) + rest)
        choice = (_gain(count, share, before) * feature.weight, feature.positive, -bit, 1 << bit)
        enough = count >= max(feature.enough, kept * len(good)) and share >= before + LIMITS.gain
        # if the share is high already, a fact about anything else is added only if chance does not
        # explain it
        telling = before < often or feature.weight >= 1 or surprise > chance
        if choice > best and enough and telling:
            best = choice
    # a pair is of facts about different things: what is to be done to one, and what the other is
    enough_of_two = max(LIMITS.fewest_good, kept * len(good))
    several = [
        bit for bit, count in hits.items() if features[bit].side and count >= LIMITS.fewest_good
    ]
    for one, other in combinations(several, 2):
        most = min(hits[one], hits[other]) * -log2(before) * LIMITS.pair
        if features[one].side == features[other].side or most <= best[0]:
            continue
        both = 1 << one | 1 << other
        count = len(_with(good, both))
        share = count / max(1, count + len(_with(bad, both)))
        choice = (_gain(count, share, before) * LIMITS.pair, features[one].positive, -one, both)
        if choice > best and count >= enough_of_two and share >= before + LIMITS.gain:
            best = choice
    return best[-1]


def _gain(hits: int, share: float, before: float) -> float:
    """FOIL gain: the good attempts still covered, times the bits by which the share of good
    ones has risen.
    """
    return hits * log2(share / before) if share else 0.0


class Past:
    """The last successes of an action: which of them came to something, with which facts and
    kinds.
    """

    def __init__(
        self, book: Book, came: Callable[[Attempt], bool], goal: str | None = None
    ) -> None:
        rows = [row for row in book.attempts if not row.refused and goal in (None, row.goal)][
            -LIMITS.recent :
        ]
        self.book, self.usual = book, (sum(map(came, rows)) + 1) / (len(rows) + 2)
        self._size = size = len(book.facts)
        # facts about the action's things; of one that has none, facts about nothing by its name
        slots = [list(map(str.isdigit, fact.args)) for fact in book.facts]
        self.own = [
            bit
            for bit, of_slots in enumerate(slots)
            if (any(of_slots) if book.slots else not of_slots)
        ]
        self._mask = mask = sum(1 << bit for bit in self.own)
        self._rows = [
            (signed(row.true & mask, row.false & mask, size)[0], row.kinds, came(row))
            for row in rows
        ]
        held = Counter(bit for features, _, _ in self._rows for bit in bits(features & mask))
        often = max(LIMITS.known_past, LIMITS.sometimes * len(rows))
        self.rare = {
            bit: book.facts[bit] for bit in self.own if held[bit] < often or not all(slots[bit])
        }
        """Facts that hardly ever held when it was done, or say what a thing is for: nobody
        knows what comes of it."""

    def untried(self, true: int, kinds: Sequence[str], facts: Sequence[int]) -> float:
        """Highest likelihood of the outcome, over true facts hardly ever tried with other
        things of these kinds.
        """
        # as likely as it usually is, less for each time that nothing came of it; 0 where nothing is
        # new
        most = 0.0
        for bit in [bit for bit in facts if true >> bit & 1]:
            others = [slot for slot in range(len(kinds)) if str(slot) not in self.rare[bit].args]
            tried = [(those, came) for features, those, came in self._rows if features >> bit & 1]
            alike = [
                came for those, came in tried if all(those[slot] == kinds[slot] for slot in others)
            ]
            if len(alike) < LIMITS.known_past:
                most = max(most, (sum(alike) + self.usual) / (len(alike) + 1))
        return most

    def share(self, true: int, false: int, kinds: Sequence[str], *, worst: bool = False) -> float:
        """Likelihood of the outcome now, by the facts and kinds that change it most, or with
        `worst` lower it most.
        """
        worth = usual = self.usual
        now, _ = signed(true & self._mask, false & self._mask, self._size)
        left: dict[
            int, tuple[int, int]
        ] = {}  # by what a success has in common with now, good ones and all
        for features, those, came in self._rows:
            alike = sum(1 << slot for slot, kind in enumerate(kinds) if those[slot] == kind)
            mask = features & now | alike << 2 * self._size
            good, tried = left.get(mask, (0, 0))
            left[mask] = good + came, tried + 1
        for _ in range(LIMITS.deep):
            most, choice, found, every = 0.0, -1, worth, sum(tried for _, tried in left.values())
            for bit in bits(union(left)):
                held = [counts for mask, counts in left.items() if mask >> bit & 1]
                tried = sum(count for _, count in held)
                share = (sum(good for good, _ in held) + usual) / (tried + 1)
                tells = worth - share if worst else tried * (share - worth) ** 2
                if tried < every and tells > most:
                    most, choice, found = tells, bit, share
            if choice < 0:
                break
            worth, left = (
                found,
                {mask: counts for mask, counts in left.items() if mask >> choice & 1},
            )
        return worth
