"""`rpms memory`: look into memories, merge and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rpms.cli import options, worth
from rpms.cli.screen import complain, make_console
from rpms.core.errors import InputError
from rpms.core.memory import Entry, Kind, merge
from rpms.learn.inventory import COLUMNS, difference, full_text, row, said, stats, where_from
from rpms.report.table import Table as TextTable
from rpms.report.table import comma_separated, line, markdown
from rpms.store.files import write_whole
from rpms.store.memories import check_frozen, freeze, memory_hash, read_frozen, read_memory, write_memory
from rpms.store.quarantine import find_entry
from rpms.worlds.registry import find_world

app = typer.Typer(help="Show, count, merge, compare and clean memories.", no_args_is_help=True)

_FORMS = {".md": markdown, ".csv": comma_separated}
_CHANGED = "CHANGED since it was frozen"
_MOST_ROWS = 6
"""Goals and rules that are counted by name: with the kinds and the headings they fit a screen."""


def _freeze_of(file: Path) -> str:
    """State of a memory's freeze, for commands that only look into it."""
    try:
        digest = check_frozen(file)
    except InputError:
        return _CHANGED
    return f"frozen as sha256 {digest}" if digest else "not frozen"


def _warn_if_changed(file: Path) -> None:
    if _freeze_of(file) == _CHANGED:
        complain(f"rpms: {file}: {_CHANGED}")


def _console() -> Console:
    return make_console(soft_wrap=True)


@app.command("show")
def show(
    file: options.MemoryFile,
    entry: Annotated[
        str | None,
        typer.Argument(help="Print only this entry, in full: its id or the start of it.", show_default=False),
    ] = None,
) -> None:
    """Print a memory, one line per entry; or one entry with all its fields and origins."""
    memory = read_memory(file)
    _warn_if_changed(file)
    console = _console()
    if entry is not None:
        console.print(full_text(find_entry(memory, entry)), markup=False)
        return
    for each in memory.entries:
        console.print(_line(each))


def _line(entry: Entry) -> Text:
    styles = {Kind.SUCCESS: "green", Kind.FAILURE: "yellow", Kind.CRITICAL_FAILURE: "red", Kind.SCHEMA: "blue"}
    styles[Kind.REQUEST] = "magenta"
    return Text.assemble((entry.id, styles.get(entry.kind, "cyan")), f"  {said(entry)}")


@app.command("stats")
def show_stats(
    file: options.MemoryFile,
    entries: Annotated[bool, typer.Option("--entries", help="Also list every entry, goal and rule.")] = False,
) -> None:
    """Count a memory's entries by kind, goal and rule; --entries lists each with the episodes it comes from."""
    memory = read_memory(file)
    counted = stats(memory)
    console = _console()
    world = memory.world or "an unnamed world"
    console.print(
        f"{file}: {counted.entries} entries of {world}, {counted.observations} observations in "
        f"{counted.episodes} episodes",
        markup=False,
    )
    console.print(_freeze_of(file), markup=False)
    console.print(f"hash of the entries {memory_hash(memory)}", markup=False)
    most = None if entries else _MOST_ROWS
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("", ratio=1, no_wrap=True, overflow="ellipsis")
    for kind in Kind:
        table.add_row(str(counted.kinds[kind]), kind.replace("_", " "))
    for sort, counts in (("goal", counted.goals), ("rule", counted.rules)):
        for name, count in counts.most_common(most):
            table.add_row(str(count), Text(f"{sort}: {name}"))
        if most is not None and len(counts) > most:
            table.add_row("", Text(f"and {len(counts) - most} more; --entries lists all", style="dim"))
    make_console().print(table)
    if entries:
        for entry in memory.entries:
            console.print(Text.assemble(_line(entry), (f"  [{where_from(entry.origins)}]", "dim")))


@app.command("merge")
def merge_files(
    files: options.MemoryFiles,
    out: Annotated[Path, typer.Option(help="The memory to write; it must not exist yet.")],
    world: Annotated[str | None, typer.Option(help="The world, if the files do not name it.")] = None,
) -> None:
    """Merge memories of one world: equal entries become one, with all their evidence. The order does not matter."""
    if out.exists():
        raise InputError(f"{out}: exists; choose another file")
    if world is not None:
        find_world(world)
    memories = [read_frozen(file, world or "") for file in files]
    worlds = sorted({memory.world for memory in memories if memory.world})
    if len(worlds) != 1:
        if not worlds:
            raise InputError("these memories do not name their world; use --world")
        raise InputError(f"these memories are of {' and '.join(worlds)}; only memories of one world can be merged")
    merged = merge(*(memory.entries for memory in memories))
    write_memory(out, merged, worlds[0])
    digest = freeze(out)
    total = sum(map(len, memories))
    _console().print(f"{len(merged)} entries out of {total} in {out}, frozen: sha256 {digest[:16]}…", markup=False)


@app.command("diff")
def diff(
    before: options.MemoryFile,
    after: options.MemoryFile,
) -> None:
    """List what differs between two memories. The exit code is 0 if they are equal, 1 if they differ."""
    for file in (before, after):
        _warn_if_changed(file)
    console = _console()
    found = difference(read_memory(before), read_memory(after))
    for entry in found.removed:
        console.print(Text.assemble(("- ", "red"), _line(entry)))
    for entry in found.added:
        console.print(Text.assemble(("+ ", "green"), _line(entry)))
    for old, new in found.changed:
        evidence = f" evidence {len(old.origins)} → {len(new.origins)}"
        console.print(Text.assemble(("~ ", "yellow"), _line(new), (evidence, "dim")))
    console.print(f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed", markup=False)
    if found:
        raise typer.Exit(1)


@app.command("export")
def export(
    file: options.MemoryFile,
    out: Annotated[Path, typer.Option(help="The file to write, ending in .md or .csv.")],
) -> None:
    """Write a memory as Markdown to read, or as CSV for a spreadsheet."""
    form = _FORMS.get(out.suffix)
    if form is None:
        raise InputError(f"{out}: the file must end in one of {', '.join(_FORMS)}")
    memory = read_frozen(file)
    groups = [[line(*row(entry)) for entry in memory.entries if entry.kind is kind] for kind in Kind]
    caption = f"Episodic memory of {memory.world or 'an unnamed world'}, {len(memory)} entries"
    told = TextTable("memory", caption, COLUMNS, tuple(tuple(each) for each in groups if each), words=len(COLUMNS))
    write_whole(out, form(told))
    _console().print(f"{len(memory)} entries in {out}", markup=False)


app.command("audit")(worth.audit_runs)
app.command("junk")(worth.junk)
app.command("quarantine")(worth.quarantined)
app.command("restore")(worth.restore_entry)
