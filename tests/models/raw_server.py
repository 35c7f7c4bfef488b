"""A server on loopback that sends whatever bytes it is told to, as slowly and for as long as
told, within bounds.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import contextmanager

MOST_SENT = 400_000_000
"""Bytes on one connection: a test that is broken must end too."""

Bytes = Callable[[bytes], Iterable[bytes]]
"""From a request's bytes to what is sent back, piece by piece."""


class RawServer:
    def __init__(self, say: Bytes) -> None:
        self._say = say
        self._ended = threading.Event()
        self.requests: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def pause(self, seconds: float) -> bytes:
        """Wait, unless the test is over."""
        self._ended.wait(seconds)
        return b""

    def serve(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        sent = 0
        with connection:
            connection.settimeout(20)
            try:
                request = _whole_request(connection)
                self.requests.append(request)
                for piece in self._say(request):
                    if self._ended.is_set() or sent > MOST_SENT:
                        return
                    connection.sendall(piece)
                    sent += len(piece)
            except OSError:
                return

    def close(self) -> None:
        self._ended.set()
        self._socket.close()


def _whole_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1]
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    ]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@contextmanager
def raw(say: Bytes):
    server = RawServer(say)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()


def response(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response; `headers` with underscores for hyphens."""
    named = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body
