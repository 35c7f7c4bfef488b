"""`rpms guard mcp`: stand before MCP servers.

Clients wait while it starts, so only what is used is loaded.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rpms.cli.screen import show_logs
from rpms.foreign.file_reader import is_there
from rpms.logic.errors import InputError

if TYPE_CHECKING:
    from rpms.guard.guard import Guard
    from rpms.guard.mcp_proxy import Listen

_LONGEST = 86_400.0
"""Seconds of a --timeout."""
_MEGABYTE = 1_000_000


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; `rpms guard mcp --help` tells more")


def _parser() -> _Parser:
    parser = _Parser(
        prog="rpms guard mcp",
        description="Run MCP servers behind the guard: calls are checked, and so are resources and"
        " prompts.",
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help="The server, after `--`.")
    _add_guard_options(parser.add_argument_group("the guard"))
    _add_http_options(parser.add_argument_group("HTTP"))
    return parser


def _add_guard_options(group: Any) -> None:
    add = group.add_argument
    manual = "The guard's manual; repeat it for more."
    add("--manual", action="append", required=True, metavar="FILE", help=manual)
    python = "The Python file with the functions the manual names."
    add("--python", type=Path, metavar="FILE", help=python)
    log = "Write every call, ruling and result to this file."
    add("--log", type=Path, metavar="FILE", help=log)
    limit = "Move the log to FILE.1 when it is larger."
    add("--log-limit", type=float, default=0.0, metavar="MB", help=limit)
    timeout = "Time that a call may take; 300 by default."
    add("--timeout", type=float, default=300.0, metavar="SECONDS", help=timeout)
    observe = "Judge and log; let every call through."
    add("--observe-only", action="store_true", help=observe)
    store = "A SQLite file in which guards share facts."
    add("--store", type=Path, metavar="FILE", help=store)
    session = "What the log has under this name is known from the start."
    add("--session", default="", metavar="NAME", help=session)


def _add_http_options(group: Any) -> None:
    add = group.add_argument
    listen = "Serve Streamable HTTP at /mcp instead of stdio."
    add("--listen", default="", metavar="HOST:PORT", help=listen)
    server = "An address, or a command; repeat it for more. To addresses the token in"
    server += " RPMS_GUARD_SERVER_TOKEN is sent."
    add("--server", action="append", default=[], help=server)
    tokens = "Lines of a client's name and its token; RPMS_GUARD_TOKEN is that of one client."
    add("--tokens", type=Path, metavar="FILE", help=tokens)
    jwks = "Take tokens (JWT) that are signed with a key from here, with --issuer and --audience."
    add("--jwks", default="", metavar="URL", help=jwks)
    add("--issuer", default="", help="Who must have issued a JWT.")
    add("--audience", default="", help="Whom a JWT must be for.")
    claim = "The claim of a JWT that tells clients apart; its subject by default."
    add("--claim", default="", metavar="NAME", help=claim)
    host = "A name by which clients may address this server; repeat it for more."
    add("--host", action="append", default=[], metavar="NAME", help=host)


def run(arguments: Sequence[str]) -> int:
    """Run until the client ends; the exit code."""
    options = _parser().parse_args(arguments)
    command: list[str] = options.command[options.command[:1] == ["--"] :]
    servers = [each if "://" in each else shlex.split(each) for each in options.server]
    every = [command, *servers] if command else servers
    if not every:
        usage = "`rpms guard mcp --manual FILE -- your-server`"
        raise InputError(f"name the server after `--`: {usage}; or its address by --server")
    if not 0.1 <= options.timeout <= _LONGEST:
        raise InputError(f"--timeout: should be 0.1 to {_LONGEST:g} seconds")
    # neither help nor a mistake waits for the guard
    from rpms.guard import mcp_proxy  # noqa: PLC0415
    from rpms.guard.mcp import McpGuard  # noqa: PLC0415

    show_logs()
    listen = _listen(options) if options.listen else None
    with _quiet_stdout():
        guard, known = _guard(options)
    proxy = mcp_proxy.make_proxy(
        McpGuard(guard, claim=options.claim, known=known),
        every,
        headers=_server_headers(),
        patience=options.timeout,
        auth=listen.auth() if listen is not None else None,
    )
    if listen is None:
        mcp_proxy.run_stdio(proxy)
        return 0
    with suppress(KeyboardInterrupt):
        mcp_proxy.run_http(proxy, listen)
    return 0


@contextmanager
def _quiet_stdout() -> Iterator[None]:
    """Send what is printed to stderr: a client reads stdout, and takes all of it for messages."""
    client = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(client, 1)
        os.close(client)


def _listen(options: Any) -> Listen:
    """The address to serve at, and who may come."""
    from rpms.guard.mcp_proxy import Listen, hash_token, read_tokens  # noqa: PLC0415

    host, _, port = options.listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"--listen takes HOST:PORT, like 127.0.0.1:8000, not {options.listen!r}")
    jwt = {}
    if options.jwks:
        if not options.issuer or not options.audience:
            raise InputError("--jwks needs --issuer and --audience: else any token would do")
        jwt = {
            "jwks_uri": options.jwks,
            "issuer": options.issuer,
            "audience": options.audience,
        }
    tokens = read_tokens(options.tokens) if options.tokens is not None else {}
    alone = os.environ.get("RPMS_GUARD_TOKEN", "")
    if alone:
        tokens[hash_token(alone)] = "client"
    return Listen(host or "127.0.0.1", int(port), tokens, jwt, options.host)


def _server_headers() -> dict[str, str]:
    """Headers for servers behind the guard."""
    token = os.environ.get("RPMS_GUARD_SERVER_TOKEN", "")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _guard(options: Any) -> tuple[Guard, dict[str, Guard]]:
    """The guard, and those of earlier sessions in the log."""
    from rpms.guard.guard import Guard  # noqa: PLC0415
    from rpms.guard.log import GuardLog  # noqa: PLC0415
    from rpms.guard.python_facts import load_python  # noqa: PLC0415
    from rpms.guard.replay import resumed  # noqa: PLC0415

    functions = load_python(options.python)
    watch: Any = None
    if any(name.startswith("OTEL_") for name in os.environ):
        from rpms.guard.telemetry import telemetry  # noqa: PLC0415  an extra

        watch = telemetry()
    log = None
    known = {}
    if options.log is not None:
        if is_there(options.log) and (options.session or options.listen):
            known = resumed(Guard(options.manual, python=functions), options.log)
        log = GuardLog(options.log, limit=round(options.log_limit * _MEGABYTE))
    guard = Guard(
        options.manual,
        python=functions,
        log=log,
        session=options.session,
        store=options.store,
        observe_only=options.observe_only,
        watch=watch,
    )
    for each in known.values():
        each.join(guard)
    return guard, known
