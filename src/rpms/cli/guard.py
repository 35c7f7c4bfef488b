"""`rpms guard`: check a manual for tools, replay a log against it, and stand before an MCP server."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpms.cli.screen import complain, make_console, say
from rpms.core.errors import InputError
from rpms.foreign.shown import excerpt

if TYPE_CHECKING:
    from rpms.guard.guard import Guard

app = typer.Typer(help="Check the tool calls of agents against a manual.", no_args_is_help=True)
Manual = Annotated[
    list[Path], typer.Option("--manual", help="The guard's manual; repeat it if the manual has several files.")
]
Python = Annotated[Path | None, typer.Option("--python", help="The Python file with the functions the manual names.")]
_MOST_MISTAKES = 20


def _guard(manual: list[Path], python: Path | None, log: Path | None = None) -> Guard:
    from rpms.guard.guard import Guard  # noqa: PLC0415
    from rpms.guard.python_facts import load_python  # noqa: PLC0415

    return Guard(manual, python=load_python(python) if python else None, log=log)


@app.command("check")
def check(
    manual: Manual,
    log: Annotated[Path | None, typer.Argument(help="A log to replay; without it, only the manual is checked.")] = None,
    python: Python = None,
) -> None:
    """Check a manual. With a log, judge every call in it again and show the rulings."""
    from rich.markup import escape  # noqa: PLC0415  a command line is checked before its work is loaded
    from rich.table import Table  # noqa: PLC0415

    from rpms.guard.manuals import (  # noqa: PLC0415
        find_tool_doubts,
        find_tool_mistakes,
        manual_texts,
        open_tool_manual,
    )
    from rpms.guard.replay import LeftOut, replay  # noqa: PLC0415

    mistakes = find_tool_mistakes(*manual_texts(*manual))
    for mistake in mistakes[:_MOST_MISTAKES]:
        complain(f"rpms: {mistake}")
    if mistakes:
        raise typer.Exit(2)
    rules = open_tool_manual(*manual)
    parts = {"policies": rules.policies, "tools": rules.tools, "facts": rules.facts, "records": rules.records}
    say(f"ok: {', '.join(f'{len(each)} {name}' for name, each in parts.items())}")
    for doubt in find_tool_doubts(*manual_texts(*manual))[:_MOST_MISTAKES]:
        complain(f"note: {doubt}")
    if log is None:
        return
    table = Table("")
    for title in ("call", "ruling", "rule", "fact", "what to do"):
        table.add_column(title, overflow="fold")
    counts = dict.fromkeys(("allow", "warn", "modify", "ask", "refuse"), 0)
    changed, left_out = 0, LeftOut()
    for number, step in enumerate(replay(_guard(manual, python), log, left_out), start=1):
        counts[step.now.word] += 1
        changed += step.changed
        row = (step.call.text, f"{step.now.word}{' (was ' + step.then + ')' if step.changed else ''}")
        words = (*row, step.now.rule, step.now.fact, step.now.remedy)
        table.add_row(str(number), *(escape(excerpt(word, 200)) for word in words))
    make_console().print(table)
    say(", ".join(f"{count} {word}" for word, count in counts.items()) + f"; {changed} differ from the log")
    if str(left_out):
        say(str(left_out))
    if changed:
        raise typer.Exit(1)


@app.command("mcp", context_settings={"allow_extra_args": False})
def mcp(
    manual: Manual,
    command: Annotated[
        list[str] | None, typer.Argument(help="The server and its arguments, after `--`.", show_default=False)
    ] = None,
    python: Python = None,
    log: Annotated[Path | None, typer.Option(help="Write every call, ruling and result to this file.")] = None,
    timeout: Annotated[float, typer.Option(help="How many seconds a call may take.", min=0.1, max=86_400)] = 300.0,
) -> None:
    """Run an MCP server behind the guard, over stdio: calls are checked, everything else passes unchanged."""
    if not command:
        raise InputError("name the server after `--`: `rpms guard mcp --manual FILE -- your-server`")
    client = os.dup(1)
    os.dup2(2, 1)  # from here on only the session writes to the client: what functions in Python print goes to stderr
    from rpms.guard.mcp_proxy import Proxy  # noqa: PLC0415

    proxy = Proxy(_guard(manual, python, log), lambda text: complain(f"rpms guard: {text}"), patience=timeout)
    before = signal.signal(signal.SIGHUP, signal.default_int_handler)  # a closed terminal is as Ctrl-C: the server ends
    try:
        code = proxy.run(command, client_out=client)
    finally:
        signal.signal(signal.SIGHUP, before)
    raise typer.Exit(min(abs(code), 255))
