"""Calls that were let through and have not returned: until they do, nobody knows what they changed."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rpms.core.facts import Atom, Literal
from rpms.guard.call_facts import Coming
from rpms.guard.calls import Call

_MOST = 1_000
"""Calls that are remembered at once; the oldest is forgotten first."""


@dataclass
class _Made:
    """Changes by one call, which its id or text tells from others."""

    place: str
    changes: Sequence[Literal]
    lost: bool = False


class UnderWay:
    """The changes that calls will have made when they return."""

    def __init__(self) -> None:
        self._made: list[_Made] = []

    def add(self, call: Call, changes: Sequence[Literal]) -> None:
        """Expect changes of a call that is about to be made."""
        if changes:
            self._made = [*self._made[1 - _MOST :], _Made(call.place, changes)]

    def end(self, call: Call) -> None:
        """A call returned, or was not made after all."""
        found = self._first(call, lost=False) or self._first(call, lost=True)
        self._made = [each for each in self._made if each is not found]

    def settle(self, known: AbstractSet[Atom]) -> None:
        """Some facts are known, whoever was to change them."""
        for each in self._made if known else ():
            each.changes = [change for change in each.changes if change.atom not in known]

    def lose(self, call: Call) -> None:
        """Nobody waits for a call any more: it may have been done or not."""
        if found := self._first(call, lost=False):
            found.lost = True

    def _first(self, call: Call, *, lost: bool) -> _Made | None:
        place = call.place if self._made else ""
        return next((each for each in self._made if each.place == place and each.lost is lost), None)

    def coming(self) -> dict[Atom, Coming]:
        """Facts that will have changed, or may have."""
        made = sorted(self._made, key=lambda each: not each.lost)
        return {change.atom: Coming(not change.negated, each.lost) for each in made for change in each.changes}
