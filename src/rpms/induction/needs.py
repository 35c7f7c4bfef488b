"""From attempts to an action's needs, in two bounds.

The *safe* bound is every literal that was never false in a success and was true in one. Of these,
`explaining` keeps the fewest that account for all refusals. One of them is *necessary* if some
refusal had all the others true and it alone false; where other facts of the safe bound were false
in all such refusals too, nobody can tell which of them was needed, and the guard only refuses when
all of them are false.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

from rpms.induction.action_model import Induced, KindTable, induced, strange, working
from rpms.induction.attempts import Attempt, Book, independent, repeated
from rpms.induction.implications import Implications
from rpms.induction.literals import (
    Row,
    Signed,
    bits,
    literal_of,
    mask_of,
    row_of,
    signed,
    union,
)
from rpms.induction.templates import words_in
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Clause, Literal, kind_of
from rpms.store.evidence import Label, Witness


class Proof(NamedTuple):
    """The refusals that show that an explaining fact is needed."""

    suspects: int  # The facts of which one was surely needed, the explaining one among them
    refusals: list[Row]  # Those that lacked none but suspects
    same: int  # Facts that were never told apart from it, and count as one with it


class NeedFinding(NamedTuple):
    """What was concluded about a literal of the safe bound."""

    label: Label
    clause: Clause
    shown_by: Sequence[Witness] = ()  # Refusals that show that it is needed
    note: str = ""


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
    preferred: frozenset[str] = frozenset()
    """Slots whose facts are kept rather than others that say the same."""

    def __post_init__(self) -> None:
        book = self.book
        self.size = len(book.facts)
        self.many = len(book.named) > LIMITS.many_names
        """True if there are so many fixed names that some fact about one always happens to hold."""
        self.fit = working(book)
        """For each slot, the kinds that have worked in it."""
        self.rows = [row_of(attempt, self.size) for attempt in book.attempts]
        self.wins = [row for row in self.rows if not row.attempt.refused]
        self.losses = [row for row in self.rows if row.attempt.refused]
        self.repeated = repeated(book.attempts, len(book.slots))
        self.held = union(row.holds for row in self.wins)
        """Literals that held in some success."""
        self.failed = union(row.fails for row in self.wins)
        """Literals that were false in some success."""
        self._together: dict[int, int] = {}
        """By literal that was false in some success, all that were false with it."""

    def literal(self, bit: int) -> Literal:
        """The literal that a bit stands for."""
        return literal_of(self.book.facts, bit)

    def literals(self, mask: int) -> tuple[Literal, ...]:
        """The literals that bits stand for."""
        return tuple(self.literal(bit) for bit in bits(mask))

    def _mask(self, clause: Clause) -> int:
        """The bits of a clause's literals."""
        mask = 0
        for literal in clause.literals:
            place = self.book.facts.index(literal.atom)
            mask |= 1 << (place + self.size if literal.negated else place)
        return mask

    def by_name(self, bit: int) -> bool:
        """True if a fact is about anything by its name."""
        return any(not arg.isdigit() for arg in self.literal(bit).atom.args)

    # The safe bound.

    @cached_property
    def safe(self) -> int:
        """The safe bound, as bits."""
        possible = self.held & ~self._false_too_often()
        if self.book.vocabulary.positive:
            possible &= (1 << self.size) - 1
        possible = self._without_chance(possible)
        # facts about fixed names are left out where the others explain the refusals as well
        rest = mask_of(bit for bit in bits(possible) if not self.by_name(bit))
        explained = [row for row in self.losses if row.fails & possible]
        by_the_rest = sum(bool(row.fails & rest) for row in explained)
        as_well = by_the_rest >= (1 - LIMITS.exceptions) * len(explained)
        return rest if self.losses and as_well else possible

    def _false_too_often(self) -> int:
        """Literals that were false in more successes than are tolerated."""
        if not self.tolerated:
            return self.failed
        found = self.failed
        most = self.tolerated * len(self.wins)
        for bit in bits(self.held & self.failed):
            if _count_failing(self.wins, bit) <= most:
                found &= ~(1 << bit)
        return found

    def _without_chance(self, possible: int) -> int:
        """Possible needs without those that verification took out, and those that held in all
        successes by chance.
        """
        own = mask_of(bit for bit in bits(possible) if not self.by_name(bit))
        unexplained = [row for row in self.losses if not row.fails & own]
        kept = possible
        for bit in bits(possible):
            by_chance = self._by_chance(unexplained, bit) > LIMITS.by_chance / self.size
            if by_chance or self.literal(bit) in self.excluded:
                kept &= ~(1 << bit)
        return kept

    def _by_chance(self, refusals: Iterable[Row], *some: int) -> float:
        """The p-value of a need: how likely it is that one of some facts held in every success,
        and none in as many refusals, if none of them were needed.

        It is a one-sided binomial test. Only facts about fixed names are tested, and only where
        there are many such names. Refusals of one episode count once, as most facts hold for a
        whole episode.
        """
        if not self.many or not any(map(self.by_name, some)):
            return 0.0
        all_false = prod(1 - self._frequency(bit) for bit in some)
        mask = mask_of(some)
        last_of_episode = {
            row.attempt.witness.episode: row for row in refusals if row.known & mask == mask
        }
        recent = list(last_of_episode.values())[-LIMITS.recent :]
        lacking = sum(row.fails & mask == mask for row in recent)
        in_every_success = (1 - all_false) ** self._independent_wins
        return float(in_every_success * _at_least(lacking, len(recent), all_false))

    def _frequency(self, bit: int, given: int = 0) -> float:
        """How often a fact holds for random names, where some other facts hold; 1 if nothing is
        known.
        """
        rows = self._drawn or [Signed(row.holds, row.fails) for row in self.losses]
        held = known = 0
        for row in rows:
            if row.known >> bit & 1 and row.holds & given == given:
                known += 1
                held += row.holds >> bit & 1
        return held / known if known else 1.0

    @cached_property
    def _drawn(self) -> list[Signed]:
        """Literals of names drawn at random."""
        return [signed(true, false, self.size) for true, false in self.book.imagined]

    @cached_property
    def tested(self) -> int:
        """The safe bound without facts that were never seen to be false, or were hardly ever
        known.

        An action that was never refused may have been chosen carefully, so that its successes
        prove little: then a fact counts as tested if it is false of names drawn at random.
        """
        if self.losses:
            ever = union(row.fails for row in self.losses)
        else:
            ever = union(row.fails for row in self._drawn)
        return self.safe & ever & ~self.seldom

    @cached_property
    def seldom(self) -> int:
        """Candidate preconditions that were rarely known before a success, or that successes
        reveal rather than need.
        """
        # of several successes with the same names in an episode the first counts: what it has
        # shown is known to the others
        firsts: dict[tuple[str, tuple[str, ...]], Row] = {}
        for row in self.wins:
            firsts.setdefault((row.attempt.witness.episode, row.attempt.names), row)
        revealed = []
        for row in firsts.values():
            after = signed(row.attempt.true_after, row.attempt.false_after, self.size)
            revealed.append(after.holds & ~row.holds)
        found = 0
        for bit in bits(self.safe):
            known = _count_holding(firsts.values(), bit)
            shown = sum(mask >> bit & 1 for mask in revealed)
            rarely = _count_holding(self.wins, bit) < LIMITS.seldom_known * len(self.wins)
            if known < shown or rarely:
                found |= 1 << bit
        return found

    # What explains the refusals.

    @cached_property
    def explaining(self) -> int:
        """The fewest tested facts that account for every refusal that any of them accounts for."""
        kept = self.tested
        refusals = {row.fails & kept for row in self._explainable} - {0}
        # facts go one by one, the seldomest known first, as long as each refusal keeps a fact that
        # was false
        for bit in sorted(bits(kept), key=self._worth):
            without = kept & ~(1 << bit)
            if all(lacking & without for lacking in refusals):
                kept = without
        return kept & union(refusals)

    def _worth(self, bit: int) -> tuple[int, ...]:
        """Rank of a fact among others that explain the same: the lowest is given up first."""
        literal = self.literal(bit)
        return (
            not self.preferred.isdisjoint(literal.atom.args),
            not self.by_name(bit),
            sum(row.known >> bit & 1 for row in self.rows),
            not literal.negated,
            len(literal.atom.args),
            *self._meant(bit),
            -bit,
        )

    @cached_property
    def _explainable(self) -> list[Row]:
        """Refusals that facts have to explain: those with kinds that have worked."""
        if self.kindless:
            return self.losses
        own = mask_of(bit for bit in bits(self.tested) if not self.by_name(bit))
        # relations come before kinds: which key fits a door is no matter of what the two are
        # called; where kinds are no more than names, all facts about the things come before them
        before_kinds = own if self.names_for_kinds else self.tested & self._relations()
        found = []
        for row in self.losses:
            if not row.fails & own and row.attempt.witness in self.repeated:
                continue  # what was done already needs no other reason
            if row.fails & before_kinds or self._worked_with_kinds(row.attempt):
                found.append(row)
        return found

    def _relations(self) -> int:
        """Facts about several of the action's things."""
        found = 0
        for place, atom in enumerate(self.book.facts):
            slots = {arg for arg in atom.args if arg.isdigit()}
            if len(slots) > 1:
                found |= 1 << place
        return found

    def _worked_with_kinds(self, attempt: Attempt) -> bool:
        """True if kinds cannot be what was wrong with a refused attempt."""
        if self.paired:
            return attempt.kinds in self.book.worked
        return not strange(attempt, self.fit)

    @cached_property
    def paired(self) -> bool:
        """True if kinds that worked each were refused together, with nothing else missing:
        pillows in a fridge.
        """
        for row in self.losses:
            complete = row.holds & self.tested == self.tested and not row.fails & self.safe
            untried = row.attempt.kinds not in self.book.worked
            if complete and untried and not strange(row.attempt, self.fit):
                return True
        return False

    @cached_property
    def names_for_kinds(self) -> bool:
        """True if the kinds of an action's things are their names, and there are many: then all
        facts come first.
        """
        names = {name for attempt in self.book.attempts for name in attempt.names}
        return len(names) > LIMITS.fixed_names and all(kind_of(name) == name for name in names)

    @cached_property
    def required(self) -> int:
        """All that an action may need as far as anybody knows: what explains refusals, and what
        nothing implies.
        """
        kept = self.tested
        for bit in bits(self.tested & ~self.explaining):
            # of many fixed names, some fact always happened to hold
            if self.many and self.by_name(bit):
                kept &= ~(1 << bit)
        # successes do not tell what follows from what, since in these all of it was true; other
        # states do
        implications = Implications(self.book)
        doubtful = kept & ~self.explaining & ~self._undone()
        for bit in sorted(bits(doubtful), key=self._worth):
            others = kept & ~(1 << bit)
            implied_by = implications.near_by if self._near(bit) else implications.implied_by
            if implied_by(bit, *self._implying(bit, others)):
                kept = others
        return kept

    def _implying(self, bit: int, others: int) -> tuple[int, int]:
        """Of some facts, those for which one may be given up, and those that are preferred to it.

        Where the world declares its commands, a fact that has a word of the action is given up
        only for others that have one.
        """
        rank = self._meant(bit)
        allowed = preferred = 0
        for other in bits(others):
            explains = bool(self.explaining >> other & 1)
            if explains or self._meant(other) > rank:
                preferred |= 1 << other
            if explains or not self.book.declared or self._meant(other)[0] >= rank[0]:
                allowed |= 1 << other
        return allowed, preferred

    def _undone(self) -> int:
        """Facts that every success made false: an action needs what it takes away.

        Not so for what is near: who takes a thing has it in hand, and so it lies nowhere.
        """
        found = self.held & (1 << self.size) - 1
        for row in self.wins:
            after = signed(row.attempt.true_after, row.attempt.false_after, self.size)
            if not row.attempt.names_twice:
                found &= after.fails
        return found & ~mask_of(bit for bit in bits(found) if self._near(bit))

    def _near(self, bit: int) -> bool:
        """True if a fact says that a thing is where the agent is, which follows from where both
        are.
        """
        predicate = self.book.vocabulary.predicates[self.literal(bit).atom.predicate]
        return predicate.exclusive not in ("", "always")

    def _meant(self, bit: int) -> tuple[bool, bool]:
        """Rank of a fact among equivalents: one that has a word of the action, one that is about
        its things in their order.
        """
        literal = self.literal(bit)
        words = set(words_in(self.book.template))
        args = list(literal.atom.args)
        return not words.isdisjoint(words_in(literal.atom.predicate)), args == sorted(args)

    @property
    def likely(self) -> int:
        """Facts that explain refusals, and facts that hardly held in all successes by chance."""
        most = LIMITS.by_chance ** (1 / self._independent_wins)
        found = self.explaining
        for bit in bits(self.required & ~self.explaining):
            if self._frequency(bit, self.explaining) < most:
                found |= 1 << bit
        return found

    # What is certain.

    def decisive(self, bit: int) -> list[Row]:
        """Refusals in which one of the explaining facts alone was false, and all the others
        were true.
        """
        others = self.explaining & ~(1 << bit)
        return [
            row
            for row in self._explainable
            if row.fails >> bit & 1 and row.holds & others == others
        ]

    @cached_property
    def _proofs(self) -> dict[int, Proof]:
        """By explaining fact, the refusals that show that it is needed, where there are enough."""
        found = {}
        for bit in bits(self.explaining):
            proof = self._proof(bit)
            if proof is not None:
                found[bit] = proof
        return found

    def _proof(self, bit: int) -> Proof | None:
        """The fewest facts of which one was surely needed, and the refusals that lacked nothing
        else.
        """
        # an unknown fact may have been missing
        missing = [
            (self.required & ~row.holds, row) for row in self._explainable if row.fails >> bit & 1
        ]
        fewest_first = sorted(
            {mask for mask, _ in missing}, key=lambda mask: (mask.bit_count(), mask)
        )
        for suspects in fewest_first:
            shown = [row for mask, row in missing if not mask & ~suspects]
            if count_independent(shown) >= LIMITS.decisive:
                same = self._same(bit, suspects)
                return Proof(suspects & ~same, shown, same)
        return None

    def _same(self, bit: int, suspects: int) -> int:
        """Suspects that always equalled `bit` where all other required facts held: they count
        as one.
        """
        rest = self.required & ~suspects
        where = [row for row in self.rows if row.holds & rest == rest]
        same = 0
        for other in bits(suspects & ~(1 << bit)):
            if self._never_apart(where, bit, other):
                same |= 1 << other
        return same

    def _never_apart(self, rows: Iterable[Row], one: int, other: int) -> bool:
        """True if two facts, known together before enough independent witnesses, had the same
        value each time, and not always the same.

        Attempts of one episode are independent if the facts are about other things, or have
        changed by then: what holds all day agrees all day, however often one asks.
        """
        both = 1 << one | 1 << other
        about = (*self.literal(one).atom.args, *self.literal(other).atom.args)
        slots = sorted({int(arg) for arg in about if arg.isdigit()})
        witnesses = set()
        values = set()
        for row in rows:
            if row.known & both != both:
                continue
            value = row.holds & both
            if value not in (0, both):
                return False
            names = tuple(row.attempt.names[slot] for slot in slots)
            witnesses.add((row.attempt.witness.episode, names, value))
            values.add(value)
        return len(witnesses) >= LIMITS.alike and len(values) > 1

    def facts(self) -> Iterator[Induced]:
        """Every literal with its label, and preconditions of two."""
        for bit in bits(self.held):
            held = [row.attempt.witness for row in self.wins if row.holds >> bit & 1]
            against = [row.attempt.witness for row in self.wins if row.fails >> bit & 1]
            verdict = self._verdict(bit, len(held), against)
            yield induced(
                verdict.clause,
                held,
                against,
                verdict.shown_by,
                label=verdict.label,
                unknown=len(self.wins) - len(held) - len(against),
                note=verdict.note,
            )
        yield from self.either

    def _verdict(self, bit: int, held: int, against: Sequence[Witness]) -> NeedFinding:
        """The conclusion about a literal that held in some success."""
        clause = Clause((self.literal(bit),))
        if clause.literals[0] in self.excluded:
            note = "it was false in a success kept aside, or a task was won only without it"
            return NeedFinding(Label.TAKEN_OUT, clause, note=note)
        if self.safe >> bit & 1:
            return self._verdict_of_safe(bit, clause)
        if self._usual(bit, held, against):  # plans see to it; the guard does not block by it
            note = f"false in {len(against)} of {len(self.wins)} successes"
            return NeedFinding(Label.POSSIBLE, clause, note=note)
        return NeedFinding(Label.REFUTED, clause)

    def _usual(self, bit: int, held: int, against: Sequence[Witness]) -> bool:
        """True if a fact was false in successes so rarely that they may be misread, and
        explains many refusals.
        """
        episodes = {witness.episode for witness in against}
        rarely_false = len(episodes) <= max(1.0, LIMITS.exceptions * held)
        if self.by_name(bit) or not rarely_false or held < LIMITS.telling:
            return False
        unexplained = [
            row for row in self.losses if not row.fails & self.safe and row.known >> bit & 1
        ]
        lacking = [row for row in unexplained if row.fails >> bit & 1]
        enough = max(LIMITS.either, LIMITS.mostly * count_independent(unexplained))
        return count_independent(lacking) >= enough

    def _verdict_of_safe(self, bit: int, clause: Clause) -> NeedFinding:
        if not self.tested >> bit & 1:
            note = "hardly ever known" if self.seldom >> bit & 1 else ""
            return NeedFinding(Label.UNTESTED, clause, note=note)
        if self.explaining >> bit & 1:
            return self._verdict_of_explaining(bit, clause)
        for other, proof in self._proofs.items():
            if proof.same >> bit & 1:
                note = f"never told apart from {self.literal(other)}"
                return NeedFinding(Label.IMPLIED, clause, note=note)
        label = Label.POSSIBLE if self.required >> bit & 1 else Label.IMPLIED
        return NeedFinding(label, clause)

    def _verdict_of_explaining(self, bit: int, clause: Clause) -> NeedFinding:
        """The conclusion about a fact that explains refusals: necessary if the guard may refuse
        by it.
        """
        proof = self._proofs.get(bit)
        if proof is None:
            return NeedFinding(Label.POSSIBLE, clause)
        witnesses = [row.attempt.witness for row in proof.refusals]
        others = list(bits(proof.suspects & ~(1 << bit)))
        doubtful = (
            any(self._proven_alone(other) for other in others)
            or len(others) > LIMITS.alternatives
            or not self._well_supported(bit)
        )
        if doubtful:
            return NeedFinding(Label.POSSIBLE, clause, witnesses)
        note = "nobody can tell which of these it is" if others else ""
        alternatives = Clause((*clause.literals, *map(self.literal, others)))
        return NeedFinding(Label.NECESSARY, alternatives, witnesses, note)

    def _well_supported(self, bit: int) -> bool:
        """True if a fact was known to hold in several independent successes, and in nine of ten.

        Refusals tell what was wrong with them; only successes tell that there is no other way. And
        where a fact was unknown, it may have been false.
        """
        with_it = [row for row in self.wins if row.holds >> bit & 1]
        known = len(with_it) >= (1 - LIMITS.sometimes) * len(self.wins)
        return known and count_independent(with_it) >= LIMITS.several

    def _proven_alone(self, bit: int) -> bool:
        """True if a fact is needed, whatever else is."""
        proof = self._proofs.get(bit)
        return proof is not None and proof.suspects == 1 << bit

    # Needs of two facts, of which one must hold.

    @cached_property
    def either(self) -> tuple[Induced, ...]:
        """Preconditions of two facts, of which one must hold, for refusals that no single fact
        explains.
        """
        puzzling = [
            row
            for row in self._explainable
            if not row.fails & self.safe and row.holds & self.explaining == self.explaining
        ]
        left = puzzling
        found: list[Induced] = []
        while left:
            best = self._best_pair(left, puzzling)
            if best is None:
                break
            asked = mask_of(best)
            clause = Clause(tuple(map(self.literal, best)))
            if not self.excluded.intersection(clause.literals):
                found.append(self._induced_pair(clause, asked, puzzling))
            # a refusal where neither is known to have held needs no other explanation
            left = [row for row in left if row.holds & asked]
        return tuple(found)

    def _best_pair(self, left: Sequence[Row], puzzling: Sequence[Row]) -> tuple[int, int] | None:
        """The two facts that account for most of the refusals that are left.

        `puzzling`: all that no single fact explains.
        """
        best: tuple[int, int] | None = None
        best_rank: tuple[object, ...] = ()
        every = count_independent(left)
        for pair in combinations(bits(union(row.fails for row in left)), 2):
            asked = mask_of(pair)
            if not self._one_always(*pair):
                continue
            lacking = _lacking_all(left, asked)
            if not _accounts(left, asked, lacking, every):
                continue
            # what another pair explains too speaks for this one as well
            if count_independent(_lacking_all(puzzling, asked)) < LIMITS.either:
                continue
            if self._by_chance(left, *pair) > LIMITS.by_chance / self.size**2:
                continue
            rank = (len(lacking), *map(self._worth, pair))
            if best is None or rank > best_rank:
                best = pair
                best_rank = rank
        return best

    def _induced_pair(self, clause: Clause, asked: int, refusals: Sequence[Row]) -> Induced:
        known = [row.attempt.witness for row in self.wins if row.holds & asked]
        shown = [row.attempt.witness for row in _lacking_all(refusals, asked)]
        unknown = len(self.wins) - len(known)
        return induced(clause, known, (), shown, label=Label.NECESSARY, unknown=unknown)

    def _one_always(self, one: int, other: int) -> bool:
        """True if in enough independent successes one of two facts held, and in none both were
        false.

        Each has to carry several successes alone: to be known to hold where the other is not.
        Else the pair is one fact with an exception or two, explained by whatever held then.
        Successes in which neither is known to hold are no witnesses; they may be at most a tenth,
        as for a fact alone, and fewer than those that the weaker fact carries.
        """
        if abs(one - other) == self.size:
            return False
        first = 1 << one
        second = 1 << other
        by_first = []
        by_second = []
        by_none = []
        for row in self.wins:
            if row.fails & first and row.fails & second:
                return False
            if row.holds & first and not row.holds & second:
                by_first.append(row)
            elif row.holds & second and not row.holds & first:
                by_second.append(row)
            elif not row.holds & (first | second):
                by_none.append(row)
        weaker = min(count_independent(by_first), count_independent(by_second))
        open_ = count_independent(by_none)
        few = open_ <= LIMITS.sometimes * self._independent_wins and open_ < weaker
        return weaker >= LIMITS.several and few

    @cached_property
    def _independent_wins(self) -> int:
        return count_independent(self.wins)

    # Kinds.

    @cached_property
    def faultless(self) -> list[Attempt]:
        """Refusals for which no fact accounts: all that explains other refusals is known to be
        true.
        """
        # names that say no kind are blamed only where all that may be needed is known to be true
        needed = self.required if self.names_for_kinds else self.explaining
        pairs = [self._mask(fact.clause) for fact in self.either]
        found = []
        for row in self.losses:
            met = row.holds & needed == needed and all(row.holds & pair for pair in pairs)
            done = row.attempt.witness in self.repeated
            if met and not done and not self._lacks_a_pair(row):
                found.append(row.attempt)
        return found

    def _lacks_a_pair(self, refusal: Row) -> bool:
        """True if two facts were false of which one held in every success: these may be to blame,
        and not kinds, even before enough refusals show it.
        """
        lacking = refusal.fails & self.held & self.failed
        for one in bits(lacking):
            for other in bits(lacking & ~self._false_with(one)):
                if self._often_alone(one, other) and self._often_alone(other, one):
                    return True
        return False

    def _false_with(self, bit: int) -> int:
        """Facts that were false in some success together with one."""
        if bit not in self._together:
            failing = [row.fails for row in self.wins if row.fails >> bit & 1]
            self._together[bit] = union(failing)
        return self._together[bit]

    def _often_alone(self, one: int, other: int) -> bool:
        """True if one fact held without the other in several successes."""
        alone = (row for row in self.wins if row.holds >> one & row.fails >> other & 1)
        return count_independent(alone) >= LIMITS.several

    def unexplained(self, tables: Sequence[KindTable]) -> int:
        """Refusals for which neither facts nor kinds account."""
        count = 0
        for attempt in self.faultless:
            worked = attempt.kinds in self.book.worked
            often = self.book.refused[attempt.kinds] >= LIMITS.refused_kinds
            if (worked or often) and not any(table.refuses(attempt) for table in tables):
                count += 1
        return count


