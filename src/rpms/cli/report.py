"""`rpms report`, `rpms view` and `rpms table`: look at what was run."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from rpms.cli.screen import complain, flush, say
from rpms.core.errors import InputError
from rpms.foreign.file_reader import is_there
from rpms.guard.log import is_guard_log
from rpms.models.secrets import is_local
from rpms.report.serve import make_server

_TAKES = "a report is made of folders of `rpms run`, a study's folder, or the log of a guard"


def needs_extra(*names: str) -> Any:
    """Import modules of `rpms.report` that need the extra, or raise a line that says so."""
    try:
        found = [import_module(f"rpms.report.{name}") for name in names]
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        raise InputError(f"this needs {name}: pip install 'rpms[report]'") from None
    return found if len(found) > 1 else found[0]


def report(
    inputs: list[Path],
    out: Path | None = None,
    title: str = "",
    published: bool = False,
    pages: int = 2_000,
    open_: bool = False,
) -> None:
    """Write static pages about runs, a study or a guard's log; they open from disk, without a server."""
    for each in inputs:
        if not is_there(each):
            raise InputError(f"{each}: does not exist; {_TAKES}")
        if each.is_file() and not is_guard_log(each):
            raise InputError(f"{each}: is not a guard's log; {_TAKES}")
    writing = needs_extra("pages")
    if all(map(is_guard_log, inputs)):
        guard_pages = needs_extra("guard_pages")
        written = guard_pages.write_guard_report(inputs, out or inputs[0].with_suffix(".report"), title=title)
    else:
        place = out or inputs[0] / "report"
        written = writing.write_report(inputs, place, title=title, with_published=published, pages=pages)
    for note in dict.fromkeys(written.notes):  # those of several models may be alike
        say(f"note: {note}")
    say(f"open {written.page}")
    if open_:
        writing.open_report(written.folder)


def view(folder: Path, port: int | None = None, host: str = "127.0.0.1") -> None:
    """Open a report in a browser, or serve it at a port."""
    inner = folder / "report"
    found = inner if (inner / "index.html").is_file() else folder
    if port is None:
        needs_extra("pages").open_report(found)
        return
    with make_server(found, host, port) as server:
        if not is_local(host):
            complain(f"note: whoever reaches {host} can read this report")
        name = f"[{host}]" if ":" in host else host
        say(f"{found} is at http://{name}:{server.server_port}/ until Ctrl-C")
        flush()
        server.serve_forever(poll_interval=0.1)


def leaderboard(inputs: list[Path], form: str = "terminal", out: Path | None = None) -> None:
    """Rank models and agents by success, for each set of tasks they played under the same settings."""
    conduct, table, pages = needs_extra("conduct", "table", "pages")
    found = conduct.leaderboards(inputs)
    for each in found:
        say(table.render(each, form))
    if out is not None:
        page = pages.write_single(out, "leaderboard.html", {"title": "Leaderboard", "tables": found}).page
        say(f"open {page}")


def table(name: str, inputs: list[Path], form: str = "terminal", published: bool = False) -> None:
    """Print one of the paper's tables from runs or a study."""
    gather, table, tables = needs_extra("gather", "table", "tables")
    told: set[str] = set()
    for comparison in gather.gather(inputs):
        made = (
            tables.all_tables(comparison, with_published=published)
            if name == "all"
            else (tables.make_table(name, comparison, with_published=published),)
        )
        for each in made:
            say(table.render(table.without_notes(each, told) if form == "terminal" else each, form))
