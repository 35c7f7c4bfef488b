"""Knowledge of one conversation: facts that calls made so, and the records that they returned.

Facts and records are changed in place, so that a check costs the same after ten calls and after ten
thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rpms.guard.comparisons import loosened
from rpms.guard.provenance import Traces
from rpms.logic.facts import Atom, Literal, Truth

MOST_RECORDS = 10_000
"""Records of a kind that are kept; the oldest is forgotten first, and is then unknown again."""


class RecordKey(NamedTuple):
    """A record by its kind and the names it is found by."""

    kind: str
    names: tuple[str, ...]


class ToolBelief:
    """Facts and records, as the calls of a conversation told them."""

    def __init__(self, known: Mapping[Atom, bool] | None = None) -> None:
        self.known: dict[Atom, bool] = {}
        self.records: dict[str, dict[tuple[str, ...], Any]] = {}
        """The latest record of each kind, by its names."""
        self.traces = Traces()
        """Words of the user and results of tools, in which values are looked for."""
        self._loosely: dict[Atom, set[Atom]] = {}
        """Known facts, by what their names may be taken for."""
        for atom, holds in (known or {}).items():
            self._tell(atom, holds)

    def truth(self, atom: Atom) -> Truth:
        """Truth of a fact that calls set."""
        return Truth.of(self.known.get(atom))

    def near(self, atom: Atom, usual: bool | None) -> Atom | None:
        """A known fact that is not as `usual`, and whose names differ from those of another one
        only in case, blanks, invisible signs or the form of a path.
        """
        alike = self._loosely.get(loose(atom), ()) if atom.args else ()
        for other in alike:
            if other != atom and self.known[other] is not usual:
                return other
        return None

    def learn(self, facts: Iterable[Literal]) -> bool:
        """Tell facts anew, in their order; True if that changed anything."""
        changed = False
        for fact in facts:
            holds = not fact.negated
            changed = changed or self.known.get(fact.atom) is not holds
            self._tell(fact.atom, holds)
        return changed

    def _tell(self, atom: Atom, holds: bool) -> None:
        self.known[atom] = holds
        if atom.args:
            self._loosely.setdefault(loose(atom), set()).add(atom)

    def record(self, key: RecordKey, default: Any) -> Any:
        """The latest record with these names."""
        return self.records.get(key.kind, {}).get(key.names, default)

    def keep(self, key: RecordKey, record: Any) -> None:
        """Take note of a record."""
        those = self.records.setdefault(key.kind, {})
        those.pop(key.names, None)  # it is the newest again
        those[key.names] = record
        if len(those) > MOST_RECORDS:
            del those[next(iter(those))]

    def forget(self, key: RecordKey) -> None:
        """Forget a record: it is out of date."""
        self.records.get(key.kind, {}).pop(key.names, None)

    def forget_records(self) -> None:
        """Forget all records and keep the facts: a record can be looked up again, but nothing tells
        again what was done.
        """
        self.records.clear()
        self.traces.clear()


def loose(atom: Atom) -> Atom:
    """A fact by what its names may be taken for."""
    return Atom(atom.predicate, tuple(map(loosened, atom.args)))
