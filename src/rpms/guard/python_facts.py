"""Facts in Python: functions from a file that whoever runs the guard names, each asked in a
worker with a deadline.
"""

import ctypes
import importlib.util
import logging
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, current_thread
from threading import enumerate as enumerate_threads
from time import monotonic
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from rpms.foreign.file_reader import open_regular
from rpms.foreign.limits import LONGEST_FACT, MOST_HUNG
from rpms.foreign.own_code import error_in_words
from rpms.foreign.shown import excerpt
from rpms.guard.call_facts import PythonFact
from rpms.guard.calls import ToolManual
from rpms.logic.errors import ANY_ERROR, FileError, InputError

_LOUD = logging.getLogger("rpms.guard")
_T = TypeVar("_T")
_PAUSE = 60.0
"""Seconds for which a function that took too long is not asked the same again."""
_LONGEST = 500
"""Characters by which a question is told from others."""
_MOST_LATE = 1_000
"""Questions that are remembered as answered too late."""


def load_python(file: str | Path | None) -> ModuleType | None:
    """Run a Python file and return it as a module; what goes wrong in it is a FileError.

    Without a file, None.
    """
    if not file:
        return None
    os.close(open_regular(file))  # a pipe in its place would be waited for
    spec = importlib.util.spec_from_file_location("rpms_guard_facts", file)
    if spec is None or spec.loader is None:
        raise FileError(file, None, "is no Python file; its name should end in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ANY_ERROR as error:
        raise FileError(file, None, f"cannot be run: {error_in_words(error)}") from error
    return module


class PythonFacts:
    """The functions that a manual names. An answer that is not true, false or unknown counts as
    unknown, and so does one that is late.
    """

    def __init__(
        self,
        manual: ToolManual,
        given: Mapping[str, PythonFact] | ModuleType | None,
        seconds: float = LONGEST_FACT,
    ) -> None:
        self.given = given
        found = vars(given) if isinstance(given, ModuleType) else given or {}
        wanted = {fact.python: fact.predicate.name for fact in manual.facts.values() if fact.python}
        for function, name in wanted.items():
            if not callable(found.get(function)):
                raise InputError(
                    f"the fact {name} is read by a function {function!r}, which was not given as"
                    " `python`"
                )
        self._functions: dict[str, PythonFact] = {function: found[function] for function in wanted}
        self._seconds = seconds
        self._late: dict[str, float] = {}
        """Moments at which functions did not answer in time, by what they were asked."""

    @property
    def any(self) -> bool:
        """True if the manual names a function."""
        return bool(self._functions)

    def __call__(self, name: str, *args: Any) -> bool | None:
        """Ask a function. Unknown is raised where it asked for a record that was not looked up."""
        worker = current_thread()
        if not isinstance(worker, _Worker):
            if _all_hang():
                self._report(name, f"is not asked while {MOST_HUNG} functions do not return")
                return None
            return self.within(lambda: self(name, *args))
        question = f"{name}{args[1:]!r}"[:_LONGEST]
        if question in self._late and monotonic() - self._late[question] < _PAUSE:
            return None
        outer = worker.asking
        worker.asking = _Question(question, monotonic())
        try:
            value: Any = self._functions[name](*args)
        except (SystemExit, KeyboardInterrupt) as error:  # a person's Ctrl-C reaches another thread
            value = error
        finally:
            worker.asking = outer
        if value is None or isinstance(value, bool):
            return value
        self._report(name, f"gave a {type(value).__name__}, not True, False or None")
        return None

    def within(self, work: Callable[[], _T]) -> _T:
        """Do something that may ask functions, in a worker. If a function takes too long, do it
        again with the fact of that function unknown.
        """
        while self._functions and not isinstance(current_thread(), _Worker) and not _all_hang():
            worker = _free_worker()
            done = worker.ask(work, self._seconds)
            if isinstance(done, Future):
                _IDLE.append(worker)
                return done.result()  # type: ignore[no-any-return]
            self._note_late(done)
        return work()

    def _note_late(self, question: str) -> None:
        if len(self._late) >= _MOST_LATE:
            self._late.clear()
        self._late[question] = monotonic()
        self._report(question, f"did not answer within {self._seconds:g} seconds")

    def _report(self, name: str, why: str) -> None:
        _LOUD.error("the fact %s %s: it is unknown", excerpt(name), why)


class _LateError(BaseException):
    """Ends a function that took too long, at its next step in Python; one that waits for the
    system goes on waiting.
    """


class _Question(NamedTuple):
    """A question to a function, and when it was asked."""

    text: str
    since: float


class _Work(NamedTuple):
    """Something to do, and the future that is to hold its result."""

    call: Callable[[], Any]
    done: Future[Any]


class _Worker(Thread):
    """A thread that does one thing after another. If something takes too long it is told to end,
    and the thread is left to it until then.

    A process could be killed at once, but what a function holds (the host's objects, connections,
    what it is asked about) cannot be sent to another process, and forking one with threads may hang
    it.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._waiting: SimpleQueue[_Work] = SimpleQueue()
        self.asking: _Question | None = None
        """The one that a function is working on."""
        self.late = False
        """True if it was left."""
        self.start()

    def ask(self, work: Callable[[], Any], seconds: float) -> Future[Any] | str:
        """Have some work done; returns its future then. Where one of its functions takes longer
        than it may, the work is left, and the question to that function is returned.
        """
        done: Future[Any] = Future()
        self._waiting.put(_Work(work, done))
        left = seconds
        while not wait([done], left).done:
            asking = self.asking
            left = seconds if asking is None else asking.since + seconds - monotonic()
            if asking is not None and left <= 0:
                self.late = True
                late = ctypes.py_object(_LateError)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), late)
                return asking.text
        return done

    def run(self) -> None:
        with suppress(_LateError):
            while not self.late:
                work = self._waiting.get()
                try:
                    work.done.set_result(work.call())
                except BaseException as error:  # noqa: BLE001  raised again where it was asked for
                    work.done.set_exception(error)
                del work  # what was asked about is not kept while nobody asks


_IDLE: list[_Worker] = []
"""Workers that wait for work, of no guard and no thread in particular."""


def _free_worker() -> _Worker:
    """A worker that has nothing to do; none that waited before a fork lives in the child."""
    with suppress(IndexError):  # another thread may take the last one
        while True:
            worker = _IDLE.pop()
            if worker.is_alive():
                return worker
    return _Worker()


def _all_hang() -> bool:
    """True if so many functions hang that no other one is asked."""
    return sum(isinstance(each, _Worker) and each.late for each in enumerate_threads()) >= MOST_HUNG
