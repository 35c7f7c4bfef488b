"""Calls that were let through and have not returned: until they do, nobody knows what they changed."""

from __future__ import annotations

from collections.abc import Iterable

from rpms.core.facts import Atom
from rpms.guard.call_facts import Coming
from rpms.guard.calls import Call

Changes = tuple[tuple[Atom, bool], ...]
_MOST = 1_000
"""Calls that are remembered at once; the oldest is forgotten first."""


class UnderWay:
    """The changes that calls will have made when they return, by the id or text of the call."""

    def __init__(self) -> None:
        self._open: dict[str, list[Changes]] = {}
        self._lost: dict[str, list[Changes]] = {}

    def add(self, call: Call, changes: Changes) -> None:
        """Expect changes of a call that is about to be made."""
        if changes:
            _add(self._open, call, changes)

    def end(self, call: Call) -> None:
        """A call returned, or was not made after all."""
        if _take(self._open, call) is None:
            _take(self._lost, call)

    def settle(self, settled: Iterable[Atom]) -> None:
        """Some facts are known, whoever was to change them."""
        known = set(settled)
        for kept in (self._open, self._lost) if known else ():
            for key, several in list(kept.items()):
                kept[key] = [tuple(each for each in changes if each[0] not in known) for changes in several]

    def lose(self, call: Call) -> None:
        """Nobody waits for a call any more: it may have been done or not."""
        changes = _take(self._open, call)
        if changes is not None:
            _add(self._lost, call, changes)

    def coming(self) -> dict[Atom, Coming]:
        """Facts that will have changed, or may have."""
        return {
            atom: Coming(value, lost)
            for kept, lost in ((self._lost, True), (self._open, False))
            for several in kept.values()
            for changes in several
            for atom, value in changes
        }


def _add(kept: dict[str, list[Changes]], call: Call, changes: Changes) -> None:
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]
    kept.setdefault(call.id or call.key, []).append(changes)


def _take(kept: dict[str, list[Changes]], call: Call) -> Changes | None:
    key = call.id or call.key
    several = kept.get(key)
    if not several:
        return None
    if len(several) == 1:
        del kept[key]
    return several.pop(0)
