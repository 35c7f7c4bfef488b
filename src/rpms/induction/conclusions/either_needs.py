"""Needs of two facts, of which one must hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.conclusions.proofs import Proofs
from rpms.induction.evidence.literals import Row, bits, count_independent, mask_of, steps_of, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Clause
from rpms.store.evidence import Label


class _Halves(NamedTuple):
    """Successes by the one of two facts that they had, with repetitions left out of the count."""

    first: int
    second: int
    neither: int  # As far as anybody knows


@dataclass(eq=False)
class EitherNeeds(Proofs):
    """Pairs of facts, for refusals that no single fact explains."""

    @cached_property
    def either(self) -> tuple[Induced, ...]:
        """Preconditions of two facts, of which one must hold, for refusals that no single fact
        explains.
        """
        puzzling = self._puzzling()
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

    def _puzzling(self) -> list[Row]:
        """Refusals in which all held that explains others, and nothing is known to have failed
        that may be needed.
        """
        found = []
        for row in self.explainable:
            all_held = row.holds & self.explaining == self.explaining
            if all_held and not row.fails & self.safe:
                found.append(row)
        return found

    def _best_pair(self, left: Sequence[Row], puzzling: Sequence[Row]) -> tuple[int, int] | None:
        """The two facts that account for most of the refusals that are left.

        `puzzling`: all that no single fact explains.
        """
        best: tuple[int, int] | None = None
        best_rank: tuple[object, ...] = ()
        every = count_independent(left)
        for pair in combinations(bits(union(row.fails for row in left)), 2):
            if not self.one_always(*pair) or not self._explains(pair, left, puzzling, every):
                continue
            lacking = _lacking_all(left, mask_of(pair))
            rank = (len(lacking), *map(self.worth, pair))
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
        asked = mask_of(pair)
        if not _accounts(left, asked, every):
            return False
        # what another pair explains too speaks for this one as well
        if count_independent(_lacking_all(puzzling, asked)) < LIMITS.either:
            return False
        return self.by_chance(left, *pair) <= LIMITS.by_chance / self.size**2

    def _induced_pair(self, clause: Clause, asked: int, refusals: Sequence[Row]) -> Induced:
        with_one = union(self.holding[bit] for bit in bits(asked)) & self.won
        known = self.steps(with_one)
        shown = steps_of(_lacking_all(refusals, asked))
        unknown = len(self.wins) - len(known)
        return induced(clause, known, (), shown, label=Label.NECESSARY, unknown=unknown)

    def one_always(self, one: int, other: int) -> bool:
        """True if in enough independent successes one of two facts held, and in none both were
        false.

        Each has to carry several successes alone: to be known to hold where the other is not.
        Else the pair is one fact with an exception or two, explained by whatever held then.
        Successes in which neither is known to hold are no witnesses; they may be at most a tenth,
        as for a fact alone, and fewer than those that the weaker fact carries. They may be more,
        up to a third, if the others are too many for chance.
        """
        if abs(one - other) == self.size:
            return False  # each other's opposite
        halves = self._halves(one, other)
        if halves is None:
            return False
        weaker = min(halves.first, halves.second)
        if weaker < LIMITS.several:
            return False
        seldom_open = halves.neither <= LIMITS.sometimes * self.independent_wins
        if seldom_open and halves.neither < weaker:
            return True
        often_known = LIMITS.several * halves.neither <= self.independent_wins
        return often_known and self._is_no_chance(one, other)

    def _is_no_chance(self, one: int, other: int) -> bool:
        """True if each of two facts held in too many successes in which the other was false, for
        chance to have done that.

        If neither were needed, each would be false there as often as in attempts of both outcomes.
        """
        complete = self._lost
        for needed in bits(self.explaining):
            complete &= self.holding[needed]
        lacking = self.independent(complete & self.failing(one) & self.failing(other))
        if not lacking:
            return False
        return not (
            self._held_alone_by_chance(one, other, lacking)
            or self._held_alone_by_chance(other, one, lacking)
        )

    def _held_alone_by_chance(self, fact: int, other: int, lacking: int) -> bool:
        """True if a fact may have held by chance in all successes in which another was false.

        `lacking`: the refusals in which both were.
        """
        alone = self.independent(self.won & self.holding[fact] & self.failing(other))
        share = alone / (alone + lacking)
        return share**alone > LIMITS.by_chance / self.size**2

    def _halves(self, first: int, second: int) -> _Halves | None:
        """Successes by the one of two facts that they had; None if one is known to have had
        neither.
        """
        if self.failing(first) & self.failing(second) & self.won:
            return None
        with_first = self.holding[first] & self.won
        with_second = self.holding[second] & self.won
        return _Halves(
            self.independent(with_first & ~with_second),
            self.independent(with_second & ~with_first),
            self.independent(self.won & ~(with_first | with_second)),
        )


def _accounts(rows: Sequence[Row], asked: int, every: int) -> bool:
    """True if it was often enough that neither of two facts held; `every`: the independent
    witnesses among all rows.

    Refusals in which one of the two is unknown and the other held say nothing.
    """
    neither = count_independent(_lacking_all(rows, asked))
    known = count_independent(row for row in rows if row.known & asked == asked)
    of_all = LIMITS.either_of_all * every
    return neither >= max(LIMITS.decisive, LIMITS.either_of_known * known, of_all)


def _lacking_all(rows: Iterable[Row], asked: int) -> list[Row]:
    return [row for row in rows if row.fails & asked == asked]
