"""One simulator inside a JVM, and the socket to it.

Each simulator has a class loader of its own, so that a game is the same alone and beside others:
ScienceWorld draws from one random generator per loaded program, seeded when a task is loaded.
Loading and warming the classes takes a second or two, so a simulator that a game has finished with
is kept for the next game.

Calls are py4j's wire commands over one socket a simulator, not py4j's gateway objects: the gateway
repeats a command whose answer was lost (a step would be taken twice), logs to the root logger, and
calls Java from finalizers, where a hung JVM would hang Python. Simulators can be stepped from
different threads: they share nothing on this side.
"""

import contextlib
import os
import queue
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Self

from rpms.logic.errors import WorldError
from rpms.worlds.base import Outcome, Task
from rpms.worlds.jvm.process import Jvm, JvmEnded, Program, shared_jvm

Value = str | int | float | bool | None
CALL_TIMEOUT_S = 60.0
"""A step takes less than 100 ms and a load less than a second; past this a simulator hangs."""
GOLD_TIMEOUT_S = 600.0
"""ScienceWorld plans a gold path in a fraction of a second for most tasks and half a minute for
some."""


class Simulator:
    """One simulator: an object of its program's interface. Used from one thread at a time."""

    def __init__(self, jvm: Jvm) -> None:
        # py4j has no type information, and is an extra: it is imported only where a JVM is already
        # running.
        from py4j import protocol  # type: ignore[import-untyped]  # noqa: PLC0415

        self.jvm = jvm
        self.timeout_s = CALL_TIMEOUT_S
        self.failed = False
        """A call ended in an error; what state the simulator is in is unknown."""
        self._protocol = protocol
        self._open = True
        self._id = ""
        try:
            self._socket = socket.create_connection(("127.0.0.1", jvm.port), timeout=CALL_TIMEOUT_S)
        except OSError:
            raise JvmEnded(jvm.obituary()) from None
        self._answers = self._socket.makefile("rb")
        try:
            self._send(f"{protocol.AUTH_COMMAND_NAME}\n{jvm.token}\n", "authentication")
            self._id = self._isolated_interface()
        except BaseException:
            self.close()
            raise

    @property
    def usable(self) -> bool:
        return self._open and not self.failed and self.jvm.alive

    def call(self, method: str, *arguments: str | int | bool) -> Value:
        """Call one of the server's own methods that answers with a plain value."""
        answer = self._call_on(self._id, method, *map(self._protocol.get_command_part, arguments))
        value: Value = self._protocol.get_return_value(self._protocol.SUCCESS + answer, None)
        return value

    def text(self, method: str, *arguments: str | int | bool) -> str:
        return str(self.call(method, *arguments))

    def texts(self, method: str) -> tuple[str, ...]:
        """Call a method that answers with a list of strings; each costs a round trip."""
        list_id = self._call_on(self._id, method)[1:]
        size = int(self._call_on(list_id, "size")[1:])
        texts: list[str] = []
        for index in range(size):
            escaped = self._call_on(list_id, "get", f"i{index}\n")[1:]
            texts.append(self._protocol.unescape_new_line(escaped))
        self._detach(list_id)
        return tuple(texts)

    def close(self) -> None:
        """Give the simulator back to Java's garbage collector. Calling it twice does no harm."""
        if self.usable and self._id:
            with contextlib.suppress(WorldError):
                self._detach(self._id)
        self._abandon()

    def _isolated_interface(self) -> str:
        """Make the interface from classes loaded for it alone, and return Java's name for it."""
        # The simulator prints at every step, and a pipe to Python costs both sides: it prints
        # nowhere.
        sink = self._create("java.io.PrintStream", f"s{os.devnull}\n")
        self._call_on(f"{self._protocol.STATIC_PREFIX}java.lang.System", "setOut", f"r{sink}\n")
        array = self._protocol.ARRAY_COMMAND_NAME
        end = self._protocol.END_COMMAND_PART
        size = len(self.jvm.class_path)
        create_array = (
            f"{array}{self._protocol.ARRAY_CREATE_SUB_COMMAND_NAME}sjava.net.URL\ni{size}\n{end}"
        )
        urls = self._send(create_array, "URL[]")[1:]
        helpers = [sink, urls]
        for place, address in enumerate(self.jvm.class_path):
            url = self._create("java.net.URL", f"s{address}\n")
            self._send(
                f"{array}{self._protocol.ARRAY_SET_SUB_COMMAND_NAME}{urls}\ni{place}\nr{url}\n{end}",
                "URL[]",
            )
            helpers.append(url)
        loader = self._create(
            "java.net.URLClassLoader", f"r{urls}\n", f"{self._protocol.NULL_TYPE}\n"
        )
        program = self._call_on(loader, "loadClass", f"s{self.jvm.program.interface}\n")[1:]
        interface = self._call_on(program, "newInstance")[1:]
        for helper in (*helpers, loader, program):
            self._detach(helper)
        return interface

    def _create(self, java_class: str, *parts: str) -> str:
        command = f"{self._protocol.CONSTRUCTOR_COMMAND_NAME}{java_class}\n{''.join(parts)}"
        return self._send(command + self._protocol.END_COMMAND_PART, java_class)[1:]

    def _detach(self, object_id: str) -> None:
        protocol = self._protocol
        delete = f"{protocol.MEMORY_COMMAND_NAME}{protocol.MEMORY_DEL_SUBCOMMAND_NAME}"
        self._send(f"{delete}{object_id}\n{protocol.END_COMMAND_PART}", "detach")

    def _call_on(self, object_id: str, method: str, *parts: str) -> str:
        command = f"{self._protocol.CALL_COMMAND_NAME}{object_id}\n{method}\n{''.join(parts)}"
        return self._send(command + self._protocol.END_COMMAND_PART, method)

    def _send(self, command: str, method: str) -> str:
        """Java's answer after its success mark: a type letter and a value.

        The JVM is killed if none comes in time.
        """
        if not self._open or self.jvm.ended_because is not None:
            self._abandon()
            if self.jvm.alive:
                raise WorldError("this simulator is closed")
            raise JvmEnded(self.jvm.obituary())
        answer = self._exchange(command, method)
        if not answer:
            self._abandon()
            raise JvmEnded(self.jvm.obituary())
        success = self._protocol.RETURN_MESSAGE + self._protocol.SUCCESS
        if answer.startswith(success):
            return answer[len(success) :]
        raise self._failure(answer, method)

    def _exchange(self, command: str, method: str) -> str:
        """Send a command and read the line that answers it; empty if the connection is lost."""
        try:
            self._socket.settimeout(self.timeout_s)
            self._socket.sendall(command.encode("utf-8", "replace"))
            answer = self._answers.readline().decode("utf-8", "replace").rstrip("\n")
        except TimeoutError:
            self._abandon()
            self.jvm.kill(f"the simulator did not answer `{method}` within {self.timeout_s:g} s")
            raise WorldError(self.jvm.obituary()) from None
        except OSError:
            return ""
        except BaseException:
            # Ctrl-C between a command and its answer: the two could be mismatched from now on
            self._abandon()
            raise
        return answer

    def _failure(self, answer: str, method: str) -> WorldError:
        """Java's error, in one line."""
        value = answer[3:]
        if answer[2:3] == self._protocol.REFERENCE_TYPE:  # an exception, to be asked for its name
            try:
                value = self._call_on(value, "toString")[1:]
            except WorldError:
                value = ""
        self.failed = True
        why = str(self._protocol.unescape_new_line(value)).strip() or "a Java exception"
        return WorldError(f"the simulator failed in `{method}`: {why.splitlines()[0][:300]}")

    def _abandon(self) -> None:
        """Close without telling Java. In a forked child nothing is closed at all, as the parent may
        hold the reader's lock.
        """
        self._open = False
        if self.jvm.forgotten:
            return
        for end in (self._answers, self._socket):
            with contextlib.suppress(OSError):
                end.close()


