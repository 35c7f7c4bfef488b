"""A guard's log played again: what the rulings are now, and what a learner can take from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rpms.core.tools import Call, Tried
from rpms.foreign.shown import excerpt
from rpms.guard.guard import Guard
from rpms.guard.rulings import Ruling
from rpms.store.guard_log import CheckLine, ResultLine, ToldLine, read_guard_log


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
            here.observe(call, None if event.unread else event.result, failed=event.failed)
            steps[event.session] += 1
            error = excerpt(event.result) if event.failed else ""
            step = steps[event.session]
            yield Tried(call, event.session, step, event.failed, error, before, here.facts_of(call))
        elif isinstance(event, ToldLine):
            here.tell(*event.facts)


def replay(guard: Guard, log: Path) -> Iterator[Replayed]:
    """Judge every call of a log anew, each conversation by a guard of its own, at the moment it was made."""
    live: dict[str, Guard] = {}
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here = live[event.session]
        here.at(event.at)
        if isinstance(event, CheckLine):
            call = Call(event.tool, event.arguments, event.id)
            yield Replayed(event.session, call, here.check(call, can_modify=event.ruling != "refuse"), event.ruling)
        elif isinstance(event, ResultLine):
            call = Call(event.tool, event.arguments, event.id)
            here.observe(call, None if event.unread else event.result, failed=event.failed)
        else:
            here.tell(*event.facts)
