"""Entries that were set aside, each with the reason: JSON Lines beside the memory that they left."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rpms.core.errors import FileError
from rpms.core.memory import Entry
from rpms.foreign.files import is_there
from rpms.foreign.forms import first_mistake
from rpms.foreign.limits import LONGEST_FIELD
from rpms.foreign.shown import excerpt
from rpms.store.files import read_text, write_whole
from rpms.store.memories import entry_of, objects_in, record

Reason = Annotated[str, Field(min_length=1, max_length=LONGEST_FIELD)]


class Quarantined(NamedTuple):
    """An entry that was set aside, and why."""

    entry: Entry
    reason: str


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["quarantine"]
    world: str
    version: Literal[1]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    reason: Reason
    entry: dict[str, Any]


def quarantine_file(memory: Path) -> Path:
    """File of the entries that left a memory: `memory.quarantine.jsonl` beside `memory.jsonl`."""
    return memory.with_name(f"{memory.stem}.quarantine{memory.suffix}")


def read_quarantine(memory: Path, world: str = "") -> tuple[Quarantined, ...]:
    """Entries set aside from a memory, none without such a file; the first mistake in it is a FileError."""
    file = quarantine_file(memory)
    return parse_quarantine(file, read_text(file), world) if is_there(file) else ()


def parse_quarantine(file: Path, text: str, world: str = "") -> tuple[Quarantined, ...]:
    """The entries in a text; the file is for messages."""
    found: dict[str, Quarantined] = {}
    headed = False
    for line, value in objects_in(file, text):
        if not headed:
            headed = True
            _check_header(file, line, value, world)
            continue
        try:
            form = _Line.model_validate(value)
        except ValidationError as error:
            problem = f"{first_mistake(error)}; a line holds `reason` and `entry`, and nothing else"
            raise FileError(file, line, problem) from None
        entry, _ = entry_of(file, line, form.entry)
        if not entry.id:
            raise FileError(file, line, "entry: has no id, by which it could be restored")
        if entry.id in found:
            raise FileError(file, line, f"{excerpt(entry.id)} is set aside more than once; leave one of the lines")
        found[entry.id] = Quarantined(entry, form.reason)
    return tuple(found.values())


def _check_header(file: Path, line: int, value: dict[str, Any], world: str) -> None:
    try:
        header = _Header.model_validate(value)
    except ValidationError:
        raise FileError(
            file, line, 'should begin with {"type": "quarantine", "world": …, "version": 1}; is this another file?'
        ) from None
    if world and header.world != world:
        raise FileError(file, line, f"holds entries of {excerpt(header.world)}, not of {world}")


def write_quarantine(memory: Path, items: Iterable[Quarantined], world: str) -> None:
    """Keep what was set aside of a memory, whole or not at all."""
    lines = [json.dumps({"type": "quarantine", "world": world, "version": 1})]
    lines += [json.dumps({"reason": item.reason, "entry": record(item.entry)}, ensure_ascii=False) for item in items]
    write_whole(quarantine_file(memory), "\n".join(lines) + "\n")
