"""What follows from a few conditions, each a clause of facts of which one must hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rpms.core.facts import Atom, Clause

_MOST_FACTS = 16
"""Facts over which every case is looked at; with more, only what a single condition says is seen."""

_Signed = tuple[Atom, bool]


def follows(given: Sequence[Clause], clause: Clause) -> bool:
    """Whether a condition holds wherever the given ones do. Never true where it may not; seldom false where it must."""
    wanted = _signed(clause)
    rows = [_signed(each) for each in given]
    if any(row <= wanted for row in rows) or _sure(wanted):
        return True
    if len({atom for row in (*rows, wanted) for atom, _ in row}) > _MOST_FACTS:
        return False
    return not _possible([*rows, *(frozenset({(atom, not negated)}) for atom, negated in wanted)])


def equivalent(first: Sequence[Clause], second: Sequence[Clause]) -> bool:
    """Whether two lists of conditions say the same."""
    return all(follows(second, clause) for clause in first) and all(follows(first, clause) for clause in second)


def _signed(clause: Clause) -> frozenset[_Signed]:
    return frozenset((literal.atom, literal.negated) for literal in clause.literals)


def _sure(row: frozenset[_Signed]) -> bool:
    """Whether a condition holds in any case, since it names a fact and its opposite."""
    return any((atom, not negated) in row for atom, negated in row)


def _possible(rows: Iterable[frozenset[_Signed]]) -> bool:
    """Whether all can hold together: what is certain is put in, then a fact is tried both ways."""
    left = list(rows)
    while single := next((row for row in left if len(row) == 1), None):
        ((atom, negated),) = single
        left = [row - {(atom, not negated)} for row in left if (atom, negated) not in row]
        if not all(left):
            return False
    if not all(left):
        return False
    if not left:
        return True
    atom, _ = min(left[0], key=str)
    return any(_possible([*left, frozenset({(atom, negated)})]) for negated in (False, True))
