"""A guard's log played again: what the rulings are now, and what a learner can take from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rpms.core.errors import InputError
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


def _played(guard: Guard, log: Path) -> Iterator[tuple[Event, Guard]]:
    """The events of a log, each with the guard of its conversation at that moment."""
    live: dict[str, Guard] = {}
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        live[event.session].at(event.at)
        yield event, live[event.session]


def _call(event: CheckLine | ResultLine) -> Call:
    return Call(event.tool, event.arguments, event.id)


def _observe(guard: Guard, event: ResultLine) -> None:
    guard.observe(_call(event), MISSING if event.unread else event.result, failed=event.failed)


def _tell(guard: Guard, line: ToldLine) -> int:
    """Tell facts once more; the number of those that the manual does not know any more."""
    strange = 0
    for fact in line.facts:
        try:
            guard.tell(fact)
        except InputError:
            strange += 1
    return strange


def tried(guard: Guard, log: Path) -> Iterator[Tried]:
    """The calls of a log that were made, with what the manual's facts were before and after each."""
    steps: Counter[str] = Counter()
    for event, here in _played(guard, log):
        if isinstance(event, ResultLine):
            call, error = _call(event), excerpt(event.result) if event.failed else ""
            before = here.facts_of(call)
            _observe(here, event)
            steps[event.session] += 1
            step = steps[event.session]
            yield Tried(call, event.session, step, event.failed, error, before, here.facts_of(call))
        elif isinstance(event, ToldLine):
            _tell(here, event)


def replay(guard: Guard, log: Path, gaps: Counter[str] | None = None) -> Iterator[Replayed]:
    """Judge every call of a log anew, each conversation by a guard of its own, at the moment it was made.

    A call that could not be read then is none of them. `gaps` counts those, and what else the log does not tell.
    """
    gaps = gaps if gaps is not None else Counter()
    for event, here in _played(guard, log):
        if isinstance(event, ToldLine):
            gaps[UNTOLD] += _tell(here, event)
        elif isinstance(event, ResultLine):
            gaps[UNKEPT] += event.unread and not event.failed
            _observe(here, event)
        elif event.rule == FORM:
            gaps[UNREADABLE] += 1
        else:
            told = {"can_modify": event.ruling != "refuse", "can_ask": event.ruling == "ask"}
            now = here.check(_call(event), **told, approved=event.approved)
            yield Replayed(event.session, _call(event), now, event.ruling)


def resumed(guard: Guard, log: Path) -> dict[str, Guard]:
    """The guards of a log's conversations, with what each had learned; calls that never returned count as lost."""
    live: dict[str, Guard] = {}
    open_: dict[str, list[Call]] = {}
    for event, here in _played(guard, log):
        live[event.session], calls = here, open_.setdefault(event.session, [])
        if isinstance(event, ToldLine):
            _tell(here, event)
        elif isinstance(event, ResultLine):
            _observe(here, event)
            key = event.id or _call(event).key
            open_[event.session] = [each for each in calls if (each.id or each.key) != key]
        elif event.ruling in ("allow", "warn", "modify") or event.shadow:
            calls.append(_call(event if event.made is None else replace(event, arguments=event.made)))
    for session, here in live.items():
        for call in open_[session]:
            here.check(call, can_modify=True, approved=True)
            here.abandon(call)
        here.at("")  # by the clock again
        here.join(guard)
    return live
