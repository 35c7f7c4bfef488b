"""Money, requests and time: limits on one start of a command, and what a run has taken so far."""

import math
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from rpms.logic.errors import InputError, RPMSError
from rpms.models.accounting import cost
from rpms.models.base import Answer, Model, Request, WrappedModel
from rpms.paper.episode import Usage
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price
from rpms.store.runs import RunFolder

_UNITS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


class LimitReached(RPMSError):
    """A limit that the user set; nothing is wrong, and the same command goes on."""

    exit_code = 3


def parse_duration(text: str) -> float:
    """Seconds of `90`, `90s`, `30m` or `1h30m`.

    >>> parse_duration("1h30m"), parse_duration("0.5h"), parse_duration("90")
    (5400.0, 1800.0, 90.0)
    """
    found = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    seconds = 0.0
    if found:
        for number, unit in zip(found.groups(), "hms", strict=True):
            seconds += float(number or 0) * _UNITS[unit]
    if not 0 < seconds <= 366 * 86_400:  # a wait of this length works on every platform
        raise InputError(f"--max-time {text[:40]!r}: give a time such as 90s, 30m or 1h30m")
    return seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """US dollars, requests, seconds; None is no limit.

    They hold for one start: the next may take as much again.
    """

    cost: float | None = None
    requests: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.cost is not None and not 0 < self.cost < float("inf"):
            raise InputError(f"--max-cost {self.cost:g}: give US dollars, more than 0")
        if self.requests is not None and self.requests < 1:
            raise InputError(f"--max-requests {self.requests}: give 1 or more")


class Meter:
    """Counts what answers take against limits, from any number of threads. Time begins with it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._start = time.monotonic()
        self._changed = threading.Condition()
        self._requests = self._asking = 0
        self._cost = 0.0

    @property
    def seconds_left(self) -> float | None:
        """None where time has no limit."""
        seconds = self.limits.seconds
        return None if seconds is None else max(0.0, seconds - (time.monotonic() - self._start))

    def begin(self) -> None:
        """Before an answer: wait for those under way that may be the last; LimitReached if this
        one is too many.
        """
        with self._changed:
            while self._may_be_the_last() and not self.reached():
                self._changed.wait(self.seconds_left)
            reached = self.reached()
            if reached:
                raise reached
            self._asking += 1

    def _may_be_the_last(self) -> bool:
        """True if answers under way may take all requests that are left."""
        most = self.limits.requests
        if most is None or not self._asking:
            return False
        return self._requests + self._asking >= most

    def end(self, usage: Usage, price: Price | None) -> None:
        """After it. An answer from a record took no request and costs nothing."""
        with self._changed:
            self._asking -= 1
            self._requests += usage.requests
            self._cost += cost(usage, price) or 0.0
            self._changed.notify_all()

    def reached(self) -> LimitReached | None:
        limits = self.limits
        with self._changed:
            if limits.cost is not None and self._cost >= limits.cost:
                which = f"--max-cost {limits.cost:g}"
            elif limits.seconds is not None and self.seconds_left == 0.0:
                which = f"--max-time {limits.seconds:g}s"
            elif self._requests >= (limits.requests or math.inf):
                which = f"--max-requests {limits.requests}"
            else:
                return None
            taken = f"{self._requests:,} requests"
            if self._cost:
                taken += f", ${self._cost:,.4f}"
            seconds = time.monotonic() - self._start
            return LimitReached(f"{which} is reached, after {taken} and {seconds:,.0f} s")

    def watching(self, open_model: Callable[[], Model], price: Price | None) -> Callable[[], Model]:
        """Opens the same model, whose answers count."""
        return lambda: MeteredModel(open_model(), self, price)


class MeteredModel(WrappedModel):
    """A model whose answers count against limits."""

    def __init__(self, model: Model, meter: Meter, price: Price | None) -> None:
        super().__init__(model)
        self._meter = meter
        self._price = price

    def answer(self, request: Request) -> Answer:
        self._meter.begin()
        usage = Usage()
        try:
            answer = self._model.answer(request)
            usage = answer.usage
        finally:
            self._meter.end(usage, self._price)
        return answer


class Spending(NamedTuple):
    """The cost of a run's answers."""

    usage: Usage
    cost: float | None
    """US dollars at the price that is kept with the run; None if that is unknown."""


def spending(folder: RunFolder, rows: Iterable[EpisodeRow]) -> Spending:
    """The cost of the answers in some episodes of a run."""
    usages = usages_of(folder, rows)
    return Spending(sum(usages, start=Usage()), total_cost(usages, folder.price()))


def total_cost(usages: Iterable[Usage], price: Price | None) -> float | None:
    """US dollars for answers, each priced by itself; None if the cost of one is not known."""
    costs = [cost(usage, price) for usage in usages]
    return None if None in costs else math.fsum(filter(None, costs))


def usages_of(folder: RunFolder, rows: Iterable[EpisodeRow]) -> tuple[Usage, ...]:
    """Usage of finished episodes, in pieces that were either paid for or not; without a timing,
    paid for.
    """
    timings = folder.timings()
    found: list[Usage] = []
    for row in rows:
        timing = timings.get(row.task)
        if timing is None:
            found.append(replace(row.usage, requests=row.steps))
        # one price for all: the numbers of the row are enough
        elif all(timing.requests) or not any(timing.requests):
            seconds = sum(timing.model_seconds)
            found.append(replace(row.usage, requests=sum(timing.requests), seconds=seconds))
        else:
            for place, step in enumerate(folder.episode(row.task).steps):
                measured = timing.usage_of(place, step.usage)
                if measured is not None:
                    found.append(measured)
    return tuple(found)
