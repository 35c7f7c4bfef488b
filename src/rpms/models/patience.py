"""Patience with an endpoint that does not answer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from rpms.core.errors import ModelError, ModelUnavailable
from rpms.foreign.limits import LONGEST_RETRY

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on waiting for one answer. The defaults ride out a restart of a server or a minute's rate limit."""

    tries: int = 8
    """Requests for one answer at most, the first one included."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it, and shortened at random by up to a half."""
    longest_wait: float = 60.0
    """Seconds between two tries at most, unless the server itself asks for more."""
    total: float = 600.0
    """Seconds for one answer at most: no wait is begun that would end later."""
    timeout: float = 120.0
    """Seconds that one request may be silent."""
    whole: float = 300.0
    """Seconds that one response may take in all: a byte now and then would never be silent for long."""

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures: exponential, with jitter so that episodes do not return together."""
        full = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return full * random.uniform(0.5, 1.0)  # noqa: S311  spreading load needs no cryptography

    def left(self, failures: int, seconds: float) -> float:
        """Seconds of waiting until it gives up, at most; what requests take comes on top."""
        waits = (min(self.first_wait * 2.0 ** (n - 1), self.longest_wait) for n in range(failures, self.tries))
        return max(0.0, min(sum(waits), seconds))


class TryAgain(Exception):
    """One try failed in a way that may pass: a rate limit, a time-out, a dropped connection, a server's own error."""

    def __init__(self, what: str, after: float | None = None, lasting: type[ModelError] = ModelUnavailable) -> None:
        super().__init__(what)
        self.what = what
        self.after = after
        """Seconds the server asked to wait."""
        self.lasting = lasting
        """Exception if it does not pass: mostly that no request can succeed."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, as a value, so that a test need not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


def persevere(
    attempt: Callable[[], T],
    patience: Patience,
    where: str,
    clock: Clock | None = None,
    before_wait: Callable[[str, float, float], None] | None = None,
) -> T:
    """Call until it does not raise TryAgain, within limits. `before_wait` is told the trouble, the wait, the rest."""
    clock = clock or Clock()
    deadline = clock.now() + patience.total
    failures = 0
    while True:
        try:
            return attempt()
        except TryAgain as trouble:
            failures += 1
            what, after, lasting = trouble.what, trouble.after, trouble.lasting
        wait = max(patience.wait(failures), after or 0.0)
        if failures >= patience.tries:
            ending = f"gave up after {failures} {'try' if failures == 1 else 'tries'}"
        elif clock.now() + wait > deadline:
            asked = f"the server asks to wait {after:.0f} s, and " if after and after >= wait else ""
            ending = f"{asked}{patience.total:.0f} s is the limit for one answer"
        else:
            if before_wait is not None:
                before_wait(what, wait, max(wait, patience.left(failures, deadline - clock.now())))
            clock.sleep(wait)
            continue
        raise lasting(f"{where}: {what} ({ending})")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds named by a Retry-After header, a number or an HTTP date; None where it is neither or means nothing."""
    if not value:
        return None
    text = value.strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (TypeError, ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            seconds = (moment - (now or datetime.now(UTC))).total_seconds()
        except OverflowError:  # a time zone that leads out of the calendar
            return None
    return max(seconds, 0.0) if seconds <= LONGEST_RETRY else None  # not a number is no smaller than anything
