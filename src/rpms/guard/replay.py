"""A guard's log played again: what the rulings are now, and what a learner can take from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rpms.core.errors import InputError
from rpms.core.facts import Atom, Truth
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, Tried
from rpms.guard.comparisons import MISSING
from rpms.guard.guard import Guard
from rpms.guard.log import CheckLine, Event, ResultLine, ToldLine, read_guard_log
from rpms.guard.rulings import FORM, Ruling


@dataclass(frozen=True, slots=True)
class Replayed:
    """A call of the log, judged anew."""

    session: str
    call: Call
    now: Ruling
    then: str

    @property
    def changed(self) -> bool:
        return self.now.word != self.then


UNREADABLE = "calls could not be read, as when they were made"
UNKEPT = "results were not kept: what followed from them is unknown"
UNTOLD = "facts were told that cannot be told by this manual"
"""Gaps of a log, for which a replay cannot judge."""


def _played(
    guard: Guard, log: Path, gaps: Counter[str] | None = None, *, asked: bool = False
) -> Iterator[tuple[Event, Guard, Mapping[Atom, Truth]]]:
    """The events of a log, and the guard of each one's conversation that has learned it.

    Where `asked`, also the facts of a call before its result was learned. `gaps` counts what could not be learned.
    """
    live: dict[str, Guard] = {}
    gaps = gaps if gaps is not None else Counter()
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here = live[event.session]
        here.at(event.at)
        before: Mapping[Atom, Truth] = {}
        if isinstance(event, ResultLine):
            before = here.facts_of(_call(event)) if asked else {}
            gaps[UNKEPT] += event.unread and not event.failed
            here.observe(_call(event), MISSING if event.unread else event.result, failed=event.failed)
        for fact in event.facts if isinstance(event, ToldLine) else ():
            try:
                here.tell(fact)
            except InputError:
                gaps[UNTOLD] += 1
        yield event, here, before


def _call(event: CheckLine | ResultLine) -> Call:
    return Call(event.tool, event.arguments, event.id)


def tried(guard: Guard, log: Path) -> Iterator[Tried]:
    """The calls of a log that were made, with what the manual's facts were before and after each."""
    steps: Counter[str] = Counter()
    for event, here, before in _played(guard, log, asked=True):
        if isinstance(event, ResultLine):
            call, error = _call(event), excerpt(event.result) if event.failed else ""
            steps[event.session] += 1
            step = steps[event.session]
            yield Tried(call, event.session, step, event.failed, error, before, here.facts_of(call))


def replay(guard: Guard, log: Path, gaps: Counter[str] | None = None) -> Iterator[Replayed]:
    """Judge every call of a log anew, each conversation by a guard of its own, at the moment it was made.

    A call that could not be read then is none of them. `gaps` counts those, and what else the log does not tell.
    """
    gaps = gaps if gaps is not None else Counter()
    for event, here, _ in _played(guard, log, gaps):
        if isinstance(event, CheckLine) and event.rule == FORM:
            gaps[UNREADABLE] += 1
        elif isinstance(event, CheckLine):
            told = {"can_modify": event.ruling != "refuse", "can_ask": event.ruling == "ask"}
            now = here.check(_call(event), **told, approved=event.approved)
            yield Replayed(event.session, _call(event), now, event.ruling)


def resumed(guard: Guard, log: Path) -> dict[str, Guard]:
    """The guards of a log's conversations, with what each had learned; calls that never returned count as lost."""
    live: dict[str, Guard] = {}
    open_: dict[str, list[Call]] = {}
    for event, here, _ in _played(guard, log):
        live[event.session], calls = here, open_.setdefault(event.session, [])
        if isinstance(event, ResultLine):
            open_[event.session] = [each for each in calls if each.place != _call(event).place]
        elif isinstance(event, CheckLine) and (event.ruling in ("allow", "warn", "modify") or event.shadow):
            calls.append(_call(event if event.made is None else replace(event, arguments=event.made)))
    for session, here in live.items():
        for call in open_[session]:
            here.check(call, can_modify=True, approved=True)
            here.abandon(call)
        here.at("")  # by the clock again
        here.join(guard)
    return live
