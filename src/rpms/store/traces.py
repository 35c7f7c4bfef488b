"""Episodes of an exploration as texts: `manual.yaml` has `manual.episodes.jsonl`.

All that was learned follows from these lines. Each is written when its episode has ended, with a checksum over itself
and the line before it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from rpms.core.errors import FileError, InputError
from rpms.foreign.files import is_there, open_regular, read_bytes
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.foreign.typed import typed_lines
from rpms.store.files import read_text, write_whole
from rpms.store.lock import hold

SUFFIX = ".episodes.jsonl"
_SEAL = ', "seal": "'
"""Text before the checksum, the last field of a line."""


class Spoken(NamedTuple):
    """One step: what was commanded, and what the world answered."""

    command: str
    answer: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    """True if the task was over for good after it, and not won."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode."""

    episode: str
    """Unique among all that is learned from."""
    task: str
    type: str
    opening: str
    """The first observation."""
    steps: tuple[Spoken, ...] = ()

    @property
    def won(self) -> bool:
        return any(step.won for step in self.steps)


def traces_file(manual: Path) -> Path:
    """File of the episodes of a manual's exploration."""
    return manual.with_suffix("").with_name(manual.with_suffix("").name + SUFFIX)


@dataclass(frozen=True, slots=True)
class _Header:
    version: int
    """The first had no checksums."""
    settings: Mapping[str, str]
    seal: str = ""


@dataclass(frozen=True, slots=True)
class _Line:
    episode: str
    task: str
    kind: str
    opening: str
    steps: tuple[Spoken, ...]
    seal: str = ""


class Keep(Protocol):
    """Takes over an episode that has ended."""

    def __call__(self, trace: Trace, /) -> None:
        """Keep it."""
        ...


class _Kept(NamedTuple):
    settings: Mapping[str, str]
    traces: tuple[Trace, ...]
    seal: str
    """The last line's; nothing in a file without."""


def read_traces(file: Path) -> tuple[Mapping[str, str], tuple[Trace, ...]]:
    """The settings of an exploration and its episodes; a last line that was cut off by a crash is left out."""
    return _read(file)[:2]


def _read(file: Path) -> _Kept:
    lines = read_text(file, LARGEST_MEMORY).split("\n")
    whole = lines[:-1]  # what comes after the last line's end was never finished
    read = list(typed_lines(file, whole, {"exploration": _Header, "episode": _Line}, "exploration", version=None))
    if not read or read[0].version not in (1, 2):
        raise FileError(file, 1, "is no exploration: it has no first line of a known version; remove it to begin anew")
    seal = ""
    for number, line in enumerate(whole if read[0].version > 1 else (), 1):
        expected, seal = _sealed(seal, line.rpartition(_SEAL)[0] + "}")
        if line != expected:
            raise FileError(file, number, "was changed since, or a line before it; remove the file to begin anew")
    traces = (Trace(each.episode, each.task, each.kind, each.opening, each.steps) for each in read[1:])
    return _Kept(read[0].settings, tuple(traces), seal)


@contextmanager
def keeping(file: Path, settings: Mapping[str, str]) -> Iterator[tuple[tuple[Trace, ...], Keep]]:
    """The episodes that an exploration has already, and what takes over further ones, each as soon as it has ended.

    An exploration with other settings is an InputError: its episodes would not be those that these settings give. So is
    one that another process is at.
    """
    if not is_there(file):
        header, _ = sealed_line("", {"type": "exploration", "version": 2, "settings": dict(settings)})
        write_whole(file, f"{header}\n")
    with os.fdopen(open_regular(file, os.O_RDWR | os.O_APPEND), "ab", buffering=0) as stream:
        if not hold(stream.fileno()):
            raise InputError(f"{file}: another process is exploring; wait for it, or choose another --out")
        before, known, seal = _read(file)
        if dict(before) != dict(settings):
            changed = sorted(name for name in {*before, *settings} if before.get(name) != settings.get(name))
            raise InputError(
                f"{file}: is an exploration with another {', '.join(changed)}; remove it, or choose another --out"
            )
        stream.truncate(read_bytes(file, LARGEST_MEMORY).rfind(b"\n") + 1)  # without what a crash left of a line

        def keep(trace: Trace) -> None:
            nonlocal seal
            line, next_seal = sealed_line(seal, _row(trace))
            _write(file, stream, line if seal else json.dumps(_row(trace)))
            seal = next_seal if seal else ""

        yield known, keep


def sealed_line(before: str, row: Mapping[str, object]) -> tuple[str, str]:
    """A line with its checksum, which is also over that of the line before; and the checksum."""
    return _sealed(before, json.dumps(row))


def _sealed(before: str, text: str) -> tuple[str, str]:
    seal = hashlib.sha256(f"{before}{text}".encode()).hexdigest()
    return f'{text[:-1]}{_SEAL}{seal}"}}', seal


def _row(trace: Trace) -> dict[str, object]:
    return {
        "type": "episode",
        "episode": trace.episode,
        "task": trace.task,
        "kind": trace.type,
        "opening": trace.opening,
        "steps": trace.steps,
    }


def _write(file: Path, stream: IO[bytes], line: str) -> None:
    data = f"{line}\n".encode()
    try:
        while data:
            data = data[stream.write(data) :]
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from None
