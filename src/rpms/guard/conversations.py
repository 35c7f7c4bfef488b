"""For frameworks that hand over the whole conversation with each call: one guard a conversation, each event once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import RLock
from typing import Any

from rpms.guard.calls import Call
from rpms.guard.guard import Guard
from rpms.guard.rulings import Modify, Ruling

_MOST_CONVERSATIONS = 1_000
"""Conversations that are remembered; one that is taken up again after that is read anew from its messages."""


@dataclass(frozen=True)
class Said:
    """A text of the user."""

    text: str
    id: str


@dataclass(frozen=True)
class Returned:
    """A result of a call in the conversation."""

    call: Call
    result: Any
    failed: bool | None = None


class Conversations:
    """One guard for each conversation that runs by the same manual. It may be shared by threads."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._live: dict[str, tuple[Guard, set[str]]] = {}
        self._made: dict[tuple[str, str], Call] = {}
        self._lock = RLock()

    def guard_of(self, session: str) -> Guard:
        """The guard of one conversation, to tell it what its host knows."""
        with self._lock:
            return self._of(session)[0]

    def check(
        self, session: str, past: Iterable[Said | Returned], call: Call, *, approved: bool | None = None
    ) -> Ruling:
        """Judge a call after all that was said and returned before it. The host can modify a call and ask a person.

        What a modified call returns may be told under the call as it was asked for: the two have the same id.
        """
        with self._lock:
            for event in past:
                self.learn(session, event)
            guard, _ = self._of(session)
        ruling = guard.check(call, can_modify=True, can_ask=True, approved=approved)
        if isinstance(ruling, Modify) and call.id:
            with self._lock:
                self._made[session, call.id] = ruling.call
        return ruling

    def learn(self, session: str, event: Said | Returned) -> None:
        """Learn of an event, unless it is known already."""
        key = f"said {event.id}" if isinstance(event, Said) else f"returned {event.call.id or event.call.text}"
        with self._lock:
            guard, seen = self._of(session)
            if key in seen:
                return
            seen.add(key)
        if isinstance(event, Said):
            guard.hear(event.text)
        else:
            with self._lock:
                made = self._made.pop((session, event.call.id), event.call)
            guard.observe(made, event.result, failed=event.failed)

    def _of(self, session: str) -> tuple[Guard, set[str]]:
        if session not in self._live:
            while len(self._live) >= _MOST_CONVERSATIONS:
                oldest = next(iter(self._live))
                del self._live[oldest]
                self._made = {key: call for key, call in self._made.items() if key[0] != oldest}
            self._live[session] = (self._guard.fresh(session), set())
        return self._live[session]
