"""From attempts to an action: what it needs in two bounds, with which kinds it works.

The *safe* bound is every literal that was never false in a success and was true in one. Of these,
`explaining` keeps the fewest that account for all refusals. One of them is *necessary* if some
refusal had all the others true and it alone false; where other facts of the safe bound were false
in all such refusals too, nobody can tell which of them was needed, and the guard only refuses when
all of them are false.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from math import comb, prod
from operator import and_, or_

from rpms.induction.action_model import Induced, KindTable, induced, literal_of, strange, working
from rpms.induction.attempts import Attempt, Book, repeated
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Clause, Literal, kind_of
from rpms.store.evidence import Label, Witness


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def union(masks: Iterable[int]) -> int:
    """Bits that any of some masks has."""
    return reduce(or_, masks, 0)


def signed(true: int, false: int, size: int) -> tuple[int, int]:
    """Literals that hold and literals that fail, as bits: first of facts, then of their
    negations.
    """
    return true | false << size, false | true << size


@dataclass(eq=False)
class Needs:
    """Needs of an action, from its attempts."""

    book: Book
    excluded: frozenset[Literal] = frozenset()  # Literals that verification has taken out
    tolerated: float = 0.0
    """Share of the successes in which a literal of the safe bound may be false: none for what
    the guard blocks by."""
    # True if kinds explain nothing: names that never come up twice would explain everything
    kindless: bool = False
    preferred: frozenset[str] = (
        frozenset()
    )  # Slots whose facts are kept rather than others that say the same

    def __post_init__(self) -> None:
        self.size = len(self.book.facts)
        self.many = len(self.book.named) > LIMITS.many_names
        self.fit = working(self.book)  # For each slot, the kinds that have worked in it
        self.rows = [
            (each, *signed(each.true, each.false, self.size)) for each in self.book.attempts
        ]
        self.wins = [row for row in self.rows if not row[0].refused]
        self.losses = [row for row in self.rows if row[0].refused]
        self.repeated = repeated(self.book.attempts, len(self.book.slots))

    @cached_property
    def safe(self) -> int:
        """The safe bound, as bits."""
        once, never = union(row[1] for row in self.wins), union(row[2] for row in self.wins)
        for bit in bits(once & never) if self.tolerated else ():
            if sum(row[2] >> bit & 1 for row in self.wins) <= self.tolerated * len(self.wins):
                never &= ~(1 << bit)
        left = [
            row
            for row in self.losses
            if not any(not self.by_name(bit) for bit in bits(row[2] & once & ~never))
        ]
        for bit in bits(once & ~never):
            by_chance = self._luck(left, bit) > LIMITS.by_chance / self.size
            never |= (by_chance or literal_of(self.book.facts, bit) in self.excluded) << bit
        safe = (
            once & ~never
        )  # facts about fixed names are left out where the others explain the refusals as well
        rest = sum(1 << bit for bit in bits(safe) if not self.by_name(bit))
        explained = [row for row in self.losses if row[2] & safe]
        as_well = sum(bool(row[2] & rest) for row in explained) >= (1 - LIMITS.exceptions) * len(
            explained
        )
        return rest if self.losses and as_well else safe

    def _share(self, bit: int, given: int = 0) -> float:
        """Share of random names, of which some other facts hold, of which a fact holds."""
        rows = self._drawn or [(true, false) for _, true, false in self.losses]
        known = [
            true >> bit & 1
            for true, false in rows
            if (true | false) >> bit & 1 and true & given == given
        ]
        return sum(known) / len(known) if known else 1.0

    def _luck(self, refusals: Iterable[tuple[Attempt, int, int]], *some: int) -> float:
        """Likelihood by which one of some facts held in all successes, and none in refusals of
        so many episodes.
        """
        if not self.many or not any(
            map(self.by_name, some)
        ):  # of many fixed names, some fact always happens to hold
            return 0.0
        neither = prod(1 - self._share(bit) for bit in some)
        known = {
            row[0].witness.episode: row
            for row in refusals
            if all((row[1] | row[2]) >> bit & 1 for bit in some)
        }
        last = list(known.values())[-LIMITS.recent :]
        count, missed = len(last), sum(all(row[2] >> bit & 1 for bit in some) for row in last)
        tail = sum(
            comb(count, n) * neither**n * (1 - neither) ** (count - n)
            for n in range(missed, count + 1)
        )
        return float((1 - neither) ** len(self.wins) * tail)

    @property
    def likely(self) -> int:
        """Of what may be needed, what explains refusals, and what hardly held in all successes
        by chance.
        """
        most, rest = (
            LIMITS.by_chance ** (1 / len(self.wins)),
            bits(self.required & ~self.explaining),
        )
        return self.explaining | sum(
            1 << bit for bit in rest if self._share(bit, self.explaining) < most
        )

    def literals(self, mask: int) -> tuple[Literal, ...]:
        """The literals that bits stand for."""
        return tuple(literal_of(self.book.facts, bit) for bit in bits(mask))

    @cached_property
    def tested(self) -> int:
        """Of the safe bound, what was false in some attempt: of the rest nothing is known."""
        # of an action that was never refused, what is false elsewhere: who only did what works has
        # had his reasons
        ever = union([row[2] for row in self.losses] or [row[1] for row in self._drawn])
        return self.safe & ever & ~self.seldom

    @cached_property
    def seldom(self) -> int:
        """Of the safe bound, what was unknown in nearly all successes, and what more of them
        showed than knew.
        """
        # of several with the same names in an episode the first counts: what that has shown is
        # known to the others
        firsts = {
            (row[0].witness.episode, row[0].names): row for row in reversed(self.wins)
        }.values()
        least, found = LIMITS.seldom_known * len(self.wins), 0
        after = [
            signed(row.true_after, row.false_after, self.size)[0] & ~true for row, true, _ in firsts
        ]
        for bit in bits(self.safe):
            known, shown = (
                sum(row[1] >> bit & 1 for row in firsts),
                sum(true >> bit & 1 for true in after),
            )
            found |= (known < shown or sum(row[1] >> bit & 1 for row in self.wins) < least) << bit
        return found

    @cached_property
    def paired(self) -> bool:
        """True if kinds that worked each were refused together, with nothing else missing:
        pillows in a fridge.
        """
        return any(
            row[0].kinds not in self.book.worked and not strange(row[0], self.fit)
            for row in self.losses
            if row[1] & self.tested == self.tested and not row[2] & self.safe
        )

    @cached_property
    def _explainable(self) -> list[tuple[Attempt, int, int]]:
        """Refusals that facts have to explain: kinds that have worked cannot be what was wrong."""
        if self.kindless:
            return self.losses
        related = [len({arg for arg in atom.args if arg.isdigit()}) > 1 for atom in self.book.facts]
        relations = sum(1 << bit for bit, holds in enumerate(related) if holds)
        own = sum(1 << bit for bit in bits(self.tested) if not self.by_name(bit))
        # relations come before kinds: which key fits a door is no matter of what the two are
        # called; where kinds are no more than names, all facts about the things come before them;
        # what was done already needs no other reason
        told = own if self.names_for_kinds else self.tested & relations
        worked = self.book.worked.__contains__
        left = [row for row in self.losses if row[2] & own or row[0].witness not in self.repeated]
        return [
            row
            for row in left
            if row[2] & told
            or (worked(row[0].kinds) if self.paired else not strange(row[0], self.fit))
        ]

    @cached_property
    def names_for_kinds(self) -> bool:
        """True if the kinds of an action's things are their names, and there are many: then all
        facts come first.
        """
        names = {name for attempt in self.book.attempts for name in attempt.names}
        return len(names) > LIMITS.fixed_names and all(kind_of(name) == name for name in names)

    @cached_property
    def explaining(self) -> int:
        """The fewest tested facts that account for every refusal that any of them accounts for."""
        kept = self.tested
        rows = {false & kept for _, _, false in self._explainable} - {0}
        # facts go one by one, the seldomest known first, as long as each refusal keeps a fact that
        # was false
        for bit in sorted(bits(kept), key=self._worth):
            without = kept & ~(1 << bit)
            if all(row & without for row in rows):
                kept = without
        return kept & union(rows)

    def _worth(self, bit: int) -> tuple[int, ...]:
        known = sum((true | false) >> bit & 1 for _, true, false in self.rows)
        literal = literal_of(self.book.facts, bit)
        wanted = not self.preferred.isdisjoint(literal.atom.args)
        return (
            wanted,
            not self.by_name(bit),
            known,
            not literal.negated,
            len(literal.atom.args),
            -bit,
        )

    @cached_property
    def required(self) -> int:
        """All that an action may need as far as anybody knows: what explains refusals, and what
        nothing implies.
        """
        # of many fixed names, some fact always happened to hold: what explains nothing is left out
        # of these
        rest = [
            bit
            for bit in bits(self.tested & ~self.explaining)
            if not (self.many and self.by_name(bit))
        ]
        return self.explaining | sum(1 << bit for bit in rest if not self._implied(bit))

    def by_name(self, bit: int) -> bool:
        """True if a fact is about anything by its name."""
        return any(not arg.isdigit() for arg in literal_of(self.book.facts, bit).atom.args)

    def decisive(self, bit: int) -> list[tuple[Attempt, int, int]]:
        """Refusals in which one of the explaining facts alone was false, and all the others
        were true.
        """
        rest = self.explaining & ~(1 << bit)
        return [row for row in self._explainable if row[2] >> bit & 1 and row[1] & rest == rest]

    def suspects(self, bit: int) -> tuple[int, list[tuple[Attempt, int, int]]]:
        """The fewest facts of which one was surely needed, and the refusals that lacked nothing
        else, if enough did.
        """
        # an unknown fact may have been missing
        rows = [(self.required & ~row[1], row) for row in self._explainable if row[2] >> bit & 1]
        for some in sorted(
            {missing for missing, _ in rows}, key=lambda mask: (mask.bit_count(), mask)
        ):
            shown = [row for missing, row in rows if not missing & ~some]
            if len(shown) >= LIMITS.decisive:
                return some, shown
        return 0, []

    def _same(self, bit: int, some: int) -> int:
        """Suspects in `some` that always equalled `bit` where all other required facts held:
        they count as one.
        """
        rest = self.required & ~some
        where = [row for row in self.rows if row[1] & rest == rest]
        same = 0
        for other in bits(some & ~(1 << bit)):
            both = [
                row for row in where if (row[1] | row[2]) >> bit & (row[1] | row[2]) >> other & 1
            ]
            true = sum(row[1] >> bit & 1 for row in both)
            apart = any((row[1] >> bit ^ row[1] >> other) & 1 for row in both)
            if not apart and len(both) >= LIMITS.alike and 0 < true < len(both):
                same |= 1 << other
        return same

    @cached_property
    def _certain(self) -> dict[int, tuple[int, list[tuple[Attempt, int, int]], int]]:
        """For each explaining fact: its suspects, the refusals that show it, and which suspects
        are the same as it.
        """
        found = {}
        for bit in bits(self.explaining):
            some, rows = self.suspects(bit)
            if rows:
                same = self._same(bit, some)
                found[bit] = (some & ~same, rows, same)
        return found

    def facts(self) -> Iterator[Induced]:
        """Every literal with its label, and preconditions of two."""
        once, never = union(row[1] for row in self.wins), union(row[2] for row in self.wins)
        for bit in bits(once):
            literal = literal_of(self.book.facts, bit)
            confirmed = [row[0].witness for row in self.wins if row[1] >> bit & 1]
            against = (
                [row[0].witness for row in self.wins if row[2] >> bit & 1]
                if never >> bit & 1
                else []
            )
            unknown = len(self.wins) - len(confirmed) - len(against)
            label, rows, note, clause = Label.REFUTED, list[Witness](), "", Clause((literal,))
            if literal in self.excluded:
                label, note = (
                    Label.TAKEN_OUT,
                    "it was false in a success kept aside, or a task was won only without it",
                )
            elif self.safe >> bit & 1:
                label, rows, note, clause = self._labelled(bit, literal)
            elif self._usual(
                bit, len(confirmed), against
            ):  # plans see to it; the guard does not block by it
                label, note = (
                    Label.POSSIBLE,
                    f"false in {len(against)} of {len(self.wins)} successes",
                )
            yield induced(clause, confirmed, against, rows, label=label, unknown=unknown, note=note)
        yield from self.either

    def _usual(self, bit: int, held: int, against: Sequence[Witness]) -> bool:
        """True if a fact was false in successes so rarely that they may be misread, and
        explains many refusals.
        """
        rare = max(1.0, LIMITS.exceptions * held)
        if (
            self.by_name(bit)
            or len({each.episode for each in against}) > rare
            or held < LIMITS.telling
        ):
            return False
        left = [
            row for row in self.losses if not row[2] & self.safe and (row[1] | row[2]) >> bit & 1
        ]
        return sum(row[2] >> bit & 1 for row in left) >= max(
            LIMITS.either, LIMITS.mostly * len(left)
        )

    def _labelled(self, bit: int, literal: Literal) -> tuple[Label, list[Witness], str, Clause]:
        alone = Clause((literal,))
        if not self.tested >> bit & 1:
            return Label.UNTESTED, [], "hardly ever known" if self.seldom >> bit & 1 else "", alone
        if not self.explaining >> bit & 1:
            same = next(
                (one for one, (_, _, same) in self._certain.items() if same >> bit & 1), None
            )
            if same is not None:
                return (
                    Label.IMPLIED,
                    [],
                    f"never told apart from {literal_of(self.book.facts, same)}",
                    alone,
                )
            return (Label.POSSIBLE if self.required >> bit & 1 else Label.IMPLIED), [], "", alone
        some, rows, _ = self._certain.get(bit, (0, [], 0))
        rest = list(bits(some & ~(1 << bit)))
        others = [literal_of(self.book.facts, other) for other in rest]
        witnesses = [row[0].witness for row in rows]
        told = any(
            1 << other == self._certain[other][0] for other in rest if other in self._certain
        )
        unknown = sum(
            not (true | false) >> bit & 1 for _, true, false in self.wins
        )  # it may have been false in these
        if (
            not rows
            or told
            or len(others) > LIMITS.alternatives
            or unknown > LIMITS.sometimes * len(self.wins)
        ):
            return Label.POSSIBLE, witnesses, "", alone
        note = "nobody can tell which of these it is" if others else ""
        return Label.NECESSARY, witnesses, note, Clause((literal, *others))

    def _implied(self, bit: int) -> bool:
        """True if a fact that explains nothing is sure to hold where one or two of the others
        do.
        """
        # successes do not tell, since in these it was true as all the others were; what was drawn
        # at random does
        known = [row for row in self._drawn if (row[0] | row[1]) >> bit & 1]
        needed = list(bits(self.explaining))
        for some in (*((one,) for one in needed), *combinations(needed, 2)):
            mask = sum(1 << each for each in some)
            there = [row for row in known if row[0] & mask == mask]
            if any(row[1] >> bit & 1 for row in there) or len(there) == len(known):
                continue
            often = sum(row[1] >> bit & 1 for row in known) / (len(known) - len(there))
            if (1 - often) ** len(there) < LIMITS.by_chance:
                return True
        return False

    @cached_property
    def _drawn(self) -> list[tuple[int, int]]:
        """True and false literals of names drawn at random."""
        return [signed(true, false, self.size) for true, false in self.book.imagined]

    @cached_property
    def either(self) -> tuple[Induced, ...]:
        """Preconditions of two facts, of which one must hold, for refusals that no single fact
        explains.
        """
        needed, found = self.explaining, list[Induced]()
        left = [
            row for row in self._explainable if not row[2] & self.safe and row[1] & needed == needed
        ]
        while len(left) >= LIMITS.either:
            every = combinations(bits(union(row[2] for row in left)), 2)
            pairs = [each for each in every if self._one_always(*each) and _accounts(left, *each)]
            pairs = [
                each for each in pairs if self._luck(left, *each) <= LIMITS.by_chance / self.size**2
            ]
            best = max(
                pairs,
                key=lambda pair: (len(_neither(left, *pair)), *map(self._worth, pair)),
                default=None,
            )
            if best is None:
                break
            clause = Clause(tuple(literal_of(self.book.facts, bit) for bit in best))
            known = [
                row[0].witness for row in self.wins if (row[1] >> best[0] | row[1] >> best[1]) & 1
            ]
            unknown, shown = (
                len(self.wins) - len(known),
                [row[0].witness for row in _neither(left, *best)],
            )
            if not self.excluded.intersection(clause.literals):
                found.append(
                    induced(clause, known, (), shown, label=Label.NECESSARY, unknown=unknown)
                )
            # a refusal where neither is known to have held needs no other explanation
            left = [row for row in left if (row[1] >> best[0] | row[1] >> best[1]) & 1]
        return tuple(found)

    def _one_always(self, one: int, other: int) -> bool:
        """True if in no success both are false, each alone held in some, and they are not each
        other's opposite.
        """
        if abs(one - other) == self.size or any(
            false >> one & false >> other & 1 for _, _, false in self.wins
        ):
            return False
        ways = ((one, other), (other, one))
        return all(
            any(true >> this & false >> that & 1 for _, true, false in self.wins)
            for this, that in ways
        )

    # Kinds.

    @cached_property
    def faultless(self) -> list[Attempt]:
        """Refusals for which no fact accounts: all that explains other refusals is known to be
        true.
        """
        # names that say no kind are blamed only where all that may be needed is known to be true
        needed = self.required if self.names_for_kinds else self.explaining
        rows = [row for row in self.losses if row[1] & needed == needed]
        index = {literal_of(self.book.facts, bit): bit for bit in range(2 * self.size)}
        pairs = [
            sum(1 << index[literal] for literal in fact.clause.literals) for fact in self.either
        ]
        left = [row[0] for row in rows if all(row[1] & pair for pair in pairs)]
        return [attempt for attempt in left if attempt.witness not in self.repeated]

    def unexplained(self, tables: Iterable[KindTable]) -> int:
        """Refusals for which neither facts nor kinds account."""
        told = [(table.slots, table.refused) for table in tables]
        return sum(
            not any(
                tuple(attempt.kinds[slot] for slot in slots) in refused for slots, refused in told
            )
            for attempt in self.faultless
            if attempt.kinds in self.book.worked
            or self.book.refused[attempt.kinds] >= LIMITS.refused_kinds
        )


def needs_of(book: Book, excluded: frozenset[Literal] = frozenset()) -> Needs:
    """Needs of an action, drawn once until more is seen of it."""
    seen = (excluded, len(book.attempts), len(book.imagined), len(book.facts))
    if book.kept is None or book.kept[0] != seen:
        book.kept = seen, Needs(book, excluded)
    needs: Needs = book.kept[1]
    return needs


def _accounts(rows: Sequence[tuple[Attempt, int, int]], one: int, other: int) -> bool:
    """True if it was often enough that neither of two facts held."""
    both, held = (
        len(_neither(rows, one, other)),
        sum((true >> one | true >> other) & 1 for _, true, _ in rows),
    )
    return both >= max(
        LIMITS.either, LIMITS.either_of_known * (both + held), LIMITS.either_of_all * len(rows)
    )


def _neither(
    rows: Iterable[tuple[Attempt, int, int]], one: int, other: int
) -> list[tuple[Attempt, int, int]]:
    return [row for row in rows if row[2] >> one & row[2] >> other & 1]


def circumstances(needs: Needs) -> tuple[Literal, ...]:
    """Facts about fixed names that held in every success and seldom hold elsewhere, the rarest
    first.
    """
    # some always hold, and may not be needed: plans see to them until the action has worked often
    # enough to tell
    book, found = needs.book, []
    always = (
        reduce(and_, (true for _, true, _ in needs.wins)) & (1 << needs.size) - 1
        if needs.wins
        else 0
    )
    for bit in bits(always):
        args = book.facts[bit].args
        known = [true >> bit & 1 for true, false in book.imagined if (true | false) >> bit & 1]
        if (
            args
            and not any(map(str.isdigit, args))
            and known
            and sum(known) <= LIMITS.seldom_in_hand * len(known)
        ):
            found.append((sum(known) / len(known), bit))
    return tuple(Literal(book.facts[bit]) for _, bit in sorted(found)[: LIMITS.most_circumstances])
