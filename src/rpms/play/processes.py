"""Many episodes at once on all cores: players in forks of this process.

A fork has the plan, memory and manual already; only tasks and finished episodes are sent. Remote and recorded models
are opened in each process; weights in this process are asked over the pipe, in one batch. A dead process is replaced,
and its tasks played again.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from rpms.models.base import Answer, Model, Request, WrappedModel
from rpms.models.catalogue import IN_PROCESS, Backend, backend_of
from rpms.play.plan import RunPlan
from rpms.play.seats import GRACE, LOSSES, Finished, Players, Threads, lost_episode
from rpms.worlds.base import Task

AVAILABLE = sys.platform == "linux"
"""Elsewhere a fork of a process with threads is not safe; episodes are then played in threads."""
_FORKING = threading.Lock()
"""Held over a fork: runs in several threads would otherwise fork at once, which filelock refuses."""
_AHEAD = 1
"""Tasks that wait in a process beside those it plays, so that it need not wait for the next."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class InProcesses:
    """Makes engines that play in processes: `run(plan, out, engine=InProcesses())`."""

    count: int | None = None
    """Processes at most; by default one for each core."""
    shared: bool | None = None
    """True if the model is opened here, once, and asked by all processes; by default for weights in this process."""

    def __call__(self, plan: RunPlan, tasks: Sequence[Task], workers: int | None) -> Processes | Threads:
        backend = backend_of(plan.model_name)
        most = min(self.count or cores(), workers or len(tasks), len(tasks))
        reads_here = backend_of(plan.reader) in IN_PROCESS  # weights are not loaded again in each process
        if not AVAILABLE or backend is Backend.HUMAN or most == 1 or reads_here:
            return Threads(plan, tasks, workers)
        return Processes(
            plan, tasks, most, workers, shared=backend in IN_PROCESS if self.shared is None else self.shared
        )


class _Refused(Exception):
    """Something that was raised in another process, with the traceback of where it happened."""


@dataclass
class _Child:
    process: Any
    pipe: Connection
    tasks: dict[str, Task] = field(default_factory=dict)
    """Handed out and not finished."""

    def send(self, message: object) -> None:
        with suppress(OSError):  # it has died, which is noticed where its messages are taken
            self.pipe.send(message)


