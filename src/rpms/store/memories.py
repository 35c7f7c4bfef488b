"""Episodic memory on disk: JSON Lines with the fields of Appendix F, which also reads the
paper's listings.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import beside, is_there, read_bytes
from rpms.foreign.json_text import (
    NotJson,
    Reader,
    as_object,
    needed_by,
    object_reader,
    read_jsonl,
    reader_of,
)
from rpms.foreign.limits import (
    LARGEST_MEMORY,
    LONGEST_FIELD,
    MOST_COUNTED,
    MOST_ITEMS,
    MOST_MADE_UP,
)
from rpms.foreign.shown import excerpt
from rpms.logic.belief import StateSignature
from rpms.logic.errors import FileError, InputError, is_near
from rpms.logic.goal import GoalSignature
from rpms.paper import memory as remembered
from rpms.paper.memory import Entry, Kind, Origin
from rpms.paper.recall import EpisodicMemory
from rpms.store.files import read_text, write_whole


def _within(found: Any, most: int) -> Any:
    """A text or its like that was read, if it is no longer than that."""
    if len(found) > most:
        raise ValueError(
            f"should have at most {most:,} {'characters' if isinstance(found, str) else 'items'}"
        )
    return found


def _text(value: Any) -> str:
    """A text without the line breaks that a printed listing puts into it."""
    text = str(_within(reader_of(str)(value), LONGEST_FIELD))
    return " ".join(text.split()) if "\n" in text else text


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _within(reader_of(tuple[Any, ...])(value), MOST_ITEMS)))


def _snapshot(value: Any) -> Mapping[str, Any]:
    found = _within(reader_of(Mapping[str, Any])(value), MOST_ITEMS)
    return {_within(name, LONGEST_FIELD): item for name, item in found.items()}


def _filled(read: Reader) -> Reader:
    def some(value: Any) -> Any:
        found = read(value)
        if not found:
            raise ValueError("should not be empty")
        return found

    return some


_said = _filled(_text)
_named = reader_of(tuple[tuple[str, int] | tuple[str, int, bool], ...])


def _up_to(most: float) -> Reader:
    def number(value: Any) -> float:
        found = float(reader_of(float)(value))
        if not 0 <= found <= most:
            raise ValueError(f"should be 0 to {most:g}")
        return found

    return number


_READERS: Mapping[str, Reader] = {
    "type": lambda value: remembered.kind_in_file(_text(value)),
    "goal_signature": lambda value: GoalSignature.parse(_text(value)),
    "state_signature": lambda value: StateSignature.parse(_text(value)),
    "goals": lambda value: frozenset(map(GoalSignature.parse, _texts(value))),
    "actions": _filled(_texts),
    "preconditions": _texts,
    "effects": _texts,
    "precondition": _snapshot,
    "outcome": _snapshot,
    "fields": _snapshot,
    "failed_action": _said,
    "action_template": _said,
    "request": _said,
    "success_count": reader_of(int),
    "failure_count": reader_of(int),
    "occurrence_count": reader_of(int),
    "confidence": _up_to(1),
    "retrieval_weight": _filled(_up_to(1_000)),
    "origins": lambda value: frozenset(Origin(*each) for each in _named(value)),
}
"""Readers of fields by name; all others are texts."""
_DERIVED = ("success_count", "failure_count", "occurrence_count", "confidence")
"""Fields of a file that follow from the origins."""
_UNLESS_EMPTY = ("worded_by", "goals")
"""Fields that the paper's listings do not have: written where they say something."""


@dataclass(frozen=True)
class _Form:
    """An entry in a file: its class, and its fields between `type` and `origins`, in the order
    of the file.
    """

    made: type[Entry]
    names: str

    @cached_property
    def read(self) -> Callable[[Any], tuple[Entry, int]]:
        """The reader of an entry, and of how many origins were made up for it."""
        readers: dict[str, Reader] = {}
        for name in ("id", "type", *self.names.split(), "origins"):
            readers[name] = _READERS.get(name, _text)
        needed = [name for name in needed_by(self.made) if name != "kind"]
        return object_reader(readers, needed, self._build)

    def _build(self, given: dict[str, Any]) -> tuple[Entry, int]:
        kind = given.pop("type")
        origins = given.pop("origins", None)
        counts = {name: given.pop(name) for name in _DERIVED if name in given}
        failures = counts.get("failure_count", 0)
        successes = counts.get("success_count", counts.get("occurrence_count", 1))
        if self.made is remembered.OwnEntry:
            given["kind"] = kind
            successes = len(origins or ())
        elif not successes and self.made is not remembered.VerifiedSchema:
            raise ValueError("counts no observation")
        made_up = 0
        if origins is None:
            origins = _made_up_origins(f"({given.get('id', '')})", successes, failures)
            made_up = len(origins)
        _check_origins(origins, successes, failures)
        return self.made(**given, origins=origins), made_up


def _check_origins(origins: Collection[Origin], successes: int, failures: int) -> None:
    """Refuse origins that are not as many as the entry counts."""
    failed = sum(origin.failed for origin in origins)
    total = successes + failures
    if len(origins) != total or failed != failures:
        raise ValueError(f"counts {total} observations but names {len(origins)} origins")


def _made_up_origins(source: str, successes: int, failures: int) -> frozenset[Origin]:
    """Origins of an entry that only counts its observations, as in the paper's listings."""
    total = successes + failures
    if total > MOST_COUNTED:
        raise ValueError(f"counts {total:,} observations and names none: {MOST_COUNTED:,} at most")
    return frozenset(Origin(source, number, number >= successes) for number in range(total))


