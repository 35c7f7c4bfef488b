"""One episode in a simulator that runs in Java: its life, whatever the simulator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

from rpms.core.errors import WorldError
from rpms.worlds.base import Outcome
from rpms.worlds.jvm.bridge import Simulator, borrow, give_back
from rpms.worlds.jvm.process import JvmEnded, Program


class JavaGame(ABC):
    """One task, played in the process's JVM by the server's own calls.

    A simulator that hangs or dies raises `WorldError`, here and in every other game of its JVM; `reset` then starts
    the episode anew in a fresh JVM. Where the JVM dies before the first step is done, that is done once by itself.
    """

    program: ClassVar[Program]

    def __init__(self, name: str, timeout_s: float) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self._simulator: Simulator | None = None
        self._untouched = False
        """Reset, and not stepped since: in a fresh JVM it is the same game."""

    @abstractmethod
    def _open(self, simulator: Simulator) -> Outcome:
        """Start the task from its beginning in a simulator."""

    @abstractmethod
    def _step(self, command: str) -> Outcome:
        """Do a command."""

    def reset(self) -> Outcome:
        """Start the task from its beginning; the observation is the task's description and what is to be seen."""
        opening = _or_else(self._start, self._start)
        self._untouched = True
        return opening

    def _start(self) -> Outcome:
        self._untouched = False
        if self._simulator is None or not self._simulator.usable:
            self.close()
            self._simulator = self._borrow()
        return self._open(self._simulator)

    def step(self, command: str) -> Outcome:
        untouched, self._untouched = self._untouched, False
        if not untouched:
            return self._step(command)
        return _or_else(lambda: self._step(command), lambda: self._start_and_step(command))

    def _start_and_step(self, command: str) -> Outcome:
        self._start()
        return self._step(command)

    def _borrow(self) -> Simulator:
        return borrow(self.program, timeout_s=self._timeout_s)

    def close(self) -> None:
        """Let go of the simulator, which stays with its JVM for other games until the process ends."""
        if self._simulator is not None:
            give_back(self._simulator)
            self._simulator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live(self) -> Simulator:
        if self._simulator is None:
            raise WorldError(f"{self._name} is not running: reset it first")
        return self._simulator

    def _text(self, method: str, *arguments: str) -> str:
        return self._live().text(method, *arguments)


def _or_else(attempt: Callable[[], Outcome], another: Callable[[], Outcome]) -> Outcome:
    """An attempt, and another where the JVM ended; if that fails too, the error has both causes."""
    try:
        return attempt()
    except JvmEnded as first:
        try:
            return another()
        except WorldError as second:
            raise WorldError(f"{first}, and then {second}" if str(first) != str(second) else str(first)) from second