def needs_of(book: Book, excluded: frozenset[Literal] = frozenset()) -> Needs:
    """Needs of an action, drawn once until more is seen of it."""
    seen = (excluded, len(book.attempts), len(book.imagined), len(book.facts))
    if book.kept is None or book.kept[0] != seen:
        book.kept = seen, Needs(book, excluded)
    needs: Needs = book.kept[1]
    return needs


def circumstances(needs: Needs) -> tuple[Literal, ...]:
    """Facts about fixed names that held in every success and seldom hold elsewhere, the rarest
    first.

    Some always hold, and may not be needed: plans see to them until the action has worked often
    enough to tell.
    """
    book = needs.book
    found: list[tuple[float, int]] = []
    for bit, atom in enumerate(book.facts):
        by_name = bool(atom.args) and not any(map(str.isdigit, atom.args))
        if not by_name or not needs.wins or not all(row.holds >> bit & 1 for row in needs.wins):
            continue
        known = [true >> bit & 1 for true, false in book.imagined if (true | false) >> bit & 1]
        if known and sum(known) <= LIMITS.seldom_in_hand * len(known):
            found.append((sum(known) / len(known), bit))
    rarest = sorted(found)[: LIMITS.most_circumstances]
    return tuple(Literal(book.facts[bit]) for _, bit in rarest)


