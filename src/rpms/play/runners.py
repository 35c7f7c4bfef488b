"""Many episodes at once on all cores, by players in forks of this process.

A fork has the design, memory and manual already: only tasks and finished episodes are sent, and
these are written by the process that started the run. Remote and recorded models are opened in each
process; weights in this process are asked over the pipe, in one batch.
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
from rpms.paper.compose import compose, extended
from rpms.paper.decide import Mind
from rpms.paper.episode import Ending, Episode
from rpms.paper.prompt import Block, Message
from rpms.play.design import RunDesign
from rpms.play.seats import GRACE, Finished, Players, Threads, finish
from rpms.worlds.base import Task

AVAILABLE = sys.platform == "linux"
"""True where a process with threads can be forked safely; elsewhere episodes are played in
threads."""
LOSSES = 4
"""Losses of an episode with its node or process after which it counts as a world error."""
_FORKING = threading.Lock()
"""Held over a fork: runs in several threads would otherwise fork at once, which filelock
refuses."""
_AHEAD = 1
"""Tasks that wait in a process beside those it plays, so that it need not wait for the next."""


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class InProcesses:
    """Makes runners that play in processes: `run(design, out, runner=InProcesses())`."""

    count: int | None = None
    """Processes at most; by default one for each core."""
    shared: bool | None = None
    """True if the model is opened here, once, and asked by all processes; by default for
    weights in this process."""

    def __call__(
        self, design: RunDesign, tasks: Sequence[Task], workers: int | None
    ) -> Processes | Threads:
        backend = backend_of(design.model_name)
        most = min(self.count or cores(), workers or len(tasks), len(tasks))
        # weights are not loaded again in each process
        reads_here = backend_of(design.reader) in IN_PROCESS
        if not AVAILABLE or backend is Backend.HUMAN or most == 1 or reads_here:
            return Threads(design, tasks, workers)
        shared = backend in IN_PROCESS if self.shared is None else self.shared
        return Processes(design, tasks, most, workers, shared=shared)


@dataclass
class _Child:
    process: Any
    pipe: Connection
    tasks: dict[str, Task] = field(default_factory=dict)
    """Handed out and not finished."""

    def send(self, message: object) -> None:
        with suppress(OSError):  # it has died, which is noticed where its messages are taken
            self.pipe.send(message)


class HandsOut:
    """Tasks to hand out.

    One that is lost with its process or node is played again, a few times at most.
    """

    def __init__(self, design: RunDesign, tasks: Sequence[Task]) -> None:
        self._design = design
        self._todo = deque(tasks)
        self._lost: Counter[str] = Counter()

    def _lose(self, task: Task, why: str) -> Iterator[Finished]:
        """Put a lost task back. If it was lost too often, it ends as a failure of the world."""
        self._lost[task.id] += 1
        if self._lost[task.id] <= LOSSES:
            self._todo.append(task)
            return
        text = f"lost {LOSSES + 1} times with the process that played it ({why})"
        yield finish(
            self._design, Episode(task.id, task.type, "", Ending.WORLD_ERROR, 0.0, (), text), 0.0
        )


class Processes(HandsOut):
    """Plays tasks in several processes and gives back episodes in the order in which they
    finish.
    """

    def __init__(
        self,
        design: RunDesign,
        tasks: Sequence[Task],
        most: int,
        workers: int | None,
        *,
        shared: bool = False,
    ) -> None:
        super().__init__(design, tasks)
        self._threads = -(-min(workers or most, len(tasks)) // most)
        """Players in each process."""
        self._knowledge = design.knowledge()
        _load_for_all(design, self._knowledge)
        self._model: Model | None = design.open_model() if shared else None
        self._children = [self._start() for _ in range(most)]

    def _start(self) -> _Child:
        """Start a process that plays. Where it asks the model of this process, a thread here
        answers each of its threads.
        """
        here, there = multiprocessing.Pipe()
        asking: list[tuple[Connection, Connection]] = []
        model: Model | None = None
        if self._model is not None:
            asking = [multiprocessing.Pipe() for _ in range(self._threads)]
            model = _AskedOverPipes(self._model, [far for _, far in asking])
        given = (there, here, self._design, self._knowledge, model, self._threads)
        process = multiprocessing.get_context("fork").Process(target=_live, args=given, daemon=True)
        # the fork touches no lock that a thread of this process may hold
        with _FORKING, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        for near, far in asking:
            far.close()
            threading.Thread(
                target=_answer, args=(near, self._model), name="asker", daemon=True
            ).start()
        there.close()
        return _Child(process, here)

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish; what a process raises is raised here."""
        self._hand_out()
        while any(child.tasks for child in self._children):
            ended: list[Finished] = []
            by_pipe: dict[Any, _Child] = {child.pipe: child for child in self._children}
            for child in [by_pipe[pipe] for pipe in wait(list(by_pipe))]:
                try:
                    message = child.pipe.recv()
                except (EOFError, OSError):
                    ended += self._replace(child)
                    continue
                if isinstance(message, BaseException):
                    yield ended
                    raise message
                child.tasks.pop(message.row.task, None)
                ended.append(message)
            self._hand_out()  # before these are written: no process waits for the disk
            yield ended

    def _hand_out(self) -> None:
        """Give each process as many tasks as it plays at once, the least busy first, and one to
        wait.
        """
        for room in range(self._threads + _AHEAD):
            for child in self._children:
                if self._todo and len(child.tasks) == room:
                    task = self._todo.popleft()
                    child.tasks[task.id] = task
                    child.send(task)

    def _replace(self, dead: _Child) -> Iterator[Finished]:
        """Start another process in place of one that died; its tasks are played again."""
        dead.process.join()
        self._children.remove(dead)
        self._children.append(self._start())
        for task in dead.tasks.values():
            yield from self._lose(task, f"process ended with {dead.process.exitcode}")

    def stop(self) -> list[Finished]:
        self._todo.clear()
        busy = [child for child in self._children if child.tasks]
        for child in self._children:
            child.send(None)
        late = list(_received_late(busy))
        for child in self._children:
            child.process.join(0.0 if child in busy else GRACE)
            child.process.kill()
            child.pipe.close()
        if self._model is not None:
            self._model.close()
        return late


