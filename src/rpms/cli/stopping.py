"""Ctrl-C is answered within a second, whatever the main thread is in the middle of."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

STOPPING = (
    "rpms: stopping; what is finished is kept. It takes longer while a step ends, a model is being loaded or a "
    "cluster shuts down"
)
PATIENCE = 0.5
"""Seconds after which a command that has not ended says that it is stopping."""


@contextmanager
def answering_at_once() -> Iterator[None]:
    """While this lasts, a command that was told to stop and is still there soon after says so on standard error.

    Python's own handlers wait until the main thread is back from whatever library it is in; the number of the signal
    is written to a pipe at once, and another thread reads it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    ended = threading.Event()
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=_answer, args=(reader, ended), name="stopping", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(before)
        os.close(writer)  # and so the thread ends


def _answer(reader: int, ended: threading.Event) -> None:
    told = False
    try:
        while signs := os.read(reader, 64):
            asked = signal.SIGINT in signs or signal.SIGTERM in signs
            if asked and not told and not ended.wait(PATIENCE):
                told = True
                print(STOPPING, file=sys.stderr, flush=True)  # noqa: T201  a live display shows it above itself
    finally:
        os.close(reader)
