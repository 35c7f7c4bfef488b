"""Changes that calls will have made when they return, of this guard and others; until then
nobody knows.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

from rpms.guard.call_facts import Coming
from rpms.guard.calls import Call, ToolManual
from rpms.logic.errors import FileError
from rpms.logic.facts import Atom, Literal

_MOST = 1_000
"""Calls that are remembered at once; the oldest is forgotten first."""
_PATIENCE = 300.0
"""Seconds after which another guard's call that has not returned counts as lost: that guard may
have ended."""
_TABLES = """
create table if not exists told (
  place integer primary key autoincrement, fact text unique, holds integer
);
create table if not exists coming (
  owner text, call text, fact text, holds integer, since real, lost integer
);
"""


@dataclass
class _Made:
    """Changes by one call, which its id or text tells from others."""

    place: str
    changes: Sequence[Literal]
    lost: bool = False


class UnderWay:
    """The changes that calls will have made when they return; with a store, also facts that other
    guards share.

    A check and the announcement of its call are one `transaction`, so that no other guard judges
    between them.
    """

    def __init__(self, store: Path | None = None) -> None:
        self._made: list[_Made] = []
        self._owner, self._seen = uuid4().hex, 0
        self._store, self._lock = store, RLock()
        self._db: sqlite3.Connection | None = None
        if store is not None:
            try:
                self._db = sqlite3.connect(
                    store, timeout=30, isolation_level=None, check_same_thread=False
                )
                self._db.executescript(_TABLES)
            except sqlite3.Error as error:
                raise FileError(store, None, f"is no store of shared facts: {error}") from None

    def share(self, other: UnderWay) -> None:
        """Use another guard's store, over the same connection: a process may have a thousand
        guards.
        """
        self._seen, self._store, self._lock, self._db = 0, other._store, other._lock, other._db

    @contextmanager
    def transaction(self) -> Iterator[Sequence[Literal]]:
        """Keep all other guards waiting until this is over; yields what they have told since
        the last time.
        """
        if self._db is None:
            yield ()
            return
        with self._lock, ExitStack() as stack:
            if not self._db.in_transaction:
                try:
                    self._db.execute("begin immediate")
                except sqlite3.Error as error:
                    raise FileError(
                        self._store or "", None, f"shared facts cannot be used: {error}"
                    ) from None
                stack.enter_context(self._db)
            rows = self._ask(
                "select place, fact, holds from told where place > ? order by place", self._seen
            )
            self._seen = max((place for place, _, _ in rows), default=self._seen)
            news = [Literal(_atom(text), not holds) for _, text, holds in rows]
            self.settle(news)
            yield news

    def _ask(self, words: str, *values: object) -> list[Any]:
        """Rows of the store; none if there is no store."""
        return self._db.execute(words, values).fetchall() if self._db is not None else []

    def _shared(self, facts: Iterable[Literal], manual: ToolManual) -> Iterator[tuple[str, bool]]:
        """Facts that the manual says are shared, as the store keeps them."""
        for each in facts if self._db is not None else ():
            fact = manual.facts.get(each.atom.predicate)
            if fact is not None and fact.shared:
                yield json.dumps([each.atom.predicate, *each.atom.args]), not each.negated

    def add(self, call: Call, changes: Sequence[Literal], manual: ToolManual) -> None:
        """Expect changes of a call that is about to be made."""
        if changes:
            self._made = [*self._made[1 - _MOST :], _Made(call.place, changes)]
        for row in self._shared(changes, manual):
            self._ask(
                "insert into coming values (?, ?, ?, ?, ?, 0)",
                self._owner,
                call.place,
                *row,
                time.time(),
            )

    def end(self, call: Call) -> None:
        """A call returned, or was not made after all."""
        found = self._first(call, lost=False) or self._first(call, lost=True)
        self._made = [each for each in self._made if each is not found]
        self._ask("delete from coming where owner = ? and call = ?", self._owner, call.place)

    def lose(self, call: Call) -> None:
        """Nobody waits for a call any more: it may have been done or not."""
        if found := self._first(call, lost=False):
            found.lost = True
        self._ask(
            "update coming set lost = 1 where owner = ? and call = ?", self._owner, call.place
        )

    def _first(self, call: Call, *, lost: bool) -> _Made | None:
        place = call.place if self._made else ""
        return next(
            (each for each in self._made if each.place == place and each.lost is lost), None
        )

    def settle(self, facts: Sequence[Literal], manual: ToolManual | None = None) -> None:
        """Some facts are known, whoever was to change them; all guards are told those that the
        manual shares.
        """
        known = {each.atom for each in facts}
        for each in self._made if known else ():
            each.changes = [change for change in each.changes if change.atom not in known]
        for row in self._shared(facts, manual) if manual is not None else ():
            self._ask("insert or replace into told (fact, holds) values (?, ?)", *row)
            self._ask("delete from coming where fact = ?", row[0])

    def coming(self) -> dict[Atom, Coming]:
        """Facts that calls will have changed, or may have."""
        rows = self._ask(
            "select fact, holds, since, lost from coming where owner != ?", self._owner
        )
        late = time.time() - _PATIENCE
        found = {
            _atom(text): Coming(bool(holds), bool(lost) or since < late)
            for text, holds, since, lost in rows
        }
        made = sorted(self._made, key=lambda each: not each.lost)
        return found | {
            change.atom: Coming(not change.negated, each.lost)
            for each in made
            for change in each.changes
        }


def _atom(text: str) -> Atom:
    predicate, *args = json.loads(text)
    return Atom(predicate, tuple(args))
