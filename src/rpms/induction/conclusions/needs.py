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
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.conclusions.attempt_table import AttemptTable
from rpms.induction.conclusions.either_needs import EitherNeeds
from rpms.induction.conclusions.explanations import Explanations
from rpms.induction.conclusions.faultless import Faultless
from rpms.induction.conclusions.proofs import Proofs
from rpms.induction.conclusions.safe_bound import SafeBound
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import Row, count_independent, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Clause, Literal
from rpms.store.evidence import Label, Witness


class NeedFinding(NamedTuple):
    """What was concluded about a literal of the safe bound."""

    label: Label
    clause: Clause
    shown_by: Sequence[Witness] = ()  # Refusals that show that it is needed
    note: str = ""


class Needs:
    """What an action needs, as far as its attempts tell."""

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
            held = table.steps(table.holding[bit] & table.won)
            against = table.steps(table.failing(bit) & table.won)
            finding = self._finding(bit, len(held), against)
            yield induced(
                finding.clause,
                held,
                against,
                finding.shown_by,
                label=finding.label,
                unknown=len(table.wins) - len(held) - len(against),
                note=finding.note,
            )
        yield from self.pairs.found

    def _finding(self, bit: int, held: int, against: Sequence[Witness]) -> NeedFinding:
        """The conclusion about a literal that held in some success."""
        clause = Clause((self.table.literal(bit),))
        if clause.literals[0] in self.bound.excluded:
            note = "it was false in a success kept aside, or a task was won only without it"
            return NeedFinding(Label.TAKEN_OUT, clause, note=note)
        if self.bound.safe >> bit & 1:
            return self._finding_of_safe(bit, clause)
        if self._usual(bit, held, against):  # plans see to it; the guard does not block by it
            note = f"false in {len(against)} of {len(self.table.wins)} successes"
            return NeedFinding(Label.POSSIBLE, clause, note=note)
        return NeedFinding(Label.REFUTED, clause)

    def _usual(self, bit: int, held: int, against: Sequence[Witness]) -> bool:
        """True if a fact was false in successes so rarely that they may be misread, and
        explains many refusals.
        """
        if self.table.is_by_name(bit) or held < LIMITS.telling:
            return False
        if _in_more_episodes(against, max(1.0, LIMITS.exceptions * held)):
            return False
        unexplained = []
        for row in self.table.losses:
            if not row.fails & self.bound.safe and row.known >> bit & 1:
                unexplained.append(row)
        lacking = [row for row in unexplained if row.fails >> bit & 1]
        enough = max(LIMITS.either, LIMITS.mostly * count_independent(unexplained))
        return count_independent(lacking) >= enough

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
        witnesses = [row.attempt.witness for row in proof.refusals]
        others = list(bits(proof.suspects & ~(1 << bit)))
        doubtful = (
            any(self.proofs.proven_alone(other) for other in others)
            or len(others) > LIMITS.alternatives
            or not self.proofs.well_supported(bit)
        )
        if doubtful:
            return NeedFinding(Label.POSSIBLE, clause, witnesses)
        note = "nobody can tell which of these it is" if others else ""
        if not others:
            others = self._stand_ins(bit, proof.refusals)
            note = "unknown whenever the other held" if others else ""
        alternatives = Clause((*clause.literals, *map(self.table.literal, others)))
        return NeedFinding(Label.NECESSARY, alternatives, witnesses, note)

    def _stand_ins(self, bit: int, refusals: Iterable[Row]) -> list[int]:
        """The fact, if there is one, that may do as well as a need: it held in successes in which
        nobody knew of the need, in none in which that held, and in no refusal.

        What you hold can be examined wherever it was: that you are at it was never seen to lack.
        """
        table = self.table
        refused = union(row.holds for row in refusals)
        most = 0
        best: list[int] = []
        for other in bits(table.held & ~refused):
            instead = table.holding[other] & table.won
            if instead & table.holding[bit] or not self.pairs.one_always_kept(bit, other):
                continue
            carried = table.independent(instead)
            if carried > most:
                most = carried
                best = [other]
        return best


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
