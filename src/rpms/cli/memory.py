"""`rpms memory`: look into memories, merge and compare them, and audit their entries."""

import json
import math
import os
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rpms.cli.screen import complain, make_console, say
from rpms.foreign.file_reader import open_regular
from rpms.foreign.shown import excerpt
from rpms.learning.audit import CORRECTION, Account, Audit, AuditedOutcome, Worth, audit, numbers
from rpms.learning.entry_effects import ALPHA, LEAST
from rpms.learning.inventory import (
    COLUMNS,
    Stats,
    difference,
    full_text,
    row,
    said,
    where_from,
)
from rpms.logic.errors import InputError
from rpms.paper.memory import Entry, Kind, merge
from rpms.paper.recall import EpisodicMemory
from rpms.report.table import Table as TextTable
from rpms.report.table import TableCell, TableLine, comma_separated, grid, line, markdown
from rpms.store import memories
from rpms.store.files import write_whole
from rpms.store.quarantine import (
    quarantine_file,
    read_quarantine,
    restore,
    set_aside,
    write_without,
)
from rpms.worlds.registry import find_world, world_names


def memory_named(text: str) -> Path:
    """A memory by its file, or `embedded` as after --memory. No world is named here, so
    `embedded` works only if exactly one installed world has a memory.
    """
    from rpms.play.settings import EMBEDDED_MEMORY, Settings  # noqa: PLC0415  not for help

    if text != EMBEDDED_MEMORY:
        return Path(text)
    found: dict[str, Path] = {}
    for name in world_names():
        with suppress(InputError):  # a world that cannot be loaded, or brings none
            file = Settings(memory=EMBEDDED_MEMORY).memory_file(find_world(name))
            if file:
                found[name] = file
    if len(found) != 1:
        raise InputError(
            f"embedded: worlds that bring a memory: {', '.join(found) or 'none'}; give a file"
        )
    return found.popitem()[1]


MemoryArgument = Annotated[
    Path,
    typer.Argument(
        help="A memory (JSON Lines); `embedded`: the one that comes with ALFWorld.",
        show_default=False,
        parser=memory_named,
    ),
]
MemoriesArgument = Annotated[
    list[Path],
    typer.Argument(
        help="A memory (JSON Lines); `embedded`: the one that comes with ALFWorld.",
        show_default=False,
        parser=memory_named,
    ),
]

app = typer.Typer(help="Show, count, merge, compare and clean memories.", no_args_is_help=True)

_FORMS = {".md": markdown, ".csv": comma_separated}
_CHANGED = "CHANGED since it was frozen"
_MOST_ROWS = 6
"""Goals and rules that are counted by name: with the kinds and the headings they fit a screen."""


def _freeze_of(file: Path) -> str:
    """State of a memory's freeze, for commands that only look into it."""
    try:
        digest = memories.check_frozen(file)
    except InputError:
        return _CHANGED
    return f"frozen as sha256 {digest}" if digest else "not frozen"


def _warn_if_changed(file: Path) -> None:
    if _freeze_of(file) == _CHANGED:
        complain(f"rpms: {file}: {_CHANGED}")


@app.command("show")
def show(
    file: MemoryArgument,
    entry: Annotated[
        str | None,
        typer.Argument(
            help="Print only this entry, in full: its id or the start of it.", show_default=False
        ),
    ] = None,
) -> None:
    """Print a memory, one line per entry; or one entry with all its fields and origins."""
    memory = memories.read_memory(file)
    _warn_if_changed(file)
    console = make_console(soft_wrap=True)
    if entry is not None:
        say(full_text(memories.find_entry(memory, entry)))
        return
    for each in memory.entries:
        console.print(_line(each))


def _line(entry: Entry) -> Text:
    return Text.assemble((entry.id, _COLOURS.get(entry.kind, "cyan")), f"  {said(entry)}")


_COLOURS: dict[str, str] = {
    Kind.SUCCESS: "green",
    Kind.FAILURE: "yellow",
    Kind.CRITICAL_FAILURE: "red",
    Kind.SCHEMA: "blue",
    Kind.REQUEST: "magenta",
}


@app.command("stats")
def show_stats(
    file: MemoryArgument,
    entries: Annotated[
        bool, typer.Option("--entries", help="Also list every entry, goal and rule.")
    ] = False,
) -> None:
    """Count a memory's entries by kind, goal and rule; --entries lists each with the episodes
    it comes from.
    """
    memory = memories.read_memory(file)
    counted = Stats(memory.entries)
    console = make_console(soft_wrap=True)
    world = memory.world or "an unnamed world"
    seen = f"{counted.observations} observations in {counted.episodes} episodes"
    say(f"{file}: {counted.entries} entries of {world}, {seen}")
    say(f"{_freeze_of(file)}\nhash of the entries {memories.memory_hash(memory)}")
    make_console().print(_counts(counted, most=None if entries else _MOST_ROWS))
    if entries:
        for entry in memory.entries:
            console.print(Text.assemble(_line(entry), (f"  [{where_from(entry.origins)}]", "dim")))


