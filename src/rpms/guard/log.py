"""The guard's log: JSON lines, one for each call that was checked, each result that was seen,
each fact told.

A log stays bounded: long texts are cut, a call's arguments are written once, names that a manual
`masks` are unreadable, and past a limit the file is moved to `NAME.1`.
"""

import errno
import hashlib
import hmac
import json
import mmap
import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock

from rpms.foreign.file_reader import beside, is_there, open_regular, text_lines
from rpms.foreign.json_text import read_jsonl, tagged_reader
from rpms.logic.errors import FileError

VERSION = 1
LONGEST_RESULT = 200_000
"""Characters of a result that are kept. A longer result is left out, so that a replay learns
nothing from it."""
_LONGEST_TEXT = 10_000
_SHOWN = 1_000
"""Characters of a longer text that are kept."""
_MOST_OPEN = 10_000
"""Calls without a result whose arguments a reader remembers."""
_KEY = secrets.token_bytes(16)
"""Goes into masks, and is another in each process: nobody can try out what a masked value was."""


Word = StrEnum("Word", ["ALLOW", "WARN", "MODIFY", "ASK", "REFUSE"])
"""Rulings, as a log names them: in small letters."""


@dataclass(frozen=True)
class HeadLine:
    """The first line."""

    type: ClassVar[str] = "guard"
    version: int = VERSION
    manual: str = ""


@dataclass(frozen=True, kw_only=True)
class _Happened:
    at: str = ""
    """Moment, in UTC."""
    session: str = ""
    """Conversation it belongs to."""


@dataclass(frozen=True, kw_only=True)
class _OfCall(_Happened):
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, kw_only=True)
class CheckLine(_OfCall):
    """A call that was checked, and the ruling."""

    type: ClassVar[str] = "check"
    ruling: Word
    rule: str = ""
    reason: str = ""
    fact: str = ""
    remedy: str = ""
    made: Mapping[str, Any] | None = None
    """The arguments that a modified call was made with."""
    approved: bool | None = None
    """Decision of a person who was asked about it."""
    shadow: bool = False
    """It was made whatever the ruling says: the guard only observed."""


@dataclass(frozen=True, kw_only=True)
class ResultLine(_OfCall):
    """A call's result."""

    type: ClassVar[str] = "result"
    as_checked: bool = False
    """True if the arguments are those that the call was checked with, and so are not written
    again."""
    failed: bool | None
    """None if the result could not be read."""
    result: Any = None
    unread: bool = False
    """True if the result was too long to keep, or was not JSON."""


@dataclass(frozen=True, kw_only=True)
class ToldLine(_Happened):
    """Facts that the host told."""

    type: ClassVar[str] = "told"
    facts: tuple[str, ...]


Event = CheckLine | ResultLine | ToldLine
_FORMS: Mapping[str, Any] = {
    form.type: form for form in (HeadLine, CheckLine, ResultLine, ToldLine)
}