_AT = "goal_signature state_signature"
_FAILED = f"{_AT} failed_action"
_FORMS: dict[str, _Form] = {
    Kind.SUCCESS: _Form(
        remembered.SuccessSnippet, f"{_AT} sub_goal_type precondition actions outcome success_count"
    ),
    Kind.FAILURE: _Form(
        remembered.FailureLesson,
        f"{_FAILED} failure_type failure_message corrective_rule occurrence_count worded_by",
    ),
    Kind.SCHEMA: _Form(
        remembered.VerifiedSchema,
        "action_template action_type preconditions effects success_count failure_count confidence"
        " goals",
    ),
    Kind.CRITICAL_FAILURE: _Form(
        remembered.CriticalFailure,
        f"{_FAILED} failure_message corrective_rule occurrence_count retrieval_weight",
    ),
    Kind.REQUEST: _Form(remembered.RememberedRequest, f"{_AT} request success_count"),
}
_OWN = _Form(remembered.OwnEntry, f"{_AT} fields")


def entry_of(file: Path, line: int, value: dict[str, Any]) -> tuple[Entry, int]:
    """An entry, and how many origins were made up for it.

    One of a kind that nothing here registers is told by its `fields`.
    """
    kind = value.get("type")
    known = isinstance(kind, str) and kind in [str(each) for each in Kind]
    own = isinstance(kind, str) and kind.isidentifier() and "fields" in value
    if not known and not own:
        named = f" {excerpt(kind)!r}" if is_near(str(kind), _FORMS) else ""
        raise FileError(file, line, f"unknown entry type{named}; known: {', '.join(_FORMS)}")
    try:
        return _FORMS.get(str(kind), _OWN).read(value)
    except NotJson as error:
        raise FileError(file, line, f"{kind}: {error}") from None


def _check_header(
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


_NO_OBJECT = "not an entry, or not valid JSON: a memory has one JSON object a line"
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
    ids: dict[str, int] = {}
    made_up = 0
    for line, value in read_jsonl(file, text, as_object, _NO_OBJECT, halves=False):
        if value.get("type") == "memory":
            headed = True
            world = _check_header(file, line, {"version": 1, **value}, "memory", world, _NEWER)
            continue
        entry, more = entry_of(file, line, value)
        made_up += more
        if made_up > MOST_MADE_UP:
            raise FileError(
                file, line, f"counts more than {MOST_MADE_UP:,} observations that it does not name"
            )
        if not entry.id:
            entry = replace(entry, id=_new_id(entry, ids))
        if entry.id in ids:
            raise FileError(
                file, line, f"{excerpt(entry.id)} is already used at line {ids[entry.id]}"
            )
        ids[entry.id] = line
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


def record(entry: Entry) -> dict[str, Any]:
    """An entry as it stands in a file."""
    written: dict[str, Any] = {"id": entry.id, "type": str(entry.kind)}
    for name in _FORMS.get(entry.kind, _OWN).names.split():
        value = _written(getattr(entry, name))
        if value or name not in _UNLESS_EMPTY:
            written[name] = value
    origins: list[list[object]] = []
    for episode, step, failed in sorted(entry.origins):
        origins.append([episode, step, True] if failed else [episode, step])
    written["origins"] = origins
    return written


def _written(value: object) -> object:
    match value:
        case GoalSignature() | StateSignature():
            return str(value)
        case Mapping():
            return dict(value)
        case frozenset():
            return sorted(map(str, value))
    return value


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
    """Read a memory for evaluation: `read_memory`, and the freeze is enforced where there is
    one.
    """
    if file.is_file():
        check_frozen(file)
    return read_memory(file, world, empty=empty)


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_MEMORY)).hexdigest()


class Quarantined(NamedTuple):
    """An entry that was set aside until it is restored, and why."""

    entry: Entry
    reason: str


_line: Callable[[Any], dict[str, Any]] = object_reader(
    {"reason": _said, "entry": reader_of(Mapping[str, Any])}, ("reason", "entry"), dict
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
    for place, (line, value) in enumerate(
        read_jsonl(file, text, as_object, _NO_OBJECT, halves=False)
    ):
        if not place:
            _check_header(file, line, value, "quarantine", world, _BEGIN)
            continue
        try:
            form = _line(value)
        except NotJson as error:
            raise FileError(
                file, line, f"{error}; a line holds `reason` and `entry`, and nothing else"
            ) from None
        entry, _ = entry_of(file, line, form["entry"])
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
    """Keep what was set aside of a memory, whole or not at all."""
    lines = [json.dumps({"type": "quarantine", "world": world, "version": 1})]
    for item in items:
        row = {"reason": item.reason, "entry": record(item.entry)}
        lines.append(json.dumps(row, ensure_ascii=False))
    write_whole(quarantine_file(memory), "\n".join(lines) + "\n")


def set_aside(
    entries: Iterable[Entry], reasons: Mapping[str, str], before: Sequence[Quarantined] = ()
) -> tuple[tuple[Entry, ...], tuple[Quarantined, ...]]:
    """Divide entries into those that stay and those set aside: by id for a reason, or by
    content as before.
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


def write_without(
    out: Path, entries: Sequence[Entry], aside: Sequence[Quarantined], world: str
) -> str:
    """Write and freeze a memory with what left it beside it, and return its hash.

    What is aside is written first.
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
