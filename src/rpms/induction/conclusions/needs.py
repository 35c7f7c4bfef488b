"""From attempts to an action's needs, in two bounds.

The *safe* bound (`safe_bound`) is every literal that was never false in a success and was true in
one. Of these, `explaining` (`explanations`) keeps the fewest that account for all refusals. One of
them is *necessary* (`proofs`) if some refusals had all the others true and it alone false; where
other facts of the safe bound were false in all such refusals too, nobody can tell which of them was
needed, and the guard only refuses when all of them are false. Refusals that no fact explains may
lack two of which one must hold (`either_needs`), or have kinds that do not work.

The guard refuses only by what several independent successes had, too: see
`Proofs.well_supported` and `EitherNeeds`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, KindTable, induced
from rpms.induction.conclusions.either_needs import EitherNeeds
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.literals import Row, bits, count_independent
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Clause, Literal
from rpms.store.evidence import Label, Witness


class NeedFinding(NamedTuple):
    """What was concluded about a literal of the safe bound."""

    label: Label
    clause: Clause
    shown_by: Sequence[Witness] = ()  # Refusals that show that it is needed
    note: str = ""


@dataclass(eq=False)
class Needs(EitherNeeds):
    """Needs of an action, from its attempts."""

    def facts(self) -> Iterator[Induced]:
        """Every literal with its label, and preconditions of two."""
        for bit in bits(self.held):
            held = self.steps(self.holding[bit] & self.won)
            against = self.steps(self.failing(bit) & self.won)
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
        if self.by_name(bit) or held < LIMITS.telling:
            return False
        if _in_more_episodes(against, max(1.0, LIMITS.exceptions * held)):
            return False
        unexplained = []
        for row in self.losses:
            if not row.fails & self.safe and row.known >> bit & 1:
                unexplained.append(row)
        lacking = [row for row in unexplained if row.fails >> bit & 1]
        enough = max(LIMITS.either, LIMITS.mostly * count_independent(unexplained))
        return count_independent(lacking) >= enough

    def _verdict_of_safe(self, bit: int, clause: Clause) -> NeedFinding:
        if not self.tested >> bit & 1:
            note = "hardly ever known" if self.seldom >> bit & 1 else ""
            return NeedFinding(Label.UNTESTED, clause, note=note)
        if self.explaining >> bit & 1:
            return self._verdict_of_explaining(bit, clause)
        for other, proof in self.proofs.items():
            if proof.same >> bit & 1:
                note = f"never told apart from {self.literal(other)}"
                return NeedFinding(Label.IMPLIED, clause, note=note)
        label = Label.POSSIBLE if self.required >> bit & 1 else Label.IMPLIED
        return NeedFinding(label, clause)

    def _verdict_of_explaining(self, bit: int, clause: Clause) -> NeedFinding:
        """The conclusion about a fact that explains refusals: necessary if the guard may refuse
        by it.
        """
        proof = self.proofs.get(bit)
        if proof is None:
            return NeedFinding(Label.POSSIBLE, clause)
        witnesses = [row.attempt.witness for row in proof.refusals]
        others = list(bits(proof.suspects & ~(1 << bit)))
        doubtful = (
            any(self.proven_alone(other) for other in others)
            or len(others) > LIMITS.alternatives
            or not self.well_supported(bit)
        )
        if doubtful:
            return NeedFinding(Label.POSSIBLE, clause, witnesses)
        note = "nobody can tell which of these it is" if others else ""
        alternatives = Clause((*clause.literals, *map(self.literal, others)))
        return NeedFinding(Label.NECESSARY, alternatives, witnesses, note)

    # Kinds.

    @cached_property
    def faultless(self) -> list[Attempt]:
        """Refusals for which no fact accounts: all that explains other refusals is known to be
        true, and nothing that may be needed is known to be false.
        """
        found = []
        for row in self.losses:
            done = row.attempt.witness in self.repeated
            if self._met_all(row) and not done and not self._lacks_a_pair(row):
                found.append(row.attempt)
        return found

    def _met_all(self, refusal: Row) -> bool:
        """True if all that explains other refusals is known to have been true."""
        # names that say no kind are blamed only where all that may be needed is known to be true
        needed = self.required if self.names_for_kinds else self.explaining
        if refusal.holds & needed != needed or refusal.fails & self.required:
            return False
        return all(refusal.holds & pair for pair in self._pair_masks)

    @cached_property
    def _pair_masks(self) -> list[int]:
        """The bits of each need of two facts."""
        return [self.clause_mask(fact.clause) for fact in self.either]

    def _lacks_a_pair(self, refusal: Row) -> bool:
        """True if two facts may both have been missing of which one held in the successes: these
        may be to blame, and not kinds, even before enough refusals show it.

        One of them was false, and the other is not known to have held: it may have been missing,
        too.
        """
        for one in bits(refusal.fails & self.held & self.failed):
            for other in bits(self.held & ~refusal.holds & ~self._false_with(one)):
                if self._one_always_cached(one, other):
                    return True
        return False

    def _false_with(self, bit: int) -> int:
        """Facts that were false in some success together with one."""
        if bit not in self._together:
            without = self.failing(bit) & self.won
            self._together[bit] = self._denied(self._in_any(without))
        return self._together[bit]

    @cached_property
    def _together(self) -> dict[int, int]:
        """By fact that was asked about, all that were false with it in some success."""
        return {}

    def _one_always_cached(self, one: int, other: int) -> bool:
        pair = (min(one, other), max(one, other))
        if pair not in self._pairs_asked:
            self._pairs_asked[pair] = self.one_always(*pair)
        return self._pairs_asked[pair]

    @cached_property
    def _pairs_asked(self) -> dict[tuple[int, int], bool]:
        """By pair of facts that was asked about, whether one of them held in the successes."""
        return {}

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


def _in_more_episodes(witnesses: Iterable[Witness], most: float) -> bool:
    """True if witnesses are of more than so many episodes."""
    episodes: set[str] = set()
    for witness in witnesses:
        episodes.add(witness.episode)
        if len(episodes) > most:
            return True
    return False


def circumstances(needs: Needs) -> tuple[Literal, ...]:
    """Facts about fixed names that held in every success and seldom hold elsewhere, the rarest
    first.

    Some always hold, and may not be needed: plans see to them until the action has worked often
    enough to tell.
    """
    if not needs.wins:
        return ()
    found: list[_RareFact] = []
    for bit, atom in enumerate(needs.book.facts):
        if not _is_about_names_alone(atom) or not all(row.holds >> bit & 1 for row in needs.wins):
            continue
        share = _share_elsewhere(needs.book, bit)
        if share is not None and share <= LIMITS.seldom_in_hand:
            found.append(_RareFact(share, bit))
    rarest = sorted(found)[: LIMITS.most_circumstances]
    return tuple(Literal(needs.book.facts[fact.bit]) for fact in rarest)


class _RareFact(NamedTuple):
    """A fact that held in every success, and how often it holds elsewhere."""

    share: float
    bit: int


def _is_about_names_alone(atom: Atom) -> bool:
    """True if a fact is about things by their names, and about no slot."""
    return bool(atom.args) and not any(map(str.isdigit, atom.args))


def _share_elsewhere(book: Book, bit: int) -> float | None:
    """How often a fact holds for names drawn at random; None where it was never known."""
    known = [each for each in book.imagined if (each.true | each.false) >> bit & 1]
    if not known:
        return None
    return sum(each.true >> bit & 1 for each in known) / len(known)
