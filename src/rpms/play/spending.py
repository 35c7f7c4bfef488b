"""Tokens and cost of a run so far, from its folder alone, however often it was stopped and resumed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum

from rpms.core.usage import Price, Usage
from rpms.models.accounting import cost
from rpms.store.episodes import EpisodeRow
from rpms.store.runs import RunFolder, Timing


@dataclass(frozen=True, slots=True)
class Spending:
    """The finished episodes of a run, added up."""

    usage: Usage
    """Tokens and seconds of every answer, those from a record included."""
    won: int
    cost: float | None
    """US dollars paid: answers from a record are free. None where something was paid for and no price is known."""

    @property
    def cost_per_win(self) -> float | None:
        return self.cost / self.won if self.cost is not None and self.won else None


def spending(folder: RunFolder) -> Spending:
    """Add up a run, at the price that is kept with it."""
    rows = tuple(folder.rows())
    usages = usages_of(folder, rows)
    return Spending(sum(usages, start=Usage()), sum(row.won for row in rows), total_cost(usages, folder.price()))


def total_cost(usages: Iterable[Usage], price: Price | None) -> float | None:
    """US dollars for answers, each one priced by itself; None where one of them has a cost that is not known."""
    costs = [cost(usage, price) for usage in usages]
    return None if None in costs else fsum(filter(None, costs))


def usages_of(folder: RunFolder, rows: Iterable[EpisodeRow]) -> tuple[Usage, ...]:
    """Usage of finished episodes, in pieces that were either paid for or not; without a timing, paid for."""
    timings = folder.timings()
    return tuple(usage for row in rows for usage in _usages(folder, row, timings.get(row.task)))


def _usages(folder: RunFolder, row: EpisodeRow, timing: Timing | None) -> tuple[Usage, ...]:
    if timing is None:
        return (replace(row.usage, requests=row.steps),)
    if all(timing.requests) or not any(timing.requests):  # one price for all: the numbers of the row are enough
        return (replace(row.usage, requests=sum(timing.requests), seconds=sum(timing.model_seconds)),)
    steps = folder.episode(row.task).steps
    return tuple(
        replace(step.usage, requests=requests, seconds=seconds)
        for step, requests, seconds in zip(steps, timing.requests, timing.model_seconds, strict=False)
    )