class GuardLog:
    """A log that is written to. The file is never held open, so that others may move it."""

    def __init__(self, file: Path | str, manual: str = "", *, limit: int = 0) -> None:
        """Past `limit` bytes the file is moved to `NAME.1`; 0 means never."""
        self._file = Path(file)
        self._manual = manual
        self._limit = limit
        if is_there(self._file) and os.lstat(self._file).st_size:
            next(iter(read_guard_log(self._file)), None)
            _cut_unfinished(self._file)
        else:
            self._append(b"")

    def add(self, line: Event, masks: Collection[str] = ()) -> None:
        """Write a line, whole or not at all."""
        values = dict(vars(line))
        if line.type != "told":
            values = _masked_line(values, masks)
        self._append(_json_line(line.type, values))
        if self._limit and os.lstat(self._file).st_size > self._limit:
            self._move()

    def _append(self, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with os.fdopen(open_regular(self._file, flags), "ab", buffering=0) as stream:
            before = os.fstat(stream.fileno()).st_size
            if not before:
                data = _json_line(HeadLine.type, vars(HeadLine(manual=self._manual))) + data
            if stream.write(data) == len(data):
                return
            # a full disk; what others have added since then stays
            if os.fstat(stream.fileno()).st_size < before + len(data):
                stream.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _move(self) -> None:
        """Begin a new file, unless another process just did."""
        with FileLock(f"{self._file}.lock"):
            if is_there(self._file) and os.lstat(self._file).st_size > self._limit:
                self._file.replace(_older(self._file))


def _older(file: Path) -> Path:
    return beside(file, f"{file.name}.1")


def _cut_unfinished(file: Path) -> None:
    """Cut a line that a killed process left unfinished: the next one would join it."""
    with os.fdopen(open_regular(file, os.O_RDWR), "r+b") as stream:
        with mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as data:
            keep = data.rfind(b"\n") + 1
            size = len(data)
        if 0 < keep < size:
            stream.truncate(keep)


def _json_line(kind: str, values: Mapping[str, Any]) -> bytes:
    return (json.dumps({"type": kind, **values}, separators=(",", ":")) + "\n").encode()


def _masked_line(values: dict[str, Any], masks: Collection[str]) -> dict[str, Any]:
    """A line whose long texts are cut, and whose masked values cannot be read, not even where it
    quotes them.
    """
    hidden: list[str] = []

    def hide(value: Any) -> str:
        text = value if isinstance(value, str) else json.dumps(value)
        hidden.append(text)
        return _mask(text)

    for part in ("arguments", "made", "result"):
        if values.get(part) is not None:
            values[part] = _kept(values[part], masks, hide)
    for part in ("reason", "fact", "remedy"):
        if part in values:
            for text in filter(None, hidden):
                values[part] = values[part].replace(text, _mask(text))
    return values


def _kept(value: Any, masks: Collection[str], hide: Callable[[Any], str]) -> Any:
    """A JSON value as a log keeps it."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else _cut(value)
    if isinstance(value, Mapping):
        kept: dict[Any, Any] = {}
        for name, inner in value.items():
            kept[name] = hide(inner) if name in masks else _kept(inner, masks, hide)
        return kept
    if isinstance(value, list | tuple):
        return [_kept(inner, masks, hide) for inner in value]
    return value


def _mask(text: str) -> str:
    """Equal texts have equal masks while a process lives."""
    return f"[masked {hmac.new(_KEY, text.encode(), hashlib.sha256).hexdigest()[:12]}]"


def _cut(text: str) -> str:
    """The beginning of a text, and what tells it from other texts."""
    whole = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{text[:_SHOWN]}… [{len(text):,} characters, sha256 {whole}]"


def read_guard_log(file: Path) -> Iterator[Event]:
    """The lines of a log, read as they are asked for, those that were moved to `NAME.1` first.

    A wrong line is a FileError; a cut-off end is left out.
    """
    asked: dict[tuple[str, str], Mapping[str, Any]] = {}
    older = _older(file)
    lines = _read_file(file)
    if is_there(older):
        lines = chain(_read_file(older), lines)
    for event in lines:
        match event:
            case CheckLine() if event.id:
                made = event.arguments if event.made is None else event.made
                asked[event.session, event.id] = made
                if len(asked) > _MOST_OPEN:
                    del asked[next(iter(asked))]
                yield event
            case ResultLine() if event.as_checked:
                known = asked.pop((event.session, event.id), None)
                unread = event.unread or known is None
                yield replace(event, arguments=known or {}, unread=unread)
            case _:
                yield event


def _read_file(file: Path) -> Iterator[Event]:
    lines = text_lines(file, bounded=False)
    first = next(lines, "") or "null"
    read = tagged_reader(_FORMS, VERSION, heads=True)
    events = read_jsonl(file, chain([first], lines), read, "is no line of a guard's log")
    try:
        yield from (event for _, event in events if not isinstance(event, HeadLine))
    except FileError as error:
        if error.line in (None, 1) or next(lines, None) is not None:
            raise  # other than by the last line of a process that was killed


def is_guard_log(file: Path) -> bool:
    """True if a file begins as a guard's log does."""
    if not file.is_file():
        return False
    try:
        next(iter(read_guard_log(file)), None)
    except FileError as error:
        return error.line != 1
    return True
