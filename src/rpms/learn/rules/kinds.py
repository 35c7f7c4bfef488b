"""With which kinds of things an action works: what refusals say for which no fact accounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.induce import Needs
from rpms.learn.rules.model import KindTable
from rpms.store.evidence import Witness

REFUSED_KINDS = 3
"""Refusals with nothing else missing after which kinds are taken not to work."""


def kind_tables(needs: Needs, name: str) -> tuple[KindTable, ...]:
    """What the kinds in the slots have to do with refusals: of single slots where that suffices, else of two."""
    book, fit = needs.book, needs.fit
    refusals = [attempt for attempt in needs.faultless if attempt.kinds not in book.worked]
    arity = len(book.slots)
    if not refusals or not arity:
        return ()
    single = [attempt for attempt in refusals if any(kind not in fit[slot] for slot, kind in enumerate(attempt.kinds))]
    tables = [_of_slot(book, name, slot, single, fit) for slot in range(arity)]
    rest = [attempt for attempt in refusals if attempt not in single]
    if arity == 2 and rest:
        tables.append(_table(book, f"{name}_both", (0, 1), refusals))
    return tuple(table for table in tables if table is not None)


def _of_slot(
    book: Book, name: str, slot: int, refusals: Sequence[Attempt], fit: Sequence[set[str]]
) -> KindTable | None:
    """The kinds of one slot, where those in all others have worked."""
    own = [
        attempt
        for attempt in refusals
        if attempt.kinds[slot] not in fit[slot]
        and all(kind in fit[other] for other, kind in enumerate(attempt.kinds) if other != slot)
    ]
    return _table(book, f"{name}_{slot}", (slot,), own)


def _table(book: Book, name: str, slots: tuple[int, ...], refusals: Sequence[Attempt]) -> KindTable | None:
    worked = _by_kinds(book.successes, slots)
    refused = {kinds: steps for kinds, steps in _by_kinds(refusals, slots).items() if kinds not in worked}
    refused = {kinds: steps for kinds, steps in refused.items() if len(steps) >= REFUSED_KINDS}
    return KindTable(name, slots, worked, refused) if refusals else None


def unexplained(needs: Needs, tables: Iterable[KindTable]) -> int:
    """Refusals for which neither facts nor kinds account."""
    told, book = [(table.slots, table.refused) for table in tables], needs.book
    return sum(
        not any(tuple(attempt.kinds[slot] for slot in slots) in refused for slots, refused in told)
        for attempt in needs.faultless
        if attempt.kinds in book.worked or book.refused[attempt.kinds] >= REFUSED_KINDS
    )


def _by_kinds(attempts: Iterable[Attempt], slots: Sequence[int]) -> dict[tuple[str, ...], list[Witness]]:
    found: dict[tuple[str, ...], list[Witness]] = {}
    for attempt in attempts:
        found.setdefault(tuple(attempt.kinds[slot] for slot in slots), []).append(attempt.witness)
    return found
