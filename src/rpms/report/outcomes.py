"""Episodes of a run, of several runs or of a study in numbers: what tables, figures and tests
are made from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.models.accounting import list_cost
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import CONDITIONS, MemoryWords
from rpms.paper.usage import Price, Usage
from rpms.play.run import Agreement
from rpms.store.episodes import EpisodeRow
from rpms.store.runs import RunFolder

TYPE_LABELS: Mapping[str, str] = {
    "look_at_obj_in_light": "Look",
    "pick_and_place_simple": "Place",
    "pick_clean_then_place_in_recep": "Clean",
    "pick_cool_then_place_in_recep": "Cool",
    "pick_heat_then_place_in_recep": "Heat",
    "pick_two_obj_and_place": "Two",
}
"""ALFWorld's task types in the order and with the names of the paper's table."""

CONDITION_LABELS: Mapping[str, str] = {
    "baseline": "Baseline",
    "rules-only": "Rules-only",
    "memory-only": "Memory-only",
    "full": "Full RPMS",
}
ARBITRATION_LABELS: Mapping[str, str] = {
    "none": "None",
    "soft": "Soft-only",
    "hard": "Hard-only",
    "hard+soft": "Hard+Soft",
}

ENFORCED = " + "
"""Stands between a condition of the paper and what is enforced beyond it."""


def type_label(kind: str) -> str:
    """A task type as tables name it."""
    return TYPE_LABELS.get(kind, kind)


def condition_label(name: str) -> str:
    """A condition as tables name it."""
    base, plus, rest = name.partition(ENFORCED)
    return CONDITION_LABELS.get(base, base) + plus + rest


@dataclass(frozen=True)
class Results:
    """Results of one condition on its tasks."""

    name: str
    rows: Mapping[str, EpisodeRow]
    """By task, in the order of the task list; a task that was not played, or whose file is
    damaged, included."""
    protocol: Mapping[str, Any] = field(default_factory=dict)
    damaged: Mapping[str, str] = field(default_factory=dict)
    """Episode files that could not be read, each with what is wrong with it."""
    stray: tuple[str, ...] = ()
    """Episodes of tasks that are not on the list: counted nowhere."""
    going: bool = False
    """Still being played: what is missing may yet come."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    """The condition as its protocol records it: `rules`, `memory`, `arbitration`,
    `state_filter`."""
    memory_entries: int | None = None
    model: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each episode, by task, as far as the run kept them: from opening the game to
    closing it."""
    price: Price | None = None
    folder: str = ""
    """Folder it was read from, for messages: a label does not always tell."""
    controls: Mapping[str, Results] = field(default_factory=dict)
    """The same menus chosen from at random, and by their best entry; none where there is no
    menu."""
    agreement: Agreement | None = None
    """With later epochs of the same run, where there are any."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[EpisodeRow]:
        return iter(self.rows.values())

    @cached_property
    def won(self) -> int:
        return sum(row.won for row in self)

    def total(self, name: str) -> int:
        return sum(getattr(row.usage if name.endswith("_tokens") else row, name) for row in self)

    @cached_property
    def played(self) -> tuple[EpisodeRow, ...]:
        return tuple(row for row in self if not row.missing)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        return tuple(row.task for row in self if row.missing)

    @cached_property
    def crashed(self) -> tuple[EpisodeRow, ...]:
        return tuple(row for row in self if row.failed)

    @property
    def rate(self) -> float:
        """Of all tasks, the missing ones included."""
        return self.won / len(self) if self.rows else 0.0

    @property
    def score(self) -> float:
        """The mean over all tasks as the world gives it, -100 included; a missing episode
        scores 0.
        """
        return sum(row.score for row in self) / len(self) if self.rows else 0.0

    @property
    def floored(self) -> float:
        """The mean with negative scores counted as 0."""
        return sum(row.floored for row in self) / len(self) if self.rows else 0.0

    def of_type(self, kind: str) -> tuple[EpisodeRow, ...]:
        return tuple(row for row in self if row.type == kind)

    @property
    def seconds_a_step(self) -> float | None:
        """Over the episodes whose time is known; with several workers each step waits for the
        others' as well.
        """
        timed = [row for row in self.played if row.task in self.seconds and row.steps]
        steps = sum(row.steps for row in timed)
        return sum(self.seconds[row.task] for row in timed) / steps if steps else None

    @cached_property
    def cost(self) -> float | None:
        """US dollars for all its episodes at the price kept with the run; None if it keeps none."""
        return list_cost(sum((row.usage for row in self), Usage()), self.price)

    @property
    def best_of(self) -> int:
        """Of how many attempts at a task it counts the best; 0 where it counts the only one."""
        agent = self.protocol.get("agent")
        found = agent.get("best_of") if isinstance(agent, Mapping) else 0
        return found if isinstance(found, int) else 0

    @cached_property
    def run(self) -> RunFolder:
        return RunFolder(Path(self.folder))

    @property
    def label(self) -> str:
        """Its name as messages have it."""
        return called(self.name, self.folder)


def part_name(identity: object) -> str:
    """A part of the user's own as a run's protocol names it."""
    return excerpt(identity.get("name", "") if isinstance(identity, Mapping) else identity)


def called(name: str, folder: str) -> str:
    """A run as messages name it: with its folder where that is called otherwise."""
    return name if not folder or Path(folder).name == name else f"{name} ({folder})"


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
    def memory_pairs(self) -> tuple[tuple[Results, Results], ...]:
        """The belief alone against what a memory adds to it, in each form."""
        alone = [results for results in self.memory_parts if not results.memory_entries]
        others = [results for results in self.memory_parts if results.memory_entries]
        told = [cells.memory for cells in self.ablations]
        pairs = []
        for first in alone:
            pairs += [(first, second) for second in (*told, *others)]
        return tuple(pairs)

    @property
    def soft_pairs(self) -> tuple[tuple[Results, Results], ...]:
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
            pairs = ((baseline, rules), (baseline, soft), (memory, soft), (rules, soft))
            return tuple((one, two) for one, two in pairs if one is not None and two is not None)
        return ()

    @property
    def filter_pairs(self) -> tuple[tuple[Results, Results], ...]:
        """Conditions that differ in nothing but the state filter: with it, and without."""
        pairs: list[tuple[Results, Results]] = []
        for alike in comparable(self):
            for one in alike:
                if one.switches.get("state_filter"):
                    pairs += [(one, two) for two in alike if _is_without_filter(two, one)]
        return tuple(pairs)

    @property
    def part_pairs(self) -> tuple[tuple[Results, Results], ...]:
        """Conditions that differ in nothing but a part of the user's own: without it, and with."""
        usual = {_without_parts(each): each for each in self if not each.protocol.get("parts")}
        pairs = []
        for results in self:
            twin = usual.get(_without_parts(results))
            if results.protocol.get("parts") and twin is not None:
                pairs.append((twin, results))
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


