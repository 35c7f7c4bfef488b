"""A guard's log played again: what the rulings are now, and what a learner can take from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rpms.core.errors import InputError
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, Tried
from rpms.guard.comparisons import MISSING
from rpms.guard.guard import Guard
from rpms.guard.log import CheckLine, ResultLine, ToldLine, read_guard_log
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


@dataclass(slots=True)
class LeftOut:
    """Gaps of a log, for which a replay cannot judge."""

    unreadable: int = 0
    """Calls that could not be read when they were made; a log keeps only the name of their tool."""
    unkept: int = 0
    """Results that were too long to keep, or were not JSON."""
    untold: int = 0
    """Facts that were told, and that this manual does not let be told."""

    def __str__(self) -> str:
        said = (
            (self.unreadable, "calls could not be read, as when they were made"),
            (self.unkept, "results were not kept: what followed from them is unknown"),
            (self.untold, "facts were told that cannot be told by this manual"),
        )
        return "\n".join(f"{count} {what}" for count, what in said if count)


def tried(guard: Guard, log: Path) -> Iterator[Tried]:
    """The calls of a log that were made, with what the manual's facts were before and after each."""
    live: dict[str, Guard] = {}
    steps: Counter[str] = Counter()
    for event in read_guard_log(log):
        here = live.setdefault(event.session, guard.fresh(event.session, silent=True))
        here.at(event.at)
        if isinstance(event, ResultLine):
            call = Call(event.tool, event.arguments, event.id)
            before = here.facts_of(call)
            here.observe(call, MISSING if event.unread else event.result, failed=event.failed)
            steps[event.session] += 1
            error = excerpt(event.result) if event.failed else ""
            step = steps[event.session]
            yield Tried(call, event.session, step, event.failed, error, before, here.facts_of(call))
        elif isinstance(event, ToldLine):
            _tell(here, event)


def _tell(guard: Guard, line: ToldLine) -> int:
    """Tell facts once more; how many of them the manual does not know any more."""
    strange = 0
    for fact in line.facts:
        try:
            guard.tell(fact)
        except InputError:
            strange += 1
    return strange


def replay(guard: Guard, log: Path, left_out: LeftOut | None = None) -> Iterator[Replayed]:
    """Judge every call of a log anew, each conversation by a guard of its own, at the moment it was made.

    A call that could not be read then is none of them. `left_out` counts those, and what else the log does not tell.
    """
    left_out = left_out or LeftOut()
    live: dict[str, Guard] = {}
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here = live[event.session]
        here.at(event.at)
        if isinstance(event, CheckLine) and event.rule == FORM:
            left_out.unreadable += 1
        elif isinstance(event, CheckLine):
            call = Call(event.tool, event.arguments, event.id)
            told = {"can_modify": event.ruling != "refuse", "can_ask": event.ruling == "ask"}
            yield Replayed(event.session, call, here.check(call, **told, approved=event.approved), event.ruling)
        elif isinstance(event, ResultLine):
            call = Call(event.tool, event.arguments, event.id)
            left_out.unkept += event.unread and not event.failed
            here.observe(call, MISSING if event.unread else event.result, failed=event.failed)
        else:
            left_out.untold += _tell(here, event)


def resumed(guard: Guard, log: Path) -> dict[str, Guard]:
    """The guards of a log's conversations, with what each had learned; calls that never returned count as lost."""
    live: dict[str, Guard] = {}
    open_: dict[str, list[Call]] = {}
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here, calls = live[event.session], open_.setdefault(event.session, [])
        if isinstance(event, ToldLine):
            _tell(here, event)
        elif isinstance(event, ResultLine):
            call = Call(event.tool, event.arguments, event.id)
            here.observe(call, MISSING if event.unread else event.result, failed=event.failed)
            open_[event.session] = [each for each in calls if (each.id or each.key) != (call.id or call.key)]
        elif event.ruling in ("allow", "warn", "modify") or event.shadow:
            made = event.arguments if event.made is None else event.made
            calls.append(Call(event.tool, made, event.id))
    for session, here in live.items():
        for call in open_[session]:
            here.check(call, can_modify=True, approved=True)
            here.abandon(call)
        here.join(guard)
    return live