class Processes:
    """Plays tasks in several processes and gives back episodes in the order in which they finish."""

    def __init__(
        self, plan: RunPlan, tasks: Sequence[Task], most: int, workers: int | None, *, shared: bool = False
    ) -> None:
        self._plan = plan
        self._todo = deque(tasks)
        self._threads = -(-min(workers or most, len(tasks)) // most)
        """Players in each process."""
        self._knowledge = plan.knowledge()
        self._model: Model | None = plan.open_model() if shared else None
        self._lost: Counter[str] = Counter()
        self._children = [self._start() for _ in range(most)]

    def _start(self) -> _Child:
        here, there = multiprocessing.Pipe()
        asking = [multiprocessing.Pipe() for _ in range(self._threads)] if self._model is not None else []
        model = None if self._model is None else _AskedOverPipes(self._model, [far for _, far in asking])
        context = multiprocessing.get_context("fork")
        process = context.Process(
            target=_live, args=(there, self._plan, self._knowledge, model, self._threads), daemon=True
        )
        with _FORKING, warnings.catch_warnings():  # the fork touches no lock that a thread of this process may hold
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        for near, far in asking:
            far.close()
            threading.Thread(target=_answer, args=(near, self._model), name="asker", daemon=True).start()
        there.close()
        return _Child(process, here)

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish; what a process raises is raised here."""
        self._hand_out()
        while any(child.tasks for child in self._children):
            ended: list[Finished] = []
            for child, message in self._messages(None):
                if isinstance(message, BaseException):
                    yield ended
                    raise message
                child.tasks.pop(message.row.task, None)
                ended.append(message)
            self._hand_out()  # before these are written: no process waits for the disk
            yield ended

    def _hand_out(self) -> None:
        """Give each process as many tasks as it plays at once, the least busy first, and one to wait."""
        for room in range(self._threads + _AHEAD):
            for child in self._children:
                if self._todo and len(child.tasks) == room:
                    task = self._todo.popleft()
                    child.tasks[task.id] = task
                    child.send(task)

    def _messages(self, timeout: float | None) -> Iterator[tuple[_Child, Any]]:
        """Messages of processes: finished episodes and exceptions."""
        by_pipe = {child.pipe: child for child in self._children}
        for pipe in wait(list(by_pipe), timeout):
            child = by_pipe[pipe]  # type: ignore[index]
            try:
                yield child, child.pipe.recv()
            except (EOFError, OSError):
                yield from self._replace(child)

    def _replace(self, dead: _Child) -> Iterator[tuple[_Child, Any]]:
        """Start another process in place of one that died; its tasks are played again, each a few times at most."""
        dead.process.join()
        self._children.remove(dead)
        new = self._start()
        self._children.append(new)
        for task in dead.tasks.values():
            self._lost[task.id] += 1
            if self._lost[task.id] > LOSSES:
                yield new, lost_episode(self._plan, task, f"process ended with {dead.process.exitcode}")
            else:
                self._todo.append(task)

    def stop(self) -> list[Finished]:
        """Stop within moments; the episodes that were finished but not given back yet."""
        late: list[Finished] = []
        self._todo.clear()
        busy = [child for child in self._children if child.tasks]
        for child in self._children:
            child.send(None)
        deadline = time.monotonic() + GRACE
        while busy and time.monotonic() < deadline:
            for child in [each for each in busy if each.pipe.poll(0.01)]:
                try:
                    message = child.pipe.recv()
                    late += [message] if isinstance(message, Finished) else []
                except (EOFError, OSError):
                    busy.remove(child)
        for child in self._children:
            child.process.join(0.0 if child in busy else GRACE)
            child.process.kill()
            child.pipe.close()
        if self._model is not None:
            self._model.close()
        return late


def _live(pipe: Connection, plan: RunPlan, knowledge: Any, model: Model | None, threads: int) -> None:
    """Play what the parent hands over until it says to stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent decides what it means
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a parent that ends while it starts ends its children without a word
    atexit._clear()  # noqa: SLF001  what the parent is to clean up is not ours
    gc.freeze()  # plan, memory and manual stay to the end: nobody need look for garbage in them
    sending = threading.Lock()

    def tell(message: Finished | BaseException) -> None:
        portable = _portable(message) if isinstance(message, BaseException) else message
        with sending:
            pipe.send(portable)

    try:
        players = Players(plan, model or plan.open_model(), threads, tell, knowledge)
    except BaseException as error:  # noqa: BLE001  raised again in the parent
        tell(error)
        return
    try:
        while (task := pipe.recv()) is not None:
            players.todo.put(task)
    except (EOFError, OSError):
        os._exit(1)  # the parent was killed
    players.stop()
    atexit._run_exitfuncs()  # noqa: SLF001  simulators of this process end with it
    os._exit(0)


class _AskedOverPipes(WrappedModel):
    """The parent's model: what it can do is known here, but it answers there, one question over each pipe at a time."""

    def __init__(self, model: Model, pipes: Sequence[Connection]) -> None:
        super().__init__(model)
        self._free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for pipe in pipes:
            self._free.put(pipe)

    def answer(self, request: Request) -> Answer:
        pipe = self._free.get()
        try:
            pipe.send(replace(request, decision=None))
            said = pipe.recv()
        finally:
            self._free.put(pipe)
        if isinstance(said, BaseException):
            raise said
        assert isinstance(said, Answer)
        return said

    def close(self) -> None:
        """The parent closes it."""


def _answer(pipe: Connection, model: Model) -> None:
    """Answer the questions that come over a pipe, until the process at its other end is gone."""
    with suppress(EOFError, OSError):
        while True:
            request = pipe.recv()
            try:
                said: object = model.answer(request)
            except BaseException as error:  # noqa: BLE001  raised again where it was asked
                said = _portable(error)
            pipe.send(said)


def _portable(error: BaseException) -> BaseException:
    """An exception as it can be sent to another process; one that cannot is told in words."""
    with suppress(Exception):  # whatever its class does with its arguments
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301  our own, made here
        if str(copy) == str(error):
            return error
    return _Refused("".join(traceback.format_exception(error)))
