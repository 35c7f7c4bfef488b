"""Pages about calls of tools: a guard's log, and the audit of a log."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.call_audit import Audited, Grade
from rpms.guard.calls import Call
from rpms.guard.log import CheckLine, Event, ResultLine, ToldLine, read_guard_log
from rpms.report.page_files import Report, write_single

_MOST_ROWS = 5_000
"""Calls on a guard's page: more are slow to open, and nobody reads them."""
_MOST_ALLOWED = 2_000
"""Rows after which only calls that were not simply allowed are shown."""
_MOST_AUDITED = 2_000
"""Calls on the page of an audit."""
_LONGEST = 300
_RULINGS = {"allow": "good", "warn": "warn", "modify": "warn", "ask": "warn", "refuse": "bad"}
"""Rulings of a guard with their colours."""
_GRADES = {Grade.INFORMED: "good", Grade.UNINFORMED: "warn", Grade.VIOLATING: "bad"}
"""Grades of an audit with their colours."""

Row = dict[str, Any]


@dataclass
class _Shown:
    """The contents of a page about the calls of a log, collected as it is read."""

    counts: Counter[str] = field(default_factory=Counter)
    """Calls by verdict."""
    rules: dict[str, Row] = field(default_factory=dict)
    """Rules that spoke, with how often they came to each verdict."""
    sessions: dict[str, list[Row]] = field(default_factory=dict)
    rows: int = 0
    not_shown: int = 0
    """Calls that are not shown, since there are enough of their kind."""

    def count_rule(self, rule: str, text: str, verdict: str, verdicts: Iterable[str]) -> None:
        new = {"id": excerpt(rule, 60), "text": excerpt(text), **dict.fromkeys(verdicts, 0)}
        self.rules.setdefault(rule, new)[verdict] += 1

    def new_row(self, session: str, most: int) -> Row | None:
        """A row for one more call; None, and nothing kept of it, once there are as many as may
        be.
        """
        if self.rows >= most:
            self.not_shown += 1
            return None
        self.rows += 1
        rows = self.sessions.setdefault(session, [])
        row: Row = {"number": len(rows) + 1}
        rows.append(row)
        return row

    def write(self, out: Path, template: str, title: str, **values: Any) -> Report:
        """Write the page; `values`: what its template shows beyond what all pages show."""
        sessions: list[Row] = []
        for name, rows in self.sessions.items():
            sessions.append({"name": excerpt(name, 60), "rows": rows})
        values |= {"title": title, "total": self.counts.total(), "left_out": self.not_shown}
        return write_single(out, template, {**values, "sessions": sessions})


def write_audit(
    calls: Iterable[Audited], log: Path, out: Path, notes: Iterable[str] = ()
) -> Report:
    """Write the page of an audit into a folder, which is new or holds an older report: the calls
    that changed something, informed or not.
    """
    shown = _Shown()
    for audited in calls:
        shown.counts[audited.grade] += 1
        why: list[Row] = []
        for objection in audited.objections:
            shown.count_rule(objection.rule, objection.text, objection.grade, Grade)
            named = {"rule": excerpt(objection.rule, 60), "text": excerpt(objection.text)}
            why.append({**named, "facts": excerpt(objection.facts, _LONGEST)})
        row = shown.new_row(audited.session, _MOST_AUDITED)
        if row is not None:
            row["call"] = excerpt(audited.call.text, _LONGEST)
            row["grade"] = str(audited.grade)
            row["colour"] = _GRADES[audited.grade]
            row["why"] = why
    return shown.write(
        out,
        "audit.html",
        f"Audit: {excerpt(log.name, 60)}",
        grades={str(grade): shown.counts[grade] for grade in Grade},
        rules=sorted(shown.rules.values(), key=_most_violated),
        notes=list(notes),
    )


def _most_violated(rule: Row) -> tuple[int, int]:
    return -rule["violating"], -rule["uninformed"]


def write_guard_report(logs: Sequence[Path], out: Path, *, title: str = "") -> Report:
    """Write the page of one or more logs of a guard into a folder, which is new or holds an
    older report.
    """
    page = _GuardPage()
    for event in chain.from_iterable(map(read_guard_log, logs)):
        page.add(event)
    shown = page.shown
    names = ", ".join([log.name for log in logs])
    return shown.write(
        out,
        "guard.html",
        excerpt(title) or f"Guard: {names}",
        counts={ruling: shown.counts[ruling] for ruling in _RULINGS},
        rules=sorted(shown.rules.values(), key=lambda rule: -rule["refuse"]),
    )


@dataclass
class _GuardPage:
    """The rows of a guard's page: a call, its ruling, the rule, the fact, the advice, and the
    call's result.
    """

    shown: _Shown = field(default_factory=_Shown)
    _open: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    """Calls without a result so far."""

    def add(self, event: Event) -> None:
        if isinstance(event, CheckLine):
            self._add_check(event)
        elif isinstance(event, ResultLine):
            self._add_result(event)
        else:
            self._add_row(event, call="(told)", reason="; ".join(event.facts))

    def _add_row(self, event: CheckLine | ResultLine | ToldLine, **texts: str) -> Row | None:
        counts = isinstance(event, CheckLine) and event.ruling != "allow"
        row = self.shown.new_row(event.session, _MOST_ROWS if counts else _MOST_ALLOWED)
        if row is None:
            return None
        for name in ("call", "ruling", "colour", "rule", "reason", "fact", "remedy", "result"):
            row[name] = excerpt(texts.get(name, ""), _LONGEST)
        row["failed"] = False
        return row

    def _add_check(self, event: CheckLine) -> None:
        """Show a call that was checked; its row stays open for the result."""
        self.shown.counts[event.ruling] += 1
        if event.rule:
            self.shown.count_rule(event.rule, event.reason, event.ruling, _RULINGS)
        row = self._add_row(
            event,
            call=_call(event),
            ruling=f"{event.ruling} (observed only)" if event.shadow else event.ruling,
            colour=_RULINGS[event.ruling],
            rule=event.rule,
            reason=event.reason,
            fact=event.fact,
            remedy=event.remedy,
        )
        if row is not None:
            made = event if event.made is None else replace(event, arguments=event.made)
            self._open[_key(made)] = row

    def _add_result(self, event: ResultLine) -> None:
        row = self._open.pop(_key(event), None)
        if row is None and self.shown.rows < _MOST_ALLOWED:
            row = self._add_row(event, call=_call(event))
        if row is None:
            return
        row["failed"] = event.failed
        text = event.result if isinstance(event.result, str) else json.dumps(event.result)
        row["result"] = "(not kept)" if event.unread else excerpt(text, _LONGEST)


def _call(event: CheckLine | ResultLine) -> str:
    return Call(event.tool, event.arguments).text


def _key(event: CheckLine | ResultLine) -> tuple[str, str, str]:
    """The key that a call and its result share: an id, or else the call itself."""
    return event.session, event.id, "" if event.id else _call(event)