def count_independent(rows: Iterable[Row]) -> int:
    """Number of independent witnesses among rows."""
    return independent(row.attempt for row in rows)


def _count_holding(rows: Iterable[Row], bit: int) -> int:
    return sum(row.holds >> bit & 1 for row in rows)


def _count_failing(rows: Iterable[Row], bit: int) -> int:
    return sum(row.fails >> bit & 1 for row in rows)


def _at_least(successes: int, trials: int, probability: float) -> float:
    """The binomial tail: the probability of at least so many successes."""
    return sum(
        comb(trials, count) * probability**count * (1 - probability) ** (trials - count)
        for count in range(successes, trials + 1)
    )


def _accounts(rows: Sequence[Row], asked: int, lacking: Sequence[Row], every: int) -> bool:
    """True if it was often enough that neither of two facts held, as in `lacking`; `every`: the
    independent witnesses among all rows.

    Refusals in which one of the two is unknown and the other held say nothing.
    """
    neither = count_independent(lacking)
    known = count_independent(row for row in rows if row.known & asked == asked)
    of_all = LIMITS.either_of_all * every
    return neither >= max(LIMITS.decisive, LIMITS.either_of_known * known, of_all)


def _lacking_all(rows: Iterable[Row], asked: int) -> list[Row]:
    return [row for row in rows if row.fails & asked == asked]
