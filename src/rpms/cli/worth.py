"""`rpms memory audit`, `junk`, `quarantine`, `restore`: what entries are worth, and setting aside those that harm."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rpms.cli.screen import complain, make_console, say
from rpms.core.errors import InputError
from rpms.core.memory import Entry
from rpms.core.names import nearest
from rpms.core.recall import EpisodicMemory
from rpms.foreign.files import open_regular
from rpms.foreign.shown import excerpt
from rpms.learn.audit import ALPHA, CORRECTION, Account, Audit, AuditedOutcome, Worth, audit, numbers
from rpms.learn.effects import LEAST
from rpms.learn.freeze import read_frozen
from rpms.learn.inventory import said
from rpms.learn.junk import Junk, find_junk, pruned
from rpms.learn.quarantine import harmful, restore, set_aside, write_without
from rpms.play.setup import manual_of
from rpms.store.quarantine import quarantine_file, read_quarantine
from rpms.worlds.registry import find_world

Runs = Annotated[list[Path], typer.Argument(help="Folders of runs played with --mask.", show_default=False)]
MemoryOption = Annotated[Path | None, typer.Option(help="The memory that they were played with.", show_default=False)]
NextMemory = Annotated[
    Path | None,
    typer.Option(
        help="Where to write the memory without them; what was left out is kept beside it.", show_default=False
    ),
]
_WIDTH = 132
"""Columns that a row takes; a narrower terminal wraps it."""
_STYLES = {Worth.HARMFUL: "red", Worth.HELPFUL: "green", Worth.UNKNOWN: "dim"}


def audit_runs(
    runs: Runs,
    memory: MemoryOption = None,
    out: NextMemory = None,
    form: Annotated[str, typer.Option(help="table or json.")] = "table",
    rows: Annotated[int, typer.Option(help="How many entries without enough evidence to list.", min=0)] = 10,
) -> None:
    """Estimate what showing each entry does to success, steps and infeasible actions, from runs that hid some.

    With --memory and --out, what is credibly harmful leaves the next frozen memory and is kept beside it.
    """
    if form not in ("table", "json"):
        raise InputError(f"--form {form!r}: choose table or json")
    if out is not None and memory is None:
        raise InputError("--out needs --memory: the memory that harmful entries are to leave")
    known = read_frozen(memory) if memory is not None else None
    if memory is not None:
        _refuse_existing(out, memory)
    found = audit(runs)
    if known is not None:
        _check_world(found, known, memory)
    for folder in found.left_out:
        complain(f"note: {folder}: hid no memories (--mask), and is left out")
    if form == "json":
        say(json.dumps(found.record(), indent=1))
    else:
        _print(found, {entry.id: entry for entry in known.entries} if known is not None else {}, rows)
    if out is not None and memory is not None and known is not None:
        _leave(memory, out, known, harmful(found))


def _check_world(found: Audit, memory: EpisodicMemory, file: Path | None) -> None:
    if memory.world and memory.world != found.world:
        raise InputError(f"{file}: is a memory of {excerpt(memory.world)}, and the runs are of {excerpt(found.world)}")
    here = {entry.id for entry in memory.entries}
    foreign = sum(account.name not in here for account in found.entries)
    if foreign == len(found.entries) and foreign:
        raise InputError(f"{file}: holds none of the entries that came to mind; the runs were played with another one")
    if foreign:
        complain(f"note: {foreign} of {len(found.entries)} entries that came to mind are not in {file}")


def _print(found: Audit, entries: dict[str, Entry], most: int) -> None:
    console = make_console(soft_wrap=True, width=max(make_console().width, _WIDTH))
    masks = ", ".join(f"{mask:.0%}" for mask in found.masks)
    console.print(f"{found.summary}", markup=False)
    console.print(
        f"hidden by chance: {masks}; 95% intervals; randomisation tests, corrected by {CORRECTION} at {ALPHA:g}, of "
        f"entries whose turn came in {LEAST} episodes or more",
        markup=False,
    )
    unknown = found.of(Worth.UNKNOWN)
    shown = [account for account in found.entries if account.worth is not Worth.UNKNOWN] + list(unknown[:most])
    for table in (_table("kind", found.kinds), _table("entry", shown)):
        console.print(table)
    if len(unknown) > most:
        console.print(f"and {len(unknown) - most} more with not enough evidence: --rows lists them", markup=False)
    for account in shown:
        if account.worth is not Worth.UNKNOWN:
            words = said(entries[account.name]) if account.name in entries else ""
            console.print(Text.assemble((account.name, _STYLES[account.worth]), f" {account.reason}  {words}"))


def _table(heading: str, accounts: Sequence[Account]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(heading)
    for name in ("shown", "hidden", *AuditedOutcome, "won/lost with"):
        table.add_column(str(name), justify="right")
    table.add_column("verdict")
    for account in accounts:
        table.add_row(
            Text(account.name.replace("_", " ") if heading == "kind" else account.name),
            *map(str, (account.shown, account.hidden)),
            *(_cell(account, outcome) for outcome in AuditedOutcome),
            f"{account.won_with}/{account.lost_with}",
            Text(str(account.worth), _STYLES[account.worth]),
        )
    return table


def _cell(account: Account, outcome: AuditedOutcome) -> Text:
    finding = account.findings[outcome]
    if math.isnan(finding.effect.estimate):
        return Text("–", "dim")
    return Text(numbers(outcome, finding.effect), "" if finding.sign(outcome) else "dim")


def _refuse_existing(out: Path | None, file: Path) -> None:
    """Refuse, before anything is worked out, to write over a memory, but the one that entries are to leave."""
    if out is not None and out != file and (out.exists() or quarantine_file(out).exists()):
        raise InputError(f"{out if out.exists() else quarantine_file(out)}: exists; choose another file")


def _leave(file: Path, out: Path, memory: EpisodicMemory, reasons: dict[str, str]) -> None:
    """Write the next memory without some entries."""
    before = read_quarantine(file, memory.world)
    stay, aside = set_aside(memory.entries, reasons, before)
    digest = write_without(out, stay, aside, memory.world)
    left = len(memory) - len(stay)
    beside = f"; {left} left it, kept in {quarantine_file(out).name}" if left else "; nothing left it"
    say(f"{len(stay)} entries in {out}, frozen: sha256 {digest[:16]}…{beside}")


def junk(
    file: Annotated[Path, typer.Argument(help="A memory, JSON Lines.", show_default=False)],
    runs: Annotated[list[Path] | None, typer.Argument(help="Runs played with it.", show_default=False)] = None,
    prune: Annotated[
        str | None,
        typer.Option(
            help=f"Do without these: {', '.join(each.name.lower() for each in Junk)}, or all.", metavar="KIND,…"
        ),
    ] = None,
    out: NextMemory = None,
    entries: Annotated[bool, typer.Option(help="Name each entry.")] = True,
) -> None:
    """List what a memory could do without: near-duplicates, never recalled, always below others, against the manual.

    With --prune and --out, it leaves the next memory and is kept beside it; `rpms memory restore` brings it back.
    """
    memory = read_frozen(file)
    if not memory.world:
        raise InputError(f"{file}: does not name its world; `rpms memory merge {file} --world NAME --out …` adds it")
    if (prune is None) != (out is None):
        raise InputError("--prune and --out go together: what to do without, and where the rest is written")
    _refuse_existing(out, file)
    policy = _policy(prune or "")
    world = find_world(memory.world)
    remarks = find_junk(memory.entries, world, manual_of(world), world.retrieval, runs or ())
    for each in Junk:
        own = [remark for remark in remarks if remark.junk is each]
        unasked = each is Junk.UNUSED and not runs
        say(f"{each}: {'not known without runs' if unasked else len(own)}")
        for remark in own if entries else ():
            say(f"  {remark.entry.id}  {excerpt(remark.reason)}")
    bad = len({remark.entry.id for remark in remarks})
    say(f"{bad} of {len(memory)} entries have a remark")
    if out is not None:
        _leave(file, out, memory, pruned(remarks, policy))


def _policy(text: str) -> tuple[Junk, ...]:
    names = {each.name.lower(): each for each in Junk}
    if text == "all":
        return tuple(Junk)
    wanted = [word.strip() for word in text.split(",") if word.strip()]
    for word in wanted:
        if word not in names:
            raise InputError(f"--prune {word!r}: {nearest(word, names)}")
    return tuple(names[word] for word in wanted)


def quarantined(file: Annotated[Path, typer.Argument(help="A memory, JSON Lines.", show_default=False)]) -> None:
    """List what was set aside of a memory, and why."""
    os.close(open_regular(file))  # else nothing would be set aside of a file that is not there
    aside = read_quarantine(file)
    for item in aside:
        say(f"{item.entry.id}  {excerpt(said(item.entry))}\n  {excerpt(item.reason)}")
    say(f"{len(aside)} entries are set aside of {file}")


def restore_entry(
    entry: Annotated[str, typer.Argument(help="The entry's id, or its beginning.", show_default=False)],
    memory: Annotated[Path, typer.Option(help="The memory that it left.", show_default=False)],
) -> None:
    """Bring an entry that was set aside back into its memory, which is frozen anew."""
    item = restore(memory, entry)
    say(f"{item.entry.id} is back in {memory}; it had left for: {excerpt(item.reason)}")
