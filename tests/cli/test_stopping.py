"""A command that was told to stop says so, even while its main thread cannot listen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rpms.cli import screen
from rpms.cli.screen import STOPPING, answering_at_once

BUSY = """
import signal
from rpms.cli.screen import answering_at_once
signs = {signal.SIGINT, signal.SIGTERM}
signal.signal(signal.SIGTERM, signal.default_int_handler)
try:
    with answering_at_once():
        signal.pthread_sigmask(signal.SIG_BLOCK, signs)  # as in a library that does not come back
        input("busy\\n")  # one call, amid which Python handles no signal: it tells, and waits
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_is_said_while_the_main_thread_is_held(sign: signal.Signals):
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "busy\n"
    process.send_signal(sign)
    assert process.stderr.readline() == f"{STOPPING}\n"
    assert process.communicate("\n", timeout=60) == ("stopped\n", "")


def test_what_stops_at_once_says_nothing_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(screen, "PATIENCE", 60.0)  # this machine may be busy

    def stop_it() -> None:
        with answering_at_once():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        stop_it()
    assert capsys.readouterr().err == ""


def test_nothing_is_left_behind():
    before, threads = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for _ in range(20):
        with answering_at_once():
            pass
    deadline = time.monotonic() + 20
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    assert signal.set_wakeup_fd(-1) == -1
