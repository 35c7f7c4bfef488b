"""Setting entries aside and bringing them back: nothing is lost, and what left a memory does not come in again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rpms.core.errors import InputError
from rpms.core.memory import Entry
from rpms.core.recall import EpisodicMemory
from rpms.foreign.shown import excerpt
from rpms.learn.audit import Audit, Worth
from rpms.learn.freeze import freeze, read_frozen
from rpms.learn.inventory import find_entry
from rpms.store.memories import write_memory
from rpms.store.quarantine import Quarantined, quarantine_file, read_quarantine, write_quarantine


def harmful(found: Audit) -> dict[str, str]:
    """The entries that an audit finds credibly harmful, by id, each with the reason."""
    return {account.name: f"audit: {account.reason}" for account in found.of(Worth.HARMFUL)}


def set_aside(
    entries: Iterable[Entry], reasons: Mapping[str, str], before: Sequence[Quarantined] = ()
) -> tuple[tuple[Entry, ...], tuple[Quarantined, ...]]:
    """Divide entries into those that stay and those set aside: by id for a reason, or because they were before.

    What was set aside before is known by what it says, so that learning it once more does not bring it back.
    """
    known = {_content(item.entry) for item in before}
    stay: list[Entry] = []
    aside = list(before)
    for entry in entries:
        if _content(entry) in known:
            continue
        if entry.id in reasons:
            aside.append(Quarantined(entry, reasons[entry.id]))
        else:
            stay.append(entry)
    return tuple(stay), tuple(aside)


def _content(entry: Entry) -> tuple[str, ...]:
    return (entry.kind, *entry.key())


def write_without(out: Path, entries: Sequence[Entry], aside: Sequence[Quarantined], world: str) -> str:
    """Write and freeze a memory with what left it beside it, and return its hash. What is aside is written first."""
    if not entries:
        raise InputError(f"{out}: nothing would be left of this memory; play without one instead (--memory none)")
    if aside:
        write_quarantine(out, aside, world)
    write_memory(out, entries, world)
    return freeze(out)


def restore(file: Path, wanted: str) -> Quarantined:
    """Bring an entry back into a memory by its id or the beginning of it, and freeze the memory anew."""
    memory = read_frozen(file)
    aside = read_quarantine(file, memory.world)
    if not aside:
        raise InputError(f"{quarantine_file(file)}: nothing was set aside from {file.name}")
    entry = find_entry(EpisodicMemory(item.entry for item in aside), wanted)
    item = next(item for item in aside if item.entry.id == entry.id)
    if all(_content(other) != _content(entry) for other in memory.entries):
        if any(other.id == entry.id for other in memory.entries):
            raise InputError(f"{file}: has another entry called {excerpt(entry.id)}; rename one of the two")
        write_memory(file, [*memory.entries, entry], memory.world)
        freeze(file)
    write_quarantine(file, [other for other in aside if other is not item], memory.world)
    return item
