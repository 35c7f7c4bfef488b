"""A guard before any MCP server over stdio: calls are checked, all other messages pass through byte for byte.

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
from typing import Any

from rpms.core.errors import InputError
from rpms.foreign.json_text import NotJson, loads_once
from rpms.foreign.limits import LARGEST_MESSAGE, MOST_WAITING
from rpms.foreign.shown import excerpt
from rpms.guard import mcp_messages as mcp
from rpms.guard.calls import Call
from rpms.guard.guard import Guard
from rpms.guard.rulings import Modify, Refuse

_CHUNK = 1 << 16
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
    long: bool = False
    """A line that was too long to keep, and was thrown away."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call that was passed on."""

    id: Any
    call: Call
    notice: str
    """What the model should read with the result."""
    until: float


def _read(side: _Side, handle: int, events: queue.Queue[_Event]) -> None:
    """Put the lines of a stream into the queue, and close it at its end. A line too long is dropped as it comes."""
    rest, dropping = bytearray(), False
    while True:
        try:
            chunk = os.read(handle, _CHUNK)
        except OSError:
            chunk = b""
        if not chunk:
            break
        rest += chunk
        start = 0
        while (end := rest.find(b"\n", start)) >= 0:
            long = dropping or end - start > LARGEST_MESSAGE
            events.put(_Event(side, long=True) if long else _Event(side, bytes(rest[start : end + 1])))
            start, dropping = end + 1, False
        del rest[:start]
        if len(rest) > LARGEST_MESSAGE:
            dropping = True
        if dropping:
            rest.clear()
    os.close(handle)
    if rest:
        events.put(_Event(side, bytes(rest)))
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
        self._waiting: dict[str, _Waiting] = {}
        self._listed: set[str] = set()
        self._given_up: set[str] = set()
        self._tools: set[str] = set()

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
        while True:
            try:
                event = events.get(timeout=self._time_left())
            except queue.Empty:
                self._give_up()
                continue
            if event.ended:
                return
            if event.side is _Side.CLIENT:
                self._from_client(event)
            else:
                self._from_server(event)

    def _time_left(self) -> float:
        first = min((each.until for each in self._waiting.values()), default=time.monotonic() + 3_600)
        return max(0.0, first - time.monotonic())

    def _end(self, server: subprocess.Popen[bytes], events: queue.Queue[_Event]) -> int:
        """End the server: its input first, then it is told to, then it is killed with all that it started."""
        self._to_server.close(_GRACE)
        deadline = time.monotonic() + _GRACE
        while time.monotonic() < deadline and server.poll() is None:  # what it still says is passed on
            with suppress(queue.Empty):
                event = events.get(timeout=0.02)
                if event.side is _Side.SERVER and event.line:
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
            if event.side is _Side.SERVER and event.line:
                self._from_server(event)
        self._to_client.close(_GRACE)
        return server.wait()

    # --- from the client ---

    def _from_client(self, event: _Event) -> None:
        if event.long:
            self._complain(f"a message of more than {LARGEST_MESSAGE:,} bytes was not passed on")
            self._to_client.put(mcp.parse_error(f"it has more than {LARGEST_MESSAGE:,} bytes"))
            return
        if not event.line.strip():
            return
        try:
            message = loads_once(event.line)
        except NotJson as error:
            self._complain(f"a message that is not JSON was not passed on: {error}")
            self._to_client.put(mcp.parse_error(str(error)))
            return
        if isinstance(message, list) and any(map(mcp.is_call, message)):
            for each in message:
                self._pass_on(each, mcp.written(each))
        else:
            self._pass_on(message, event.line)

    def _pass_on(self, message: Any, line: bytes) -> None:
        method = message.get("method") if isinstance(message, dict) else None
        if method == mcp.CALL:
            self._check(message, line)
            return
        if method == mcp.LIST:
            self._listed.add(_key(message.get("id")))
        if method == mcp.CANCELLED and isinstance(message.get("params"), dict):
            self._waiting.pop(_key(message["params"].get("requestId")), None)
        self._to_server.put(line if line.endswith(b"\n") else line + b"\n")

    def _check(self, message: dict[str, Any], line: bytes) -> None:
        id_ = message.get("id")
        if not isinstance(id_, int | str) or isinstance(id_, bool):
            self._complain("a tool call without an id was not passed on")
            return
        if _key(id_) in self._waiting:
            self._to_client.put(mcp.invalid(id_, "another call with this id is under way"))
            return
        ruling = self._guard.check(mcp.call_of(message), can_modify=True)
        if isinstance(ruling, Refuse):
            self._to_client.put(mcp.refusal(id_, ruling))
            return
        call = mcp.as_call(message)
        if isinstance(ruling, Modify):
            call = ruling.call
            line = mcp.with_arguments(message, call.arguments)
        self._waiting[_key(id_)] = _Waiting(id_, call, ruling.notice, time.monotonic() + self._patience)
        self._to_server.put(line if line.endswith(b"\n") else line + b"\n")

    def _give_up(self) -> None:
        """Answer the calls that took too long, and tell the server that nobody waits for them."""
        now = time.monotonic()
        for key, each in list(self._waiting.items()):
            if each.until <= now:
                del self._waiting[key]
                self._given_up.add(key)
                self._complain(f"{each.call.tool} did not return within {self._patience:g} seconds")
                self._to_server.put(mcp.cancellation(each.id, "it took too long"))
                text = f"{each.call.tool} did not return within {self._patience:g} seconds; it may or may not be done."
                self._to_client.put(mcp.tool_error(each.id, text))

    # --- from the server ---

    def _from_server(self, event: _Event) -> None:
        if event.long:
            self._complain(f"an answer of more than {LARGEST_MESSAGE:,} bytes was not passed on")
            if len(self._waiting) == 1:
                _, each = self._waiting.popitem()
                self._to_client.put(mcp.tool_error(each.id, f"the answer had more than {LARGEST_MESSAGE:,} bytes"))
            return
        if not event.line.strip():
            return
        try:
            message = mcp.read_answer(event.line)
        except NotJson as error:
            said = excerpt(event.line.decode("utf-8", "replace"))
            self._complain(f"the server wrote a line that is no message, which was not passed on: {error}: {said}")
            waited = self._waiting.pop(_key(mcp.answered_by(event.line)), None)
            if waited is not None:
                text = f"the answer of {waited.call.tool} cannot be read: {error}; it may or may not be done."
                self._to_client.put(mcp.tool_error(waited.id, text))
            return
        answers = message if isinstance(message, list) else [message]
        line: bytes | None = event.line
        for answer in answers:
            if isinstance(answer, dict) and "method" not in answer and "id" in answer:
                line = self._learn(answer, line)
        if line:
            self._to_client.put(line if line.endswith(b"\n") else line + b"\n")

    def _learn(self, answer: dict[str, Any], line: bytes | None) -> bytes | None:
        """Learn from an answer; the line to pass on, which is nothing where the client was answered already."""
        key = _key(answer["id"])
        if key in self._given_up:
            self._given_up.discard(key)
            return None
        if key in self._listed:
            self._listed.discard(key)
            self._compare(answer)
            return line
        waited = self._waiting.pop(key, None)
        if waited is None:
            return line
        result, failed = mcp.outcome_of(answer)
        self._guard.observe(waited.call, result, failed=failed)
        return (mcp.with_notice(answer, waited.notice) if waited.notice else None) or line

    def _compare(self, answer: dict[str, Any]) -> None:
        """Say where the manual and the server's tools do not agree, once the list is whole."""
        manual = self._guard.manual
        for difference in mcp.differences(manual, answer):
            self._complain(difference)
        self._tools |= mcp.tool_names(answer)
        result = answer.get("result")
        if isinstance(result, dict) and not result.get("nextCursor"):
            missing = sorted({name for name in manual.tools if name != "user_says"} - self._tools)
            if missing:
                self._complain(f"the manual declares tools that the server does not have: {', '.join(missing)}")
            self._tools.clear()


def _signal(server: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """Send a signal to a server and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, sign)


def _key(id_: Any) -> str:
    """An id of a message; 1 and "1" are two."""
    return repr(id_)[:200]
