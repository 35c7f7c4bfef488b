"""From attempts to an action's needs, in two bounds.

Each step has a file and an object of its own, made from the one before:

1. `attempt_table`: which facts held in which attempts.
2. `safe_bound`: every literal that was never false in a success and was true in one. Plans work
   towards these.
3. `explanations`: the fewest of them that account for all refusals.
4. `proofs`: one of these is *necessary* if some refusals had all the others true and it alone
   false. Where other facts of the safe bound were false in all such refusals too, nobody can tell
   which of them was needed, and the guard only refuses when all of them are false.
5. `either_needs`: refusals that no fact explains may lack two of which one must hold.
6. `faultless`: what is left, for which kinds are to blame that do not work.

The guard refuses only by what several independent successes had, too: see
`Proofs.well_supported` and `EitherNeeds`.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.conclusions.attempt_table import AttemptTable
from rpms.induction.conclusions.either_needs import EitherNeeds
from rpms.induction.conclusions.explanations import Explanations
from rpms.induction.conclusions.faultless import Faultless
from rpms.induction.conclusions.proofs import Proofs
from rpms.induction.conclusions.safe_bound import SafeBound
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import Row, steps_of, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Clause, Literal
from rpms.store.evidence import Label, Witness


class NeedFinding(NamedTuple):
    """The conclusion about a literal of the safe bound."""

    label: Label
    clause: Clause
    shown_by: Sequence[Witness] = ()  # Refusals that show that it is needed
    note: str = ""


class Needs:
    """The needs of an action, as far as its attempts tell."""

    def __init__(
        self,
        book: Book,
        excluded: frozenset[Literal] = frozenset(),
        *,
        tolerated: float = 0.0,
        kindless: bool = False,
        preferred: frozenset[str] = frozenset(),
    ) -> None:
        self.table = AttemptTable(book)
        self.bound = SafeBound(self.table, excluded, tolerated)
        self.explanations = Explanations(self.bound, kindless, preferred)
        self.proofs = Proofs(self.explanations)
        self.pairs = EitherNeeds(self.explanations)
        self.faultless = Faultless(self.pairs)

    def facts(self) -> Iterator[Induced]:
        """Every literal with its label, and preconditions of two."""
        table = self.table
        for bit in bits(table.held):
            held = table.steps(table.wins_with(bit))
            against = table.steps(table.wins_without(bit))
            finding = self._finding(bit, len(held), against)
            yield induced(
                finding.clause,
                confirmed=held,
                against=against,
                decisive=finding.shown_by,
                label=finding.label,
                unknown=len(table.wins) - len(held) - len(against),
                note=finding.note,
            )
        yield from self.pairs.found

    def _finding(self, bit: int, held: int, against: Sequence[Witness]) -> NeedFinding:
        """The conclusion about a literal that held in some success, `held` of them."""
        literal = self.table.literal(bit)
        clause = Clause((literal,))
        if literal in self.bound.excluded:
            note = "it was false in a success kept aside, or a task was won only without it"
            return NeedFinding(Label.TAKEN_OUT, clause, note=note)
        if self.bound.safe >> bit & 1:
            return self._finding_of_safe(bit, clause)
        if self._is_probable(bit, held, against):
            # plans see to it; the guard does not block by it
            note = f"false in {len(against)} of {len(self.table.wins)} successes"
            return NeedFinding(Label.POSSIBLE, clause, note=note)
        return NeedFinding(Label.REFUTED, clause)

    def _is_probable(self, bit: int, held: int, against: Sequence[Witness]) -> bool:
        """True if a fact was false in successes so rarely that they may be misread, and
        explains many refusals.
        """
        if self.table.is_by_name(bit) or held < LIMITS.telling:
            return False
        if _in_more_episodes(against, max(1.0, LIMITS.exceptions * held)):
            return False
        table = self.table
        known = table.independent(self._unexplained & table.known_in(bit))
        lacking = table.independent(self._unexplained & table.failing(bit))
        return lacking >= max(LIMITS.either, LIMITS.mostly * known)

    @cached_property
    def _unexplained(self) -> int:
        """Refusals in which nothing is known to have failed that may be needed."""
        return self.table.without_failing(self.table.lost, self.bound.safe)

    def _finding_of_safe(self, bit: int, clause: Clause) -> NeedFinding:
        if not self.bound.tested >> bit & 1:
            note = "hardly ever known" if self.bound.seldom >> bit & 1 else ""
            return NeedFinding(Label.UNTESTED, clause, note=note)
        if self.explanations.explaining >> bit & 1:
            return self._finding_of_explaining(bit, clause)
        for other, proof in self.proofs.by_fact.items():
            if proof.same >> bit & 1:
                note = f"never told apart from {self.table.literal(other)}"
                return NeedFinding(Label.IMPLIED, clause, note=note)
        label = Label.POSSIBLE if self.explanations.required >> bit & 1 else Label.IMPLIED
        return NeedFinding(label, clause)

    def _finding_of_explaining(self, bit: int, clause: Clause) -> NeedFinding:
        """The conclusion about a fact that explains refusals: necessary if the guard may refuse
        by it.
        """
        proof = self.proofs.by_fact.get(bit)
        if proof is None:
            return NeedFinding(Label.POSSIBLE, clause)
        witnesses = steps_of(proof.refusals)
        others = list(bits(proof.suspects & ~(1 << bit)))
        if self._is_doubtful(bit, others):
            return NeedFinding(Label.POSSIBLE, clause, witnesses)
        if others:
            note = "nobody can tell which of these it is"
        else:
            others = self._stand_ins(bit, proof.refusals)
            note = "unknown whenever the other held" if others else ""
        alternatives = Clause((*clause.literals, *map(self.table.literal, others)))
        return NeedFinding(Label.NECESSARY, alternatives, witnesses, note)

    def _is_doubtful(self, bit: int, others: Sequence[int]) -> bool:
        """True if refusals that lacked a fact, and others with it, do not prove that it is needed:
        one of the others is needed for sure, there are too many, or successes knew it too seldom.
        """
        if len(others) > LIMITS.alternatives or not self.proofs.well_supported(bit):
            return True
        return any(self.proofs.proven_alone(other) for other in others)

    def _stand_ins(self, bit: int, refusals: Iterable[Row]) -> list[int]:
        """The fact, if there is one, that may do as well as a need: it held in successes in which
        nobody knew of the need, in none in which that held, and in no refusal.

        What you hold can be examined wherever it was: that you are at it was never seen to lack.
        """
        table = self.table
        held_in_refusals = union(row.holds for row in refusals)
        most = 0
        best: list[int] = []
        for other in bits(table.held & ~held_in_refusals):
            instead = table.wins_with(other)
            held_together = instead & table.holding[bit]
            if held_together or not self.pairs.one_always_kept(bit, other):
                continue
            carried = table.independent(instead)
            if carried > most:
                most = carried
                best = [other]
        return best


def needs_of(book: Book, excluded: frozenset[Literal] = frozenset()) -> Needs:
    """Needs of an action, drawn once until more is seen of it."""
    basis = _Basis(excluded, len(book.attempts), len(book.imagined), len(book.facts))
    drawn: _DrawnNeeds | None = book.needs
    if drawn is None or drawn.basis != basis:
        drawn = _DrawnNeeds(basis, Needs(book, excluded))
        book.needs = drawn
    return drawn.needs


class _Basis(NamedTuple):
    """The basis that needs are drawn from: they are the same as long as this is."""

    excluded: frozenset[Literal]
    attempts: int
    imagined: int
    facts: int


class _DrawnNeeds(NamedTuple):
    """Needs as a book keeps them."""

    basis: _Basis
    needs: Needs


def _in_more_episodes(witnesses: Iterable[Witness], most: float) -> bool:
    """True if witnesses are of more than so many episodes."""
    episodes: set[str] = set()
    for witness in witnesses:
        episodes.add(witness.episode)
        if len(episodes) > most:
            return True
    return False
