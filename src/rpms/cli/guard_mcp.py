"""`rpms guard mcp`: stand before MCP servers."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rpms.foreign.file_reader import is_there
from rpms.logic.errors import InputError

if TYPE_CHECKING:
    from rpms.guard.guard import Guard
    from rpms.guard.log import GuardLog
    from rpms.guard.mcp_proxy import Listen, Proxy

_LONGEST = 86_400.0
"""Seconds of a --timeout."""
_MEGABYTE = 1_000_000


ManualOption = Annotated[
    list[str], typer.Option(help="The guard's manual; repeat it for more.", metavar="FILE")
]
CommandArgument = Annotated[
    list[str] | None, typer.Argument(help="The server, after `--`.", show_default=False)
]
PythonOption = Annotated[
    Path | None,
    typer.Option(help="The Python file with the functions the manual names.", metavar="FILE"),
]
LogOption = Annotated[
    Path | None,
    typer.Option(help="Write every call, ruling and result to this file.", metavar="FILE"),
]
LogLimitOption = Annotated[
    float, typer.Option(help="Move the log to FILE.1 when it is larger.", metavar="MB")
]
TimeoutOption = Annotated[float, typer.Option(help="Time that a call may take.", metavar="SECONDS")]
ObserveOption = Annotated[
    bool, typer.Option("--observe-only", help="Judge and log; let every call through.")
]
StoreOption = Annotated[
    Path | None, typer.Option(help="A SQLite file in which guards share facts.", metavar="FILE")
]
SessionOption = Annotated[
    str,
    typer.Option(help="What the log has under this name is known from the start.", metavar="NAME"),
]
ServerOption = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "An address, or a command; repeat it for more. To addresses the token in"
            " RPMS_GUARD_SERVER_TOKEN is sent."
        )
    ),
]
ListenOption = Annotated[
    str,
    typer.Option(help="Serve Streamable HTTP at /mcp instead of stdio.", metavar="HOST:PORT"),
]
TokensOption = Annotated[
    Path | None,
    typer.Option(
        help="Lines of a client's name and its token; RPMS_GUARD_TOKEN is that of one client.",
        metavar="FILE",
    ),
]
JwksOption = Annotated[
    str,
    typer.Option(
        help=(
            "Take tokens (JWT) that are signed with a key from here, with --issuer and --audience."
        ),
        metavar="URL",
    ),
]
IssuerOption = Annotated[str, typer.Option(help="Who must have issued a JWT.")]
AudienceOption = Annotated[str, typer.Option(help="Whom a JWT must be for.")]
ClaimOption = Annotated[
    str,
    typer.Option(
        help="The claim of a JWT that tells clients apart; its subject by default.",
        metavar="NAME",
    ),
]
HostOption = Annotated[
    list[str] | None,
    typer.Option(
        help="A name by which clients may address this server; repeat it for more.",
        metavar="NAME",
    ),
]


def run(
    manual: ManualOption,
    command: CommandArgument = None,
    python: PythonOption = None,
    log: LogOption = None,
    log_limit: LogLimitOption = 0.0,
    timeout: TimeoutOption = 300.0,
    observe_only: ObserveOption = False,
    store: StoreOption = None,
    session: SessionOption = "",
    server: ServerOption = None,
    listen: ListenOption = "",
    tokens: TokensOption = None,
    jwks: JwksOption = "",
    issuer: IssuerOption = "",
    audience: AudienceOption = "",
    claim: ClaimOption = "",
    host: HostOption = None,
) -> None:
    """Run MCP servers behind the guard: calls are checked, and so are resources and prompts."""
    servers = _servers_named(command, server)
    if not 0.1 <= timeout <= _LONGEST:
        raise InputError(f"--timeout: should be 0.1 to {_LONGEST:g} seconds")
    # neither help nor a mistake waits for the guard
    from rpms.guard import mcp_proxy  # noqa: PLC0415
    from rpms.guard.guard import Guard  # noqa: PLC0415
    from rpms.guard.mcp import McpGuard  # noqa: PLC0415
    from rpms.guard.mcp_backends import server_headers  # noqa: PLC0415
    from rpms.guard.python_facts import load_python  # noqa: PLC0415

    served = None
    if listen:
        jwt = _identity_provider(jwks, issuer, audience)
        served = _served_at(listen, tokens, jwt, host or ())
    with _quiet_stdout():
        functions = load_python(python)
        begun: dict[str, Guard] = {}
        if session or listen:
            begun = _sessions_in(log, Guard(manual, python=functions))
        guard = Guard(
            manual,
            python=functions,
            log=_open_log(log, log_limit),
            session=session,
            store=store,
            observe_only=observe_only,
            watch=_telemetry(),
        )
        for each in begun.values():
            each.join(guard)
    proxy = mcp_proxy.make_proxy(
        McpGuard(guard, claim=claim, known=begun),
        servers,
        headers=server_headers(),
        patience=timeout,
        auth=served.auth() if served is not None else None,
    )
    _serve(proxy, served)


def _serve(proxy: "Proxy", served: "Listen | None") -> None:
    """Serve at an address; without one, the client that started this process."""
    from rpms.guard import mcp_proxy  # noqa: PLC0415

    if served is None:
        mcp_proxy.run_stdio(proxy)
        return
    with suppress(KeyboardInterrupt):
        mcp_proxy.run_http(proxy, served)


def _sessions_in(log: Path | None, guard: "Guard") -> "dict[str, Guard]":
    """The sessions that a log has, to go on with; none without a log."""
    from rpms.guard.replay import resumed  # noqa: PLC0415

    if log is None or not is_there(log):
        return {}
    return resumed(guard, log)


def _open_log(file: Path | None, megabytes: float) -> "GuardLog | None":
    from rpms.guard.log import GuardLog  # noqa: PLC0415

    return None if file is None else GuardLog(file, limit=round(megabytes * _MEGABYTE))


def _servers_named(command: list[str] | None, server: list[str] | None) -> list[str | list[str]]:
    """The servers behind the guard: the command after `--` first, then those of --server, each an
    address or a command.
    """
    servers: list[str | list[str]] = [command] if command else []
    for each in server or ():
        servers.append(each if "://" in each else shlex.split(each))
    if not servers:
        usage = "`rpms guard mcp --manual FILE -- your-server`"
        raise InputError(f"name the server after `--`: {usage}; or its address by --server")
    return servers


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


def _served_at(
    listen: str, tokens: Path | None, jwt: Mapping[str, str], hosts: Sequence[str]
) -> "Listen":
    """The address to serve at, and who may come."""
    from rpms.guard.mcp_proxy import Listen, hash_token, read_tokens  # noqa: PLC0415

    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"--listen takes HOST:PORT, like 127.0.0.1:8000, not {listen!r}")
    names = read_tokens(tokens) if tokens is not None else {}
    alone = os.environ.get("RPMS_GUARD_TOKEN", "")
    if alone:
        names[hash_token(alone)] = "client"
    return Listen(host or "127.0.0.1", int(port), names, jwt, hosts)


def _identity_provider(jwks: str, issuer: str, audience: str) -> dict[str, str]:
    """The options of a check of JWTs; none without the address of its keys."""
    if not jwks:
        return {}
    if not issuer or not audience:
        raise InputError("--jwks needs --issuer and --audience: else any token would do")
    return {"jwks_uri": jwks, "issuer": issuer, "audience": audience}


def _telemetry() -> Any:
    """OpenTelemetry for the guard, if one of its variables is set; None otherwise."""
    if not any(name.startswith("OTEL_") for name in os.environ):
        return None
    from rpms.guard.telemetry import telemetry  # noqa: PLC0415  an extra

    return telemetry()
