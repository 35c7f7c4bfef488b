"""Results of one condition in numbers, and what tables call conditions and types of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.models.accounting import list_cost
from rpms.paper.episode import Usage
from rpms.play.epochs import Agreement
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price
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
ENFORCED = " + "
"""Stands between the name of a condition and the parts that are enforced beyond the paper."""


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
    """Rows by task, in the order of the task list; tasks that were not played, or whose file is
    damaged, are included."""
    protocol: Mapping[str, Any] = field(default_factory=dict)
    damaged: Mapping[str, str] = field(default_factory=dict)
    """Episode files that could not be read, each with what is wrong with it."""
    going: bool = False
    """True if the run is still being played, so that missing episodes may yet come."""
    switches: Mapping[str, Any] = field(default_factory=dict)
    """The condition as its protocol records it: `rules`, `memory`, `arbitration`,
    `state_filter`."""
    memory_entries: int | None = None
    model: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each episode by task, from opening the game to closing it, if the run kept
    them."""
    price: Price | None = None
    folder: str = ""
    """Folder it was read from, for messages: a label does not always tell."""
    controls: Mapping[str, Results] = field(default_factory=dict)
    """Runs that choose from the same menus at random, and by their best entry; none without a
    menu."""
    agreement: Agreement | None = None
    """The agreement of the run's epochs, if there are several."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[EpisodeRow]:
        return iter(self.rows.values())

    @cached_property
    def won(self) -> int:
        return sum(row.won for row in self)

    def total(self, name: str) -> int:
        """The sum of one of the numbers, or kinds of tokens, that episodes count."""
        total = 0
        for row in self:
            total += getattr(row.usage if name.endswith("_tokens") else row, name)
        return total

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
        """Success rate over all tasks, the missing ones included."""
        return self.won / len(self) if self.rows else 0.0

    @property
    def score(self) -> float:
        """The mean over all tasks as the world gives it, -100 included; a missing episode
        scores 0.
        """
        return self._mean(row.score for row in self)

    @property
    def floored(self) -> float:
        """The mean with negative scores counted as 0."""
        return self._mean(row.floored for row in self)

    def _mean(self, scores: Iterable[float]) -> float:
        """The mean over all tasks; 0 if there are none."""
        return sum(scores) / len(self) if self.rows else 0.0

    def of_type(self, kind: str) -> Results:
        """The results of the tasks of one type."""
        rows = {task: row for task, row in self.rows.items() if row.type == kind}
        return replace(self, rows=rows)

    @property
    def seconds_a_step(self) -> float | None:
        """Seconds a step, over the episodes whose time is known. With several workers, each step
        also waits for the others' steps.
        """
        seconds = 0.0
        steps = 0
        for row in self.played:
            if row.steps and row.task in self.seconds:
                seconds += self.seconds[row.task]
                steps += row.steps
        return seconds / steps if steps else None

    @cached_property
    def cost(self) -> float | None:
        """US dollars for all its episodes at the price kept with the run; None if it keeps none."""
        return list_cost(sum((row.usage for row in self), Usage()), self.price)

    @property
    def best_of(self) -> int:
        """The number of attempts at a task, if the best of several counts; else 0."""
        agent = self.protocol.get("agent")
        found = agent.get("best_of") if isinstance(agent, Mapping) else 0
        return found if isinstance(found, int) else 0

    @cached_property
    def run(self) -> RunFolder:
        return RunFolder(Path(self.folder))

    @property
    def title(self) -> str:
        """The condition's name in tables."""
        return condition_label(self.name)

    @property
    def label(self) -> str:
        """The condition's name in messages."""
        return called(self.name, self.folder)


def part_name(identity: object) -> str:
    """A part of the user's own as a run's protocol names it."""
    return excerpt(identity.get("name", "") if isinstance(identity, Mapping) else identity)


def called(name: str, folder: str) -> str:
    """A run as messages name it: with its folder, if that has another name."""
    return name if not folder or Path(folder).name == name else f"{name} ({folder})"
