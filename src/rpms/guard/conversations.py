"""A guard for each conversation. Frameworks hand over the whole conversation with each call; each
event of it is told to the guard once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from rpms.guard.calls import USER, Call, Modify, Ruling
from rpms.guard.guard import Guard

MOST_FRESH = 1_000
"""Conversations whose lookups are remembered, those used last. No fact is ever forgotten: what was
done once in a conversation is not done again when it is taken up after a thousand others."""


@dataclass(frozen=True)
class Returned:
    """A result of a call in the conversation; also what the user says."""

    call: Call
    result: Any
    failed: bool | None = None
    said: str = ""
    """Id of the user's message."""


def said(text: str, id_: str) -> Returned:
    """A text of the user, as the guard hears it."""
    return Returned(Call(USER, {"text": text}), text, failed=False, said=id_)


@dataclass(frozen=True)
class _Live:
    """A conversation: its guard, the events it has learned of, modified calls by their ids."""

    guard: Guard
    seen: set[str] = field(default_factory=set)
    made: dict[str, Call] = field(default_factory=dict)

    def set_aside(self) -> None:
        """Forget what can be looked up again, or read again from messages."""
        self.guard.forget_lookups()
        self.seen.clear()


class Conversations:
    """One guard for each conversation that runs by the same manual. It may be shared by threads."""

    def __init__(self, guard: Guard, known: Mapping[str, Guard] | None = None) -> None:
        """`known` are the guards of earlier conversations."""
        self._guard = guard
        self._live: dict[str, _Live] = {}
        self._idle = {name: _Live(each) for name, each in (known or {}).items()}
        self._lock = RLock()

    def guard_of(self, session: str) -> Guard:
        """The guard of one conversation, to tell it what its host knows."""
        with self._lock:
            return self._of(session).guard

    def check(
        self, session: str, past: Iterable[Returned], call: Call, *, approved: bool | None = None
    ) -> Ruling:
        """Judge a call after what was said and returned before it.

        The host can modify a call and ask a person.
        """
        with self._lock:
            for event in past:
                self.learn(session, event)
            here = self._of(session)
        ruling = here.guard.check(call, can_modify=True, can_ask=True, approved=approved)
        if isinstance(ruling, Modify) and call.id:
            # its result may be told under the call as asked for
            here.made[call.id] = ruling.call
        return ruling

    def learn(self, session: str, event: Returned) -> None:
        """Learn of an event, unless it is known already."""
        key = f"said {event.said}" if event.said else f"returned {event.call.id or event.call.text}"
        with self._lock:
            here = self._of(session)
            if key in here.seen:
                return
            here.seen.add(key)
        if event.said:
            here.guard.hear(event.result)
            return
        call = here.made.pop(event.call.id, event.call)
        here.guard.observe(call, event.result, failed=event.failed)

    def _of(self, session: str) -> _Live:
        here = self._live.pop(session, None) or self._idle.pop(session, None)
        if here is None:
            here = _Live(self._guard.fresh(session))
        self._live[session] = here  # it is the newest again
        if len(self._live) > MOST_FRESH:
            oldest = next(iter(self._live))
            self._idle[oldest] = self._live.pop(oldest)
            self._idle[oldest].set_aside()
        return here
