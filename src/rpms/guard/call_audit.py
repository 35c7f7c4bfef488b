"""Near misses: was each call in a log that changes something informed?

A call may come out right although nobody had looked, because the rule happened not to matter. So a
call is judged by what was known when it was made, not by what came of it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rpms.guard.calls import FORM, Call, OnUnknown, ToolManual
from rpms.guard.explaining import Weighed
from rpms.guard.guard import Guard
from rpms.guard.log import CheckLine
from rpms.guard.replay import call_made, played, was_made
from rpms.logic.facts import Truth

UNRULED = "calls were made with tools on which there is no rule"
"""The gap that counts calls which nothing is known about."""


class Grade(StrEnum):
    """Grade of a call by what was known when it was made."""

    INFORMED = "informed"
    """Every rule on it was known to be kept."""
    UNINFORMED = "uninformed"
    """A need was unknown, and none was known to be broken."""
    VIOLATING = "violating"
    """A rule was known to be broken."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A rule that a call breaks, or may break."""

    rule: str
    text: str
    facts: str
    grade: Grade


@dataclass(frozen=True, slots=True)
class Audited:
    """A call that was made, and what stands against it."""

    session: str
    call: Call
    objections: tuple[AuditFinding, ...] = ()

    @property
    def grade(self) -> Grade:
        """The worst that a rule says."""
        grades = {each.grade for each in self.objections}
        if Grade.VIOLATING in grades:
            return Grade.VIOLATING
        return Grade.UNINFORMED if grades else Grade.INFORMED


def audit(guard: Guard, log: Path, gaps: Counter[str] | None = None) -> Iterator[Audited]:
    """The calls of a log that were made with tools that have rules, unless the manual says that
    they only read.

    What a person approved is not held against a call. `gaps` counts what the log does not tell,
    and calls with tools that have no rule.
    """
    gaps = gaps if gaps is not None else Counter()
    untold = _without_defaults(guard.manual)
    for event, here, _ in played(guard, log, gaps):
        if not isinstance(event, CheckLine) or event.rule == FORM or not was_made(event):
            continue
        tool = guard.manual.tools.get(event.tool)
        if tool is not None and tool.reads:
            continue
        if not guard.manual.rules.get(event.tool):
            gaps[UNRULED] += 1
            continue
        call = call_made(event)
        objections = _objections(here, call, untold, approved=event.approved is True)
        yield Audited(event.session, call, tuple(objections))


def _without_defaults(manual: ToolManual) -> ToolManual:
    """The manual without its `initially`: no fact is true or false until it is told."""
    facts = {name: replace(fact, initially=None) for name, fact in manual.facts.items()}
    return replace(manual, facts=facts)


def _objections(
    guard: Guard, call: Call, untold: ToolManual, *, approved: bool
) -> Iterator[AuditFinding]:
    """The rules that are not known to be kept.

    A need that fails only because a fact stands as it was at first, since nobody has told it, was
    not known to fail.
    """
    found = guard.weigh(call)
    if all(each.broken is Truth.FALSE for each in found):
        return
    without_defaults = guard.weigh(call, untold)
    for each, strictly in zip(found, without_defaults, strict=True):
        if each.broken is Truth.FALSE or (approved and _is_for_a_person(each)):
            continue
        grade = Grade.UNINFORMED
        if each.broken is Truth.TRUE and strictly.broken is Truth.TRUE:
            grade = Grade.VIOLATING
        yield AuditFinding(each.by.rule.id, each.text, each.facts, grade)


def _is_for_a_person(found: Weighed) -> bool:
    """True if a person decides about what a rule found."""
    if found.broken is Truth.TRUE:
        return found.by.asks
    return found.by.asks or found.by.unknown is OnUnknown.ASK
