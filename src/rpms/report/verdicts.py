"""Fates of memories over whole runs: verdicts by kind and reason; each entry with the steps that showed it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from rpms.core.errors import FileError
from rpms.core.verdict import Fate
from rpms.report.contrasts import omissions
from rpms.report.outcomes import Comparison, Results, condition_label
from rpms.report.table import Table, groups, line
from rpms.store.episodes import CandidateRecord, EpisodeRecord, StepRecord

STEPS_KEPT = 300
"""Steps that an entry's page lists at most; all are counted."""
ENTRIES_IN_A_FILE = 50
_NAME = re.compile(r"\b[a-z]+ \d+\b(?![.%]\d?)|\b(success|failure|schema)_\w+")
_COMMAND = re.compile(r"`[^`]*`")
_NUMBER = re.compile(r"\d+(\.\d+)?%?")
_SHOWN = frozenset(str(fate) for fate in Fate if fate.shown)


def why(candidate: CandidateRecord) -> str:
    """The reason of a verdict without the names and numbers of one case; for a rule, its id and the fact."""
    if not candidate.rule:
        text = _NAME.sub("…", _COMMAND.sub("", candidate.reason))
        return _NUMBER.sub("…", text).strip(" :;")
    fact = _NAME.sub("…", candidate.fact)
    return f"{candidate.rule}: {fact}" if fact else candidate.rule


def verdict_table(comparison: Comparison) -> Table:
    """Fates of all recalled memories, by kind and reason: one count a step, in each condition."""
    counted = {results.name: _counted(results) for results in comparison}
    steps = {name: found.pop(_STEPS, 0) for name, found in counted.items()}
    keys = sorted({key for found in counted.values() for key in found}, key=lambda key: _order(key, counted))
    by_kind: dict[str, list[Any]] = {}
    for kind, fate, reason in keys:
        cells = [_share(found[kind, fate, reason], found, kind) for found in counted.values()]
        by_kind.setdefault(kind, []).append(line(kind.replace("_", " "), fate, reason or "—", *cells))
    return Table(
        "verdicts",
        "What became of memories that came to mind, counted once a step: "
        + "; ".join(f"{condition_label(name)} has {count} steps" for name, count in steps.items())
        + ". Shares are of the same kind.",
        ("Kind", "Verdict", "Why", *(condition_label(name) for name in counted)),
        groups(*by_kind.values()),
        omissions(comparison),
        words=3,
    )


_STEPS = ("", "", "steps")


def _counted(results: Results) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for row in results.played:
        with suppress(FileError):  # its numbers were sound; only the rest of the file is not
            for step in results.run.episode(row.task).steps:
                found[_STEPS] += 1
                found.update((each.kind, each.fate, why(each)) for each in step.candidates)
    return found


def _order(key: tuple[str, str, str], counted: dict[str, Counter[tuple[str, str, str]]]) -> tuple[Any, ...]:
    kind, fate, reason = key
    fates = [str(each) for each in Fate]
    return kind, fates.index(fate) if fate in fates else len(fates), -sum(c[key] for c in counted.values()), reason


def _share(count: int, found: Counter[tuple[str, str, str]], kind: str) -> str:
    of_kind = sum(number for key, number in found.items() if key[0] == kind)
    return f"{count} ({count / of_kind:.1%})" if count else "0"


@dataclass
class _Told:
    """One entry in the steps of a report."""

    kind: str
    wording: str
    fates: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    won: int = 0
    lost: int = 0
    steps: list[list[Any]] = field(default_factory=list)


class EntryBook:
    """Collects, episode by episode, what became of every entry."""

    def __init__(self) -> None:
        self._told: dict[str, _Told] = {}

    def add(self, condition: int, task: int, record: EpisodeRecord) -> None:
        shown: set[str] = set()
        for place, step in enumerate(record.steps):
            for each in step.candidates:
                told = self._told.setdefault(each.entry, _Told(each.kind, each.wording.strip().partition("\n")[0]))
                told.fates[each.fate] += 1
                if each.fate in _SHOWN:
                    shown.add(each.entry)
                    if len(told.steps) < STEPS_KEPT:
                        after = record.steps[place + 1] if place + 1 < len(record.steps) else None
                        told.steps.append(_row(condition, task, step, after, record))
                else:
                    told.reasons[f"{each.fate}: {why(each)}" if each.reason or each.rule else each.fate] += 1
        for entry in shown:
            told = self._told[entry]
            told.won, told.lost = told.won + record.row.won, told.lost + (not record.row.won)

    def overview(self) -> list[list[Any]]:
        """Each entry in a row: id, kind, wording, verdicts, episodes won and lost with it; the most shown first."""
        return [
            [name, told.kind, told.wording, dict(told.fates), told.won, told.lost, _shown(told)]
            for name, told in self._ordered()
        ]

    def chunks(self) -> Iterator[list[list[Any]]]:
        """The entries in the same order, with the steps that showed them and why they were not shown elsewhere."""
        rows = [[told.steps, told.reasons.most_common(12)] for _, told in self._ordered()]
        for start in range(0, len(rows), ENTRIES_IN_A_FILE):
            yield rows[start : start + ENTRIES_IN_A_FILE]

    def _ordered(self) -> list[tuple[str, _Told]]:
        return sorted(self._told.items(), key=lambda item: (-_shown(item[1]), item[0]))


def _shown(told: _Told) -> int:
    return sum(count for fate, count in told.fates.items() if fate in _SHOWN)


def _row(condition: int, task: int, step: StepRecord, after: StepRecord | None, record: EpisodeRecord) -> list[Any]:
    """A step that showed an entry, and what followed: the command, whether it failed, progress, and the ending."""
    done = after.progress.done - step.progress.done if after is not None else int(record.row.won)
    return [condition, task, step.number, step.command, step.infeasible, done, str(record.row.ending)]
