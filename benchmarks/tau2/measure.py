"""The guard under one policy, asked of reference actions, of violations and of what is
permitted.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from rpms.guard import Call as GuardCall
from rpms.guard import Guard, Refuse, Ruling
from tau2.cases import Kind, made_from, replay
from tau2.sandbox import Call, Task
from tau2.session import Session

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "guard"))
from tau2_policies import policy_guard


@dataclass
class References:
    """Rulings on the reference actions and the lookups added to them."""

    reads: int = 0
    """Calls that change nothing."""
    writes: int = 0
    allowed: int = 0
    warned: int = 0
    """Actions that change something, allowed with a warning of the policy."""
    assumed: int = 0
    """Cancellations allowed for a covered reason that no task states: the replay supplies it."""
    wrong: list[str] = field(default_factory=list)
    """Refused, and the measure finds nothing that they break."""
    breaking: list[str] = field(default_factory=list)
    """Refused, and the measure finds the same rule broken."""


@dataclass
class Row:
    """Rulings on one kind's violations."""

    kind: Kind
    made: int = 0
    refused: int = 0
    right: int = 0
    by_tool: int = 0
    """Of those made, how many the tool itself would have stopped."""


@dataclass
class Made:
    """Rulings on the calls made from reference actions."""

    rows: dict[str, Row]
    missed: list[str] = field(default_factory=list)
    permitted: int = 0
    wrong: list[str] = field(default_factory=list)
    """Permitted by the measure, and refused."""
    stopped: list[str] = field(default_factory=list)
    """Permitted by the measure, and stopped by the tool itself: a sign that the measure is
    wrong."""
    seconds: list[float] = field(default_factory=list)
    """Seconds of each check."""

    def total(self, column: str) -> int:
        return sum(getattr(row, column) for row in self.rows.values())


def policy_of(domain: str) -> Any:
    """The measure of a domain."""
    return importlib.import_module(f"tau2.{domain}_policy")


def kinds_of(domain: str) -> tuple[Kind, ...]:
    """The ways to break a domain's policy."""
    return importlib.import_module(f"tau2.{domain}_kinds").KINDS


def judge_references(domain: str, tasks: Sequence[Task]) -> References:
    """Ask one guard a task before every call of it, lookups and reference actions alike."""
    policy, found = policy_of(domain), References()
    for task in tasks:
        guard, heard, asked = policy_guard(domain), 0, 0
        for session, call in replay(policy, domain, task):
            for place, (earlier, result) in enumerate(session.turns[heard:]):
                if place >= asked:
                    found.reads += 1
                    ruling = guard.check(_call(earlier))
                    broken = ruling.rule in policy.broken(session, earlier)
                    _note(found.breaking if broken else found.wrong, task, earlier, ruling)
                guard.observe(_call(earlier), result.text, failed=result.failed)
            heard, asked = (
                len(session.turns),
                1,
            )  # the next turn is this call, of which the guard is asked now
            ruling = _checked(guard, session, call)
            _note(
                found.breaking if ruling.rule in policy.broken(session, call) else found.wrong,
                task,
                call,
                ruling,
            )
            if call.name in policy.WRITES:
                found.writes += 1
                found.allowed += ruling.goes_on
                found.assumed += ruling.goes_on and session.reason in {"health", "weather"}
                found.warned += ruling.goes_on and ruling.rule.startswith(("AIR-", "SHOP-"))
            else:
                found.reads += 1
    return found


def judge_made(domain: str, tasks: Sequence[Task], seed: int) -> Made:
    """Ask a guard of every violation, and of every permitted call made like one."""
    found = Made({kind.name: Row(kind) for kind in kinds_of(domain)})
    for case in made_from(policy_of(domain), domain, kinds_of(domain), tasks, seed):
        guard = policy_guard(domain)
        for call, result in case.session.turns:
            guard.observe(_call(call), result.text, failed=result.failed)
        start = perf_counter()
        ruling = _checked(guard, case.session, case.call)
        found.seconds.append(perf_counter() - start)
        tool_stops = case.session.again().sandbox.call(case.call).failed
        told = f"- {case.kind.name}, task {case.task}, {str(case.call)[:200]}: {ruling.word} {ruling.text}"
        if not case.rules:
            found.permitted += 1
            found.wrong += [told] if isinstance(ruling, Refuse) else []
            found.stopped += [told] if tool_stops else []
            continue
        row = found.rows[case.kind.name]
        right = isinstance(ruling, Refuse) and ruling.rule == case.kind.rule
        row.made += 1
        row.refused += isinstance(ruling, Refuse)
        row.right += right
        row.by_tool += tool_stops
        found.missed += [] if right else [told]
    return found


def _checked(guard: Guard, session: Session, call: Call) -> Ruling:
    """The ruling on a call, with the guard told what only the customer said."""
    guard.tell("confirmed" if session.confirmed else "not confirmed")
    if session.reason is not None:
        guard.tell(f'reason("{session.reason}")')
    return guard.check(_call(call))


def _call(call: Call) -> GuardCall:
    return GuardCall(call.name, call.arguments)


def _note(refusals: list[str], task: Task, call: Call, ruling: Ruling) -> None:
    if isinstance(ruling, Refuse):
        refusals.append(f"- task {task.id}, {call.name}: {ruling.text}")
