"""Conditions that played the same tasks, compared: the 2x2 of rules and memory, and the pairs that
are tested against each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product, starmap
from typing import Any, NamedTuple

from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import CONDITIONS, MemoryWords
from rpms.report.outcomes import TYPE_LABELS, Results
from rpms.store.episodes import EpisodeRow

ARBITRATION_LABELS: Mapping[str, str] = {
    "none": "None",
    "soft": "Soft-only",
    "hard": "Hard-only",
    "hard+soft": "Hard+Soft",
}


class ComparedPair(NamedTuple):
    """Two conditions that are compared: the second is held against the first."""

    first: Results
    second: Results


class Cells(NamedTuple):
    """The 2x2: (A), (B), (C) and (D)."""

    baseline: Results
    rules: Results
    memory: Results
    full: Results


@dataclass(frozen=True)
class Comparison:
    """Conditions that played the same tasks under the same protocol, in the order they are to
    be shown.
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
        """True if the world's own score says more than won or lost, as ScienceWorld's 0 to 100
        does.
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
            baseline = _first_cell(alike, "baseline")
            rules = _first_cell(alike, "rules-only")
            pair = _with_one_memory(alike)
            if baseline is not None and rules is not None and pair is not None:
                found.append(Cells(baseline, rules, *pair))
        return tuple(found)

    @property
    def memory_parts(self) -> tuple[Results, ...]:
        """Conditions that part what Memory-only tells: belief without a memory, and a memory
        without the manual's words.
        """
        return tuple(results for results in self if tells_part_of_memory(results))

    @property
    def memory_pairs(self) -> tuple[ComparedPair, ...]:
        """The belief alone against what a memory adds to it, in each form."""
        alone = [results for results in self.memory_parts if not results.memory_entries]
        with_memory = [cells.memory for cells in self.ablations]
        with_memory += [results for results in self.memory_parts if results.memory_entries]
        return tuple(starmap(ComparedPair, product(alone, with_memory)))

    @property
    def soft_pairs(self) -> tuple[ComparedPair, ...]:
        """Appendix G's pairs: Rules-only against Baseline, and soft-only arbitration against
        the other three cells.
        """
        for alike in comparable(self):
            soft = next(filter(_is_soft, alike), None)
            if soft is None:
                continue
            baseline = _first_cell(alike, "baseline")
            rules = _first_cell(alike, "rules-only")
            memory = _first_cell(alike, "memory-only")
            pairs: list[ComparedPair] = []
            for one, two in ((baseline, rules), (baseline, soft), (memory, soft), (rules, soft)):
                if one is not None and two is not None:
                    pairs.append(ComparedPair(one, two))
            return tuple(pairs)
        return ()

    @property
    def filter_pairs(self) -> tuple[ComparedPair, ...]:
        """Conditions that differ in nothing but the state filter: with it, and without."""
        pairs: list[ComparedPair] = []
        for alike in comparable(self):
            for one in alike:
                if one.switches.get("state_filter"):
                    pairs += [
                        ComparedPair(one, two) for two in alike if _is_without_filter(two, one)
                    ]
        return tuple(pairs)

    @property
    def part_pairs(self) -> tuple[ComparedPair, ...]:
        """Conditions that differ in nothing but a part of the user's own: without it, and with."""
        usual = {_without_parts(each): each for each in self if not each.protocol.get("parts")}
        pairs: list[ComparedPair] = []
        for results in self:
            twin = usual.get(_without_parts(results))
            if results.protocol.get("parts") and twin is not None:
                pairs.append(ComparedPair(twin, results))
        return tuple(pairs)

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


_ALIKE = ("manual", "prompts", "decoding", "agent", "parts")
"""Other fields of their protocols that the cells of one 2x2 share."""


def comparable(comparison: Comparison) -> Iterator[list[Results]]:
    """Conditions by what else is switched in them, so that a table varies its own factor and
    nothing more.
    """
    groups: dict[str, list[Results]] = {}
    for results in comparison:
        rest = {name: value for name, value in results.switches.items() if name not in _FACTORS}
        given = [results.protocol.get(name) for name in _ALIKE]
        key = json.dumps([rest, results.model, given], sort_keys=True, default=str)
        groups.setdefault(key, []).append(results)
    return iter(groups.values())


def _without_parts(results: Results) -> str:
    """All that a protocol records of a condition but the parts of the user's own."""
    given = [results.protocol.get(name) for name in (*_ALIKE, "memory") if name != "parts"]
    return json.dumps([results.switches, results.model, given], sort_keys=True, default=str)


def _memory(results: Results) -> object:
    return results.protocol.get("memory")


def _is_cell(results: Results, name: str) -> bool:
    """True for one of the four cells: by its switches if they are known, else by its name."""
    return is_cell(results.switches, name) if results.switches else results.name == name


def _first_cell(alike: Sequence[Results], name: str) -> Results | None:
    return next((results for results in alike if _is_cell(results, name)), None)


def _with_one_memory(alike: Sequence[Results]) -> ComparedPair | None:
    """Memory-only and Full, the first two that were played with the same memory."""
    full = [results for results in alike if _is_cell(results, "full")]
    for memory in alike:
        if _is_cell(memory, "memory-only"):
            for other in full:
                if _memory(memory) == _memory(other):
                    return ComparedPair(memory, other)
    return None


def _is_soft(results: Results) -> bool:
    """True for rules, memory and state filter with arbitration that only warns."""
    if not all(map(results.switches.get, ("rules", "memory", "state_filter"))):
        return False
    return bool(results.switches.get("arbitration") == Arbitration.SOFT)


def _is_without_filter(results: Results, with_it: Results) -> bool:
    """True for the same condition, with the same memory, without the state filter."""
    switches = {**with_it.switches, "state_filter": False}
    return switches == results.switches and _memory(with_it) == _memory(results)


def is_cell(switches: Mapping[str, Any], name: str) -> bool:
    """True for switches of one of the four cells: what has no meaning in it is not looked at."""
    cell = CONDITIONS[name]
    same = switches.get("rules") == cell.rules and switches.get("memory") == cell.memory
    filtered = not cell.memory or switches.get("state_filter", True)
    arbitrated = not (cell.memory and cell.rules) or switches.get("arbitration") == cell.arbitration
    return bool(same and filtered and arbitrated)


def tells_part_of_memory(results: Results) -> bool:
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
    found = []
    for task in conditions[0].rows:
        rows = [each.rows[task] for each in conditions if task in each.rows]
        if len(rows) < len(conditions):
            continue
        if not going or not any(row.missing for row in rows):
            found.append(tuple(rows))
    return found
