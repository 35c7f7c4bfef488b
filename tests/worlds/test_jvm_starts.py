"""Simulators of one JVM load a few at a time."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from rpms.worlds.jvm import bridge


def test_a_crowd_of_games_does_not_load_all_at_once(monkeypatch):
    """Each load waits for nobody but those beside it: a hundred at once took over a minute each
    and were given up.
    """
    lock, met = threading.Lock(), threading.Barrier(2, timeout=60)
    loading: list[int] = [0, 0]

    class Loading:
        """Stands in for a simulator: each waits until another loads beside it, so that the
        limit is reached.
        """

        def __init__(self, _jvm):
            with lock:
                loading[0] += 1
                loading[1] = max(loading)
            met.wait()
            with lock:
                loading[0] -= 1

    jvm = SimpleNamespace(starting=threading.BoundedSemaphore(2), idle=queue.LifoQueue())
    monkeypatch.setattr(bridge, "Simulator", Loading)
    monkeypatch.setattr(bridge, "shared_jvm", lambda _program: jvm)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _n: bridge.borrow(SimpleNamespace()), range(12)))
    assert loading == [0, 2]
