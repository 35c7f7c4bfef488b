"""Facts that several guards share in one SQLite file, so that what is done once is done once by all
of them.

A check and the announcement of its call are one transaction: no other guard judges between them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from rpms.guard.belief import loose
from rpms.guard.causes import Coming
from rpms.logic.errors import FileError
from rpms.logic.facts import Atom, Literal

_PATIENCE = 300.0
"""Seconds after which another guard's call that has not returned counts as lost: that guard may
have ended."""
_TABLES = """
create table if not exists shared_fact (fact text primary key, loose text, holds integer);
create index if not exists shared_fact_loose on shared_fact (loose);
create table if not exists shared_call (
  owner text, call text, fact text, holds integer, since real, lost integer
);
create index if not exists shared_call_fact on shared_call (fact);
create index if not exists shared_call_owner on shared_call (owner, call);
"""


class SharedFacts:
    """One file of facts. The guards of a process use one connection, each under its own name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = RLock()
        try:
            self._db = sqlite3.connect(
                file, timeout=30, isolation_level=None, check_same_thread=False
            )
            earlier = self._ask("select 1 from sqlite_master where name = 'told'")
            self._db.executescript(_TABLES)
        except sqlite3.Error as error:
            raise FileError(file, None, f"is no store of shared facts: {error}") from None
        if earlier:
            raise FileError(file, None, "was written by an earlier version; choose another --store")

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
                problem = f"shared facts cannot be used: {error}"
                raise FileError(self._file, None, problem) from None
            with self._db:
                yield

    def holds(self, atom: Atom) -> bool | None:
        """Truth of a fact as the last guard told it; None if none did."""
        for (holds,) in self._ask("select holds from shared_fact where fact = ?", _text(atom)):
            return bool(holds)
        return None

    def near(self, atom: Atom, usual: bool | None) -> Atom | None:
        """A fact that guards told, that is not as `usual`, and whose names a careless reader takes
        for those of another one.
        """
        query = "select fact from shared_fact where loose = ? and fact != ? and holds is not ?"
        for (fact,) in self._ask(query, _text(loose(atom)), _text(atom), usual):
            return _atom(fact)
        return None

    def tell(self, facts: Iterable[Literal]) -> None:
        """Set facts for all guards; no call that was to change them is waited for any longer."""
        for fact in facts:
            text = _text(fact.atom)
            row = (text, _text(loose(fact.atom)), not fact.negated)
            self._ask("insert or replace into shared_fact values (?, ?, ?)", *row)
            self._ask("delete from shared_call where fact = ?", text)

    def announce(self, owner: str, call: str, changes: Iterable[Literal]) -> None:
        """Expect changes of a call that is about to be made."""
        for each in changes:
            row = (owner, call, _text(each.atom), not each.negated, time.time())
            self._ask("insert into shared_call values (?, ?, ?, ?, ?, 0)", *row)

    def end(self, owner: str, call: str) -> None:
        """Note that a call returned, or was not made after all."""
        self._ask("delete from shared_call where owner = ? and call = ?", owner, call)

    def lose(self, owner: str, call: str) -> None:
        """Note that nobody waits for a call any more: it may have been done or not."""
        self._ask("update shared_call set lost = 1 where owner = ? and call = ?", owner, call)

    def coming(self, atom: Atom, owner: str) -> Coming | None:
        """The change that another guard's call is about to make."""
        query = "select holds, since, lost from shared_call where fact = ? and owner != ?"
        rows = self._ask(query, _text(atom), owner)
        if not rows:
            return None
        holds, since, lost = rows[-1]
        return Coming(bool(holds), bool(lost) or since < time.time() - _PATIENCE)

    def _ask(self, words: str, *values: object) -> list[Any]:
        return self._db.execute(words, values).fetchall()


def _text(atom: Atom) -> str:
    return json.dumps([atom.predicate, *atom.args])


def _atom(text: str) -> Atom:
    predicate, *args = json.loads(text)
    return Atom(predicate, tuple(args))
