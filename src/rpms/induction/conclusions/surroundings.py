"""Facts about fixed names that an action may need, though nothing proves it: how things stood
around it each time that it worked.
"""

from typing import NamedTuple

from rpms.induction.conclusions.attempt_table import AttemptTable
from rpms.induction.evidence.columns import share_of
from rpms.induction.evidence.literals import is_about_names_alone
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Literal


class _RareFact(NamedTuple):
    """A fact that held in every success, and how often it holds elsewhere."""

    share: float
    bit: int


def surroundings(table: AttemptTable) -> tuple[Literal, ...]:
    """Facts about fixed names that held in every success and seldom hold elsewhere, the rarest
    first.

    Some always hold, and may not be needed: plans see to them until the action has worked often
    enough to tell.
    """
    if not table.wins:
        return ()
    found: list[_RareFact] = []
    for bit, atom in enumerate(table.book.facts):
        held_always = table.wins_with(bit) == table.won
        if not held_always or not is_about_names_alone(atom):
            continue
        share = share_of(table.drawn_with, bit)
        if share is not None and share <= LIMITS.seldom_in_hand:
            found.append(_RareFact(share, bit))
    rarest = sorted(found)[: LIMITS.most_surroundings]
    return tuple(table.literal(fact.bit) for fact in rarest)
