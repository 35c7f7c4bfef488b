"""Episodic memory on disk: JSON Lines, which also reads the paper's listings; and its freeze."""

import hashlib
import json
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import beside, read_bytes
from rpms.foreign.json_text import (
    as_object,
    read_json_values,
)
from rpms.foreign.limits import (
    LARGEST_MEMORY,
    MOST_MADE_UP,
)
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError
from rpms.paper import memory as remembered
from rpms.paper.memory import Entry
from rpms.paper.recall import EpisodicMemory
from rpms.store.files import read_text, write_whole
from rpms.store.memory_entries import entry_of, record


def check_header(
    file: Path, line: int, value: Mapping[str, Any], type_: str, world: str, problem: str
) -> str:
    """The world that a file's first line names; another type's or version's, or another
    world's, is a FileError.
    """
    named = value.get("world")
    if value != {"type": type_, "world": named, "version": 1} or not isinstance(named, str):
        raise FileError(file, line, problem)
    if world and named != world:
        raise FileError(file, line, f"is a {type_} of {excerpt(named)}, not of {world}")
    return named


NO_OBJECT = "not an entry, or not valid JSON: a memory has one JSON object a line"
_NEWER = "cannot read this header; was it written by a newer version?"


def read_memory(file: Path, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """Read a memory of a world; the first mistake is a FileError.

    `empty`: a header without entries is read as well.
    """
    return parse_memory(file, read_text(file), world, empty=empty)


def parse_memory(file: Path, text: str, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """The memory in a text; the file is for messages."""
    headed = False
    entries: list[Entry] = []
    lines_of_ids: dict[str, int] = {}
    made_up = 0
    for line, value in read_json_values(file, text, as_object, NO_OBJECT):
        if value.get("type") == "memory":
            headed = True
            world = check_header(file, line, {"version": 1, **value}, "memory", world, _NEWER)
            continue
        entry, entry_made_up = entry_of(file, line, value)
        made_up += entry_made_up
        if made_up > MOST_MADE_UP:
            raise FileError(
                file, line, f"counts more than {MOST_MADE_UP:,} observations that it does not name"
            )
        if not entry.id:
            entry = replace(entry, id=_new_id(entry, lines_of_ids))
        if entry.id in lines_of_ids:
            first = lines_of_ids[entry.id]
            raise FileError(file, line, f"{excerpt(entry.id)} is already used at line {first}")
        lines_of_ids[entry.id] = line
        entries.append(entry)
    if not entries and not (empty and headed):
        raise FileError(
            file, None, "holds no entries; learn some with `rpms learn`, or leave the memory out"
        )
    return EpisodicMemory(entries, world)


def _new_id(entry: Entry, taken: Container[str]) -> str:
    """An id that follows from an entry's content; near-duplicates in one file are numbered."""
    stem = remembered.content_id(entry)
    id_ = stem
    number = 1
    while id_ in taken:
        number += 1
        id_ = f"{stem}_{number}"
    return id_


def memory_lines(entries: Iterable[Entry], world: str) -> Iterator[str]:
    """The lines of a memory's file."""
    yield json.dumps({"type": "memory", "world": world, "version": 1})
    for entry in entries:
        yield json.dumps(record(entry), ensure_ascii=False)


def write_memory(file: Path, entries: Iterable[Entry], world: str) -> None:
    """Write a memory, whole or not at all."""
    if not world:
        raise InputError("a memory is written for a world; name it")
    write_whole(file, "\n".join(memory_lines(entries, world)) + "\n")


def memory_hash(memory: EpisodicMemory) -> str:
    """Hash of everything in a memory, in its order."""
    digest = hashlib.sha256()
    for line in memory_lines(memory.entries, memory.world):
        digest.update(line.encode())
    return digest.hexdigest()


def freeze_file(file: Path) -> Path:
    """File of a memory's hash, in the form that `sha256sum --check` reads."""
    return beside(file, f"{file.name}.sha256")


def snapshot_file(file: Path, number: int) -> Path:
    """File of the memory after a round of learning: `memory.round1.jsonl` beside
    `memory.jsonl`.
    """
    return beside(file, f"{file.stem}.round{number}{file.suffix}")


def round_folder(file: Path, number: int) -> Path:
    """Folder of a round's episodes: `memory.rounds/round1` beside `memory.jsonl`."""
    return beside(file, f"{file.stem}.rounds") / f"round{number}"


def freeze(file: Path) -> str:
    """Record and return a memory's hash, so that evaluation uses exactly what was learned up to
    now.
    """
    digest = _digest(file)
    write_whole(freeze_file(file), f"{digest}  {file.name}\n")
    return digest


def check_frozen(file: Path) -> str:
    """The recorded hash of a memory, or nothing if it was never frozen; one that has changed
    since is refused.
    """
    seal = freeze_file(file)
    if not seal.is_file():
        return ""
    recorded = read_text(seal).split()[:1]
    if not recorded or len(recorded[0]) != hashlib.sha256().digest_size * 2:
        raise FileError(
            seal,
            None,
            f"does not hold the hash of {file.name}; delete it to use the memory unfrozen",
        )
    if recorded[0] != _digest(file):
        raise InputError(
            f"{file}: has changed since it was frozen; restore it, or delete {seal.name} to use it"
            " as it is now"
        )
    return recorded[0]


def read_frozen(file: Path, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """Read a memory for evaluation; if it is frozen, one that was changed since is refused."""
    if file.is_file():
        check_frozen(file)
    return read_memory(file, world, empty=empty)


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_MEMORY)).hexdigest()


def find_entry(memory: EpisodicMemory, wanted: str) -> Entry:
    """An entry by its id or the beginning of it; several or none are an InputError."""
    by_id = {entry.id: entry for entry in memory.entries}
    if wanted in by_id:
        return by_id[wanted]
    found = [id_ for id_ in by_id if id_.startswith(wanted)]
    if len(found) == 1:
        return by_id[found[0]]
    if found:
        raise InputError(
            f"{wanted!r} begins the ids of {len(found)} entries, such as {found[0]} and {found[1]}"
        )
    near = get_close_matches(wanted, by_id, 1)
    hint = f"; did you mean {near[0]}?" if near else "; `rpms memory stats --entries` lists them"
    raise InputError(f"no entry {wanted!r} in this memory{hint}")
