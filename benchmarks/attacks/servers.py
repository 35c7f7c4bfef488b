"""Servers on loopback that misbehave: each is met by a real client, and a planted key is looked
for everywhere.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

from attacks.mutate import NASTY_TEXTS, as_json, changed_bytes, changed_tree
from attacks.watch import Tally, watched
from rpms.logic.errors import ModelError
from rpms.models.base import Request
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.patience import Patience
from rpms.store.answers import FolderOfAnswers

KEY = "planted-key-8c1d22e7f0a4"
ANSWER = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Thought: x\nAction: look"},
        }
    ],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 1},
    },
}
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
Pieces = Iterable[bytes]


def response(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    named = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("utf-8", "replace") + body


def endless(piece: bytes, head: bytes = b"") -> Iterator[bytes]:
    yield head
    for _ in range(40_000_000 // len(piece)):  # bounded, in case nobody hangs up
        yield piece


def disguised(dice: Random) -> str:
    sign = dice.choice(("", "\u200b", "\u2060", "\x00", "\n", "\ufe0f", "\u3164"))
    return sign.join(KEY)


FAULTS: tuple[Callable[[Random], Pieces], ...] = (
    lambda dice: [response(as_json(changed_tree(ANSWER, dice)))],
    lambda dice: [response(changed_bytes(as_json(ANSWER), dice))],
    lambda dice: [changed_bytes(response(as_json(ANSWER)), dice)],
    lambda dice: [
        response(
            as_json(changed_tree(ANSWER, dice)), f"{dice.randrange(100, 600)} {dice.choice('abc')}"
        )
    ],
    lambda dice: [
        response(b"{}", "307 Elsewhere", location=f"http://localhost:{dice.randrange(1, 65536)}/x")
    ],
    lambda dice: [
        response(
            b"{}",
            "429 Busy",
            retry_after=dice.choice(("1e999", "nan", "9" * 300, "Fri, 31 Dec 99999 23:59:59 GMT")),
        )
    ],
    lambda dice: [
        response(
            as_json({"error": {"message": f"bad key {disguised(dice)}"}}),
            dice.choice(("400 a", "401 b")),
        )
    ],
    lambda dice: [response(as_json({**ANSWER, "choices": [_echo(dice)]}))],
    lambda dice: [response(b'{"choices": ' + b"[" * dice.choice((60, 900, 200_000)))],
    lambda dice: [
        response(b'{"usage": {"prompt_tokens": ' + b"9" * dice.choice((25, 5_000)) + b"}}")
    ],
    lambda dice: [
        response(gzip.compress(b" " * dice.choice((10, 20_000_000))), content_encoding="gzip")
    ],
    lambda dice: [
        response(
            as_json(ANSWER), content_encoding=dice.choice(("gzip", "br", "zstd", "x", "gzip, gzip"))
        )
    ],
    lambda dice: [
        response(
            as_json(ANSWER),
            content_type=f"application/json; charset={dice.choice(('zlib', 'idna', 'x'))}",
        )
    ],
    lambda _: endless(b"10000\r\n" + b" " * 0x10000 + b"\r\n", CHUNKED),
    lambda dice: [CHUNKED, b"1\r\n \r\n" * dice.choice((100, 30_000, 1_300_000))],
    lambda _: endless(b" ", b"HTTP/1.1 200 OK\r\ncontent-length: 4000000\r\n\r\n"),
    lambda _: endless(b"x-more: " + b"y" * 300 + b"\r\n", b"HTTP/1.1 200 OK\r\n"),
    lambda _: endless(b"HTTP/1.1 103 Early\r\n\r\n" * 20),
    lambda dice: [response(as_json(ANSWER))[: dice.randrange(1, 150)]],
    lambda _: [],
    lambda dice: [bytes(dice.randrange(256) for _ in range(300))],
    lambda _: [b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"],
    lambda _: [b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n{}"],
    lambda _: [b"HTTP/1.1 101 Switching\r\n\r\n"],
)
"""Every kind of fault; the dice vary it."""


def _echo(dice: Random) -> dict[str, object]:
    """A choice in which everything that can hold a text holds the key."""
    key = disguised(dice)
    return {
        "index": key,
        "finish_reason": key,
        "message": {"role": key, "content": f"Thought: {key}\nAction: look"},
    }


@contextlib.contextmanager
def serving(say: Callable[[bytes], Pieces]) -> Iterator[str]:
    """A server that sends what it is told to, and nothing after it is closed."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            request = connection.recv(1 << 20)
            for piece in say(request):
                if ended.is_set():
                    return
                connection.sendall(piece)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def fault_campaign(count: int, seed: int, request: Request, folder: Path) -> Tally:
    """Meet so many faults, each twice in a row, then an answer; the key is searched for in all
    that is left.
    """
    tally = Tally()
    logging.getLogger("rpms").setLevel(logging.ERROR)  # else each first wait for an address is told
    os.environ["OPENAI_API_KEY"] = KEY
    os.environ["RPMS_FORBID_REQUESTS"] = "1"
    for number in range(count):
        dice = Random(f"{seed} fault {number}")
        fault = FAULTS[number % len(FAULTS)]
        times = dice.choice((1, 2))
        met = iter(range(10))

        def say(_: bytes, dice: Random = dice, fault: Callable[[Random], Pieces] = fault) -> Pieces:
            return fault(dice) if next(met) < times else [response(as_json(ANSWER))]  # noqa: B023

        place = folder / str(number)
        with serving(say) as url:
            watched(
                lambda url=url, place=place: _ask(url, request, place), tally, f"fault {number}"
            )  # type: ignore[misc]
    return tally


def _ask(url: str, request: Request, folder: Path) -> None:
    patience = Patience(tries=2, first_wait=0.001, timeout=1.0, whole=2.0)
    model = open_model(
        "openai/m", ModelOptions(base_url=url, patience=patience), record=FolderOfAnswers(folder)
    )
    told = ""
    try:
        answer = model.answer(request)
        told = repr(answer)
    except ModelError as error:
        told = "".join(map(str, (error, error.args, error.__cause__, error.__context__)))
        raise
    finally:
        model.close()
        kept = (
            "".join(file.read_text(errors="replace") for file in folder.rglob("*.json"))
            if folder.exists()
            else ""
        )
        _look_for_key(told + kept)


def _look_for_key(text: str) -> None:
    seen = "".join(
        char for char in text.encode().decode("unicode_escape", "replace") if char.isprintable()
    )
    seen = "".join(char for char in seen if char not in "\u3164\ufe0f")
    if KEY in seen or KEY in text:
        raise AssertionError("the planted key was found")


@contextlib.contextmanager
def deaf_server() -> Iterator[str]:
    """A well-behaved server that overlooks constraints, in a process of its own; answers follow
    from the prompt.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            _serve_deaf(writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        port = int(pipe.readline())
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve_deaf(writer: int) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer  # noqa: PLC0415

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompt = asked["messages"][-1]["content"]
            action = NASTY_TEXTS[len(prompt) % 3] + "look" if len(prompt) % 5 else "go to desk 1"
            content = f"Thought: {len(prompt)}\nAction: {action.strip()}"
            message = {"role": "assistant", "content": content}
            body = as_json(
                {**ANSWER, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
            )
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Clients are killed here: that is the point."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        os.write(writer, f"{server.server_address[1]}\n".encode())
        os.close(writer)
        server.serve_forever()
