"""The guard's log: JSON lines, one for each call that was checked, each result that was seen,
each fact told.
"""

import errno
import json
import mmap
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Final

from rpms.foreign.file_reader import is_there, open_regular, text_lines
from rpms.foreign.json_text import read_jsonl, tagged_reader
from rpms.logic.errors import FileError

VERSION: Final = 1
LONGEST_RESULT: Final = 200_000
"""Characters of a result that are kept; what is longer is left out, and tells nothing when the
log is replayed."""


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
_FORMS: Final[Mapping[str, Any]] = {
    form.type: form for form in (HeadLine, CheckLine, ResultLine, ToldLine)
}


def begin_log(file: Path, manual: str) -> None:
    """Write the first line of a file that is not there yet; another file in its place is a
    FileError.
    """
    if not is_there(file) or not os.lstat(file).st_size:
        add_line(file, HeadLine(manual=manual))
        return
    next(iter(read_guard_log(file)), None)
    with os.fdopen(open_regular(file, os.O_RDWR), "r+b") as stream:
        with mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as data:
            keep, size = data.rfind(b"\n") + 1, len(data)
        if (
            0 < keep < size
        ):  # a process was killed amid a line, which no reader takes and the next would join
            stream.truncate(keep)


def add_line(file: Path, line: HeadLine | Event) -> None:
    """Add a line to a log; it is written whole, and the file is never held open."""
    data = (json.dumps({"type": line.type, **vars(line)}, separators=(",", ":")) + "\n").encode()
    with os.fdopen(
        open_regular(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab", buffering=0
    ) as stream:
        before = os.fstat(stream.fileno()).st_size
        if stream.write(data) < len(data):  # a full disk; what others have added since then stays
            if os.fstat(stream.fileno()).st_size < before + len(data):
                stream.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read_guard_log(file: Path) -> Iterator[Event]:
    """The lines of a log, read as they are asked for.

    A wrong line is a FileError; a cut-off end is left out.
    """
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
