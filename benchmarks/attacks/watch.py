"""One try, watched: what it came to, how long it took, how much memory it grew by."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rpms.logic.errors import RPMSError

LONGEST = 10.0
"""Seconds of the processor that one input may take: how busy the machine is says nothing about
the product."""
HANGING = 150.0
"""Seconds by the clock after which one hangs."""
TIMERS = (
    (signal.ITIMER_PROF, signal.SIGPROF, LONGEST),
    (signal.ITIMER_REAL, signal.SIGALRM, HANGING),
)
LARGEST = 1_000_000_000
"""Bytes that one input may make a process grow by."""
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class TooLong(BaseException):
    """An input took longer than any may."""


@dataclass
class Tally:
    """Results of the tries of one kind."""

    tries: int = 0
    refused: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    largest: int = 0

    def add(self, other: Tally) -> None:
        self.tries += other.tries
        self.refused += other.refused
        self.failures += other.failures
        self.examples |= other.examples
        self.slowest = max(self.slowest, other.slowest)
        self.largest = max(self.largest, other.largest)

    def row(self, name: str) -> str:
        wrong = (
            ", ".join(f"{what} ×{count}" for what, count in self.failures.most_common(4)) or "none"
        )
        grown = f"{self.largest / 1e6:.0f} MB" if self.largest else "under 1 MB"
        return f"| {name} | {self.tries:,} | {self.refused:,} | {wrong} | {self.slowest:.2f} s | {grown} |"


def grown() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rpms-attack-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def watched(attempt: Callable[[], object], tally: Tally, name: str) -> None:
    """Make one try and count what it came to. `name` says how to make it again."""

    def alarm(*_: object) -> None:
        raise TooLong

    before, start = grown(), time.process_time()
    for timer, told, seconds in TIMERS:
        signal.signal(told, alarm)
        signal.setitimer(timer, seconds)
    what = ""
    try:
        attempt()
    except RPMSError as error:
        tally.refused += 1
        if UNSAFE.search(str(error)) and not _shown_safely(error):
            what = "unsafe message"
    except TooLong:
        what = f"over {LONGEST:.0f} s"
    except MemoryError:
        what = f"over {LARGEST // 10**9} GB"
    except BaseException as error:  # noqa: BLE001  that is what is looked for
        what = f"{type(error).__name__} in {_where(error)}"
        tally.examples.setdefault(what, f"{name}: {error!r}"[:300])
    finally:
        for timer, _, _ in TIMERS:
            signal.setitimer(timer, 0)
    tally.tries += 1
    tally.slowest = max(tally.slowest, time.process_time() - start)
    tally.largest = max(tally.largest, grown() - before)
    if what:
        tally.failures[what] += 1
        tally.examples.setdefault(what, name)


def _shown_safely(error: RPMSError) -> bool:
    """True if the printing code makes one safe line of a message."""
    from rpms.foreign.shown import one_line  # noqa: PLC0415

    return not UNSAFE.search(one_line(f"rpms: {error}"))


def _where(error: BaseException) -> str:
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "rpms" in frame.filename
    ]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "the campaign"


def in_child(work: Callable[[], Tally]) -> Tally:
    """Do something in a process of its own with bounded memory, so that what it leaves behind
    ends with it.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reader)
            limit = _address_space() + LARGEST
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            with os.fdopen(writer, "w") as pipe:
                json.dump(vars(work()), pipe)
            code = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if not told:
        return Tally(
            tries=1,
            failures=Counter({f"the process died ({os.waitstatus_to_exitcode(status)})": 1}),
        )
    value = json.loads(told)
    return Tally(**{**value, "failures": Counter(value["failures"])})


def _address_space() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 8_000_000_000
    return pages * resource.getpagesize()