def _counts(counted: Stats, most: int | None) -> Table:
    """A table of entries by kind, and by the most frequent goals and rules."""
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("", ratio=1, no_wrap=True, overflow="ellipsis")
    for kind in dict.fromkeys((*Kind, *sorted(counted.kinds))):
        table.add_row(str(counted.kinds[kind]), kind.replace("_", " "))
    for sort, counts in (("goal", counted.goals), ("rule", counted.rules)):
        for name, count in counts.most_common(most):
            table.add_row(str(count), Text(f"{sort}: {name}"))
        if most is not None and len(counts) > most:
            more = f"and {len(counts) - most} more; --entries lists all"
            table.add_row("", Text(more, style="dim"))
    return table


@app.command("merge")
def merge_files(
    files: MemoriesArgument,
    out: Annotated[Path, typer.Option(help="The memory to write; it must not exist yet.")],
    world: Annotated[
        str | None, typer.Option(help="The world, if the files do not name it.")
    ] = None,
) -> None:
    """Merge memories of one world: equal entries become one, with all their evidence.

    The order does not matter.
    """
    if out.exists():
        raise InputError(f"{out}: exists; choose another file")
    if world is not None:
        find_world(world)
    given = [memories.read_frozen(file, world or "") for file in files]
    world = _only_world(given)
    merged = merge(*(memory.entries for memory in given))
    memories.write_memory(out, merged, world)
    digest = memories.freeze(out)
    counts = f"{len(merged)} entries out of {sum(map(len, given))}"
    say(f"{counts} in {out}, frozen: sha256 {digest[:16]}…")


def _only_world(given: Iterable[EpisodicMemory]) -> str:
    """The world that some memories are of."""
    worlds = sorted({memory.world for memory in given if memory.world})
    if not worlds:
        raise InputError("these memories do not name their world; use --world")
    if len(worlds) > 1:
        raise InputError(
            f"these memories are of {' and '.join(worlds)}; only memories of one world can be"
            " merged"
        )
    return worlds[0]