def borrow(program: Program) -> Simulator:
    """Return a simulator for one game: one that another game has finished with, or else a new
    one.
    """
    jvm = shared_jvm(program)
    while True:
        try:
            found: Simulator = jvm.idle.get_nowait()
        except queue.Empty:
            with jvm.starting:
                return Simulator(jvm)
        if found.usable:
            found.timeout_s = CALL_TIMEOUT_S
            return found
        found.close()


def give_back(simulator: Simulator) -> None:
    """Keep a simulator for the next game, unless it has failed."""
    if simulator.usable:
        simulator.jvm.idle.put(simulator)
    else:
        simulator.close()


class JavaGame(ABC):
    """One task, played in the process's JVM by the server's own calls.

    A simulator that hangs or dies raises `WorldError`, here and in every other game of its JVM;
    `reset` then starts the episode anew in a fresh JVM. Where the JVM dies before the first step is
    done, that is done once by itself.
    """

    program: ClassVar[Program]

    def __init__(self, task: Task) -> None:
        self.task = task
        self._simulator: Simulator | None = None
        self._untouched = False
        """Reset, and not stepped since: in a fresh JVM it is the same game."""

    @abstractmethod
    def _open(self, simulator: Simulator) -> Outcome:
        """Start the task from its beginning in a simulator."""

    @abstractmethod
    def _step(self, command: str) -> Outcome:
        """Do a command."""

    @abstractmethod
    def _load(self, simulator: Simulator, *, gold: bool) -> object:
        """Load the task in a simulator, planned to its end where its gold path is wanted."""

    def _told_to_load(self, simulator: Simulator, *arguments: str | int | bool) -> None:
        if problem := simulator.text("load", *arguments):
            raise WorldError(
                f"the simulator could not load {self.task.id}: {problem.splitlines()[0]}"
            )

    def gold_path(self) -> tuple[str, ...]:
        """Return a sequence of commands that wins, planned in a simulator apart: this episode
        is untouched.
        """
        planner = borrow(self.program)
        planner.timeout_s = GOLD_TIMEOUT_S
        try:
            self._load(planner, gold=True)
            return planner.texts("getGoldActionSequence")
        finally:
            give_back(planner)

    def reset(self) -> Outcome:
        """Start the task from its beginning; the observation is the task's description and what
        is to be seen.
        """
        opening = _or_else(self._start, self._start)
        self._untouched = True
        return opening

    def _start(self) -> Outcome:
        self._untouched = False
        if self._simulator is None or not self._simulator.usable:
            self.close()
            self._simulator = borrow(self.program)
        return self._open(self._simulator)

    def step(self, command: str) -> Outcome:
        untouched = self._untouched
        self._untouched = False
        if not untouched:
            return self._step(command)
        return _or_else(lambda: self._step(command), lambda: self._step_anew(command))

    def _step_anew(self, command: str) -> Outcome:
        """The first step, in a fresh JVM."""
        self._start()
        return self._step(command)

    def close(self) -> None:
        """Let go of the simulator, which stays with its JVM for other games until the process
        ends.
        """
        if self._simulator is not None:
            give_back(self._simulator)
            self._simulator = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _live(self) -> Simulator:
        if self._simulator is None:
            raise WorldError(f"{self.task.id} is not running: reset it first")
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
            same = str(first) == str(second)
            raise WorldError(str(first) if same else f"{first}, and then {second}") from second
