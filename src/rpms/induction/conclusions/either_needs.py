"""Needs of two facts, of which one must hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.conclusions.explanations import Explanations
from rpms.induction.evidence.literals import Row, count_independent, mask_of, steps_of, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Clause
from rpms.store.evidence import Label


class _Halves(NamedTuple):
    """Successes by the one of two facts that they had, with repetitions left out of the count."""

    first: int
    second: int
    neither: int  # As far as anybody knows


@dataclass(eq=False)
class EitherNeeds:
    """Pairs of facts, for refusals that no single fact explains."""

    explanations: Explanations

    def __post_init__(self) -> None:
        self.bound = self.explanations.bound
        self.table = self.explanations.table
        self._asked: dict[tuple[int, int], bool] = {}
        """By pair of facts that was asked about, whether one of them held in the successes."""

    @cached_property
    def masks(self) -> list[int]:
        """The bits of each pair that was found."""
        return [self.table.clause_mask(pair.clause) for pair in self.found]

    @cached_property
    def found(self) -> tuple[Induced, ...]:
        """Preconditions of two facts, of which one must hold, for refusals that no single fact
        explains.
        """
        puzzling = self._puzzling()
        left = puzzling
        found: list[Induced] = []
        while left:
            pair = self._best_pair(left, puzzling)
            if pair is None:
                break
            either = mask_of(pair)
            clause = Clause(tuple(map(self.table.literal, pair)))
            if self.bound.excluded.isdisjoint(clause.literals):
                found.append(self._induced_pair(clause, either, puzzling))
            # a refusal where neither is known to have held needs no other explanation
            left = [row for row in left if row.holds & either]
        return tuple(found)

    def _puzzling(self) -> list[Row]:
        """Refusals in which all held that explains others, and nothing is known to have failed
        that may be needed.
        """
        explaining = self.explanations.explaining
        found = []
        for row in self.explanations.explainable:
            all_held = row.holds & explaining == explaining
            if all_held and not row.fails & self.bound.safe:
                found.append(row)
        return found

    def _best_pair(self, left: Sequence[Row], puzzling: Sequence[Row]) -> tuple[int, int] | None:
        """The two facts that account for most of the refusals that are left.

        `puzzling`: all that no single fact explains.
        """
        best: tuple[int, int] | None = None
        best_rank: tuple[object, ...] = ()
        every = count_independent(left)
        lacking = union(row.fails for row in left)
        for pair in combinations(bits(lacking), 2):
            if not self.one_always(*pair) or not self._explains(pair, left, puzzling, every):
                continue
            explained = _lacking_all(left, mask_of(pair))
            rank = (len(explained), *map(self.explanations.worth, pair))
            if best is None or rank > best_rank:
                best = pair
                best_rank = rank
        return best

    def _explains(
        self, pair: tuple[int, int], left: Sequence[Row], puzzling: Sequence[Row], every: int
    ) -> bool:
        """True if two facts account for enough refusals, and hardly by chance.

        `every`: the independent witnesses among the refusals that are left.
        """
        either = mask_of(pair)
        if not _accounts(left, either, every):
            return False
        # what another pair explains too speaks for this one as well
        if count_independent(_lacking_all(puzzling, either)) < LIMITS.either:
            return False
        return self.table.by_chance(left, *pair) <= LIMITS.by_chance / self.table.size**2

    def _induced_pair(self, clause: Clause, either: int, refusals: Sequence[Row]) -> Induced:
        """The need of two facts, `either` as bits; shown by the refusals that lacked both."""
        table = self.table
        with_one = union(table.wins_with(bit) for bit in bits(either))
        known = table.steps(with_one)
        return induced(
            clause,
            known,
            decisive=steps_of(_lacking_all(refusals, either)),
            label=Label.NECESSARY,
            unknown=len(table.wins) - len(known),
        )

    def one_always(self, one: int, other: int) -> bool:
        """True if in enough independent successes one of two facts held, and in none both were
        false.

        Each has to carry several successes alone: to be known to hold where the other is not.
        Else the pair is one fact with an exception or two, explained by whatever held then.
        Successes in which neither is known to hold are no witnesses; they may be at most a tenth,
        as for a fact alone, and fewer than those that the weaker fact carries. They may be more,
        up to a third, if the others are too many for chance.
        """
        table = self.table
        if abs(one - other) == table.size:
            return False  # each other's opposite
        halves = self._halves(one, other)
        if halves is None:
            return False
        weaker = min(halves.first, halves.second)
        if weaker < LIMITS.several:
            return False
        seldom_open = halves.neither <= LIMITS.sometimes * table.independent_wins
        if seldom_open and halves.neither < weaker:
            return True
        often_known = LIMITS.several * halves.neither <= table.independent_wins
        return often_known and self._is_no_chance(one, other)

    def _is_no_chance(self, one: int, other: int) -> bool:
        """True if each of two facts held in too many successes in which the other was false, for
        chance to have done that.

        If neither were needed, each would be false there as often as in attempts of both outcomes.
        """
        table = self.table
        otherwise_complete = table.lost
        for needed in bits(self.explanations.explaining):
            otherwise_complete &= table.holding[needed]
        both_false = otherwise_complete & table.failing(one) & table.failing(other)
        lacking = table.independent(both_false)
        if not lacking or self._held_alone_by_chance(one, other, lacking):
            return False
        return not self._held_alone_by_chance(other, one, lacking)

    def _held_alone_by_chance(self, fact: int, other: int, lacking: int) -> bool:
        """True if a fact may have held by chance in all successes in which another was false.

        `lacking`: the refusals in which both were.
        """
        table = self.table
        alone = table.independent(table.wins_with(fact) & table.failing(other))
        share = alone / (alone + lacking)
        return share**alone > LIMITS.by_chance / table.size**2

    def one_always_kept(self, one: int, other: int) -> bool:
        """The same as `one_always`, asked once of each pair."""
        pair = (min(one, other), max(one, other))
        if pair not in self._asked:
            self._asked[pair] = self.one_always(*pair)
        return self._asked[pair]

    def _halves(self, first: int, second: int) -> _Halves | None:
        """Successes by the one of two facts that they had; None if one is known to have had
        neither.
        """
        table = self.table
        if table.wins_without(first) & table.failing(second):
            return None
        with_first = table.wins_with(first)
        with_second = table.wins_with(second)
        with_any = with_first | with_second
        return _Halves(
            first=table.independent(with_first & ~with_second),
            second=table.independent(with_second & ~with_first),
            neither=table.independent(table.won & ~with_any),
        )


def _accounts(refusals: Sequence[Row], either: int, every: int) -> bool:
    """True if two facts were both false in enough of some refusals to account for these; `every`:
    the independent witnesses among them.

    Refusals in which one of the two is unknown and the other held say nothing.
    """
    neither = count_independent(_lacking_all(refusals, either))
    known = count_independent(row for row in refusals if row.known & either == either)
    of_known = LIMITS.either_of_known * known
    of_all = LIMITS.either_of_all * every
    return neither >= max(LIMITS.decisive, of_known, of_all)


def _lacking_all(rows: Iterable[Row], facts: int) -> list[Row]:
    """The rows in which each of some facts failed."""
    return [row for row in rows if row.fails & facts == facts]
