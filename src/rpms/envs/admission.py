"""Admission to the OpenEnv server, checked before any code behind it sees a request."""

import contextlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LONGEST_COMMAND
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError

try:
    from fastapi.responses import JSONResponse
except ImportError:
    raise ImportError("rpms.envs.openenv needs OpenEnv: pip install 'rpms[openenv]'") from None

LARGEST_MESSAGE = 1_000_000
"""Bytes that a client may send at once; a command has some dozens."""
TOKEN_VARIABLE = "RPMS_ENVS_TOKEN"  # noqa: S105  the name of one
"""Holds what clients on other machines must send as `Authorization: Bearer …`."""
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_NAMES = ("id", "method", "jsonrpc", "type", "session_id", "episode_id")
"""Fields of a message that are sent back as they came."""
_RPC = "/mcp"
"""The path of JSON-RPC messages."""
_RPC_FIELDS = {"jsonrpc", "id", "method", "params"}
LONGEST_NAME = 200
"""Characters of what a client calls its episode, which is sent back to it."""
_JSON = "application/json"


class HttpRefusal(NamedTuple):
    """The answer to a request that is not admitted."""

    status: int
    reason: str


@dataclass(frozen=True)
class Admission:
    """Callers admitted to a server: not pages of other sites, nor names of other hosts that
    lead here.
    """

    hosts: frozenset[str] = _LOOPBACK
    """The names by which the server is addressed, and of the pages that may ask it."""
    token: str = field(default="", repr=False)
    """Token that a client must send; empty if only this machine can reach the server."""

    def refusal(self, headers: Mapping[str, str]) -> HttpRefusal | None:
        """The refusal of a request that is not to be answered."""
        if _host(_HOST, headers.get("host", "")) not in self.hosts:
            return HttpRefusal(421, "this server has another name: --allow-host adds one")
        origin = headers.get("origin")
        if origin is not None and _host(_ORIGIN, origin) not in self.hosts:
            reason = "pages of other sites may not use this server: --allow-host adds one"
            return HttpRefusal(403, reason)
        sent = headers.get("authorization", "").removeprefix("Bearer ").encode("utf-8", "replace")
        if self.token and not hmac.compare_digest(sent, self.token.encode("utf-8", "replace")):
            token = f"the token of {TOKEN_VARIABLE} as `Authorization: Bearer …`"
            return HttpRefusal(401, f"this server wants {token}")
        return None


_NAMED = r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]{1,5})?"
_HOST = re.compile(_NAMED, re.IGNORECASE | re.ASCII)
_ORIGIN = re.compile(rf"https?://{_NAMED}", re.IGNORECASE | re.ASCII)
"""A host, and a page's origin, as browsers write them. Anything that is read more kindly, such as a
user's name before the host, would be read differently by somebody else; and `file://localhost`
could be any file."""


def _host(form: re.Pattern[str], written: str) -> str:
    """The host that a header names; empty if it is not written as it must be."""
    found = form.fullmatch(written)
    return (found["address"] or found["name"]).lower() if found else ""


_ONCE = ("host", "origin", "authorization", "content-type", "content-length")
"""Headers that decide: of two, the code behind might take the other one."""


class _Headers(NamedTuple):
    """The headers of a request."""

    by_name: dict[str, str]
    twice: str
    """One that stands twice though it decides; empty for none."""


def _read_headers(pairs: Iterable[tuple[bytes, bytes]]) -> _Headers:
    headers: dict[str, str] = {}
    twice = ""
    for name_bytes, value in pairs:
        name = name_bytes.decode("latin-1").lower()
        if name in headers and name in _ONCE:
            twice = name
        headers[name] = value.decode("latin-1")
    return _Headers(headers, twice)


def admission(host: str, allowed: Iterable[str], token: str) -> Admission:
    """The admission of a server on an address.

    Without a token, one that other machines reach is an InputError.
    """
    if host not in _LOOPBACK and not token:
        raise InputError(
            f"--host {excerpt(host, 60)} is reached by other machines: set {TOKEN_VARIABLE} to what"
            " clients must send"
        )
    named = {name.strip().lower() for name in (*allowed, host)}
    return Admission(_LOOPBACK | named - {"", "0.0.0.0", "::"}, token)  # noqa: S104  names of no host