@app.command("diff")
def diff(
    before: MemoryArgument,
    after: MemoryArgument,
) -> None:
    """List what differs between two memories.

    The exit code is 0 if they are equal, 1 if they differ.
    """
    found = difference(memories.read_memory(before), memories.read_memory(after))
    for file in (before, after):
        _warn_if_changed(file)
    console = make_console(soft_wrap=True)
    for entry in found.removed:
        console.print(Text.assemble(("- ", "red"), _line(entry)))
    for entry in found.added:
        console.print(Text.assemble(("+ ", "green"), _line(entry)))
    for old, new in found.changed:
        evidence = f" evidence {len(old.origins)} → {len(new.origins)}"
        console.print(Text.assemble(("~ ", "yellow"), _line(new), (evidence, "dim")))
    say(f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed")
    if any(found):
        raise typer.Exit(1)


@app.command("export")
def export(
    file: MemoryArgument,
    out: Annotated[Path, typer.Option(help="The file to write, ending in .md or .csv.")],
) -> None:
    """Write a memory as Markdown to read, or as CSV for a spreadsheet."""
    form = _FORMS.get(out.suffix)
    if form is None:
        raise InputError(f"{out}: the file must end in one of {', '.join(_FORMS)}")
    memory = memories.read_frozen(file)
    groups: dict[str, list[TableLine]] = {kind: [] for kind in Kind}
    for entry in memory.entries:
        groups.setdefault(entry.kind, []).append(line(*row(entry)))
    caption = f"Episodic memory of {memory.world or 'an unnamed world'}, {len(memory)} entries"
    table = TextTable(
        "memory",
        caption,
        COLUMNS,
        tuple(tuple(each) for each in groups.values() if each),
        words=len(COLUMNS),
    )
    write_whole(out, form(table))
    say(f"{len(memory)} entries in {out}")


_STYLES = {Worth.HARMFUL: "red", Worth.HELPFUL: "green", Worth.UNKNOWN: "dim"}


@app.command("audit")
def audit_runs(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs played with --mask.", show_default=False)
    ],
    memory: Annotated[
        Path | None,
        typer.Option(
            help="The memory these runs used.",
            metavar="FILE|embedded",
            show_default=False,
            parser=memory_named,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the next memory; what it leaves out is kept in a file beside it.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[str, typer.Option(help="table or json.")] = "table",
    rows: Annotated[
        int, typer.Option(help="How many of the entries with not enough evidence to list.", min=0)
    ] = 10,
) -> None:
    """Estimate what each entry does to success, steps and infeasible actions, from runs that hid
    some (--mask).

    With --memory and --out, a next memory is written without the entries that do harm; these are
    kept beside it.
    """
    _check_audit(form, out, memory)
    played_with = memories.read_frozen(memory) if memory is not None else EpisodicMemory()
    _refuse_existing(out, memory)
    found = audit(runs)
    here = {entry.id: entry for entry in played_with.entries}
    if memory is not None:
        _check_played_with(memory, played_with.world, here, found)
    for folder in found.left_out:
        complain(f"note: {folder}: no memories were hidden (--mask), so this run is left out")
    if form == "json":
        say(json.dumps(found.record(), indent=1))
    else:
        _print(found, here, rows)
    if out is not None and memory is not None:
        _leave(memory, out, played_with, found.harmful)


def _check_audit(form: str, out: Path | None, memory: Path | None) -> None:
    if form not in ("table", "json"):
        raise InputError(f"--form {form!r}: choose table or json")
    if out is not None and memory is None:
        raise InputError("--out needs --memory: the memory that holds the harmful entries")


def _check_played_with(file: Path, world: str, entries: Container[str], found: Audit) -> None:
    """Refuse a memory of another world, or one that holds nothing of what the runs recalled."""
    if world and world != found.world:
        raise InputError(
            f"{file}: a memory of {excerpt(world)}, but the runs are of {excerpt(found.world)}"
        )
    foreign = sum(account.name not in entries for account in found.entries)
    if not foreign:
        return
    if foreign == len(found.entries):
        raise InputError(
            f"{file}: has none of the entries these runs recalled; they were played with"
            " another memory"
        )
    complain(
        f"note: {foreign} of {len(found.entries)} entries these runs recalled are not in {file}"
    )


def _print(found: Audit, entries: dict[str, Entry], most: int) -> None:
    """Print an audit: a summary, tables of kinds and entries, and the reason of each verdict."""
    # a narrower terminal wraps a row
    console = make_console(soft_wrap=True, width=max(make_console().width, 132))
    masks = ", ".join(f"{mask:.0%}" for mask in found.masks)
    tested = f"tested by randomisation, corrected by {CORRECTION} at {ALPHA:g}"
    say(found.summary)
    say(
        f"hidden by chance: {masks}; 95% intervals; entries whose turn came in {LEAST} episodes or"
        f" more are {tested}"
    )
    judged = [account for account in found.entries if account.worth is not Worth.UNKNOWN]
    unknown = found.of(Worth.UNKNOWN)
    console.print(_table("kind", found.kinds))
    console.print(_table("entry", [*judged, *unknown[:most]]))
    if len(unknown) > most:
        say(f"and {len(unknown) - most} more with not enough evidence; --rows lists them")
    for account in judged:
        words = said(entries[account.name]) if account.name in entries else ""
        console.print(
            Text.assemble((account.name, _STYLES[account.worth]), f" {account.reason}  {words}")
        )


def _table(heading: str, accounts: Sequence[Account]) -> Table:
    rows: list[Sequence[str | TableCell]] = []
    for account in accounts:
        name = account.name.replace("_", " ") if heading == "kind" else account.name
        effects = [_cell(account, outcome) for outcome in AuditedOutcome]
        with_it = f"{account.won_with}/{account.lost_with}"
        verdict = TableCell(str(account.worth), style=_STYLES[account.worth])
        rows.append((name, str(account.shown), str(account.hidden), *effects, with_it, verdict))
    return grid((heading, "shown", "hidden", *AuditedOutcome, "won/lost with", "verdict"), rows)


def _cell(account: Account, outcome: AuditedOutcome) -> TableCell:
    effect = account.findings[outcome]
    if math.isnan(effect.estimate):
        return TableCell("–", style="dim")
    return TableCell(numbers(outcome, effect), style="" if effect.sign else "dim")


def _refuse_existing(out: Path | None, file: Path | None) -> None:
    """Refuse, before any work is done, to overwrite a memory other than the one that is cleaned."""
    if out is None or out == file:
        return
    for path in (out, quarantine_file(out)):
        if path.exists():
            raise InputError(f"{path}: exists; choose another file")


def _leave(file: Path, out: Path, memory: EpisodicMemory, reasons: dict[str, str]) -> None:
    """Write the next memory without some entries."""
    stay, aside = set_aside(memory.entries, reasons, read_quarantine(file, memory.world))
    digest = write_without(out, stay, aside, memory.world)
    left = len(memory) - len(stay)
    beside = "; nothing was set aside"
    if left:
        beside = f"; {left} set aside in {quarantine_file(out).name}"
    say(f"{len(stay)} entries in {out}, frozen: sha256 {digest[:16]}…{beside}")


@app.command("quarantine")
def quarantined(
    file: Annotated[Path, typer.Argument(help="A memory file (JSON Lines).", show_default=False)],
) -> None:
    """List the entries that were set aside from a memory, and why."""
    os.close(open_regular(file))  # a path without a file would look like a memory that lost nothing
    aside = read_quarantine(file)
    for item in aside:
        say(f"{item.entry.id}  {excerpt(said(item.entry))}\n  {excerpt(item.reason)}")
    say(f"{len(aside)} entries of {file} are set aside")


@app.command("restore")
def restore_entry(
    entry: Annotated[
        str, typer.Argument(help="The entry's id, or the start of it.", show_default=False)
    ],
    memory: Annotated[
        Path, typer.Option(help="The memory it was set aside from.", show_default=False)
    ],
) -> None:
    """Put an entry that was set aside back into its memory, and freeze the memory again."""
    item = restore(memory, entry)
    say(f"{item.entry.id} is back in {memory}; it was set aside because: {excerpt(item.reason)}")
