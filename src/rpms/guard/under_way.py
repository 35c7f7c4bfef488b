"""Calls that were let through and have not returned, of this guard and others: nobody knows yet what they changed."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from uuid import uuid4

from rpms.core.errors import FileError
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


_TABLES = """
create table if not exists told (place integer primary key autoincrement, fact text unique, holds integer);
create table if not exists coming (owner text, call text, fact text, holds integer, since real, lost integer);
"""
_PATIENCE = 300.0
"""Seconds after which a call that has not returned counts as lost: its guard may have ended."""


class SharedFacts:
    """Facts that guards share. A check and its announcement are one transaction."""

    def __init__(self, file: Path) -> None:
        self._owner = uuid4().hex
        self._seen = 0
        self._lock = RLock()
        self._file = file
        try:
            self._db = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
            self._db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise FileError(file, None, f"is no store of shared facts: {error}") from None

    def again(self) -> SharedFacts:
        """The same store for another guard, over the same connection: a process may have a thousand guards."""
        other = copy(self)
        other._owner, other._seen = uuid4().hex, 0  # noqa: SLF001  its own kind
        return other

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all other guards waiting until this is over."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            try:
                self._db.execute("begin immediate")
            except sqlite3.Error as error:
                raise FileError(self._file, None, f"shared facts cannot be used: {error}") from None
            with self._db:
                yield

    def news(self) -> list[Literal]:
        """News since the last question, by whomever."""
        rows = self._db.execute("select place, fact, holds from told where place > ? order by place", (self._seen,))
        found = rows.fetchall()
        self._seen = max((place for place, _, _ in found), default=self._seen)
        return [Literal(_atom(text), not holds) for _, text, holds in found]

    def tell(self, facts: Iterable[Literal]) -> None:
        """Tell facts to all; what was under way for them is settled."""
        for fact in facts:
            text = _text(fact.atom)
            self._db.execute("insert or replace into told (fact, holds) values (?, ?)", (text, not fact.negated))
            self._db.execute("delete from coming where fact = ?", (text,))

    def coming(self) -> dict[Atom, Coming]:
        """Facts that calls of other guards will have changed, or may have."""
        rows = self._db.execute("select fact, holds, since, lost from coming where owner != ?", (self._owner,))
        late = time.time() - _PATIENCE
        return {_atom(text): Coming(bool(holds), bool(lost) or since < late) for text, holds, since, lost in rows}

    def announce(self, call: str, changes: Iterable[Literal]) -> None:
        """Say what a call is about to change."""
        rows = [(self._owner, call, _text(each.atom), not each.negated, time.time(), False) for each in changes]
        self._db.executemany("insert into coming values (?, ?, ?, ?, ?, ?)", rows)

    def withdraw(self, call: str) -> None:
        """A call returned, or was not made."""
        self._db.execute("delete from coming where owner = ? and call = ?", (self._owner, call))

    def lose(self, call: str) -> None:
        """Nobody waits for a call any more."""
        self._db.execute("update coming set lost = 1 where owner = ? and call = ?", (self._owner, call))


def _text(atom: Atom) -> str:
    return json.dumps([atom.predicate, *atom.args])


def _atom(text: str) -> Atom:
    predicate, *args = json.loads(text)
    return Atom(predicate, tuple(args))
