"""Data of the pages: script files that hand over JSON, since a page opened from disk may not fetch.

Each is one call with one ASCII string without `<`, so that no foreign text can end the string, the script or the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from rpms.core.prompt import SHARED, Block
from rpms.report.outcomes import Comparison, condition_label, type_label
from rpms.report.verdicts import ENTRIES_IN_A_FILE
from rpms.store.episodes import CandidateRecord, EpisodeRecord, EpisodeRow

_SHORT = 12
"""Characters of a text that stands where it is, as often as it is said."""
CHUNK = 1_000
"""Tasks in one file of the index."""
BUCKET = 500
"""Episodes in one folder."""


def script(slot: str, value: object) -> str:
    """A script file that hands a value to the page under a name."""
    data = json.dumps(json.dumps(value, separators=(",", ":")))
    return f"RPMS.take({json.dumps(slot)},{data.replace('<', chr(92) + 'u003c')});\n"


def episode_path(condition: int, task: int) -> str:
    """File of an episode; the page knows it by the same two numbers."""
    return f"data/{condition}/{task // BUCKET}/{task}.js"


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
        "conditions": [
            {
                "name": results.name,
                "label": condition_label(results.name),
                "partial": bool(results.missing),
                "memory": bool(results.switches.get("memory", True)),
                "entries": results.memory_entries,
            }
            for results in comparison
        ],
    }


def task_chunks(comparison: Comparison, goals: Mapping[str, str]) -> Iterator[list[list[Any]]]:
    """Tasks by the thousand: id, type, goal where somebody has played it, and an outcome for each condition."""
    tasks = list(comparison.tasks.items())
    for start in range(0, len(tasks), CHUNK):
        yield [
            [task, kind, goals.get(task, ""), *(_outcome(each.rows.get(task)) for each in comparison)]
            for task, kind in tasks[start : start + CHUNK]
        ]


def _outcome(row: EpisodeRow | None) -> list[Any] | None:
    """Ending, won, score, steps, infeasible actions; None if there is no episode."""
    if row is None or row.missing:
        return None
    return [row.ending, int(row.won), row.score, row.steps, row.infeasible]


def episode_data(record: EpisodeRecord) -> dict[str, Any]:
    """An episode as it is recorded: numbers of parts, as `{"at": 3}`, stand for all its objects and long texts."""
    parts: list[Any] = []
    return {"episode": _placed(record, parts, {}), "parts": parts}


_PLAIN = frozenset((int, float, bool, type(None)))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


def _placed(value: Any, parts: list[Any], known: dict[Any, dict[str, int]]) -> Any:
    """A value with numbers of parts. Equal texts, blocks and candidates, which steps repeat, are one part."""
    kind: Any = type(value)
    if kind in _PLAIN or (isinstance(value, str) and len(value) <= _SHORT):
        return value
    if kind is tuple or kind is list:
        return [_placed(each, parts, known) for each in value]
    repeated = isinstance(value, str | Block | CandidateRecord)
    if repeated and value in known:
        return known[value]
    part = value
    if kind is dict:
        part = {name: _placed(each, parts, known) for name, each in value.items()}
    elif names := _field_names(kind):
        part = {name: _placed(getattr(value, name), parts, known) for name in names}
    place = {"at": len(parts)}
    parts.append(part)
    if repeated:
        known[value] = place
    return place
