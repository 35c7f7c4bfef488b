"""Conditions that played the same tasks: the 2x2 of rules and memory, and modes of arbitration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from rpms.paper.condition import ABLATION, CONDITIONS, MemoryWords
from rpms.report.outcomes import TYPE_LABELS, Results
from rpms.store.episodes import EpisodeRow

ARBITRATION_LABELS: Mapping[str, str] = {
    "none": "None",
    "soft": "Soft-only",
    "hard": "Hard-only",
    "hard+soft": "Hard+Soft",
}


class Cells(NamedTuple):
    """The 2x2: (A), (B), (C) and (D)."""

    baseline: Results
    rules: Results
    memory: Results
    full: Results

    def named(self, condition: str) -> Results:
        """The cell of a condition of the paper."""
        places = list(ABLATION.values())
        return self[places.index(condition)]


MEMORY_FIRST = ("baseline", "memory-only", "rules-only", "full")
"""The four conditions in the order in which tables over several models show them."""


@dataclass(frozen=True)
class Comparison:
    """Conditions that played the same tasks under one protocol, in the order in which they are
    shown.
    """

    conditions: Mapping[str, Results]
    title: str = ""
    about: str = ""
    """Remarks on the numbers by the study's author."""
    tables: tuple[str, ...] = ()
    """The tables that the study is about: a report shows them first."""
    model: str = ""
    """The model, where the study has several: its tables name it."""
    study: str = ""
    """The title of the study that it is a part of."""

    def __iter__(self) -> Iterator[Results]:
        return iter(self.conditions.values())

    def __len__(self) -> int:
        return len(self.conditions)

    @cached_property
    def tasks(self) -> Mapping[str, str]:
        """Every task with its type, in the order of the first condition that has it."""
        return {row.task: row.type for row in chain.from_iterable(self)}

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Task types: the paper's in the paper's order, then others by name."""
        found = set(self.tasks.values())
        known = [kind for kind in TYPE_LABELS if kind in found]
        return (*known, *sorted(found - set(known)))

    @cached_property
    def scored(self) -> bool:
        """True if the world's own score tells more than won or lost, as ScienceWorld's, from 0 to
        100, does.
        """
        rows = chain.from_iterable(self)
        return any(row.score not in (0, 1) for row in rows)

    @property
    def once(self) -> bool:
        """True if each task was attempted once in each condition."""
        return not any(results.best_of for results in self)

    @property
    def ablations(self) -> tuple[Cells, ...]:
        """Every 2x2 whose four cells are here, told and enforced, the paper's first; (C) and
        (D) with one memory.
        """
        found: list[Cells] = []
        for alike in comparable(self):
            baseline = first_cell(alike, "baseline")
            rules = first_cell(alike, "rules-only")
            with_memory = next(_with_one_memory(alike), None)
            if baseline is not None and rules is not None and with_memory is not None:
                found.append(Cells(baseline, rules, *with_memory))
        return tuple(found)

    @property
    def memory_parts(self) -> tuple[Results, ...]:
        """Conditions that part what Memory-only tells: belief without a memory, and a memory
        without the manual's words.
        """
        return tuple(filter(_tells_part_of_memory, self))

    @property
    def arbitrations(self) -> Mapping[str, Results]:
        """Conditions with rules and memory that differ in arbitration alone, by mode, the
        paper's order.
        """
        for alike in comparable(self):
            modes: dict[str, Results] = {}
            for results in alike:
                if _has_rules_and_memory(results.switches):
                    modes[str(results.switches.get("arbitration", ""))] = results
            ordered = [mode for mode in ARBITRATION_LABELS if mode in modes]
            if len(ordered) > 1:
                return {mode: modes[mode] for mode in ordered}
        return {}


def _has_rules_and_memory(switches: Mapping[str, Any]) -> bool:
    """True for a condition with rules and memory, the latter filtered by state."""
    if not switches.get("state_filter", True):
        return False
    return bool(switches.get("rules") and switches.get("memory"))


_FACTORS = ("rules", "memory", "arbitration", "state_filter")
"""The switches that the paper's tables vary."""
SHARED = ("manual", "prompts", "decoding", "agent")
"""Other fields of their protocols that compared conditions share."""


def comparable(comparison: Comparison) -> Iterable[Sequence[Results]]:
    """Groups of conditions that agree in all that the paper's tables do not vary, so that a table
    varies its own factor and nothing more.
    """
    groups: dict[str, list[Results]] = {}
    for results in comparison:
        switches = dict(results.switches)
        for factor in _FACTORS:
            switches.pop(factor, None)
        terms = terms_of(results, switches, *SHARED, "parts")
        groups.setdefault(terms, []).append(results)
    return groups.values()


def terms_of(results: Results, switches: Mapping[str, Any], *fields: str) -> str:
    """The terms on which conditions were played, as a text that is the same for equal ones."""
    terms = [switches, results.model, *map(results.protocol.get, fields)]
    return json.dumps(terms, sort_keys=True, default=str)


def first_cell(alike: Iterable[Results], name: str) -> Results | None:
    """The first condition that is one of the four cells."""
    for results in alike:
        if _is_cell(results, name):
            return results
    return None


def _is_cell(results: Results, name: str) -> bool:
    """True for one of the four cells: by its switches if they are known, else by its name."""
    return is_cell(results.switches, name) if results.switches else results.name == name


def _with_one_memory(alike: Sequence[Results]) -> Iterator[tuple[Results, Results]]:
    """Memory-only and Full that were played with the same memory."""
    for memory in alike:
        if _is_cell(memory, "memory-only"):
            for full in alike:
                if _is_cell(full, "full") and same_memory(memory, full):
                    yield memory, full


def same_memory(one: Results, other: Results) -> bool:
    """True for conditions that were played with the same memory, or both with none."""
    return bool(one.protocol.get("memory") == other.protocol.get("memory"))


def is_cell(switches: Mapping[str, Any], name: str) -> bool:
    """True for switches of one of the four cells: what has no meaning in it is not looked at."""
    cell = CONDITIONS[name]
    if switches.get("rules") != cell.rules or switches.get("memory") != cell.memory:
        return False
    if cell.memory and not switches.get("state_filter", True):
        return False
    is_arbitrated = cell.memory and cell.rules
    return not is_arbitrated or switches.get("arbitration") == cell.arbitration


def _tells_part_of_memory(results: Results) -> bool:
    """True for a condition without rules that has an empty memory, or tells it as observed."""
    switches = results.switches
    if switches.get("rules") or not switches.get("memory"):
        return False
    observed = switches.get("memory_words") == MemoryWords.OBSERVED
    return observed or results.memory_entries == 0


def paired(*conditions: Results) -> list[tuple[EpisodeRow, ...]]:
    """The rows of every task that all were to play; while one is being played, that all have
    played.
    """
    going = any(each.going for each in conditions)
    found: list[tuple[EpisodeRow, ...]] = []
    for task in conditions[0].rows:
        rows = tuple(each.rows[task] for each in conditions if task in each.rows)
        incomplete = len(rows) < len(conditions)
        unfinished = going and any(row.missing for row in rows)
        if not incomplete and not unfinished:
            found.append(rows)
    return found
