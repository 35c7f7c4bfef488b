"""A guard's log as a page: the calls of each conversation, the rulings, the rule, the fact, and what to do instead."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call
from rpms.guard.log import CheckLine, Event, ResultLine, ToldLine, read_guard_log
from rpms.report import pages

_MOST_ROWS = 5_000
"""Rows of a page: more are slow to open, and nobody reads them."""
_MOST_ALLOWED = 2_000
"""Rows after which only calls that were not simply allowed are shown."""
_COLOURS = {"allow": "good", "warn": "warn", "modify": "warn", "ask": "warn", "refuse": "bad"}
_LONGEST = 300


@dataclass
class _Tally:
    """The rows of the page, as the log is read."""

    sessions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COLOURS, 0))
    left_out: int = 0
    open: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    rows: int = 0

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, CheckLine):
                self._check(event)
            elif isinstance(event, ResultLine):
                self._result(event)
            else:
                self._row(event, call="(told)", reason="; ".join(event.facts))

    def _row(self, event: CheckLine | ResultLine | ToldLine, **values: Any) -> dict[str, Any] | None:
        """A row of the page; None, and nothing kept of it, once there are enough of its kind."""
        told = isinstance(event, CheckLine) and event.ruling != "allow"
        if self.rows >= (_MOST_ROWS if told else _MOST_ALLOWED):
            self.left_out += 1
            return None
        rows = self.sessions.setdefault(event.session, [])
        blank = dict.fromkeys(("ruling", "colour", "rule", "reason", "fact", "remedy", "result"), "")
        row = {**blank, "failed": False, "number": len(rows) + 1}
        row |= {name: excerpt(value, _LONGEST) if isinstance(value, str) else value for name, value in values.items()}
        rows.append(row)
        self.rows += 1
        return row

    def _check(self, event: CheckLine) -> None:
        self.counts[event.ruling] += 1
        if event.rule:
            new = {"id": excerpt(event.rule, 60), "text": excerpt(event.reason), **dict.fromkeys(_COLOURS, 0)}
            self.rules.setdefault(event.rule, new)[event.ruling] += 1
        row = self._row(
            event,
            call=_call(event),
            ruling=f"{event.ruling} (observed only)" if event.shadow else event.ruling,
            colour=_COLOURS[event.ruling],
            rule=event.rule,
            reason=event.reason,
            fact=event.fact,
            remedy=event.remedy,
        )
        if row is not None:
            made = event if event.made is None else replace(event, arguments=event.made)
            self.open[_key(made)] = row

    def _result(self, event: ResultLine) -> None:
        row = self.open.pop(_key(event), None) if self.open else None
        row = row or (self._row(event, call=_call(event)) if self.rows < _MOST_ALLOWED else None)
        if row is None:
            return
        row["failed"] = event.failed
        text = event.result if isinstance(event.result, str) else json.dumps(event.result)
        row["result"] = "(not kept)" if event.unread else excerpt(text, _LONGEST)


def _call(event: CheckLine | ResultLine) -> str:
    return excerpt(Call(event.tool, event.arguments).text, _LONGEST)


def _key(event: CheckLine | ResultLine) -> tuple[str, str, str]:
    return event.session, event.id, Call(event.tool, event.arguments).text if not event.id else ""


def write_guard_report(logs: Sequence[Path], out: Path, *, title: str = "") -> pages.Report:
    """Write the page of one or more logs into a folder, which is new or holds an older report."""
    tally = _Tally()
    for log in logs:
        tally.add(read_guard_log(log))
    total = sum(tally.counts.values())
    values = {
        "title": excerpt(title) or f"Guard: {', '.join(log.name for log in logs)}",
        "total": total,
        "counts": tally.counts,
        "rules": sorted(tally.rules.values(), key=lambda rule: -rule["refuse"]),
        "sessions": [{"name": excerpt(name, 60), "rows": rows} for name, rows in tally.sessions.items()],
        "left_out": tally.left_out,
    }
    return pages.write_single(out, "guard.html", values, total)
