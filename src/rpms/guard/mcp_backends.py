"""Servers behind the guard: commands that are started, and addresses that are called."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Self

from rpms.foreign.settings_files import settings_files_unread
from rpms.foreign.shown import excerpt
from rpms.guard.mcp import NotSent, client_here
from rpms.logic.errors import InputError

try:
    import httpx2

    with settings_files_unread():
        from fastmcp.client.transports import (
            ClientTransport,
            StdioTransport,
            StreamableHttpTransport,
        )
        from fastmcp.client.transports.base import TransportOptions
        from fastmcp.server.dependencies import get_context
        from fastmcp.server.providers.proxy import ProxyClient
        from mcp import ClientSession
        from mcp.shared.exceptions import MCPError
        from mcp.shared.message import SessionMessage
        from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[mcp]'") from None

Server = str | Sequence[str]
"""A server behind the guard: its address, or the command that starts it."""
MOST_CONNECTIONS = 64
"""Connections to one server that are kept: each may be a process of its own."""
_LONGEST_START = 30.0
"""Seconds that a server may take to answer for the first time."""
_LONGEST_PROBE = 5.0
"""Seconds to wait for a server to say that it is there."""
_PROBED = 5.0
"""Seconds for which that is believed, so that nobody can keep a server busy by asking."""


# --- messages on one line ---


class _AsciiMessage:
    """A message that is written in ASCII, so that no reader sees a line end inside it.

    JSON may hold U+0085, U+2028 and U+2029 as they are, and some servers split lines there.
    """

    def __init__(self, message: Any) -> None:
        self._message = message

    def model_dump_json(self, **options: Any) -> str:
        """The message as JSON."""
        text: str = self._message.model_dump_json(ensure_ascii=True, **options)
        return text


class _AsciiStream:
    """The stream to a server's input."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def send(self, message: SessionMessage, /) -> None:
        plain: Any = _AsciiMessage(message.message)
        await self._stream.send(replace(message, message=plain))

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@lru_cache(maxsize=16)
def _in_ascii(session_class: type[ClientSession]) -> type[ClientSession]:
    """A kind of session like the given one that writes its messages in ASCII."""

    class InAscii(session_class):  # type: ignore[misc, valid-type]
        def __init__(self, read: Any, write: Any, **options: Any) -> None:
            super().__init__(read, _AsciiStream(write), **options)

    return InAscii


class _Command(StdioTransport):
    """A connection to a server that is started."""

    async def connect(
        self, *, transport_options: TransportOptions | None = None, **session: Any
    ) -> ClientSession | None:
        options = transport_options or TransportOptions()
        plain = _in_ascii(options.session_class)  # type: ignore[arg-type]
        options = replace(options, session_class=plain)
        return await super().connect(transport_options=options, **session)


def server_headers() -> dict[str, str]:
    """Headers for servers at addresses: the token in RPMS_GUARD_SERVER_TOKEN, if it is set."""
    token = os.environ.get("RPMS_GUARD_SERVER_TOKEN", "")
    return {"Authorization": f"Bearer {token}"} if token else {}


def transports_to(server: Server, headers: Mapping[str, str]) -> Callable[[], ClientTransport]:
    """Makes connections to a server; InputError for one that cannot be."""
    if isinstance(server, str):
        if not server.startswith(("http://", "https://")):
            raise InputError(f"{excerpt(server)!r} is no address of a server")
        return lambda: StreamableHttpTransport(server, headers=dict(headers))
    command, *arguments = server
    if shutil.which(command) is None:
        raise InputError(f"the server {excerpt(command)!r} cannot be started: no such command")
    known = {name: value for name, value in os.environ.items() if name != "RPMS_GUARD_TOKEN"}
    return lambda: _Command(command, list(arguments), env=known, cwd=str(Path.cwd()))


# --- one connection a client ---


@dataclass
class _Use:
    """The number of requests that a connection serves."""

    count: int = 0


@dataclass
class _Reach:
    """The last attempt to connect to a server."""

    problem: str = ""
    """The reason for which it cannot be reached; empty if it can."""

    def fail(self, why: object) -> None:
        """Note that nobody can reach it."""
        said = excerpt(why) or "it does not answer"
        self.problem = f"the server behind the guard cannot be reached: {said}"

    def note(self, error: BaseException | None) -> None:
        """Note how a request ended, if that tells anything."""
        closed = isinstance(error, MCPError) and error.error.code == CONNECTION_CLOSED
        if error is None:
            self.problem = ""
        elif closed or isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            self.fail(error)


