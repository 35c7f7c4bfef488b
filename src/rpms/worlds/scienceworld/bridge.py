"""One simulator inside a JVM, and the socket to it.

Calls are py4j's wire commands over one socket a simulator, not py4j's gateway objects: the gateway repeats a command
whose answer was lost (a step would be taken twice), logs to the root logger, and calls Java from finalizers, where a
hung JVM would hang Python. One socket each also means that simulators can be stepped from different threads with
nothing shared between them on this side.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Final

from rpms.core.errors import WorldError
from rpms.worlds.scienceworld.jvm import Jvm

type_of_answer = str | int | float | bool | None
_INTERFACE: Final = "scienceworld.runtime.pythonapi.PythonInterface"


class Simulator:
    """A `PythonInterface` of the simulator. Used from one thread at a time."""

    def __init__(self, jvm: Jvm, *, timeout_s: float) -> None:
        # py4j has no type information, and is an extra: it is imported only where a JVM is already running.
        from py4j import protocol  # type: ignore[import-untyped]  # noqa: PLC0415

        self.jvm = jvm
        self.timeout_s = timeout_s
        self._protocol = protocol
        self._open = True
        try:
            self._socket = socket.create_connection(("127.0.0.1", jvm.port), timeout=timeout_s)
        except OSError:
            raise WorldError(jvm.obituary()) from None
        self._answers = self._socket.makefile("rb")
        try:
            self._send(f"{protocol.AUTH_COMMAND_NAME}\n{jvm.token}\n", "authentication", timeout_s)
            create = f"{protocol.CONSTRUCTOR_COMMAND_NAME}{_INTERFACE}\n{protocol.END_COMMAND_PART}"
            self._id = self._send(create, "PythonInterface", timeout_s)[1:]
        except BaseException:
            self.close()
            raise

    @property
    def usable(self) -> bool:
        return self._open and self.jvm.alive

    def call(self, method: str, *arguments: str | int | bool, timeout_s: float | None = None) -> type_of_answer:
        """Call one of the server's own methods that answers with a plain value."""
        answer = self._call_on(self._id, method, arguments, timeout_s)
        value: type_of_answer = self._protocol.get_return_value(self._protocol.SUCCESS + answer, None)
        return value

    def text(self, method: str, *arguments: str | int | bool, timeout_s: float | None = None) -> str:
        return str(self.call(method, *arguments, timeout_s=timeout_s))

    def texts(self, method: str) -> tuple[str, ...]:
        """Call a method that answers with a list of strings; each costs a round trip."""
        list_id = self._call_on(self._id, method, (), None)[1:]
        size = int(self._call_on(list_id, "size", (), None)[1:])
        escaped = (self._call_on(list_id, "get", (index,), None)[1:] for index in range(size))
        found = tuple(self._protocol.unescape_new_line(text) for text in escaped)
        self._detach(list_id)
        return found

    def close(self) -> None:
        """Give the simulator back to Java's garbage collector. Calling it twice does no harm."""
        if not self._open:
            return
        if self.jvm.alive and hasattr(self, "_id"):
            with contextlib.suppress(WorldError):
                self._detach(self._id)
        self._abandon()

    def _detach(self, object_id: str) -> None:
        protocol = self._protocol
        command = f"{protocol.MEMORY_COMMAND_NAME}{protocol.MEMORY_DEL_SUBCOMMAND_NAME}{object_id}\n"
        self._send(command + protocol.END_COMMAND_PART, "detach", self.timeout_s)

    def _call_on(
        self, object_id: str, method: str, arguments: tuple[str | int | bool, ...], timeout_s: float | None
    ) -> str:
        protocol = self._protocol
        parts = "".join(protocol.get_command_part(argument) for argument in arguments)
        command = f"{protocol.CALL_COMMAND_NAME}{object_id}\n{method}\n{parts}{protocol.END_COMMAND_PART}"
        return self._send(command, method, timeout_s or self.timeout_s)

    def _send(self, command: str, method: str, timeout_s: float) -> str:
        """Return Java's answer after its success mark: a type letter and a value.

        No answer in time means that the JVM is killed, since nothing less stops a simulator that hangs.
        """
        if not self._open:
            raise WorldError("this ScienceWorld simulator is closed")
        try:
            self._socket.settimeout(timeout_s)
            self._socket.sendall(command.encode("utf-8", "replace"))
            answer = self._answers.readline().decode("utf-8", "replace").rstrip("\n")
        except TimeoutError:
            self.jvm.kill(f"the simulator did not answer `{method}` within {timeout_s:g} s")
            self.close()
            raise WorldError(self.jvm.obituary()) from None
        except OSError:
            answer = ""
        except BaseException:  # Ctrl-C between a command and its answer: the two could be mismatched from now on
            self._abandon()
            raise
        if not answer:
            self._abandon()
            raise WorldError(self.jvm.obituary())
        success = self._protocol.RETURN_MESSAGE + self._protocol.SUCCESS
        if not answer.startswith(success):
            raise WorldError(f"the simulator failed in `{method}`: {self._explanation(answer)}")
        return answer[len(success) :]

    def _explanation(self, answer: str) -> str:
        """One line from Java's error answer: a text, or a reference to an exception to be asked for its name."""
        kind, value = answer[2:3], answer[3:]
        if kind == self._protocol.REFERENCE_TYPE:
            try:
                value = self._call_on(value, "toString", (), None)[1:]
            except WorldError:
                return "a Java exception"
        text = str(self._protocol.unescape_new_line(value)).strip()
        return text.splitlines()[0][:300] if text else "a Java exception"

    def _abandon(self) -> None:
        """Close without a word to Java."""
        self._open = False
        for end in (self._answers, self._socket):
            with contextlib.suppress(OSError):
                end.close()
