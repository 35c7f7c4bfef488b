"""Many episodes at once on this machine, in threads: a model is waited for, and simulators are their own processes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Sequence

from rpms.core.usage import Price
from rpms.models.base import Model
from rpms.play.limits import Meter
from rpms.play.plan import RunPlan
from rpms.play.seat import Finished, Seat
from rpms.worlds.base import Task

GRACE = 1.5
"""Seconds that running episodes are given to reach the end of their step when a run is stopped."""
_AHEAD = 2
"""Finished episodes, for each worker, that may wait to be written."""


class Threads:
    """Plays tasks with a number of workers and gives back episodes in the order in which they finish."""

    def __init__(
        self,
        plan: RunPlan,
        tasks: Sequence[Task],
        workers: int | None,
        meter: Meter | None = None,
        price: Price | None = None,
    ) -> None:
        """With a meter, LimitReached ends the results where a limit is reached, even while an answer is waited for."""
        workers = workers or 1
        self._plan = plan
        self._stop = threading.Event()
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            self._tasks.put(task)
        self._count = len(tasks)
        self._done: queue.Queue[Finished | BaseException] = queue.Queue(_AHEAD * workers)
        self._knowledge = plan.knowledge()
        self._meter = meter
        self._model: Model = (plan.open_model if meter is None else meter.watching(plan.open_model, price))()
        self._reads = plan.reads(self._model)
        # daemons: one that waits for an answer that never comes must not keep the process alive
        self._threads = [
            threading.Thread(target=self._work, name=f"worker {number}", daemon=True)
            for number in range(1, min(workers, len(tasks)) + 1)
        ]

    def results(self) -> Iterator[Finished]:
        """The episodes as they finish; what a worker raises is raised here."""
        for thread in self._threads:
            thread.start()
        for _ in range(self._count):
            done = self._next()
            if isinstance(done, BaseException):
                raise done
            yield done

    def _next(self) -> Finished | BaseException:
        if self._meter is None:
            return self._done.get()
        try:
            return self._done.get(timeout=self._meter.seconds_left)
        except queue.Empty:
            reached = self._meter.reached()
            assert reached is not None  # no time is left
            return reached

    def stop(self) -> list[Finished]:
        """Stop within moments; the episodes that were finished but not given back yet."""
        self._stop.set()
        late: list[Finished] = []
        deadline = time.monotonic() + GRACE
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < deadline:
            self._drain(late, 0.02)
        self._drain(late, 0.0)
        if not any(thread.is_alive() for thread in self._threads):
            self._model.close()
            if self._reads.model not in (None, self._model):
                self._reads.model.close()
        return late

    def _drain(self, late: list[Finished], patience: float) -> None:
        try:
            while True:
                done = self._done.get(timeout=patience) if patience else self._done.get_nowait()
                if isinstance(done, Finished):
                    late.append(done)
        except queue.Empty:
            return

    def _work(self) -> None:
        try:
            seat = Seat(self._plan, self._model, self._knowledge, self._reads)
            while not self._stop.is_set():
                try:
                    task = self._tasks.get_nowait()
                except queue.Empty:
                    return
                self._play(seat, task)
        except BaseException as error:  # noqa: BLE001  raised again where the results are taken
            self._done.put(error)

    def _play(self, seat: Seat, task: Task) -> None:
        try:
            done = seat.play(task, self._stop.is_set)
        except Exception as error:
            error.add_note(f"in the episode of {task.id!r}")
            raise
        if done is not None:
            self._done.put(done)
