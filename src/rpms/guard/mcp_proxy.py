"""A guard before any MCP server over stdio. Only messages that it has read and written again reach the other side.

One thread reads each side into one queue, one thread writes to each side, and the session itself is a plain loop over
that queue. Nothing here needs the `mcp` package.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from threading import Condition, Thread

from rpms.core.errors import InputError
from rpms.foreign.limits import LARGEST_MESSAGE, MOST_WAITING
from rpms.guard.guard import Guard
from rpms.guard.mcp_session import McpSession

_CHUNK = 1 << 16
_KEPT = 2_000
"""First and last bytes of a line that was too long, in which its id is looked for."""
_GRACE = 0.6
"""Seconds that a server has to end when its input has ended, and again after it was told to.

Clients give a server about two seconds before they kill it, and a proxy that is killed cannot end what it started.
"""


class _Side(Enum):
    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class _Event:
    side: _Side
    line: bytes = b""
    ended: bool = False
    long: tuple[bytes, bytes] | None = None
    """The first and last bytes of a line that was too long to keep."""


def _read(side: _Side, handle: int, events: queue.Queue[_Event]) -> None:
    """Put the lines of a stream into the queue, and close it at its end. A line too long is dropped as it comes."""
    rest, start = bytearray(), b""
    while True:
        try:
            chunk = os.read(handle, _CHUNK)
        except OSError:
            chunk = b""
        if not chunk:
            break
        seen = len(rest)
        rest += chunk
        begin = 0
        while (end := rest.find(b"\n", max(seen, begin))) >= 0:
            line = bytes(rest[begin:end])
            if start or len(line) > LARGEST_MESSAGE:
                events.put(_Event(side, long=(start or line[:_KEPT], line[-_KEPT:])))
            else:
                events.put(_Event(side, line))
            begin, start = end + 1, b""
        del rest[:begin]
        if len(rest) > LARGEST_MESSAGE:
            start = start or bytes(rest[:_KEPT])
        if start and len(rest) > _KEPT:
            del rest[:-_KEPT]
    os.close(handle)
    if rest:
        events.put(_Event(side, long=(start, bytes(rest))) if start else _Event(side, bytes(rest)))
    events.put(_Event(side, ended=True))


class _Writer:
    """Writes lines to a stream in a thread of its own, so that a reader that does not read blocks nobody else."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._closed = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        with self._changed:
            self._lines.append(line)
            self._size += len(line)
            if self._size > MOST_WAITING:
                raise InputError(f"more than {MOST_WAITING:,} bytes wait for a reader that does not read")
            self._changed.notify()

    def close(self, patience: float) -> None:
        """Write what is left, as far as somebody reads it in time, and close the stream."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(patience)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._lines and not self._closed:
                    self._changed.wait()
                line = self._lines.popleft() if self._lines else None
            if line is None:
                break
            try:
                view = memoryview(line)
                while view:
                    view = view[os.write(self._handle, view) :]
            except OSError:
                break  # nobody is there any more; the other thread sees the end
            with self._changed:
                self._size -= len(line)
        with suppress(OSError):
            os.close(self._handle)


class Proxy:
    """One session between a client, which is whoever started this process, and a server, which it starts."""

    def __init__(self, guard: Guard, complain: Callable[[str], None], *, patience: float = 300.0) -> None:
        """`complain` prints a line for the operator. `patience`: seconds that a call may take."""
        self._guard = guard
        self._complain = complain
        self._patience = patience

    def run(self, command: Sequence[str], client_in: int = 0, client_out: int = 1) -> int:
        """Start the server and pass messages until one side ends; the server's exit code. No process stays behind."""
        try:
            server = subprocess.Popen(  # noqa: S603  the user's own command
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # it and all that it starts are one group, which can be ended as one
            )
        except (OSError, ValueError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            raise InputError(f"the server {command[0]!r} cannot be started: {why}") from None
        assert server.stdin is not None and server.stdout is not None  # noqa: PT018
        events: queue.Queue[_Event] = queue.Queue(maxsize=16)
        self._to_client = _Writer(os.dup(client_out))
        self._to_server = _Writer(os.dup(server.stdin.fileno()))
        self._session = McpSession(
            self._guard, self._to_client.put, self._to_server.put, self._complain, self._patience
        )
        for side, handle in ((_Side.CLIENT, client_in), (_Side.SERVER, server.stdout.fileno())):
            Thread(target=_read, args=(side, os.dup(handle), events), daemon=True).start()
        server.stdin.close()
        server.stdout.close()
        try:
            try:
                self._serve(events)
            finally:
                code = self._end(server, events)
        finally:  # a second Ctrl-C, while it was given time to end
            _signal(server, signal.SIGKILL)
        return code

    def _serve(self, events: queue.Queue[_Event]) -> None:
        session = self._session
        while True:
            try:
                event = events.get(timeout=session.time_left())
            except queue.Empty:
                session.give_up()
                continue
            if event.ended:
                return
            if event.side is _Side.SERVER:
                self._from_server(event)
            elif event.long is None:
                session.from_client(event.line)
            elif not session.too_long(*event.long):
                return  # nobody could be answered: an end is better than a client that waits

    def _from_server(self, event: _Event) -> None:
        if event.long is not None:
            self._session.answer_too_long(*event.long)
        elif event.line:
            self._session.from_server(event.line)

    def _end(self, server: subprocess.Popen[bytes], events: queue.Queue[_Event]) -> int:
        """End the server: its input first, then it is told to, then it is killed with all that it started."""
        self._to_server.close(_GRACE)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and server.poll() is None:  # what it still says is passed on
            with suppress(queue.Empty):
                event = events.get(timeout=0.02)
                if event.side is _Side.SERVER:
                    self._from_server(event)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            _signal(server, sign)
            if server.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    server.wait(_GRACE)
        while True:  # the last lines, which were read before the end
            try:
                event = events.get(timeout=0.05)
            except queue.Empty:
                break
            if event.side is _Side.SERVER:
                self._from_server(event)
        self._to_client.close(_GRACE)
        return server.wait()


def _signal(server: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """Send a signal to a server and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, sign)
