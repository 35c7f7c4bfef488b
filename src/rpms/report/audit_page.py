"""The page of an audit: the calls of a log that changed something, informed or not."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rpms.foreign.shown import excerpt
from rpms.guard.call_audit import Audited, Grade
from rpms.report.pages import Report, write_single

_COLOURS: Final = {Grade.INFORMED: "good", Grade.UNINFORMED: "warn", Grade.VIOLATING: "bad"}
_MOST_ROWS: Final = 2_000
"""Calls on the page: more are slow to open."""
_LONGEST: Final = 300


@dataclass
class AuditTally:
    """Counts of an audit, and the rows of its page."""

    grades: Counter[Grade] = field(default_factory=Counter)
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    sessions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: int = 0
    _rows: int = 0

    def add(self, calls: Iterable[Audited]) -> None:
        """Count calls as they are audited."""
        for call in calls:
            self.grades[call.grade] += 1
            for objection in call.objections:
                blank = {"id": excerpt(objection.rule, 60), "text": excerpt(objection.text)}
                blank |= dict.fromkeys(Grade, 0)
                self.rules.setdefault(objection.rule, blank)[objection.grade] += 1
            self._show(call)

    def _show(self, call: Audited) -> None:
        if self._rows >= _MOST_ROWS:
            self.left_out += 1
            return
        self._rows += 1
        why = [
            {
                "rule": excerpt(each.rule, 60),
                "text": excerpt(each.text),
                "facts": excerpt(each.facts, _LONGEST),
            }
            for each in call.objections
        ]
        rows = self.sessions.setdefault(call.session, [])
        shown = excerpt(call.call.text, _LONGEST)
        row = {"call": shown, "grade": str(call.grade), "colour": _COLOURS[call.grade], "why": why}
        rows.append({"number": len(rows) + 1, **row})

    @property
    def by_rule(self) -> list[dict[str, Any]]:
        """Rules with objections, the most violated first."""
        return sorted(
            self.rules.values(), key=lambda rule: (-rule["violating"], -rule["uninformed"])
        )


def write_audit(tally: AuditTally, log: Path, out: Path, notes: Iterable[str] = ()) -> Report:
    """Write the page of an audit into a folder, which is new or holds an older report."""
    sessions = [{"name": excerpt(name, 60), "rows": rows} for name, rows in tally.sessions.items()]
    values = {
        "title": f"Audit: {excerpt(log.name, 60)}",
        "total": sum(tally.grades.values()),
        "grades": {str(grade): tally.grades[grade] for grade in Grade},
        "rules": tally.by_rule,
        "sessions": sessions,
        "left_out": tally.left_out,
        "notes": list(notes),
    }
    return write_single(out, "audit.html", values)
