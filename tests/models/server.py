"""A real HTTP server on loopback that speaks OpenAI's and Anthropic's protocols, faults
included.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Reply:
    """The server's reaction to one request."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    content_type: str = "application/json"
    drop_after: int | None = None
    """Close the connection after so many bytes of the body."""
    silent: bool = False
    """Never answer."""


Script = Callable[[Seen], Reply]


def openai_ok(
    text: str = "Thought: I look.\nAction: look", cached: int = 0, finish: str = "stop"
) -> Reply:
    return Reply(
        body={
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 7,
                "total_tokens": 107,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    )


def openai_error(
    status: int, message: str, code: str | None = None, param: str | None = None, **headers: str
) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": param}
    return Reply(
        status, {"error": error}, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def anthropic_ok(text: str = "Thought: I look.\nAction: look", stop: str = "end_turn") -> Reply:
    return Reply(
        body={
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 10,
                "output_tokens": 7,
                "cache_read_input_tokens": 80,
                "cache_creation_input_tokens": 15,
            },
        }
    )


def anthropic_error(
    status: int, message: str, kind: str = "invalid_request_error", **headers: str
) -> Reply:
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def heeding(forms: tuple[str, ...], then: Script | Reply) -> Script:
    """A server that holds its answers to choices sent in these forms and overlooks others;
    `then` answers the rest.
    """

    def script(seen: Seen) -> Reply:
        if not is_probe(seen):
            return then(seen) if callable(then) else then
        heeds = any(form in seen.body for form in forms)
        return openai_ok(f"Thought: all is well\nAction: {'tick 4072' if heeds else 'look'}")

    return script


def is_probe(seen: Seen) -> bool:
    """True for the request that finds out what a server heeds."""
    return "tick 4071" in json.dumps(seen.body) or "Write these two lines" in json.dumps(seen.body)


class Server:
    """Answers with the replies given, in order; the last one is repeated."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self._http = http
        self._lock = threading.Lock()
        self._replies: list[Reply] = []
        self._script: Script | None = None
        self.seen: list[Seen] = []
        self.pages: dict[str, Any] = {}
        """What there is to GET, by path."""
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def asked(self) -> list[Seen]:
        """Requests seen, without probes of what the server heeds."""
        return [seen for seen in self.seen if not is_probe(seen)]

    def play(self, *replies: Reply) -> None:
        with self._lock:
            self._replies, self._script = list(replies), None

    def play_script(self, script: Script) -> None:
        with self._lock:
            self._script = script

    def reply_to(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            if self._script is not None:
                return self._script(seen)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        pages = self.server.owner.pages
        data = json.dumps(pages[self.path]).encode() if self.path in pages else b""
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        owner: Server = self.server.owner
        reply = owner.reply_to(
            Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        )
        if reply.silent:
            owner.released.wait(10)
            self.close_connection = True
            return
        data = reply.raw if reply.raw is not None else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.drop_after is None:
            self.wfile.write(data)
            return
        self.wfile.write(data[: reply.drop_after])
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep the test output quiet."""


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is part of the tests."""


@contextmanager
def serve():
    with QuietServer(("127.0.0.1", 0), Handler) as http:
        owner = Server(http)
        http.owner = owner
        thread = threading.Thread(
            target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        try:
            yield owner
        finally:
            owner.released.set()
            http.shutdown()
            thread.join()