class Admitting:
    """Answers only those that are admitted, and passes on only messages that the code behind can
    read.

    Others get one short line. Of plain HTTP, a body is refused before it is all in memory; on a web
    socket the session goes on, and what is said to a client that is gone is dropped: the session
    then ends as others do.
    """

    def __init__(self, app: Any, admitted: Admission) -> None:
        self._app = app
        self._admitted = admitted

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = _read_headers(scope["headers"])
        refused = self._admitted.refusal(headers.by_name)
        if headers.twice:
            refused = HttpRefusal(400, f"the header {headers.twice} stands twice")
        if scope["type"] == "http":
            content = headers.by_name.get("content-type", "")
            await self._answer(scope, receive, send, content, refused)
        elif refused is not None:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused.reason})
        else:
            await self._listen(scope, receive, send)

    async def _answer(
        self, scope: Any, receive: Any, send: Any, content: str, refused: HttpRefusal | None
    ) -> None:
        is_json = content.partition(";")[0].strip().lower() == _JSON
        if refused is None and scope["method"] == "POST" and not is_json:
            refused = HttpRefusal(415, f"send JSON, with the content type {_JSON}")
        message: Any = {}
        if refused is None:
            message = await _whole_message(receive)
            if len(message["body"]) > LARGEST_MESSAGE:
                refused = HttpRefusal(413, f"a message has at most {LARGEST_MESSAGE:,} bytes")
        if refused is not None:  # the rest of the body is not read, nor waited for
            detail = {"detail": refused.reason}
            answer = JSONResponse(detail, refused.status, {"connection": "close"})
            await answer(scope, receive, send)
            return
        body = message["body"]
        problem = _problem(body, rpc=scope["path"] == _RPC) if body else ""
        if problem:
            await JSONResponse({"detail": problem}, 422)(scope, receive, send)
            return
        read = [message]

        async def again() -> Any:
            return read.pop() if read else await receive()

        await self._app(scope, again, send)

    async def _listen(self, scope: Any, receive: Any, send: Any) -> None:
        async def tell(message: Any) -> None:
            with contextlib.suppress(OSError):  # servers raise it if the connection is lost
                await send(message)

        async def next_sound() -> Any:
            while (message := await receive())["type"] == "websocket.receive":
                problem = _problem(
                    message.get("bytes") or (message.get("text") or "").encode("utf-8", "replace"),
                    rpc=scope["path"] == _RPC,
                )
                if not problem:
                    break
                said = {"type": "error", "data": {"message": problem, "code": "REFUSED"}}
                on_mcp = {
                    "jsonrpc": "2.0",
                    "id": None,
                    "error": {"code": -32600, "message": problem},
                }
                await tell({"type": "websocket.send", "text": json.dumps({**said, **on_mcp})})
            return message

        await self._app(scope, next_sound, tell)


def _rpc_problem(sent: Any) -> str:
    """The first thing that keeps a message from being a request of JSON-RPC."""
    if not isinstance(sent, dict):
        return "a request of JSON-RPC is a JSON object"
    if sent.get("jsonrpc") != "2.0":
        return 'a request of JSON-RPC has "jsonrpc": "2.0"'
    if not isinstance(sent.get("method"), str):
        return "a request of JSON-RPC has a method, which is a text"
    if not isinstance(sent.get("params", {}), dict):
        return "the params of a request of JSON-RPC are a JSON object"
    if not sent.keys() <= _RPC_FIELDS:
        return f"a request of JSON-RPC has {', '.join(sorted(_RPC_FIELDS))} and nothing else"
    return ""


async def _whole_message(receive: Any) -> Any:
    """The last piece of a message, with the bodies of all; one that is too long ends early."""
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_MESSAGE or not message.get("more_body"):
            return {**message, "body": body}


def _problem(body: bytes, *, rpc: bool) -> str:
    """The first thing about a message that the code behind could not answer properly.

    `rpc`: the message itself is a request of JSON-RPC, not only what it holds.
    """
    try:
        sent = loads(body)
        json.dumps(sent, ensure_ascii=False).encode()
    except NotJson as error:
        return f"this is not JSON as it is sent here: {error}"
    except UnicodeEncodeError:
        return "a text holds half of a letter (a lone surrogate)"
    if not isinstance(sent, dict):
        return "a message is a JSON object"
    if rpc:
        return _name_problem(sent) or _rpc_problem(sent)
    if sent.get("type") == "mcp":
        return _name_problem(sent) or _rpc_problem(sent.get("data"))
    return _name_problem(sent)


def _name_problem(sent: dict[str, Any]) -> str:
    """The first name or text of a message that is too long, or of another kind than it must be."""
    held: list[tuple[str, Any]] = list(sent.items())
    for name, value in held:  # grows by what is inside
        if name in _NAMES and not isinstance(value, str | int | None):
            return f"{', '.join(_NAMES)}: give a text or a number"
        if _is_too_long(name, value):
            return (
                f"a text is too long: {', '.join(_NAMES)} have {LONGEST_NAME} characters, others"
                f" {LONGEST_COMMAND:,}"
            )
        if isinstance(value, dict):
            held += value.items()
        elif isinstance(value, list):
            held += [("", each) for each in value]
    return ""


def _is_too_long(name: str, value: Any) -> bool:
    """True if a field's name, or the text that it holds, is longer than anybody needs."""
    longest = LONGEST_NAME if name in _NAMES else LONGEST_COMMAND
    return len(name) > LONGEST_NAME or (isinstance(value, str) and len(value) > longest)
