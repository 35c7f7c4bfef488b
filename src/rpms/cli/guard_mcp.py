"""`rpms guard mcp`: stand before MCP servers.

Clients wait while it starts, so only what is used is loaded.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rpms.cli.screen import complain, show_logs
from rpms.foreign.file_reader import is_there
from rpms.logic.errors import InputError

if TYPE_CHECKING:
    from rpms.guard.guard import Guard

_LONGEST = 86_400.0
"""Seconds of a --timeout."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; `rpms guard mcp --help` tells more")


def _parser() -> _Parser:
    parser = _Parser(
        prog="rpms guard mcp",
        description="Run MCP servers behind the guard: calls are checked, everything else passes.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--manual",
        action="append",
        required=True,
        metavar="FILE",
        help="The guard's manual; repeat it for more.",
    )
    add(
        "--python",
        type=Path,
        metavar="FILE",
        help="The Python file with the functions the manual names.",
    )
    add(
        "--log", type=Path, metavar="FILE", help="Write every call, ruling and result to this file."
    )
    add(
        "--timeout",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="Time that a call may take; 300 by default.",
    )
    add("--observe-only", action="store_true", help="Judge and log; let every call through.")
    add("--store", type=Path, metavar="FILE", help="A SQLite file in which guards share facts.")
    add(
        "--session",
        default="",
        metavar="NAME",
        help="What the log has under this name is known from the start.",
    )
    add("--listen", default="", metavar="HOST:PORT", help="Serve Streamable HTTP instead of stdio.")
    add(
        "--server",
        action="append",
        default=[],
        help="With --listen: an address or a command; repeat it for more.",
    )
    add("command", nargs=argparse.REMAINDER, help="The server and its arguments, after `--`.")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run until a side ends; the server's exit code."""
    options = _parser().parse_args(arguments)
    command: list[str] = options.command[options.command[:1] == ["--"] :]
    if not command and not (options.listen and options.server):
        raise InputError(
            "name the server after `--`: `rpms guard mcp --manual FILE -- your-server`"
        )
    if not 0.1 <= options.timeout <= _LONGEST:
        raise InputError(f"--timeout: should be 0.1 to {_LONGEST:g} seconds")
    from rpms.guard.mcp_proxy import Proxy  # noqa: PLC0415  neither help nor a mistake waits for the guard

    show_logs()

    client = os.dup(1)
    os.dup2(
        2,
        1,
        # from here on only the session writes to the client: what functions in Python print goes to
        # stderr
    )
    guard, known = _guard(options)
    if options.listen:
        from rpms.guard.mcp_http import Gateway, serve  # noqa: PLC0415  an extra

        host, _, port = options.listen.rpartition(":")
        if not port.isdecimal() or int(port) > 65_535:
            raise InputError(
                f"--listen takes HOST:PORT, like 127.0.0.1:8000, not {options.listen!r}"
            )
        servers = [each if "://" in each else shlex.split(each) for each in options.server]
        every = [command, *servers] if command else servers
        gateway = Gateway(guard, every, _complain, patience=options.timeout, known=known)
        serve(gateway, host or "127.0.0.1", int(port), os.environ.get("RPMS_GUARD_TOKEN", ""))
        return 0
    proxy = Proxy(known.get(options.session, guard), _complain, patience=options.timeout)
    before = signal.signal(
        signal.SIGHUP, signal.default_int_handler
    )  # a closed terminal is as Ctrl-C: the server ends
    try:
        return min(abs(proxy.run(command, client_out=client)), 255)
    finally:
        signal.signal(signal.SIGHUP, before)


def _guard(options: Any) -> tuple[Guard, dict[str, Guard]]:
    """The guard, and those of earlier sessions in the log."""
    from rpms.guard.guard import Guard  # noqa: PLC0415
    from rpms.guard.python_facts import load_python  # noqa: PLC0415
    from rpms.guard.replay import resumed  # noqa: PLC0415

    functions = load_python(options.python)
    watch: Any = None
    if any(name.startswith("OTEL_") for name in os.environ):
        from rpms.guard.telemetry import telemetry  # noqa: PLC0415  an extra

        watch = telemetry()
    log, known = options.log, {}
    if log is not None and is_there(log) and (options.session or options.listen):
        known = resumed(Guard(options.manual, python=functions), log)
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


def _complain(text: str) -> None:
    complain(f"rpms guard: {text}")
