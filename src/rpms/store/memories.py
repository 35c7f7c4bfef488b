"""Episodic memory on disk: JSON Lines with the fields of Appendix F, which also reads the paper's listings.

A frozen memory has its hash in a file beside it, so that evaluation uses what was learned and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from rpms.core.belief import StateSignature
from rpms.core.errors import FileError, InputError
from rpms.core.goal import GoalSignature
from rpms.core.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Kind,
    Origin,
    OwnEntry,
    RememberedRequest,
    SuccessSnippet,
    VerifiedSchema,
    content_id,
)
from rpms.core.names import is_near
from rpms.core.recall import EpisodicMemory
from rpms.foreign.files import read_bytes
from rpms.foreign.json_text import DECODER, NotJson, check_depth
from rpms.foreign.limits import LARGEST_MEMORY, LONGEST_FIELD, LONGEST_NUMBER, MOST_COUNTED, MOST_ITEMS, MOST_MADE_UP
from rpms.foreign.shown import excerpt
from rpms.store.files import read_text, write_whole


def _unwrapped(value: object) -> object:
    """A text without the line breaks that a printed listing puts into it."""
    return " ".join(value.split()) if isinstance(value, str) and "\n" in value else value


def _as_tuples(value: object) -> object:
    return [tuple(item) if isinstance(item, list) else item for item in value] if isinstance(value, list) else value


Text = Annotated[str, BeforeValidator(_unwrapped), Field(max_length=LONGEST_FIELD)]
Name = Annotated[str, Field(max_length=LONGEST_FIELD)]
Texts = Annotated[list[Text], Field(max_length=MOST_ITEMS)]
Snapshot = Annotated[dict[Name, Any], Field(max_length=MOST_ITEMS)]
Step = Annotated[int, Field(ge=-LONGEST_NUMBER, le=LONGEST_NUMBER)]
Origins = Annotated[list[tuple[Name, Step] | tuple[Name, Step, bool]], BeforeValidator(_as_tuples)]


_PARSED: dict[str, Callable[[Any], object]] = {
    "goal_signature": GoalSignature.parse,
    "state_signature": StateSignature.parse,
    "actions": tuple,
    "preconditions": tuple,
    "effects": tuple,
    "goals": lambda texts: frozenset(map(GoalSignature.parse, texts)),
}
"""Values of an entry that are not as a file holds them, by field."""
_UNLESS_EMPTY = ("worded_by", "goals")
"""Fields that the paper's listings do not have: written where they say something."""


class _Record(BaseModel):
    """An entry in a file: the fields of the entry, in the order of the file, and counts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Name = ""
    type: Name
    origins: Origins | None = None

    def _counted(self) -> tuple[int, int]:
        """The numbers of successes, or of occurrences, and of failures."""
        return getattr(self, "success_count", 0) + getattr(self, "occurrence_count", 0), getattr(
            self, "failure_count", 0
        )

    @property
    def made_up(self) -> int:
        """Origins that are made up, since the entry counts them without naming them."""
        return sum(self._counted()) if self.origins is None else 0

    def sources(self) -> frozenset[Origin]:
        """The origins; where none are recorded, as in the paper's listings, as many as are counted."""
        successes, failures = self._counted()
        if self.origins is None:
            if successes + failures > MOST_COUNTED:
                raise ValueError(
                    f"counts {successes + failures:,} observations and names none: {MOST_COUNTED:,} at most"
                )
            numbers = range(successes + failures)
            return frozenset(Origin(f"({self.id})", number, number >= successes) for number in numbers)
        origins = frozenset(Origin(*origin) for origin in self.origins)
        failed = sum(origin.failed for origin in origins)
        if (len(origins) - failed, failed) != (successes, failures):
            raise ValueError(f"counts {successes + failures} observations but names {len(origins)} origins")
        return origins


def _built(form: _Record, made: type[Entry]) -> Entry:
    """The entry of a form, of the class that its kind has."""
    given: dict[str, Any] = {name: value for name, value in form if name in made.__slots__}
    given |= {name: parse(given[name]) for name, parse in _PARSED.items() if name in given}
    given |= {"kind": Kind(form.type)} if made is OwnEntry else {}
    return made(**{**given, "origins": form.sources()})


class _Success(_Record):
    type: Literal["success"]
    goal_signature: Text
    state_signature: Text
    sub_goal_type: Text
    precondition: Snapshot = Field(default_factory=dict)
    actions: Texts = Field(min_length=1)
    outcome: Snapshot = Field(default_factory=dict)
    success_count: int = Field(default=1, ge=1, le=LONGEST_NUMBER)