def _with_one_memory(alike: Sequence[Results]) -> tuple[Results, Results] | None:
    """Memory-only and Full, the first two that were played with the same memory."""
    full = [results for results in alike if _is_cell(results, "full")]
    for memory in alike:
        if _is_cell(memory, "memory-only"):
            for other in full:
                if _memory(memory) == _memory(other):
                    return memory, other
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


@dataclass(frozen=True, slots=True)
class LearningRound:
    """A point of the learning curve."""

    name: str
    entries: int
    results: Mapping[str, Results]
    """By series, such as Mem-only and Rules+Mem."""


MEMORY_SERIES = "Mem-only"
RULES_SERIES = "Rules+Mem"


def rounds(comparison: Comparison) -> tuple[LearningRound, ...]:
    """The learning curve: plain conditions by size of memory; empty unless one was run with two
    sizes.
    """
    for group in comparable(comparison):
        points = _by_size_of_memory(group)
        if len(points.keys() - {0}) < 2:
            continue
        curve: list[LearningRound] = []
        for number, entries in enumerate(sorted(points), start=0 if 0 in points else 1):
            name = f"R{number}" if entries else "R0 (no mem)"
            curve.append(LearningRound(name, entries, points[entries]))
        return tuple(curve)
    return ()


def _by_size_of_memory(group: Iterable[Results]) -> dict[int, dict[str, Results]]:
    """Plain conditions by the entries of their memory, then by series."""
    points: dict[int, dict[str, Results]] = {}
    for results in group:
        switches = results.switches
        if results.memory_entries is None or not switches.get("state_filter", True):
            continue
        series = RULES_SERIES if switches.get("rules") else MEMORY_SERIES
        entries = results.memory_entries if switches.get("memory") else 0
        points.setdefault(entries, {}).setdefault(series, results)
    return points
