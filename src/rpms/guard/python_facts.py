"""Facts in Python: functions from a file that whoever runs the guard names, each asked in a worker with a deadline."""

from __future__ import annotations

import importlib.util
import logging
import os
import queue
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread, current_thread
from types import ModuleType
from typing import Any

from rpms.core.errors import FileError, InputError
from rpms.foreign.files import open_regular
from rpms.foreign.limits import LONGEST_FACT
from rpms.foreign.shown import excerpt
from rpms.guard.call_facts import PythonFact, Unknown
from rpms.guard.calls import ToolManual

_LOUD = logging.getLogger("rpms.guard")


def load_python(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module; what goes wrong in it is a FileError."""
    os.close(open_regular(file))  # a pipe in its place would be waited for
    spec = importlib.util.spec_from_file_location("rpms_guard_facts", file)
    if spec is None or spec.loader is None:
        raise FileError(file, None, "is no Python file; its name should end in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FileError(file, None, f"cannot be run: {type(error).__name__}: {error}") from error
    return module


class PythonFacts:
    """The functions that a manual names. What is neither true, false nor unknown, or not in time, counts as unknown."""

    def __init__(
        self, manual: ToolManual, given: Mapping[str, PythonFact] | ModuleType | None, seconds: float = LONGEST_FACT
    ) -> None:
        self.given = given
        found = vars(given) if isinstance(given, ModuleType) else given or {}
        self._functions: dict[str, PythonFact] = {}
        for fact in manual.facts.values():
            function = found.get(fact.python) if fact.python else None
            if fact.python and not callable(function):
                name = fact.predicate.name
                problem = f"the fact {name} is read by a function {fact.python!r}, which was not given as `python`"
                raise InputError(problem)
            if function is not None:
                self._functions[fact.python] = function
        self._seconds = seconds
        self._worker: _Worker | None = None

    def __call__(self, name: str, *args: Any) -> bool | None:
        """Ask a function. Unknown is raised where it asked for a record that was not looked up."""
        if isinstance(current_thread(), _Worker):  # a fact that asks for another
            return self._read(name, _outcome(self._functions[name], args))
        if self._worker is None or self._worker.late:
            self._worker = _Worker()
        answer = self._worker.ask(self._functions[name], args, self._seconds)
        if answer is None:
            _LOUD.error("the fact %s did not answer within %g seconds: it is unknown", excerpt(name), self._seconds)
            return None
        return self._read(name, answer)

    def _read(self, name: str, answer: tuple[Any, BaseException | None]) -> bool | None:
        value, error = answer
        if isinstance(error, Unknown):
            raise error
        if isinstance(error, Exception):
            raise error
        if error is not None or not (value is None or isinstance(value, bool)):
            what = type(error).__name__ if error is not None else f"a {type(value).__name__}"
            _LOUD.error("the fact %s gave %s, not True, False or None: it is unknown", excerpt(name), what)
            return None
        return value


class _Worker(Thread):
    """Runs functions one after another; one that does not return keeps this thread, and another one is started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._asked: queue.SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.late = False
        self.start()

    def ask(
        self, function: Callable[..., Any], args: tuple[Any, ...], seconds: float
    ) -> tuple[Any, BaseException | None] | None:
        """What a function returned or raised; None if it took too long."""
        self._asked.put((function, args))
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            self.late = True
            return None

    def run(self) -> None:
        while not self.late:
            self._answers.put(_outcome(*self._asked.get()))


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    try:
        return function(*args), None
    except BaseException as error:  # noqa: BLE001  SystemExit too is only an answer that tells nothing
        return None, error