class _Failure(_Record):
    type: Literal["failure"]
    goal_signature: Text
    state_signature: Text
    failed_action: Text = Field(min_length=1)
    failure_type: Text = "precondition_not_met"
    failure_message: Text = ""
    corrective_rule: Text
    occurrence_count: int = Field(default=1, ge=1, le=LONGEST_NUMBER)
    worded_by: Text = ""


class _Schema(_Record):
    type: Literal["schema"]
    action_template: Text = Field(min_length=1)
    action_type: Text
    preconditions: Texts = Field(default_factory=list)
    effects: Texts = Field(default_factory=list)
    success_count: int = Field(default=1, ge=0, le=LONGEST_NUMBER)
    failure_count: int = Field(default=0, ge=0, le=LONGEST_NUMBER)
    confidence: float = Field(default=1.0, ge=0, le=1)
    goals: Texts = Field(default_factory=list)


class _Critical(_Record):
    type: Literal["critical_failure"]
    goal_signature: Text
    state_signature: Text
    failed_action: Text = Field(min_length=1)
    failure_message: Text = ""
    corrective_rule: Text
    occurrence_count: int = Field(default=1, ge=1, le=LONGEST_NUMBER)
    retrieval_weight: float = Field(default=2.0, gt=0, le=1_000)


class _Request(_Record):
    type: Literal["request"]
    goal_signature: Text
    state_signature: Text = ""
    request: Text = Field(min_length=1)
    success_count: int = Field(default=1, ge=1, le=LONGEST_NUMBER)


class _Header(BaseModel):
    """The first line that `write_memory` puts; files without it, such as the paper's, are read as well."""

    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["memory"]
    world: str
    version: Literal[1] = 1


class _Own(_Record):
    """An entry of a kind that somebody registered."""

    goal_signature: Text
    state_signature: Text
    fields: Snapshot = Field(default_factory=dict)

    def _counted(self) -> tuple[int, int]:
        return len(self.origins or ()), 0


_RECORDS: dict[str, tuple[type[_Record], type[Entry]]] = {
    Kind.SUCCESS: (_Success, SuccessSnippet),
    Kind.FAILURE: (_Failure, FailureLesson),
    Kind.SCHEMA: (_Schema, VerifiedSchema),
    Kind.CRITICAL_FAILURE: (_Critical, CriticalFailure),
    Kind.REQUEST: (_Request, RememberedRequest),
}
_REGISTERED = (_Own, OwnEntry)


