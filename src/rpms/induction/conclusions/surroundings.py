"""Facts about fixed names that an action may need, though nothing proves it: how things stood
around it each time that it worked.
"""

from typing import NamedTuple

from rpms.induction.conclusions.attempt_table import AttemptTable
from rpms.induction.evidence.attempts import Book
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Literal


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
        always = all(row.holds >> bit & 1 for row in table.wins)
        if not always or not _is_about_names_alone(atom):
            continue
        share = _share_elsewhere(table.book, bit)
        if share is not None and share <= LIMITS.seldom_in_hand:
            found.append(_RareFact(share, bit))
    rarest = sorted(found)[: LIMITS.most_surroundings]
    return tuple(Literal(table.book.facts[fact.bit]) for fact in rarest)


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
