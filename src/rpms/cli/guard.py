"""`rpms guard`: check a manual for tools, replay a log against it, and stand before an MCP
server.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import guard_mcp
from rpms.cli.screen import MOST_MISTAKES, complain, make_console, say, stop_at_mistakes
from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import excerpt
from rpms.guard.call_audit import Audited, Grade, audit
from rpms.guard.drafting import draft_manual
from rpms.guard.guard import Guard
from rpms.guard.manual_files import require_whole
from rpms.guard.python_facts import load_python
from rpms.guard.replay import Replayed, replay, run_cases
from rpms.guard.tool_manuals import (
    find_likely_mistakes,
    find_tool_mistakes,
    read_tool_manual,
)
from rpms.logic.errors import InputError
from rpms.report.table import grid
from rpms.store.files import write_whole
from rpms.store.manual_reader import manual_text

ManualsOption = Annotated[
    list[Path],
    typer.Option(help="The guard's manual; repeat it if the manual has several files."),
]
PythonOption = Annotated[
    Path | None, typer.Option(help="The Python file with the functions the manual names.")
]

app = typer.Typer(help="Check the tool calls of agents against a manual.", no_args_is_help=True)
_MOST_ROWS = 200
"""Calls of a log that are listed; beyond these, as many more are listed if their ruling has
changed."""


@app.command("check")
def check(
    manual: ManualsOption,
    log: Annotated[
        Path | None, typer.Argument(help="A log to replay; without it, only the manual is checked.")
    ] = None,
    python: PythonOption = None,
) -> None:
    """Check a manual. With a log, judge every call in it again and show the rulings."""
    texts = [manual_text(file) for file in manual]
    stop_at_mistakes(find_tool_mistakes(*texts))
    rules = read_tool_manual(*texts)
    require_whole(texts)
    parts = {
        "policies": rules.policies,
        "tools": rules.tools,
        "facts": rules.facts,
        "records": rules.records,
    }
    say(f"ok: {', '.join(f'{len(each)} {name}' for name, each in parts.items())}")
    complain(*(f"note: {each}" for each in find_likely_mistakes(*texts)[:MOST_MISTAKES]))
    if log is not None:
        _judge_again(Guard(manual, python=load_python(python)), log)


def _judge_again(guard: Guard, log: Path) -> None:
    """Show the ruling on every call of a log, by rule; exit code 1 if any has changed."""
    rows: list[list[str]] = []
    counts = Counter[str]()
    by_rule = Counter[str]()
    gaps = Counter[str]()
    changed = 0
    for number, step in enumerate(replay(guard, log, gaps), start=1):
        counts[step.now.word] += 1
        changed += step.changed
        if step.now.rule:
            by_rule[f"{step.now.word} by {step.now.rule}"] += 1
        if number <= _MOST_ROWS or (step.changed and len(rows) < 2 * _MOST_ROWS):
            rows.append(_ruling_row(number, step))
    make_console().print(grid(("", "call", "ruling", "rule", "fact", "what to do"), rows, words=6))
    say(*_counted(dict(by_rule.most_common())))
    words = ("allow", "warn", "modify", "ask", "refuse")
    say(", ".join(f"{counts[word]} {word}" for word in words) + f"; {changed} differ from the log")
    say(*_counted(gaps))
    if changed:
        raise typer.Exit(1)


def _counted(counts: Mapping[str, int]) -> list[str]:
    """A line for each thing that there is at least one of."""
    return [f"{count} {what}" for what, count in counts.items() if count > 0]


def _ruling_row(number: int, step: Replayed) -> list[str]:
    now = step.now
    word = f"{now.word} (was {step.then})" if step.changed else now.word
    return _row(number, step.call.text, word, now.rule, now.fact, now.remedy)


def _row(number: int, *cells: str) -> list[str]:
    return [str(number), *[excerpt(cell, 200) for cell in cells]]


@app.command("audit")
def audit_log(
    log: Annotated[Path, typer.Argument(help="A guard's log.")],
    manual: ManualsOption,
    python: PythonOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write it as a page into this folder.")
    ] = None,
) -> None:
    """Say of each call in a log that changes something: informed, uninformed or violating; exit
    code 1 if one was not informed.
    """
    gaps = Counter[str]()
    grades = Counter[Grade]()
    rows: list[list[str]] = []
    steps: list[Audited] = []
    guard = Guard(manual, python=load_python(python))
    for number, step in enumerate(audit(guard, log, gaps), start=1):
        grades[step.grade] += 1
        if step.objections and len(rows) < _MOST_ROWS:
            rows.append(_objection_row(number, step))
        if out is not None:
            steps.append(step)
    if rows:
        make_console().print(grid(("", "call", "grade", "rules", "facts"), rows, words=5))
    notes = _counted(gaps)
    say(*notes)
    say(", ".join(f"{grades[grade]} {grade}" for grade in Grade))
    if out is not None:
        _write_page(steps, log, out, notes)
    if grades.total() > grades[Grade.INFORMED]:
        raise typer.Exit(1)


def _write_page(steps: list[Audited], log: Path, out: Path, notes: list[str]) -> None:
    from rpms.report.guard_pages import write_audit  # noqa: PLC0415  needs Jinja

    write_audit(steps, log, out, notes)
    say(f"wrote {out / 'index.html'}")


def _objection_row(number: int, step: Audited) -> list[str]:
    rules = [each.rule for each in step.objections]
    facts = dict.fromkeys(each.facts for each in step.objections)
    return _row(number, step.call.text, step.grade, ", ".join(rules), "; ".join(facts))


@app.command("draft")
def draft(
    out: Annotated[Path, typer.Option(help="The file to write, which must not be there yet.")],
    command: Annotated[
        list[str] | None, typer.Argument(help="An MCP server, after `--`.", show_default=False)
    ] = None,
    server: Annotated[
        str,
        typer.Option(
            help="The address of an MCP server, which gets the token in RPMS_GUARD_SERVER_TOKEN."
        ),
    ] = "",
) -> None:
    """Draft a manual of a server's tools; a person approves what does not say it only reads."""
    if is_there(out):
        raise InputError(f"{out}: is there already; choose another --out")
    if not command and not server:
        raise InputError("name a server after `--`, or its address by --server")
    from rpms.guard.mcp_proxy import list_tools  # noqa: PLC0415  an extra

    write_whole(out, draft_manual(list_tools(server or command or [])))
    say(f"wrote {out}")


@app.command("test")
def run_tests(
    manual: Annotated[Path, typer.Argument(help="The guard's manual.")],
    cases: Annotated[
        Path, typer.Argument(help="Conversations with the ruling expected at each call.")
    ],
    python: PythonOption = None,
) -> None:
    """Test a manual by cases; exit code 1 if a ruling is not the expected one."""
    guard = Guard([manual], python=load_python(python))
    done = run_cases(guard, cases)
    say(*map(str, done.differences))
    say(*(f"not covered: {line}" for line in done.uncovered(guard)))
    say(
        f"{done.cases} cases, {done.checks} calls, {len(done.differences)} differ from what was"
        " expected"
    )
    if done.differences:
        raise typer.Exit(1)


app.command("mcp")(guard_mcp.run)
