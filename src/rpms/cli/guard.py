"""`rpms guard`: check a manual for tools, replay a log against it, and stand before an MCP server."""

from __future__ import annotations

import json
import os
import shlex
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import complain, make_console, say
from rpms.core.errors import InputError
from rpms.foreign.files import is_there
from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.shown import excerpt
from rpms.guard.cases import run_cases
from rpms.guard.drafting import candidates, decided_by_drafts, draft_manual
from rpms.guard.guard import Guard
from rpms.guard.manuals import find_tool_doubts, find_tool_mistakes, manual_texts, open_tool_manual
from rpms.guard.mcp_proxy import Proxy
from rpms.guard.python_facts import load_python
from rpms.guard.replay import LeftOut, replay, resumed
from rpms.store.files import read_text, write_whole

app = typer.Typer(help="Check the tool calls of agents against a manual.", no_args_is_help=True)
Manual = Annotated[
    list[Path], typer.Option("--manual", help="The guard's manual; repeat it if the manual has several files.")
]
Python = Annotated[Path | None, typer.Option("--python", help="The Python file with the functions the manual names.")]
_MOST_MISTAKES = 20
_MOST_ROWS = 200
"""Calls of a log that are listed; of more, those whose ruling has changed."""


def _guard(manual: list[Path], python: Path | None, log: Path | None = None) -> Guard:
    return Guard(manual, python=load_python(python) if python else None, log=log)


@app.command("check")
def check(
    manual: Manual,
    log: Annotated[Path | None, typer.Argument(help="A log to replay; without it, only the manual is checked.")] = None,
    python: Python = None,
) -> None:
    """Check a manual. With a log, judge every call in it again and show the rulings."""
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
    if log is not None:
        _judge_again(_guard(manual, python), log)


def _judge_again(guard: Guard, log: Path) -> None:
    """Show the ruling on every call of a log, by rule, and what drafts would decide; exit code 1 if any has changed."""
    from rich.markup import escape  # noqa: PLC0415  what `mcp` has no time for
    from rich.table import Table  # noqa: PLC0415

    table = Table("")
    for title in ("call", "ruling", "rule", "fact", "what to do"):
        table.add_column(title, overflow="fold")
    counts: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    changed, left_out = 0, LeftOut()
    for number, step in enumerate(replay(guard, log, left_out), start=1):
        counts[step.now.word] += 1
        changed += step.changed
        by_rule.update([f"{step.now.word} by {step.now.rule}"] if step.now.rule else [])
        if number <= _MOST_ROWS or step.changed:
            row = (step.call.text, f"{step.now.word}{' (was ' + step.then + ')' if step.changed else ''}")
            words = (*row, step.now.rule, step.now.fact, step.now.remedy)
            table.add_row(str(number), *(escape(excerpt(word, 200)) for word in words))
    make_console().print(table)
    for line, count in by_rule.most_common():
        say(f"{count} {line}")
    drafts = replace(guard.manual, policies=guard.manual.drafts)
    if drafts.policies:
        rulings = ((step.call.text, step.now) for step in replay(Guard(drafts, python=guard.python), log))
        for rule, calls in decided_by_drafts(drafts, rulings).items():
            say(f"draft {rule} would decide {len(calls)} calls{': ' + '; '.join(calls[:3]) if calls else ''}")
    words = ("allow", "warn", "modify", "ask", "refuse")
    say(", ".join(f"{counts[word]} {word}" for word in words) + f"; {changed} differ from the log")
    if str(left_out):
        say(str(left_out))
    if changed:
        raise typer.Exit(1)


@app.command("draft")
def draft(
    out: Annotated[Path, typer.Option(help="The file to write, which must not be there yet.")],
    command: Annotated[list[str] | None, typer.Argument(help="An MCP server, after `--`.", show_default=False)] = None,
    server: Annotated[str, typer.Option(help="The address of an MCP server.")] = "",
    policy: Annotated[
        Path | None, typer.Option(help="A written policy, of which a model makes rules to review.")
    ] = None,
    manual: Annotated[list[Path] | None, typer.Option("--manual", help="With --policy: the manual to add to.")] = None,
    model: Annotated[str, typer.Option(help="With --policy: the model, as in `rpms run --model`.")] = "",
) -> None:
    """Draft a manual from a server's tools; or rules from a policy's sentences, none active until you review them."""
    if is_there(out):
        raise InputError(f"{out}: is there already; choose another --out")
    if policy is not None:
        if not manual or not model:
            raise InputError("--policy needs --manual, whose tools and facts rules speak of, and --model")
        rules: dict[str, object] = {}
        for each in candidates(read_text(policy, LARGEST_MANUAL), manual_texts(*manual), ask_model(model)):
            rules |= each.rule or {}
            name = next(iter(each.rule)) if each.rule else "no rule"
            say(f"{name}: {excerpt(each.sentence)} {each.problem}".rstrip())
        text = "".join(f"  {name}: {json.dumps(rule)}\n" for name, rule in rules.items())
        text = f"# Drafts: check each against its sentence, then take `draft` away.\npolicies:\n{text or '  {}'}"
    else:
        from rpms.guard.mcp_http import list_tools  # noqa: PLC0415  an extra

        if not command and not server:
            raise InputError("name a server after `--`, or its address by --server")
        text = draft_manual(list_tools(server or command or []))
    write_whole(out, text)
    say(f"wrote {out}")


