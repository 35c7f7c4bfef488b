"""A learned manual as a page: every line with what speaks for it, and what a person decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.foreign.shown import excerpt
from rpms.report import pages
from rpms.store.decisions import Reviewed
from rpms.store.evidence import Evidence, Witness, counts_of
from rpms.store.swap import folder_beside
from rpms.store.traces import Trace, read_traces, traces_file

_MOST_ROWS = 10_000
"""Lines that a page shows: more are slow to open, and nobody reads them."""
_COLOURS = {"accepted": "good", "rejected": "bad", "open": ""}
_STEPS = 3
_LONGEST = 200


def write_review(manual: Path, rows: Sequence[Reviewed], evidence: Evidence, out: Path) -> pages.Report:
    """Write the page of a learned manual into a folder, which is new or holds an older report."""
    pages.refuse_foreign(out)
    file = traces_file(manual)
    spoken = {trace.episode: trace for trace in read_traces(file)[1]} if file.is_file() else {}
    shown = rows[:_MOST_ROWS]
    groups = [
        _group("In the manual", "Lines that stand in it.", [row for row in shown if row.stands], spoken),
        _group(
            "Not in the manual",
            "What was weighed and left out, and what a person rejected.",
            [row for row in shown if not row.stands],
            spoken,
        ),
    ]
    words = [row.word for row in rows if row.stands or row.decision]
    values = {
        "title": excerpt(f"Review: {manual.name}"),
        "name": excerpt(manual.name),
        "world": excerpt(evidence.world),
        "episodes": evidence.episodes,
        "steps": evidence.steps,
        "counts": {word: words.count(word) for word in _COLOURS},
        "groups": [group for group in groups if group["entries"]],
        "left_out": len(rows) - len(shown),
    }
    try:
        with folder_beside(out.absolute()) as beside:
            pages.write_single(beside, "review.html", values)
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror or error}; nothing was changed") from None
    return pages.Report(out, len(shown), ())


def _group(title: str, about: str, rows: Iterable[Reviewed], spoken: dict[str, Trace]) -> dict[str, Any]:
    entries: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        entries.setdefault(excerpt("/".join(row.claim.at)), []).append(_row(row, spoken))
    return {"title": title, "about": about, "entries": [{"name": name, "rows": each} for name, each in entries.items()]}


def _row(row: Reviewed, spoken: dict[str, Trace]) -> dict[str, Any]:
    claim, decision = row
    return {
        "id": claim.id,
        "key": excerpt(claim.key, _LONGEST),
        "text": excerpt(claim.text, _LONGEST),
        "label": claim.label.value,
        "counts": excerpt(counts_of(claim), 2 * _LONGEST),
        "decision": row.word,
        "colour": _COLOURS[row.word],
        "reason": excerpt(decision.reason, _LONGEST) if decision else "",
        "steps": [_step("for", each, spoken) for each in claim.witnesses[:_STEPS]]
        + [_step("against", each, spoken) for each in claim.counterexamples[:_STEPS]],
    }


def _step(side: str, witness: Witness, spoken: dict[str, Trace]) -> dict[str, Any]:
    trace = spoken.get(witness.episode)
    step = trace.steps[witness.step - 1] if trace and 0 < witness.step <= len(trace.steps) else None
    return {
        "side": side,
        "episode": excerpt(witness.episode, _LONGEST),
        "number": witness.step,
        "command": excerpt(step.command, _LONGEST) if step else "",
        "answer": excerpt(step.answer, _LONGEST) if step else "",
    }
