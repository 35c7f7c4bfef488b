"""Entries that were set aside, each with the reason, until they are restored: JSON Lines beside their memory."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from rpms.core.errors import FileError, InputError
from rpms.core.memory import Entry
from rpms.core.recall import EpisodicMemory
from rpms.foreign.file_reader import is_there
from rpms.foreign.json_text import NotJson, read_jsonl
from rpms.foreign.shown import excerpt
from rpms.foreign.typed import as_object, object_reader, reader_of
from rpms.store.files import read_text, write_whole
from rpms.store.memories import NO_OBJECT, check_header, entry_of, freeze, read_frozen, record, said, write_memory


class Quarantined(NamedTuple):
    """An entry that was set aside, and why."""

    entry: Entry
    reason: str


_line: Callable[[Any], dict[str, Any]] = object_reader(
    {"reason": said, "entry": reader_of(Mapping[str, Any])}, ("reason", "entry"), dict
)
_BEGIN = 'should begin with {"type": "quarantine", "world": …, "version": 1}; is this another file?'


def quarantine_file(memory: Path) -> Path:
    """File of the entries that left a memory: `memory.quarantine.jsonl` beside `memory.jsonl`."""
    return memory.with_name(f"{memory.stem}.quarantine{memory.suffix}")


def read_quarantine(memory: Path, world: str = "") -> tuple[Quarantined, ...]:
    """Entries set aside from a memory, none without such a file; the first mistake in it is a FileError."""
    file = quarantine_file(memory)
    found: dict[str, Quarantined] = {}
    text = read_text(file) if is_there(file) else ""
    for place, (line, value) in enumerate(read_jsonl(file, text, as_object, NO_OBJECT, halves=False)):
        if not place:
            check_header(file, line, value, "quarantine", world, _BEGIN)
            continue
        try:
            form = _line(value)
        except NotJson as error:
            raise FileError(file, line, f"{error}; a line holds `reason` and `entry`, and nothing else") from None
        entry, _ = entry_of(file, line, form["entry"])
        if not entry.id:
            raise FileError(file, line, "entry: has no id, by which it could be restored")
        if entry.id in found:
            raise FileError(file, line, f"{excerpt(entry.id)} is set aside more than once; leave one of the lines")
        found[entry.id] = Quarantined(entry, form["reason"])
    return tuple(found.values())


def write_quarantine(memory: Path, items: Iterable[Quarantined], world: str) -> None:
    """Keep what was set aside of a memory, whole or not at all."""
    lines = [json.dumps({"type": "quarantine", "world": world, "version": 1})]
    lines += [json.dumps({"reason": item.reason, "entry": record(item.entry)}, ensure_ascii=False) for item in items]
    write_whole(quarantine_file(memory), "\n".join(lines) + "\n")


def set_aside(
    entries: Iterable[Entry], reasons: Mapping[str, str], before: Sequence[Quarantined] = ()
) -> tuple[tuple[Entry, ...], tuple[Quarantined, ...]]:
    """Divide entries into those that stay and those set aside: by id for a reason, or by content as before."""
    known = {_content(item.entry) for item in before}
    others = [entry for entry in entries if _content(entry) not in known]
    new = [Quarantined(entry, reasons[entry.id]) for entry in others if entry.id in reasons]
    return tuple(entry for entry in others if entry.id not in reasons), (*before, *new)


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


def find_entry(memory: EpisodicMemory, wanted: str) -> Entry:
    """An entry by its id or the beginning of it; several or none are an InputError."""
    exact = [entry for entry in memory.entries if entry.id == wanted]
    found = exact or [entry for entry in memory.entries if entry.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{wanted!r} begins the ids of {len(found)} entries, such as {found[0].id} and {found[1].id}")
    near = get_close_matches(wanted, [entry.id for entry in memory.entries], 1)
    hint = f"; did you mean {near[0]}?" if near else "; `rpms memory stats` lists them"
    raise InputError(f"no entry {wanted!r} in this memory{hint}")