def ask_model(name: str) -> Callable[[str], str]:
    """A function that asks a model one question and returns the text of its answer."""
    from rpms.core.prompt import Part, Prompt, make_block  # noqa: PLC0415  what only this command needs
    from rpms.models.base import Decoding, Request  # noqa: PLC0415
    from rpms.models.catalogue import open_model  # noqa: PLC0415

    model = open_model(name)

    def ask(question: str) -> str:
        blocks = (make_block(Part.INSTRUCTION, "", [question]),)
        return model.answer(Request(Prompt(blocks), Decoding(max_tokens=400, stop=()), "draft")).text

    return ask


@app.command("test")
def run_tests(
    manual: Annotated[Path, typer.Argument(help="The guard's manual.")],
    cases: Annotated[Path, typer.Argument(help="Conversations with the ruling expected at each call.")],
    python: Python = None,
) -> None:
    """Test a manual by cases; exit code 1 if a ruling is not the expected one."""
    guard = _guard([manual], python)
    done = run_cases(guard, cases)
    for difference in done.differences:
        say(str(difference))
    for line in done.uncovered(guard):
        say(f"not covered: {line}")
    say(f"{done.cases} cases, {done.checks} calls, {len(done.differences)} differ from what was expected")
    if done.differences:
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
    observe_only: Annotated[
        bool, typer.Option("--observe-only", help="Judge and log; let every call through.")
    ] = False,
    store: Annotated[Path | None, typer.Option(help="A SQLite file in which guards share facts.")] = None,
    session: Annotated[str, typer.Option(help="A name; what the log has under it is known from the start.")] = "",
    listen: Annotated[str, typer.Option(help="Serve Streamable HTTP at HOST:PORT instead of stdio.")] = "",
    server: Annotated[list[str] | None, typer.Option(help="With --listen: an address or a command; repeat it.")] = None,
) -> None:
    """Run MCP servers behind the guard: calls are checked, everything else passes."""
    if not command and not (listen and server):
        raise InputError("name the server after `--`: `rpms guard mcp --manual FILE -- your-server`")
    client = os.dup(1)
    os.dup2(2, 1)  # from here on only the session writes to the client: what functions in Python print goes to stderr
    functions = load_python(python) if python else None
    watch = None
    if any(name.startswith("OTEL_") for name in os.environ):
        from rpms.guard.telemetry import telemetry  # noqa: PLC0415  an extra

        watch = telemetry()
    goes_on = log is not None and is_there(log) and (session or listen)
    known = resumed(Guard(manual, python=functions), log) if log is not None and goes_on else {}
    guard = Guard(
        manual, python=functions, log=log, session=session, store=store, observe_only=observe_only, watch=watch
    )
    for each in known.values():
        each.join(guard)
    if listen:
        _listen(guard, listen, [*([command] if command else []), *(server or ())], timeout, known)
        return
    proxy = Proxy(known.get(session, guard), _complain, patience=timeout)
    before = signal.signal(signal.SIGHUP, signal.default_int_handler)  # a closed terminal is as Ctrl-C: the server ends
    try:
        code = proxy.run(command or [], client_out=client)
    finally:
        signal.signal(signal.SIGHUP, before)
    raise typer.Exit(min(abs(code), 255))


def _complain(text: str) -> None:
    complain(f"rpms guard: {text}")


def _listen(
    guard: Guard, listen: str, servers: Sequence[str | list[str]], timeout: float, known: Mapping[str, Guard]
) -> None:
    from rpms.guard.mcp_http import Gateway, serve  # noqa: PLC0415  an extra

    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"--listen takes HOST:PORT, like 127.0.0.1:8000, not {listen!r}")
    commands = [each if isinstance(each, list) or "://" in each else shlex.split(each) for each in servers]
    gateway = Gateway(guard, commands, _complain, patience=timeout, known=known)
    serve(gateway, host or "127.0.0.1", int(port), os.environ.get("RPMS_GUARD_TOKEN", ""))