def _received_late(busy: list[_Child]) -> Iterator[Finished]:
    """Episodes that busy processes finish within `GRACE` after they were told to stop; those that
    have ended leave the list.
    """
    deadline = time.monotonic() + GRACE
    while busy and time.monotonic() < deadline:
        for child in [each for each in busy if each.pipe.poll(0.01)]:
            try:
                message = child.pipe.recv()
            except (EOFError, OSError):
                busy.remove(child)
                continue
            if isinstance(message, Finished):
                yield message


def _load_for_all(design: RunDesign, knowledge: Mind) -> None:
    """Compose a mind before any fork, so that its modules and manuals are read once, and not in
    every process.
    """
    mind = compose(design.condition, knowledge, design.memory)
    if backend_of(design.model_name) is Backend.PLANNER:
        extended(mind)


def _live(
    pipe: Connection,
    parents: Connection,
    design: RunDesign,
    knowledge: Mind,
    model: Model | None,
    threads: int,
) -> None:
    """Play what the parent hands over until it says to stop, or is gone.

    `parents` is the parent's end of the pipe, which a fork has too: while it is open here, nobody
    would hear that the parent is gone.
    """
    parents.close()
    # Ctrl-C reaches all; the parent decides what it means
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # a parent that ends while it starts ends its children without a word
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    atexit._clear()  # noqa: SLF001  what the parent is to clean up is not ours
    gc.freeze()  # design, memory and manual stay to the end: nobody need look for garbage in them
    sending = threading.Lock()

    def tell(message: Finished | BaseException) -> None:
        with sending:
            pipe.send(_portable(message) if isinstance(message, BaseException) else message)

    try:
        players = Players(design, model or design.open_model(), threads, tell, knowledge)
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
    """The model of the parent process. Its abilities are known here; the questions go to the
    parent, one at a time over each pipe.
    """

    def __init__(self, model: Model, pipes: Sequence[Connection]) -> None:
        super().__init__(model)
        self._free: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        for pipe in pipes:
            self._free.put(pipe)

    def answer(self, request: Request) -> Answer:
        pipe = self._free.get()
        try:
            pipe.send(_travelling(request))
            said = pipe.recv()
        finally:
            self._free.put(pipe)
        if isinstance(said, BaseException):
            raise said
        assert isinstance(said, Answer)
        return said

    def close(self) -> None:
        """The parent closes it."""


@dataclass(frozen=True)
class _Spoken:
    """The result of a user's part for a prompt's blocks, in place of the part."""

    messages: tuple[Message, ...]

    def __call__(self, _blocks: Sequence[Block]) -> tuple[Message, ...]:
        return self.messages


def _travelling(request: Request) -> Request:
    """A request as it can be sent to another process: no model that is shared reads a decision,
    and a part of the user's own has spoken before, since functions do not travel.
    """
    prompt = request.prompt
    if prompt.speak is not None:
        prompt = replace(prompt, speak=_Spoken(prompt.messages()))
    return replace(request, prompt=prompt, decision=None)


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
    """An exception as it can be sent to another process; one that cannot is told in words, with
    its traceback.
    """
    with suppress(Exception):  # whatever its class does with its arguments
        if str(pickle.loads(pickle.dumps(error))) == str(error):  # noqa: S301  our own, made here
            return error
    return RuntimeError("".join(traceback.format_exception(error)))
