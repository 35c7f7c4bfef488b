"""With which kinds an action works, from the refusals for which no fact accounts.

A refusal of two kinds says that one of them, or only the two together, cannot be. Where kinds that work each were
refused together, a kind may have been refused by many and still work with one: only mugs go into a coffee machine. It
is then taken not to work only when the choosiest kind that is known to work would hardly have refused as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, log

from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.model import KindTable
from rpms.store.evidence import Witness

REFUSED_KINDS = 3
"""Refusals with nothing else missing after which kinds are taken not to work."""
_BY_CHANCE = 0.05
"""How likely it may be that a kind that works with some was only tried with others."""


def working(book: Book) -> list[set[str]]:
    """For each slot, the kinds that have worked in it."""
    return [{kinds[slot] for kinds in book.worked} for slot in range(len(book.slots))]


def kind_tables(name: str, book: Book, faultless: Iterable[Attempt]) -> tuple[KindTable, ...]:
    """What the kinds in the slots have to do with refusals: of single slots where that suffices, else of two."""
    refusals = [attempt for attempt in faultless if attempt.kinds not in book.worked]
    fit = working(book)
    unfit = [(attempt, strange(attempt, fit)) for attempt in refusals]
    together = [attempt for attempt, slots in unfit if not slots]
    tables = []
    for slot in range(len(fit)):
        own = [attempt for attempt, slots in unfit if slots == [slot]]
        if own:
            tables.append(_table(f"{name}_{slot}", (slot,), book, _sure(own, slot, book, together)))
    if len(fit) == 2 and together:
        tables.append(_table(f"{name}_both", (0, 1), book, refusals))
    return tuple(tables)


def strange(attempt: Attempt, fit: Sequence[set[str]]) -> list[int]:
    """The slots with a kind that has never worked there."""
    return [slot for slot, kind in enumerate(attempt.kinds) if kind not in fit[slot]]


def _sure(own: Sequence[Attempt], slot: int, book: Book, together: Iterable[Attempt]) -> list[Attempt]:
    """The refusals of kinds in a slot that enough other kinds were tried with."""
    worked, refused = _partners(book.worked, slot), _partners((attempt.kinds for attempt in together), slot)
    least = min((len(some) / len(some | refused.get(kind, set())) for kind, some in worked.items()), default=1.0)
    needed = ceil(log(_BY_CHANCE) / log(1 - least)) if least < 1 else 1
    tried = _partners((attempt.kinds for attempt in own), slot)
    return [attempt for attempt in own if len(tried[attempt.kinds[slot]]) >= needed]


def _partners(every: Iterable[tuple[str, ...]], slot: int) -> dict[str, set[tuple[str, ...]]]:
    """By kind in a slot, the kinds in all others."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for kinds in every:
        found.setdefault(kinds[slot], set()).add(kinds[:slot] + kinds[slot + 1 :])
    return found


def _table(name: str, slots: tuple[int, ...], book: Book, refusals: Iterable[Attempt]) -> KindTable:
    worked = _by_kinds(book.successes, slots)
    refused = {
        kinds: steps
        for kinds, steps in _by_kinds(refusals, slots).items()
        if kinds not in worked and len(steps) >= REFUSED_KINDS
    }
    return KindTable(name, slots, worked, refused)


def _by_kinds(attempts: Iterable[Attempt], slots: Sequence[int]) -> dict[tuple[str, ...], list[Witness]]:
    found: dict[tuple[str, ...], list[Witness]] = {}
    for attempt in attempts:
        found.setdefault(tuple(attempt.kinds[slot] for slot in slots), []).append(attempt.witness)
    return found