def objects_in(file: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a text, one a line or printed over several, each with its line."""
    position, line, counted = 0, 1, 0
    half_letters = "\\ud" in text.lower()
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            return
        line += text.count("\n", counted, position)
        counted = position
        value, position = _value(file, text, position, line)
        if not isinstance(value, dict):
            raise FileError(file, line, "not an entry: a memory has one JSON object a line")
        if half_letters and not _encodable(value):
            raise FileError(file, line, "holds half of a letter (a lone surrogate), which no file can keep")
        yield line, value


def _value(file: Path, text: str, position: int, line: int) -> tuple[object, int]:
    """The JSON value at a place, and where it ends."""
    try:
        value, end = DECODER.raw_decode(text, position)
        check_depth(value)
    except json.JSONDecodeError as error:
        wrong = line + text.count("\n", position, error.pos)
        raise FileError(file, wrong, f"not valid JSON: {error.msg}; a memory has one JSON object a line") from None
    except NotJson as error:
        raise FileError(file, line, f"not valid JSON: {error}") from None
    except RecursionError:
        raise FileError(file, line, "not valid JSON: nested too deeply") from None
    return value, end


def _encodable(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def entry_of(file: Path, line: int, value: dict[str, Any]) -> tuple[Entry, int]:
    """An entry, and how many origins were made up for it."""
    kind = value.get("type")
    known = isinstance(kind, str) and kind in [str(each) for each in Kind]
    if not known:
        named = f" {excerpt(kind)!r}" if is_near(str(kind), _RECORDS) else ""
        raise FileError(file, line, f"unknown entry type{named}; known: {', '.join(_RECORDS)}")
    try:
        form, made = _RECORDS.get(str(kind), _REGISTERED)
        read = form.model_validate(value)
        return _built(read, made), read.made_up
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        problem = "is not a known field" if first["type"] == "extra_forbidden" else first["msg"]
        raise FileError(file, line, f"{kind}: {excerpt(place)}: {problem}") from None
    except ValueError as error:
        raise FileError(file, line, f"{kind}: {excerpt(error)}") from None


def _with_id(entry: Entry, taken: Container[str]) -> Entry:
    """An entry without an id, with one that follows from its content; near-duplicates in one file are numbered."""
    stem = content_id(entry)
    numbered = (f"{stem}_{number}" for number in count(2))
    return replace(entry, id=next(id_ for id_ in chain((stem,), numbered) if id_ not in taken))


def read_memory(file: Path, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """Read a memory of a world; the first mistake is a FileError. `empty`: a header without entries is read as well."""
    return parse_memory(file, read_text(file), world, empty=empty)


def parse_memory(file: Path, text: str, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """The memory in a text; the file is for messages."""
    headed = False
    entries: list[Entry] = []
    ids: dict[str, int] = {}
    made_up = 0
    for line, value in objects_in(file, text):
        if value.get("type") == "memory":
            try:
                header = _Header.model_validate(value)
            except ValidationError:
                raise FileError(file, line, "cannot read this header; was it written by a newer version?") from None
            if world and header.world != world:
                raise FileError(file, line, f"is a memory of {excerpt(header.world)}, not of {world}")
            world, headed = world or header.world, True
            continue
        entry, more = entry_of(file, line, value)
        made_up += more
        if made_up > MOST_MADE_UP:
            raise FileError(file, line, f"counts more than {MOST_MADE_UP:,} observations that it does not name")
        if not entry.id:
            entry = _with_id(entry, ids)
        if entry.id in ids:
            raise FileError(file, line, f"{excerpt(entry.id)} is already used at line {ids[entry.id]}")
        ids[entry.id] = line
        entries.append(entry)
    if not entries and not (empty and headed):
        raise FileError(file, None, "holds no entries; learn some with `rpms learn`, or leave the memory out")
    return EpisodicMemory(entries, world)


def record(entry: Entry) -> dict[str, Any]:
    """An entry as it stands in a file."""
    form, _ = _RECORDS.get(entry.kind, _REGISTERED)
    names = [name for name in form.model_fields if name not in _Record.model_fields]
    body = {name: _written(getattr(entry, name)) for name in names}
    said = {name: value for name, value in body.items() if value or name not in _UNLESS_EMPTY}
    origins = [list(origin) if origin.failed else [*origin[:2]] for origin in sorted(entry.origins)]
    return {"id": entry.id, "type": str(entry.kind), **said, "origins": origins}


def _written(value: object) -> object:
    match value:
        case GoalSignature() | StateSignature():
            return str(value)
        case Mapping():
            return dict(value)
        case frozenset():
            return sorted(map(str, value))
        case tuple():
            return list(value)
    return value


def _lines(entries: Iterable[Entry], world: str) -> Iterator[str]:
    yield json.dumps({"type": "memory", "world": world, "version": 1})
    for entry in entries:
        yield json.dumps(record(entry), ensure_ascii=False)


def write_memory(file: Path, entries: Iterable[Entry], world: str) -> None:
    """Write a memory, whole or not at all."""
    if not world:
        raise InputError("a memory is written for a world; name it")
    write_whole(file, "\n".join(_lines(entries, world)) + "\n")


def memory_hash(memory: EpisodicMemory) -> str:
    """A hash of everything in a memory, in its order: the same hash, the same memory."""
    digest = hashlib.sha256()
    for line in _lines(memory.entries, memory.world):
        digest.update(line.encode())
    return digest.hexdigest()


def freeze_file(file: Path) -> Path:
    """File of a memory's hash, in the form that `sha256sum --check` reads."""
    return file.with_name(f"{file.name}.sha256")


def freeze(file: Path) -> str:
    """Record the hash of a memory as it is now, and return it."""
    digest = _digest(file)
    write_whole(freeze_file(file), f"{digest}  {file.name}\n")
    return digest


def check_frozen(file: Path) -> str:
    """The recorded hash of a memory, or nothing if it was never frozen; one that has changed since is refused."""
    seal = freeze_file(file)
    if not seal.is_file():
        return ""
    recorded = read_text(seal).split()[:1]
    if not recorded or len(recorded[0]) != hashlib.sha256().digest_size * 2:
        raise FileError(seal, None, f"does not hold the hash of {file.name}; delete it to use the memory unfrozen")
    if recorded[0] != _digest(file):
        raise InputError(
            f"{file}: has changed since it was frozen; restore it, or delete {seal.name} to use it as it is now"
        )
    return recorded[0]


def read_frozen(file: Path, world: str = "", *, empty: bool = False) -> EpisodicMemory:
    """Read a memory for evaluation: `read_memory`, and the freeze is enforced where there is one."""
    if file.is_file():
        check_frozen(file)
    return read_memory(file, world, empty=empty)


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_MEMORY)).hexdigest()
