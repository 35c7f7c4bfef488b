"""A guard before MCP servers, over stdio or HTTP: a proxy of FastMCP with the guard in it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import read_text
from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.settings_files import settings_files_unread
from rpms.foreign.shown import excerpt
from rpms.guard.likely_mistakes import find_unheard
from rpms.guard.mcp import McpGuard
from rpms.guard.mcp_backends import Backends, Server, server_headers, transports_to
from rpms.logic.errors import FileError, InputError

try:
    with settings_files_unread():
        from fastmcp import Client, FastMCP
        from fastmcp.server.auth import AccessToken, AuthProvider, TokenVerifier
        from fastmcp.server.providers.proxy import ProxyMetadataMiddleware, ProxyProvider
        from starlette.requests import Request
        from starlette.responses import JSONResponse
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[mcp]'") from None

_LOUD = logging.getLogger("rpms.guard")
_PATH = "/mcp"
_LOCAL = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Listen:
    """An address to serve HTTP at, and who may come."""

    host: str
    port: int
    tokens: Mapping[str, str] = field(default_factory=dict)
    """The names of clients by the SHA-256 of their tokens."""
    jwt: Mapping[str, str] = field(default_factory=dict)
    """Options of a JWTVerifier, by which tokens of an identity provider are checked."""
    hosts: Sequence[str] = ()
    """Names by which clients may address this server, beside local ones."""

    def auth(self) -> AuthProvider | None:
        """The check of tokens; None if there are none, which is allowed on this machine alone."""
        if self.jwt:
            from fastmcp.server.auth.providers.jwt import JWTVerifier  # noqa: PLC0415  takes time

            return JWTVerifier(**self.jwt)  # type: ignore[arg-type]
        if self.tokens:
            return _NamedTokens(self.tokens)
        if self.host not in _LOCAL:
            raise InputError(
                f"--listen {self.host} is open to other machines: set RPMS_GUARD_TOKEN, --tokens"
                " or --jwks, so that clients authenticate"
            )
        _LOUD.warning(
            "without tokens all clients are taken for one, and share what was looked up and done"
        )
        return None


class _NamedTokens(TokenVerifier):
    """Knows clients by their tokens."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    async def verify_token(self, token: str) -> AccessToken | None:
        name = self._names.get(hash_token(token))
        return None if name is None else AccessToken(token=token, client_id=name, scopes=[])


def hash_token(token: str) -> str:
    """The form in which tokens are kept and compared."""
    return hashlib.sha256(token.encode()).hexdigest()


def read_tokens(file: Path) -> dict[str, str]:
    """Clients by the hashes of their tokens, from lines of a name and a token."""
    found: dict[str, str] = {}
    for number, line in enumerate(read_text(file, LARGEST_MANUAL).splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or len(words[1]) < 16:
            problem = "write a name and a token of at least 16 characters"
            raise FileError(file, number, problem)
        name, token = words
        if hash_token(token) in found or name in found.values():
            raise FileError(file, number, "this name or token is there already")
        found[hash_token(token)] = name
    return found


@dataclass(frozen=True)
class Proxy:
    """A server that passes on to others what the guard lets through."""

    server: FastMCP[Any]
    backends: Sequence[Backends]

    def problem(self) -> str:
        """The reason why one of the servers could not be reached when it was last called; empty if
        all could.
        """
        return next((each.problem for each in self.backends if each.problem), "")

    async def close(self) -> None:
        """End the servers that were started."""
        for each in self.backends:
            await each.close()


def make_proxy(
    middleware: McpGuard,
    servers: Sequence[Server],
    *,
    headers: Mapping[str, str] | None = None,
    patience: float = 300.0,
    auth: AuthProvider | None = None,
) -> Proxy:
    """Make a proxy before some servers.

    `headers` are sent to servers with an address, and nothing that a client sent is. A call may
    take `patience` seconds.
    """
    backends = [
        Backends(transports_to(each, headers or {}), patience, middleware.claim) for each in servers
    ]

    @asynccontextmanager
    async def lifespan(_server: FastMCP[Any]) -> AsyncIterator[dict[str, Any]]:
        yield {}
        await proxy.close()

    server: FastMCP[Any] = FastMCP("rpms-guard", auth=auth, lifespan=lifespan)
    proxy = Proxy(server, backends)
    server.add_middleware(middleware)
    providers = [ProxyProvider(each) for each in backends]
    for provider in providers:
        server.add_provider(provider)
    if len(providers) == 1:
        server.add_middleware(ProxyMetadataMiddleware(providers[0]))

    middleware.unreachable = proxy.problem
    for problem in find_unheard(middleware.manual):
        _LOUD.warning(problem)

    @server.custom_route("/health", methods=["GET"])
    async def health(_request: Request) -> JSONResponse:
        """Say what is up, and no more: whoever asks need not have a token."""
        up = await asyncio.gather(*(each.is_up() for each in backends))
        fine = middleware.ready and all(up)
        return JSONResponse(
            {"ok": fine, "manual": middleware.ready, "servers": up}, 200 if fine else 503
        )

    return proxy


def run_stdio(proxy: Proxy) -> None:
    """Serve the client that started this process, until its input ends or a signal comes."""
    asyncio.run(_run_stdio(proxy))


async def _run_stdio(proxy: Proxy) -> None:
    told_to_end = asyncio.Event()
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(sign, told_to_end.set)
    serving = asyncio.create_task(
        proxy.server.run_stdio_async(show_banner=False, log_level="CRITICAL")
    )
    waiting = asyncio.create_task(told_to_end.wait())
    await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if told_to_end.is_set():
        await proxy.close()
        os._exit(0)  # a thread waits for the client's next line, and nothing can wake it
    waiting.cancel()
    await serving


def run_http(proxy: Proxy, listen: Listen) -> None:
    """Serve until interrupted."""
    running = proxy.server.run_http_async(
        show_banner=False,
        host=listen.host,
        port=listen.port,
        path=_PATH,
        log_level="CRITICAL",
        host_origin_protection=True,
        allowed_hosts=[listen.host, *listen.hosts],
    )
    try:
        asyncio.run(running)
    except SystemExit:
        problem = f"nothing can be served at {listen.host}:{listen.port}: is it in use?"
        raise InputError(problem) from None


def list_tools(server: Server) -> list[dict[str, Any]]:
    """The tools that a server lists, as JSON."""
    make = transports_to(server, server_headers())

    async def listed() -> list[dict[str, Any]]:
        async with Client(make()) as client:
            tools = await client.list_tools()
        return [
            json.loads(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools
        ]

    try:
        return asyncio.run(listed())
    except Exception as error:  # noqa: BLE001  whatever a server does wrong is one line
        raise InputError(f"the server's tools cannot be listed: {excerpt(error)}") from None
