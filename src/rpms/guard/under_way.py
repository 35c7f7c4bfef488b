"""Changes by calls that have not returned yet. Until they do, nobody knows these facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rpms.guard.calls import Call
from rpms.guard.causes import Coming
from rpms.logic.facts import Atom, Literal

_MOST = 1_000
"""Calls that are remembered at once. If there are more, the oldest lost one is forgotten first."""


@dataclass(eq=False)
class _Made:
    """Changes by one call, which its id or text tells from others."""

    place: str
    changes: dict[Atom, bool]
    lost: bool = False


class UnderWay:
    """The changes to come, found by their facts."""

    def __init__(self) -> None:
        self._made: list[_Made] = []
        self._by_fact: dict[Atom, list[_Made]] = {}

    def add(self, call: Call, changes: Sequence[Literal]) -> None:
        """Expect changes of a call that is about to be made."""
        if not changes:
            return
        made = _Made(call.place, {each.atom: not each.negated for each in changes})
        self._made.append(made)
        for atom in made.changes:
            self._by_fact.setdefault(atom, []).append(made)
        if len(self._made) > _MOST:
            self._drop(next((each for each in self._made if each.lost), self._made[0]))

    def end(self, call: Call) -> None:
        """Note that a call returned, or was not made after all."""
        made = self._first(call, lost=False) or self._first(call, lost=True)
        if made is not None:
            self._drop(made)

    def lose(self, call: Call) -> None:
        """Note that nobody waits for a call any more: it may have been done or not."""
        made = self._first(call, lost=False)
        if made is not None:
            made.lost = True

    def settle(self, facts: Iterable[Literal]) -> None:
        """Expect no more changes of facts that are known now."""
        for fact in facts:
            for made in self._by_fact.pop(fact.atom, ()):
                del made.changes[fact.atom]

    def coming(self, atom: Atom) -> Coming | None:
        """The change of a fact that a call is about to make; one that was lost counts least."""
        made = self._by_fact.get(atom)
        if not made:
            return None
        waited = [each for each in made if not each.lost]
        last = (waited or made)[-1]
        return Coming(last.changes[atom], last.lost)

    def _first(self, call: Call, *, lost: bool) -> _Made | None:
        if not self._made:
            return None
        place = call.place
        return next(
            (each for each in self._made if each.place == place and each.lost is lost), None
        )

    def _drop(self, made: _Made) -> None:
        self._made.remove(made)
        for atom in made.changes:
            those = self._by_fact[atom]
            those.remove(made)
            if not those:
                del self._by_fact[atom]
