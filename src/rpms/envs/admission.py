"""Admission to the OpenEnv server, checked before any code behind it sees a request."""

import contextlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

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
LONGEST_NAME = 200
"""Characters of what a client calls its episode, which is sent back to it."""
_JSON = "application/json"


@dataclass(frozen=True)
class Admission:
    """Callers admitted to a server: not pages of other sites, nor names of other hosts that
    lead here.
    """

    hosts: frozenset[str] = _LOOPBACK
    """The names by which the server is addressed, and of the pages that may ask it."""
    token: str = field(default="", repr=False)
    """Token that a client must send; empty if only this machine can reach the server."""

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Status and reason, if a request is not to be answered."""
        if _host(f"//{headers.get('host', '')}") not in self.hosts:
            return 421, "this server has another name: --allow-host adds one"
        origin = headers.get("origin")
        if origin is not None and _host(origin) not in self.hosts:
            return 403, "pages of other sites may not use this server: --allow-host adds one"
        sent = headers.get("authorization", "").removeprefix("Bearer ").encode("utf-8", "replace")
        if self.token and not hmac.compare_digest(sent, self.token.encode("utf-8", "replace")):
            return (
                401,
                f"this server wants the token of {TOKEN_VARIABLE} as `Authorization: Bearer …`",
            )
        return None


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


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
        self._app, self._admitted = app, admitted

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        refused = self._admitted.refusal(headers)
        if scope["type"] == "http":
            await self._answer(scope, receive, send, headers.get("content-type", ""), refused)
        elif refused is not None:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})
        else:
            await self._listen(scope, receive, send)

    async def _answer(
        self, scope: Any, receive: Any, send: Any, content: str, refused: tuple[int, str] | None
    ) -> None:
        body, message = b"", {"type": "http.disconnect"}
        if (
            refused is None
            and scope["method"] == "POST"
            and content.partition(";")[0].strip().lower() != _JSON
        ):
            refused = 415, f"send JSON, with the content type {_JSON}"
        while refused is None:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > LARGEST_MESSAGE:
                refused = 413, f"a message has at most {LARGEST_MESSAGE:,} bytes"
            elif not message.get("more_body"):
                break
        if refused is not None:  # the body is not read, nor waited for
            await JSONResponse({"detail": refused[1]}, refused[0], {"connection": "close"})(
                scope, receive, send
            )
        elif body and (problem := _problem(body)):
            await JSONResponse({"detail": problem}, 422)(scope, receive, send)
        else:
            read = [{**message, "body": body}]

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
                    message.get("bytes") or (message.get("text") or "").encode("utf-8", "replace")
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


def _problem(body: bytes) -> str:
    """The first thing about a message that the code behind could not answer in kind."""
    try:
        sent = loads(body)
        json.dumps(sent, ensure_ascii=False).encode()
    except NotJson as error:
        return f"this is not JSON as it is sent here: {error}"
    except UnicodeEncodeError:
        return "a text holds half of a letter (a lone surrogate)"
    if not isinstance(sent, dict):
        return "a message is a JSON object"
    held: list[tuple[str, Any]] = list(sent.items())
    for name, value in held:  # grows by what is inside
        if name in _NAMES and not (value is None or isinstance(value, str | int)):
            return f"{', '.join(_NAMES)}: give a text or a number"
        longest = LONGEST_NAME if name in _NAMES else LONGEST_COMMAND
        if len(name) > LONGEST_NAME or (isinstance(value, str) and len(value) > longest):
            return (
                f"a text is too long: {', '.join(_NAMES)} have {LONGEST_NAME} characters, others"
                f" {LONGEST_COMMAND:,}"
            )
        if isinstance(value, dict):
            held += value.items()
        elif isinstance(value, list):
            held += [("", each) for each in value]
    return ""
