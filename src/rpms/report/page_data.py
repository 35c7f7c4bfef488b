"""Data of the pages: script files that hand over JSON, since a page opened from disk may not fetch.

Each is one call with one ASCII string without `<`, so that no foreign text can end the string, the
script or the line.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from rpms.paper.prompt import SHARED, Block
from rpms.paper.verdict import Fate
from rpms.report.comparison import Comparison
from rpms.report.condition_tables import why
from rpms.report.outcomes import Results, part_name, type_label
from rpms.store.episodes import CandidateRecord, EpisodeRecord, EpisodeRow

_SHORT = 12
"""Length up to which a text is repeated in place; a longer one is stored once and referred to
by number."""
CHUNK = 1_000
"""Tasks in one file of the index."""
BUCKET = 500
"""Episodes in one folder."""
STEPS_KEPT = 300
"""Steps that an entry's page lists at most; all are counted."""
ENTRIES_IN_A_FILE = 50
_SHOWN = frozenset(str(fate) for fate in Fate if fate.shown)


def script(slot: str, value: object) -> str:
    """A script file that hands a value to the page under a name."""
    data = json.dumps(json.dumps(value, separators=(",", ":")))
    return f"RPMS.take({json.dumps(slot)},{data.replace('<', chr(92) + 'u003c')});\n"


def meta(comparison: Comparison, title: str, shown: int) -> dict[str, Any]:
    """Script that every page loads first."""
    return {
        "title": title,
        "tasks": len(comparison.tasks),
        "shown": shown,
        "chunk": CHUNK,
        "bucket": BUCKET,
        "entries": ENTRIES_IN_A_FILE,
        "scored": comparison.scored,
        "types": {kind: type_label(kind) for kind in comparison.types},
        "shared": sorted(SHARED),
        "conditions": list(map(_condition, comparison)),
    }


def _condition(results: Results) -> dict[str, Any]:
    """A condition, with the prompt part of the user's own if it has one."""
    fields = {
        "name": results.name,
        "label": results.title,
        "partial": bool(results.missing),
        "memory": bool(results.switches.get("memory", True)),
        "entries": results.memory_entries,
    }
    parts = results.protocol.get("parts")
    part = parts.get("prompt") if isinstance(parts, Mapping) else None
    return {**fields, "prompt": part_name(part)} if part is not None else fields


def task_chunks(comparison: Comparison, goals: Mapping[str, str]) -> Iterator[list[list[Any]]]:
    """Tasks by the thousand: id, type, goal where somebody has played it, and an outcome for
    each condition.
    """
    chunk: list[list[Any]] = []
    for task, kind in comparison.tasks.items():
        outcomes = [_outcome(results.rows.get(task)) for results in comparison]
        chunk.append([task, kind, goals.get(task, ""), *outcomes])
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _outcome(row: EpisodeRow | None) -> list[Any] | None:
    """Ending, won, score, steps, infeasible actions; None if there is no episode."""
    if row is None or row.missing:
        return None
    return [row.ending, int(row.won), row.score, row.steps, row.infeasible]


def episode_data(record: EpisodeRecord) -> dict[str, Any]:
    """An episode as it is recorded: numbers of parts, as `{"at": 3}`, stand for all its objects
    and long texts.
    """
    parts: list[Any] = []
    return {"episode": _placed(record, parts, {}), "parts": parts}


_PLAIN = frozenset((int, float, bool, type(None)))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def _placed(value: Any, parts: list[Any], places: dict[Any, dict[str, int]]) -> Any:
    """A value with numbers of parts.

    Equal texts, blocks and candidates, which steps repeat, are one part.
    """
    if type(value) in _PLAIN or (isinstance(value, str) and len(value) <= _SHORT):
        return value
    if isinstance(value, tuple | list):
        return [_placed(each, parts, places) for each in value]
    repeated = isinstance(value, str | Block | CandidateRecord)
    if repeated and value in places:
        return places[value]
    part = _with_places(value, parts, places)
    place = {"at": len(parts)}
    parts.append(part)
    if repeated:
        places[value] = place
    return place


def _with_places(value: Any, parts: list[Any], places: dict[Any, dict[str, int]]) -> Any:
    """An object with numbers of parts in its fields; a text as it is."""
    if type(value) is dict:
        return {name: _placed(each, parts, places) for name, each in value.items()}
    kind: Any = type(value)
    names = _field_names(kind)
    if names:
        return {name: _placed(getattr(value, name), parts, places) for name in names}
    return value


@dataclass
class _History:
    """One entry in the steps of a report."""

    kind: str
    wording: str
    fates: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    won: int = 0
    lost: int = 0
    shown: int = 0
    steps: list[list[Any]] = field(default_factory=list)
    """Steps that showed it, and what followed: the command, whether it failed, progress, and
    the ending."""


class EntryBook:
    """Collects, episode by episode, what became of every entry."""

    def __init__(self) -> None:
        self._histories: dict[str, _History] = {}

    def add(self, condition: int, task: int, record: EpisodeRecord) -> None:
        shown: set[str] = set()
        for step in record.steps:
            later = record.steps[step.number :]
            gained = int(record.row.won)
            if later:
                gained = later[0].progress.done - step.progress.done
            followed = (step.number, step.command, step.infeasible, gained, record.row.ending)
            for candidate in step.candidates:
                if self._count(candidate, [condition, task, *followed]):
                    shown.add(candidate.entry)
        for entry in shown:
            history = self._histories[entry]
            history.won += record.row.won
            history.lost += not record.row.won

    def _count(self, candidate: CandidateRecord, step: list[Any]) -> bool:
        """Count a candidate of a step; True if the prompt showed it."""
        wording = candidate.wording.strip().partition("\n")[0]
        history = self._histories.setdefault(candidate.entry, _History(candidate.kind, wording))
        history.fates[candidate.fate] += 1
        if candidate.fate not in _SHOWN:
            reasoned = candidate.reason or candidate.rule
            reason = f"{candidate.fate}: {why(candidate)}" if reasoned else candidate.fate
            history.reasons[reason] += 1
            return False
        history.shown += 1
        if len(history.steps) < STEPS_KEPT:
            history.steps.append(step)
        return True

    def overview(self) -> list[list[Any]]:
        """Each entry in a row: id, kind, wording, verdicts, episodes won and lost with it; the
        most shown first.
        """
        rows: list[list[Any]] = []
        for name, history in self._ordered().items():
            about = [name, history.kind, history.wording]
            counts = [history.fates, history.won, history.lost, history.shown]
            rows.append([*about, *counts])
        return rows

    def chunks(self) -> Iterator[list[list[Any]]]:
        """The entries in the same order, with the steps that showed them and why they were not
        shown elsewhere.
        """
        rows: list[list[Any]] = []
        for history in self._ordered().values():
            rows.append([history.steps, history.reasons.most_common(12)])
        for start in range(0, len(rows), ENTRIES_IN_A_FILE):
            yield rows[start : start + ENTRIES_IN_A_FILE]

    def _ordered(self) -> dict[str, _History]:
        """The entries by name, the most shown first."""
        names = sorted(self._histories, key=lambda name: (-self._histories[name].shown, name))
        return {name: self._histories[name] for name in names}
