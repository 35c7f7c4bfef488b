"""Entries that were set aside from a memory, in a file beside it, until they are restored."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import beside, is_there
from rpms.foreign.json_text import (
    NotJson,
    as_object,
    object_reader,
    read_json_values,
    reader_of,
)
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError
from rpms.paper.memory import Entry
from rpms.paper.recall import EpisodicMemory
from rpms.store.files import read_text, write_whole
from rpms.store.memories import (
    NO_OBJECT,
    check_header,
    find_entry,
    freeze,
    read_frozen,
    write_memory,
)
from rpms.store.memory_entries import entry_of, filled_text, record


class Quarantined(NamedTuple):
    """An entry that was set aside until it is restored, and why."""

    entry: Entry
    reason: str


_line: Callable[[Any], dict[str, Any]] = object_reader(
    {"reason": filled_text, "entry": reader_of(Mapping[str, Any])}, ("reason", "entry"), dict
)
_BEGIN = 'should begin with {"type": "quarantine", "world": …, "version": 1}; is this another file?'


def quarantine_file(memory: Path) -> Path:
    """File of the entries that left a memory: `memory.quarantine.jsonl` beside `memory.jsonl`."""
    return beside(memory, f"{memory.stem}.quarantine{memory.suffix}")


def read_quarantine(memory: Path, world: str = "") -> tuple[Quarantined, ...]:
    """Entries set aside from a memory, none without such a file; the first mistake in it is a
    FileError.
    """
    file = quarantine_file(memory)
    found: dict[str, Quarantined] = {}
    text = read_text(file) if is_there(file) else ""
    for place, (line, value) in enumerate(read_json_values(file, text, as_object, NO_OBJECT)):
        if not place:
            check_header(file, line, value, "quarantine", world, _BEGIN)
            continue
        try:
            form = _line(value)
        except NotJson as error:
            raise FileError(
                file, line, f"{error}; a line holds `reason` and `entry`, and nothing else"
            ) from None
        entry = entry_of(file, line, form["entry"]).entry
        if not entry.id:
            raise FileError(file, line, "entry: has no id, by which it could be restored")
        if entry.id in found:
            raise FileError(
                file,
                line,
                f"{excerpt(entry.id)} is set aside more than once; leave one of the lines",
            )
        found[entry.id] = Quarantined(entry, form["reason"])
    return tuple(found.values())


def write_quarantine(memory: Path, items: Iterable[Quarantined], world: str) -> None:
    """Write the entries that were set aside of a memory: all of them, or nothing."""
    lines = [json.dumps({"type": "quarantine", "world": world, "version": 1})]
    for item in items:
        row = {"reason": item.reason, "entry": record(item.entry)}
        lines.append(json.dumps(row, ensure_ascii=False))
    write_whole(quarantine_file(memory), "\n".join(lines) + "\n")


class Divided(NamedTuple):
    """Entries that stay in a memory, and those that are set aside."""

    kept: tuple[Entry, ...]
    aside: tuple[Quarantined, ...]


def set_aside(
    entries: Iterable[Entry], reasons: Mapping[str, str], before: Sequence[Quarantined] = ()
) -> Divided:
    """Divide entries into those that stay and those that are set aside: by id, for a reason, or
    since an entry with the same content was set aside before.
    """
    gone = {_content(item.entry) for item in before}
    stay: list[Entry] = []
    aside = list(before)
    for entry in entries:
        if _content(entry) in gone:
            continue
        if entry.id in reasons:
            aside.append(Quarantined(entry, reasons[entry.id]))
        else:
            stay.append(entry)
    return Divided(tuple(stay), tuple(aside))


def _content(entry: Entry) -> tuple[str, ...]:
    return (entry.kind, *entry.key())


def write_without(
    out: Path, entries: Sequence[Entry], aside: Sequence[Quarantined], world: str
) -> str:
    """Write and freeze a memory, with the entries that left it beside it, and return its hash. The
    entries that left are written first, so that none is lost.
    """
    if not entries:
        raise InputError(
            f"{out}: nothing would be left of this memory; play without one instead (--memory none)"
        )
    if aside:
        write_quarantine(out, aside, world)
    write_memory(out, entries, world)
    return freeze(out)


def restore(file: Path, wanted: str) -> Quarantined:
    """Bring an entry back into a memory by its id or the beginning of it, and freeze the memory
    anew.
    """
    memory = read_frozen(file)
    aside = read_quarantine(file, memory.world)
    if not aside:
        raise InputError(f"{quarantine_file(file)}: nothing was set aside from {file.name}")
    by_id = {item.entry.id: item for item in aside}
    entry = find_entry(EpisodicMemory(item.entry for item in aside), wanted)
    _put_back(file, memory, entry)
    item = by_id.pop(entry.id)
    write_quarantine(file, by_id.values(), memory.world)
    return item


def _put_back(file: Path, memory: EpisodicMemory, entry: Entry) -> None:
    """Write a memory with one more entry, unless it says that already."""
    if _content(entry) in map(_content, memory.entries):
        return
    if any(other.id == entry.id for other in memory.entries):
        raise InputError(
            f"{file}: has another entry called {excerpt(entry.id)}; rename one of the two"
        )
    write_memory(file, [*memory.entries, entry], memory.world)
    freeze(file)
