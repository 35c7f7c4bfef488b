"""A guard before any MCP server over stdio. Only messages that it has read and written again reach
the other side.

One loop reads both sides. Nothing here needs the `mcp` package.
"""

import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread

from rpms.foreign.limits import LARGEST_MESSAGE, MOST_WAITING
from rpms.guard.guard import Guard
from rpms.guard.mcp_session import Line, McpSession
from rpms.logic.errors import InputError

_CHUNK = 1 << 20
_PIPE_SIZE = 1 << 20
"""Bytes that a pipe is asked to hold: a message of a megabyte then takes a few turns, not
twenty."""
_KEPT = 2_000
"""First and last bytes of a line that was too long, in which its id is looked for."""
_GRACE = 0.6
"""Seconds that a server has to end when its input has ended, and again after it was told to.
Clients kill a proxy after about two, and one that is killed cannot end what it started."""


@dataclass(eq=False)
class _Lines:
    """The lines of a stream, as they come.

    Of one that is too long, only its first and last bytes are kept.
    """

    handle: int
    ended: bool = False
    _rest: bytearray = field(default_factory=bytearray)
    _start: bytes = b""

    def fileno(self) -> int:
        return self.handle

    def read(self) -> Iterator[Line]:
        """Lines that are whole after one more read, which may wait; of a long one, its two ends."""
        try:
            chunk = os.read(self.handle, _CHUNK)
        except OSError:
            chunk = b""
        seen, rest = len(self._rest), self._rest
        rest += chunk
        begin = 0
        while (end := rest.find(b"\n", max(seen, begin))) >= 0:
            yield self._line(bytes(rest[begin:end]))
            begin = end + 1
        del rest[:begin]
        if not chunk:
            self.ended = True
            if rest:
                yield self._line(bytes(rest))
        elif self._start or len(rest) > LARGEST_MESSAGE:
            self._start = self._start or bytes(rest[:_KEPT])
            del rest[:-_KEPT]

    def _line(self, line: bytes) -> Line:
        start, self._start = self._start, b""
        return (
            (start or line[:_KEPT], line[-_KEPT:]) if start or len(line) > LARGEST_MESSAGE else line
        )


class _Writer:
    """Writes lines to a stream.

    What might have to wait for its reader waits in a thread of its own.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._size, self._lock = 0, Lock()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        with self._lock:
            if (
                not self._size
                and len(line) <= select.PIPE_BUF
                and select.select((), (self._handle,), (), 0)[1]
            ):
                with suppress(OSError):  # nobody is there any more; whoever reads sees the end
                    os.write(self._handle, line)
                return
            self._size += len(line)
        if self._size > MOST_WAITING:
            raise InputError(
                f"more than {MOST_WAITING:,} bytes wait for a reader that does not read"
            )
        self._lines.put(line)

    def close(self, patience: float) -> None:
        """Write what is left, as far as somebody reads it in time, and close the stream."""
        self._lines.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        with (
            suppress(OSError),
            os.fdopen(self._handle, "wb") as stream,
        ):  # nobody is there: the other thread sees it
            for line in iter(self._lines.get, None):
                stream.write(line)
                stream.flush()
                with self._lock:
                    self._size -= len(line)


@dataclass
class Proxy:
    """One session between a client, which is whoever started this process, and a server, which
    it starts.
    """

    guard: Guard
    complain: Callable[[str], None]
    """Prints a line for the operator."""
    patience: float = 300.0
    """Seconds that a call may take."""

    def run(self, command: Sequence[str], client_in: int = 0, client_out: int = 1) -> int:
        """Start the server and pass messages until one side ends; the server's exit code.

        No process stays behind.
        """
        try:
            server = subprocess.Popen(  # noqa: S603  the user's own command
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                # it and all that it starts are one group, which can be ended as one
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            raise InputError(f"the server {command[0]!r} cannot be started: {why}") from None
        assert server.stdin is not None and server.stdout is not None  # noqa: PT018
        self._to_client = _Writer(os.dup(client_out))
        self._to_server = _Writer(os.dup(server.stdin.fileno()))
        self._session = McpSession(
            self.guard, self._to_client.put, self._to_server.put, self.complain, self.patience
        )
        client, answers = _Lines(client_in), _Lines(os.dup(server.stdout.fileno()))
        for handle in (client_in, client_out, server.stdin.fileno(), server.stdout.fileno()):
            with suppress(
                OSError, AttributeError
            ):  # a handle that is no pipe, or cannot hold more, stays as it is
                fcntl.fcntl(handle, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        server.stdin.close()
        server.stdout.close()
        try:
            try:
                self._serve(client, answers)
            finally:
                code = self._end(server, answers)
        finally:  # a second Ctrl-C, while it was given time to end
            _signal(server, signal.SIGKILL)
            os.close(answers.handle)
        return code

    def _serve(self, client: _Lines, server: _Lines) -> None:
        session = self._session
        while not client.ended and not server.ended:
            ready = select.select((client, server), (), (), session.time_left())[0]
            if not ready:
                session.give_up()
            for line in server.read() if server in ready else ():
                session.from_server(line)
            for line in client.read() if client in ready else ():
                if not session.from_client(line):
                    return  # nobody could be answered: an end is better than a client that waits

    def _end(self, server: subprocess.Popen[bytes], answers: _Lines) -> int:
        """End the server: its input first, then it is told to, then it is killed with all that
        it started.
        """
        self._to_server.close(_GRACE)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and server.poll() is None:  # its last output is passed on
            self._drain(answers, 0.02)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            _signal(server, sign)
            if server.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    server.wait(_GRACE)
        while self._drain(answers, 0.05):  # the last lines, which were written before the end
            pass
        self._to_client.close(_GRACE)
        return server.wait()

    def _drain(self, answers: _Lines, seconds: float) -> bool:
        """Pass on what comes within some time; False if nothing does."""
        if not select.select(() if answers.ended else (answers,), (), (), seconds)[0]:
            return False
        for line in answers.read():
            self._session.from_server(line)
        return True


def _signal(server: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """Send a signal to a server and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, sign)