class _Backend(ProxyClient[Any]):
    """A client of a server behind the guard.

    A process that was started is used again by all clones of a client, with the handlers of the
    first. They share the note of which request is served, so that a server's question goes to it.
    """

    use: _Use
    reach: _Reach

    def new(self) -> _Backend:
        clone = super().new()
        clone._proxy_rc_ref = self._proxy_rc_ref  # noqa: SLF001  FastMCP has no open door to it
        clone._bind_restoring_handlers()  # noqa: SLF001
        return clone  # type: ignore[return-value]

    async def __aenter__(self) -> Any:
        self.use.count += 1
        try:
            return await super().__aenter__()  # type: ignore[no-untyped-call]
        except BaseException as error:
            self.use.count -= 1
            if not isinstance(error, Exception):
                raise
            self.reach.fail(error)
            raise NotSent(INTERNAL_ERROR, self.reach.problem) from error

    async def __aexit__(self, kind: object, met: BaseException | None, trace: object) -> None:
        self.use.count -= 1
        try:
            await super().__aexit__(kind, met, trace)  # type: ignore[no-untyped-call]
        except Exception as failure:
            met = failure
            raise
        finally:
            self.reach.note(met)


class _Key(NamedTuple):
    """Key of a connection. A server's question must reach the client whose call it is about, and no
    other, so each has its own.
    """

    client: str
    mode: str
    """The version of the protocol."""


class Backends:
    """Clients of one server: one connection for each client of the guard and protocol version."""

    def __init__(
        self, make: Callable[[], ClientTransport], patience: float, claim: str = ""
    ) -> None:
        """`claim` names the part of a token that tells clients apart, instead of its subject."""
        self._make = make
        self._patience = patience
        self._claim = claim
        self._clients: OrderedDict[_Key, _Backend] = OrderedDict()
        self._reach = _Reach()
        self._probe: asyncio.Task[None] | None = None
        self._probed_at = 0.0

    @property
    def problem(self) -> str:
        """The reason for which the server could not be reached when last called; empty if it
        could.
        """
        return self._reach.problem

    async def is_up(self) -> bool:
        """True if the server lists its tools, now or a few seconds ago.

        One that is being started may take longer than anybody waits here: it is asked on.
        """
        probe = self._probe
        if probe is None or (probe.done() and monotonic() - self._probed_at >= _PROBED):
            probe = self._probe = asyncio.create_task(self._list())
        await asyncio.wait({probe}, timeout=_LONGEST_PROBE)
        return probe.done() and not self.problem

    async def _list(self) -> None:
        """Ask for the tools, and note if that fails."""
        try:
            async with asyncio.timeout(_LONGEST_START), await self._client(_Key("", "auto")) as it:
                await it.list_tools()
        except Exception as error:  # noqa: BLE001  whatever a server does wrong
            self._reach.fail(error)
        self._probed_at = monotonic()

    async def __call__(self) -> _Backend:
        """A client for the request that is served."""
        request = get_context().request_context
        version = request.protocol_version if request is not None else ""
        mode = version if version in MODERN_PROTOCOL_VERSIONS else "legacy"
        return await self._client(_Key(client_here(self._claim), mode))

    async def _client(self, key: _Key) -> _Backend:
        while key not in self._clients and len(self._clients) >= MOST_CONNECTIONS:
            await self._end_one()  # meanwhile another request of this client may have come
        if key not in self._clients:
            self._clients[key] = self._connected(key.mode)
        self._clients.move_to_end(key)
        return self._clients[key].new()

    def _connected(self, mode: str) -> _Backend:
        client = _Backend(
            self._make(),
            forward_incoming_headers=False,
            timeout=self._patience,
            init_timeout=_LONGEST_START,
            mode=mode,
        )
        client.use = _Use()
        client.reach = self._reach
        return client

    async def _end_one(self) -> None:
        """End the connection that was idle for longest: its client gets another when it comes."""
        for key, client in self._clients.items():
            if not client.use.count:
                del self._clients[key]
                await client.transport.close()
                return
        raise NotSent(INTERNAL_ERROR, "too many clients are served at once: try again later")

    async def close(self) -> None:
        """End the servers that were started."""
        if self._probe is not None:
            self._probe.cancel()
        for client in self._clients.values():
            await client.transport.close()
